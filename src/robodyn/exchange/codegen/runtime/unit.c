/* An exported model at work: how does it go from one communication point to the next? */

#include "unit.h"

#include <math.h>
#include <string.h>

static const Recording NOTHING = {RECORD_NOTHING, 1, 0, 0, 0, 0, NULL};

void unit_free(Unit *unit) {
  run_free(unit->run);
  unit->run = NULL;
}

/* All numbers as described. */
int unit_reset(Unit *unit) {
  Settings *set = &unit->set;
  unit_free(unit);
  memset(set, 0, sizeof *set);
  unit->solver = SOLVER;
  unit->run = run_new(&MODEL, &METHOD, &unit->solver, unit->recording ? unit->recording : &NOTHING);
  if (unit->run == NULL) return 0;
  memcpy(set->p, PARAMETER_START, N_P * sizeof(double));
  memcpy(set->p + N_P + N_PRELUDE, DATA, N_DATA * sizeof(double));
  memcpy(set->x0, STATE_START, N_X * sizeof(double));
  memcpy(unit->run->x, STATE_START, N_X * sizeof(double));
  memcpy(unit->run->m, MEMORY_START, N_M * sizeof(double));
  for (int k = 0; k < N_INPUTS; k++) set->u[k] = MEMORY_START[INPUT_PLACE[k]];
  set->stale = 1;
  set->stop = INFINITY;
  unit->run->p = set->p;
  unit->run->open_end = unit->recording == NULL;
  unit->run->t_left = INFINITY;
  return 1;
}

/* Times at which references jump; for the parameters as described to the last bit, which tracing may change. */
static void find_breaks(const Unit *unit, double *times) {
  if (memcmp(unit->set.p, PARAMETER_START, N_P * sizeof(double)) == 0)
    memcpy(times, BREAK_START, N_BREAKS * sizeof(double));
  else
    model_breaks(unit->set.p, times);
}

/* What depends on parameters alone: the prelude, and the times at which references jump, ascending. */
static void prepare(Unit *unit) {
  Run *run = unit->run;
  /* An integrator outside may try times and come back; what was due at the last instant is past. */
  double now = unit->set.exchange && unit->set.begun ? run->t_segment : run->t;
  double times[ROOM(N_BREAKS)], end = unit->recording ? unit->set.stop : INFINITY;
  if (!unit->set.stale) return;
  unit->set.stale = 0;
  if (N_PRELUDE > 0) model_prelude(unit->set.p, unit->set.p + N_P);
  run->n_breaks = run->next_break = 0;
  if (N_BREAKS > 0) find_breaks(unit, times);
  for (int k = 0; k < N_BREAKS; k++) {
    int64_t place = run->n_breaks;
    if (!(times[k] > now && times[k] < end)) continue;
    for (; place > 0 && run->breaks[place - 1] > times[k]; place--) run->breaks[place] = run->breaks[place - 1];
    run->breaks[place] = times[k];
    run->n_breaks++;
  }
}

/* Delays, and the signals before the start: as given, else their own start values. One may depend on others: each round
   settles at least one more. */
static void begin_past(Unit *unit) {
  Run *run = unit->run;
  double given[ROOM(2 * N_D)], now[ROOM(N_D)];
  if (N_D == 0) return;
  model_past(unit->set.p, given);
  for (int j = 0; j < N_D; j++) {
    run->delay[j] = given[j];
    run->d[j] = isnan(given[N_D + j]) ? 0.0 : given[N_D + j];
  }
  for (int round = 0; round < N_D; round++) {
    MODEL.delayed(&run->t, run->x, run->d, run->m, run->p, now);
    for (int j = 0; j < N_D; j++)
      if (isnan(given[N_D + j])) run->d[j] = now[j];
  }
  memcpy(run->before, run->d, N_D * sizeof(double));
}

void unit_look(Unit *unit, double *m) {
  char complaint[128];
  Run *run = unit->run;
  prepare(unit);
  if (!unit->set.begun) find_start(unit, complaint, sizeof complaint);
  memcpy(m, run->m, N_M * sizeof(double));
  for (int k = 0; k < N_INPUTS; k++) m[INPUT_PLACE[k]] = unit->set.u[k];
  if (unit->set.begun) return;
  memcpy(run->m, m, N_M * sizeof(double));
  begin_past(unit);
}

void unit_outputs(Unit *unit, double *y) {
  double m[ROOM(N_M)], x[ROOM(N_X)];
  unit_look(unit, m);
  place_states(unit, m, x);
  if (N_Y > 0) model_outputs(&unit->run->t, x, unit->run->d, m, unit->set.p, y);
}

void unit_set_tolerance(Unit *unit) {
  double tolerance = unit->set.tolerance;
  unit->solver = SOLVER;
  if (!(tolerance > 0.0)) return;
  unit->solver.rtol = tolerance;
  unit->solver.atol = SOLVER.atol * (tolerance / SOLVER.rtol);
}

int unit_begin(Unit *unit, int waits, char *complaint, size_t room) {
  Run *run = unit->run;
  Settings *set = &unit->set;
  unit_set_tolerance(unit);
  run->t = set->time = set->start;
  set->stale = 1;
  prepare(unit);
  if (!find_start(unit, complaint, room)) return 0;
  memcpy(run->x, set->x0, N_X * sizeof(double));
  for (int k = 0; k < N_INPUTS; k++) run->m[INPUT_PLACE[k]] = set->u[k];
  begin_past(unit);
  for (int j = 0; j < N_D; j++)
    if (!(run->delay[j] > 0.0)) {
      compose(complaint, room, "delays must be positive");
      return 0;
    }
  run_begin(run, set->start, set->stop);
  if (unit->recording == NULL) run_extend(run, set->start);
  run->budget = INT64_MAX;
  set->begun = 1;
  if (!waits) run_advance(run);
  return 1;
}

/* Inputs, parameters and states set since the last step take effect like an action; 1 when there are any. */
static int take_inputs(Unit *unit, int *tuned) {
  Run *run = unit->run;
  int changed = *tuned = unit->set.stale || unit->set.moved;
  run_note(run);
  prepare(unit);
  for (int k = 0; k < N_INPUTS; k++) {
    double *held = &run->m[INPUT_PLACE[k]];
    changed |= *held != unit->set.u[k];
    *held = unit->set.u[k];
  }
  return changed;
}

int unit_has_events(const Unit *unit) { return unit->set.begun && unit->run->phase <= EVENTS; }

int64_t unit_advance(Unit *unit, double t_end, int pauses) {
  Run *run = unit->run;
  int tuned, waiting = unit_has_events(unit), changed = take_inputs(unit, &tuned);
  if (t_end <= run->t && !waiting && !changed) return ENDED;
  /* The limit of steps counts from one communication point to the next. */
  run->steps = run->rejected = 0;
  run->budget = unit->set.exchange ? 0 : INT64_MAX;
  run->pause_at_events = pauses;
  run_extend(run, t_end);
  if (waiting) {
    run->m_changed |= changed;
    run->x_changed |= unit->set.moved;
    if (tuned) run->jump_level = 0;
  } else if (changed) {
    run_reopen(run, unit->set.moved, 1, tuned);
  }
  unit->set.moved = 0;
  return run_advance(run);
}
