/* How does a user's program hold a simulation? Names, numbers that are set and read, its way through time, its record. */

#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "unit.h"

struct Simulation {
  Unit unit;
  Recording recording;
  double *times; /* at which rows are kept at a rate */
  int recorded;
  char sentence[256];
};

const char *simulation_scenario(void) { return SCENARIO; }
double simulation_duration(void) { return DURATION; }

static int exists(int kind, int number) {
  return kind >= 0 && kind <= SIMULATION_EVENTS && number >= 0 && number < NAMES[kind].count;
}

int simulation_count(int kind) { return exists(kind, 0) ? NAMES[kind].count : 0; }

const char *simulation_name(int kind, int number) { return exists(kind, number) ? NAMES[kind].name[number] : ""; }

const char *simulation_unit(int kind, int number) { return exists(kind, number) ? NAMES[kind].unit[number] : ""; }

int simulation_find(int kind, const char *name) {
  for (int k = 0; k < simulation_count(kind); k++)
    if (strcmp(NAMES[kind].name[k], name) == 0) return k;
  return -1;
}

static int refuse(Simulation *simulation, const char *what) {
  compose(simulation->sentence, sizeof simulation->sentence, "%s", what);
  return 0;
}

/* The scenario's record; samples at a rate are at k / rate. */
static int prepare_record(Simulation *simulation) {
  Recording *recording = &simulation->recording;
  *recording = RECORDING;
  if (RECORD_RATE > 0.0) {
    simulation->times = malloc((size_t)recording->n_times * sizeof(double));
    if (simulation->times == NULL) return 0;
    for (int64_t k = 0; k < recording->n_times; k++) simulation->times[k] = fmin((double)k / RECORD_RATE, DURATION);
    recording->times = simulation->times;
  }
  simulation->unit.recording = recording;
  return 1;
}

Simulation *simulation_new(int way) {
  Simulation *simulation = calloc(1, sizeof *simulation);
  if (simulation == NULL) return NULL;
  simulation->recorded = way == SIMULATION_RECORDED;
  if ((!simulation->recorded || prepare_record(simulation)) && simulation_reset(simulation)) return simulation;
  simulation_free(simulation);
  return NULL;
}

void simulation_free(Simulation *simulation) {
  if (simulation == NULL) return;
  unit_free(&simulation->unit);
  free(simulation->times);
  free(simulation);
}

int simulation_reset(Simulation *simulation) {
  simulation->sentence[0] = '\0';
  if (!unit_reset(&simulation->unit)) return refuse(simulation, "there is not enough memory");
  if (simulation->recorded) simulation->unit.set.stop = DURATION;
  return 1;
}

/* Before the start the states are the start values, which are looked for anew where parameters or inputs change; once
   one of them has been set, all are taken as they are. */
static void set_state(Unit *unit, int number, double value) {
  double m[ROOM(N_M)], *x = unit->run->x;
  if (!unit->set.begun) unit_look(unit, m);
  unit->set.placed |= unit->set.x0[number] != value;
  unit->set.x0[number] = x[number] = value;
  unit->set.moved |= unit->set.begun;
}

static int set_parameter(Simulation *simulation, int place, double value) {
  Settings *set = &simulation->unit.set;
  if (PARAMETER_FIXED[place] && set->begun) return refuse(simulation, "this parameter can only be set before the start");
  set->unsettled |= set->p[place] != value;
  set->p[place] = value;
  set->stale = 1;
  return 1;
}

int simulation_set(Simulation *simulation, int kind, int number, double value) {
  Settings *set = &simulation->unit.set;
  if (!exists(kind, number) || kind > SIMULATION_INPUTS) return refuse(simulation, "there is nothing to be set there");
  if (!isfinite(value)) return refuse(simulation, "values must be finite numbers");
  if (kind == SIMULATION_PARAMETERS) return set_parameter(simulation, PARAMETER_PLACE[number], value);
  if (kind == SIMULATION_STATES) {
    set_state(&simulation->unit, number, value);
  } else {
    set->unsettled |= set->u[number] != value;
    set->u[number] = value;
  }
  return 1;
}

double simulation_get(Simulation *simulation, int kind, int number) {
  Unit *unit = &simulation->unit;
  double y[ROOM(N_Y)], m[ROOM(N_M)];
  if (!exists(kind, number) || kind > SIMULATION_OUTPUTS) return NAN;
  if (kind == SIMULATION_PARAMETERS) return unit->set.p[PARAMETER_PLACE[number]];
  if (kind == SIMULATION_INPUTS) return unit->set.u[number];
  if (kind == SIMULATION_STATES) {
    unit_look(unit, m);
    return unit->run->x[number];
  }
  unit_outputs(unit, y);
  return y[number];
}

void simulation_read(Simulation *simulation, double *outputs) { unit_outputs(&simulation->unit, outputs); }

static const char *why(int64_t status) {
  switch (status) {
    case FINISHED: return "reached its end";
    case TERMINAL: return "ended by an event";
    case STEP_LIMIT: return "all steps are used up";
    case NOT_A_NUMBER: return "stopped being a finite number";
    case STEP_TOO_SMALL: return "the step became too small";
    case OVERFLOWN: return "grew without bound";
    case CHATTERING: return "very many events in next to no time";
    case NOT_SOLVED: return "the equations of a step could not be solved";
    case RECORD_FULL: return "the record is full";
    default: return "there is not enough memory";
  }
}

/* Tell how the run stands; 1 while it goes on or has reached its end. */
static int tell(Simulation *simulation) {
  const Run *run = simulation->unit.run;
  const char *name = "";
  int by_guard = run->status == TERMINAL || run->status == CHATTERING;
  simulation->sentence[0] = '\0';
  if (run->status == GOING || (run->status == FINISHED && !simulation->recorded)) return 1;
  if (run->offender >= 0) name = by_guard ? GUARD_NAME[run->offender] : STATE_NAME[run->offender];
  compose(simulation->sentence, sizeof simulation->sentence, "%s at %g s%s%s", why(run->status), run->t,
           name[0] ? ": " : "", name);
  return run->status == FINISHED;
}

int simulation_begin(Simulation *simulation) {
  if (simulation->unit.set.begun) return refuse(simulation, "it has begun: reset it first");
  return unit_begin(&simulation->unit, 0, simulation->sentence, sizeof simulation->sentence) && tell(simulation);
}

int simulation_advance(Simulation *simulation, double time) {
  const Run *run = simulation->unit.run;
  if (simulation->recorded || !simulation->unit.set.begun) return refuse(simulation, "it has not begun a run by steps");
  if (run->status != GOING && run->status != FINISHED) return tell(simulation);
  if (!(time >= run->t && isfinite(time))) return refuse(simulation, "it cannot go back in time");
  unit_advance(&simulation->unit, time, 0);
  return tell(simulation);
}

double simulation_time(const Simulation *simulation) { return simulation->unit.run->t; }

int simulation_outcome(const Simulation *simulation) {
  const Run *run = simulation->unit.run;
  if (!simulation->unit.set.begun) return simulation->sentence[0] ? SIMULATION_FAILED : SIMULATION_GOES_ON;
  if (run->status == GOING || (run->status == FINISHED && !simulation->recorded)) return SIMULATION_GOES_ON;
  if (run->status == TERMINAL && EVENT_FAILS[run->offender]) return SIMULATION_FAILED;
  return run->status == FINISHED || run->status == TERMINAL ? SIMULATION_DONE : SIMULATION_FAILED;
}

const char *simulation_sentence(const Simulation *simulation) { return simulation->sentence; }

int simulation_n_rows(const Simulation *simulation) { return (int)simulation->unit.run->n_rows; }

const double *simulation_row(const Simulation *simulation, int row) {
  return row >= 0 && row < simulation_n_rows(simulation) ? simulation->unit.run->rows + (size_t)row * (N_Y + 2) : NULL;
}

int simulation_n_events(const Simulation *simulation) { return (int)simulation->unit.run->n_log; }

static const double *entry(const Simulation *simulation, int event) {
  return event >= 0 && event < simulation_n_events(simulation) ? simulation->unit.run->log + 2 * (size_t)event : NULL;
}

double simulation_event_time(const Simulation *simulation, int event) {
  const double *found = entry(simulation, event);
  return found ? found[0] : NAN;
}

int simulation_event(const Simulation *simulation, int event) {
  const double *found = entry(simulation, event);
  return found ? (int)found[1] : -1;
}
