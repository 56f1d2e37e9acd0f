/* How does a run go from one communication point to the next? */

#include "engine.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N_ACTIVE (ADAPTIVE ? N_ALL : N_GUARDS)
#define MOST_TICKS INT64_MAX

/* All numbers as described. */
void run_reset(Run *run) {
  memset(run, 0, sizeof *run);
  memcpy(run->p, PARAMETER_START, N_P * sizeof(double));
  memcpy(run->p + N_P + N_PRELUDE, DATA, N_DATA * sizeof(double));
  memcpy(run->x0, STATE_START, N_X * sizeof(double));
  memcpy(run->m, MEMORY_START, N_M * sizeof(double));
  for (int k = 0; k < N_INPUTS; k++) run->u[k] = run->m[INPUT_PLACE[k]];
  run->culprit = run->terminal = -1;
  run->stale = 1;
  run->t_left = run->shortest_delay = INFINITY;
}

/* What depends on parameters alone: the prelude, and the times at which references jump, ascending. */
static void prepare(Run *run) {
  if (!run->stale) return;
  run->stale = 0;
  if (N_PRELUDE > 0) model_prelude(run->p, run->p + N_P);
  double times[ROOM(N_BREAKS)];
  run->n_breaks = run->next_break = 0;
  if (N_BREAKS > 0) model_breaks(run->p, times);
  for (int k = 0; k < N_BREAKS; k++) {
    int place = run->n_breaks;
    if (!(times[k] > run->t) || !isfinite(times[k])) continue;
    for (; place > 0 && run->breaks[place - 1] > times[k]; place--) run->breaks[place] = run->breaks[place - 1];
    run->breaks[place] = times[k];
    run->n_breaks++;
  }
}

/* The memory with the inputs as they have been set; before the start, the past is what it would be from here. */
static void look(Run *run, double *m) {
  prepare(run);
  memcpy(m, run->m, sizeof run->m);
  for (int k = 0; k < N_INPUTS; k++) m[INPUT_PLACE[k]] = run->u[k];
  if (run->begun) return;
  memcpy(run->m, m, sizeof run->m);
  begin_past(run);
}

/* The outputs at the present state. */
void run_outputs(Run *run, double *y) {
  double m[ROOM(N_M)];
  look(run, m);
  if (N_Y > 0) model_outputs(&run->t, run->x[START], run->d, m, run->p, y);
}

/* dy = (dy/dx, dy/dm, dy/dp) seed, the slopes of all outputs along a direction of states, memory and parameters. */
void run_slopes(Run *run, const double *seed, double *slopes) {
  double m[ROOM(N_M)];
  look(run, m);
  if (N_Y > 0) model_slopes(&run->t, run->x[START], run->d, m, run->p, seed, slopes);
}

/* A compiled action: new x and m. */
static void act(Run *run, Kernel action) {
  ask(run, action, run->t, run->x[START], run->changed);
  memcpy(run->x[START], run->changed, N_X * sizeof(double));
  memcpy(run->m, run->changed + N_X, N_M * sizeof(double));
  run->x_changed = 1;
}

/* Note an event; very many of one guard in no time end the run. */
static void note_event(Run *run, int j) {
  double shortest = fmax(1e-9 * (run->t_final - run->t0), 1e-12);
  double *oldest = &run->fired_at[j][run->n_fired[j] % N_REMEMBERED];
  if (!isfinite(shortest)) shortest = 1e-9;
  if (GUARD_TERMINAL[j] && run->terminal < 0) run->terminal = j;
  if (GUARD_ACTION[j] && run->n_fired[j] >= N_REMEMBERED && run->t - *oldest < shortest) {
    run->status = CHATTERING;
    run->culprit = j;
  }
  *oldest = run->t;
  run->n_fired[j]++;
}

/* Mark what fired as done and look for guards that jumped; 1 when there are any. */
static int run_again(Run *run) {
  for (int j = 0; j < N_ACTIVE; j++)
    if (run->fired[j] == LOCATED) run->fired[j] = -LOCATED;
  if (!run->armed || N_GUARDS == 0 || !(run->x_changed || run->m_changed || run->jump_level < SMOOTH)) return 0;
  return find_jumps(run);
}

/* Actions of the guards that fired, in declared order, each on the x and m the one before it left. */
static void run_events(Run *run) {
  do {
    for (int j = 0; j < N_GUARDS; j++) {
      int fired = run->fired[j];
      if (fired != LOCATED && fired != JUMPED) continue;
      note_event(run, j);
      if (fired == JUMPED) run->fired[j] = FIRED_BEFORE;
      if (GUARD_ACTION[j]) act(run, GUARD_ACTION[j]);
    }
  } while (run_again(run));
}

/* Tasks due at this tick, in declared order, each on the m the one before it left; 1 when guards jumped. */
static int run_ticks(Run *run) {
  for (int k = 0; k < N_TASKS && run->tick_due; k++) {
    if (run->task_due[k] != run->tick) continue;
    run->task_due[k] += TASK_PERIOD[k];
    ask(run, TASK_KERNEL[k], run->t, run->x[START], run->changed);
    for (int i = 0; i < N_M; i++) run->m_changed |= run->m[i] != run->changed[i];
    memcpy(run->m, run->changed, N_M * sizeof(double));
  }
  run->tick_due = 0;
  return run->m_changed && run_again(run);
}

/* How smooth the delayed signals are here: 0 after a jump, also of what comes from outside; a tick's jump is followed
   only through delays that feed one another directly. */
static int note_level(const Run *run) {
  int after_tick = MOST_LEVELS - DELAY_DEPTH;
  if (run->x_changed || run->t <= run->t0 || run->t >= run->t_end) return 0;
  return run->m_changed && after_tick < run->jump_level ? after_tick : run->jump_level;
}

/* Leave an instant: start action, limits, signs of the guards, coming delayed jumps. */
static void settle_instant(Run *run, int first) {
  if (first && START_ACTION) act(run, START_ACTION);
  if (run->x_changed || run->m_changed || first) clip_row(run, run->t, START);
  if (run->x_changed || run->m_changed) forget_slope(run);
  if (N_ACTIVE > 0) settle_signs(run);
  push_jump(run, note_level(run) + 1);
}

static void begin_instant(Run *run) {
  int reached = run->t >= run->t_stop;
  run->t_left = INFINITY;
  run->tick_due = reached && run->stop_is_tick;
  run->jump_level = reached && run->stop_is_break ? 0 : SMOOTH;
  run->x_changed = run->m_changed = 0;
  while (run->jump_level == 0 && run->next_break < run->n_breaks && run->breaks[run->next_break] <= run->t)
    run->next_break++;
  run->jump_level = pass_jumps(run, run->jump_level);
  read_right(run);
  if (run->jump_level < SMOOTH) forget_slope(run);
  if (N_ACTIVE > 0) note_guards(run);
}

/* Events, then ticks, and events again as long as these make guards jump. */
static void pass_instant(Run *run, int first) {
  do run_events(run);
  while (run->terminal < 0 && run->status == GOING && run_ticks(run));
  settle_instant(run, first);
}

static int64_t next_tick(Run *run) {
  int64_t tick = MOST_TICKS;
  for (int k = 0; k < N_TASKS; k++)
    if (run->task_due[k] < tick) tick = run->task_due[k];
  return tick;
}

static double tick_time(Run *run) { return run->t0 + ((double)run->tick * BASE_NUMERATOR) / BASE_DENOMINATOR; }

/* The segment ends at the next tick, delayed jump, break or communication point, whichever is first. Within it, a break and a
   communication point, where inputs may jump, are seen from the left. */
static void plan_segment(Run *run) {
  run->t_stop = run->t_end;
  run->stop_is_tick = run->stop_is_break = 0;
  run->tick = next_tick(run);
  if (N_TASKS > 0 && run->tick <= run->last_tick) {
    run->t_stop = fmin(tick_time(run), run->t_end);
    run->stop_is_tick = 1;
  }
  double jump = next_jump(run);
  if (jump < run->t_stop) {
    run->t_stop = jump;
    run->stop_is_tick = 0;
  }
  if (run->next_break < run->n_breaks && run->breaks[run->next_break] <= run->t_stop) {
    if (run->breaks[run->next_break] < run->t_stop) run->stop_is_tick = 0;
    run->t_stop = run->breaks[run->next_break];
    run->stop_is_break = 1;
  }
  run->t_left = run->stop_is_break || run->t_stop == run->t_end ? nextafter(run->t_stop, -INFINITY) : run->t_stop;
  run->t_segment = run->t;
  run->k = 0;
}

/* Put the end of the step between its limits and on its constraints. */
static void mend_end(Run *run) {
  int changed = 0;
  if (N_LIMITED > 0) {
    if (N_ACTIVE > 0) need_dense(run);
    changed = clip_row(run, run->t_new, END);
  }
  if (PROJECTION) {
    if (N_ACTIVE > 0) need_dense(run);
    ask(run, PROJECTION, run->t_new, run->x[END], run->changed);
    memcpy(run->x[END], run->changed, N_X * sizeof(double));
    changed = 1;
  }
  if (!changed) return;
  run->end_known = -1;
  if (N_ACTIVE > 0) guards_at(run, 1.0, G_END);
}

/* The end of the step becomes the start of the next; its slope is kept where the method has it. */
static void move_on(Run *run) {
  run->last_length = run->t_new - run->t;
  run->steps++;
  run->k++;
  run->t = run->t_new;
  copy_row(run, END, START);
  forget_slope(run);
  if (REUSES_LAST && run->end_known >= 0) {
    copy_row(run, STAGE + STAGES - 1, STAGE);
    run->slope_known = 1;
  } else if (NEEDS_END && run->end_known == 1) {
    copy_row(run, STAGE + STAGES, STAGE);
    run->slope_known = 1;
  }
}

/* Steps to the end of the segment or the first event; 0 when the run cannot go on. */
static int run_segment(Run *run) {
  while (run->t < run->t_stop) {
    int fired;
    if (run->t_stop - run->t <= run->resolution) {
      run->t = run->t_stop;
      run->last_length = 0.0;
      return 1;
    }
    if (run->steps >= MOST_STEPS) run->status = STEP_LIMIT;
    if (run->status != GOING || !take_step(run)) return 0;
    fired = N_ACTIVE > 0 && locate_events(run);
    mend_end(run);
    keep_step(run);
    move_on(run);
    if (N_ACTIVE > 0) carry_signs(run);
    read_right(run);
    if (fired) return 1;
  }
  return 1;
}

/* The first instant: tasks due at tick 0, no events; then the state is made consistent. 0 where a delay is none. */
int run_begin(Run *run, double t0, double t_final, double tolerance) {
  run->t0 = run->t = run->t_stop = t0;
  run->t_final = t_final;
  run->rtol = tolerance > 0.0 ? tolerance : RTOL;
  run->atol = ATOL * (run->rtol / RTOL);
  run->h = ADAPTIVE ? FIRST_STEP : 0.0;
  run->error_before = 1.0;
  run->stale = 1;
  prepare(run);
  memcpy(run->x[START], run->x0, N_X * sizeof(double));
  for (int k = 0; k < N_INPUTS; k++) run->m[INPUT_PLACE[k]] = run->u[k];
  begin_past(run);
  if (!(run->shortest_delay > 0.0)) return 0;
  run->begun = 1;
  for (int k = 0; k < N_TASKS; k++) run->task_due[k] = TASK_OFFSET[k];
  run->tick = next_tick(run);
  run->stop_is_tick = N_TASKS > 0 && run->tick == 0;
  run->stop_is_break = 0;
  begin_instant(run);
  pass_instant(run, 1);
  return 1;
}

/* Inputs, parameters and states set since the last step take effect like an action: guards may jump. */
static void take_inputs(Run *run) {
  int tuned = run->stale || run->moved, changed = tuned;
  if (N_ACTIVE > 0) note_guards(run);
  prepare(run);
  for (int k = 0; k < N_INPUTS; k++) {
    changed |= run->m[INPUT_PLACE[k]] != run->u[k];
    run->m[INPUT_PLACE[k]] = run->u[k];
  }
  if (!changed) return;
  run->tick_due = 0;
  run->x_changed = run->moved;
  run->moved = 0;
  run->jump_level = tuned ? 0 : SMOOTH;
  run->m_changed = 1;
  if (run_again(run)) run_events(run);
  settle_instant(run, 0);
}

/* Go on to a communication point; the status is returned.

   One hybrid step, from a time t with x and m as they arrive there:
   1. Events. The actions of the guards found to cross zero at t run in declared order and may change x and m. A guard
      that an action, a task, an input or a break makes jump across zero fires at the same instant; none fires twice.
   2. Ticks. The sampled tasks due at t run in declared order. Tick k is at t0 + k base period.
   3. Segment. x is integrated, with m held, to the next tick, break, delayed jump or communication point, or to the
      first crossing of a guard, if that is earlier.
   Events and ticks at the communication point still happen: what is left are right limits. */
int run_advance(Run *run, double t_end) {
  double largest = fmax(fabs(run->t0), isfinite(run->t_final) ? fabs(run->t_final) : fabs(t_end));
  if (run->status != GOING) return run->status;
  run->resolution = 16.0 * DBL_EPSILON * largest;
  run->min_step = MIN_STEP > 0.0 ? MIN_STEP : run->resolution;
  run->t_end = t_end;
  run->steps = 0;
  run->last_tick = N_TASKS > 0 ? (int64_t)floor((t_end - run->t0) / BASE_PERIOD + 1e-9) : -1;
  forget_slope(run);
  take_inputs(run);
  while (run->terminal < 0 && run->status == GOING && run->t < run->t_end) {
    plan_segment(run);
    if (ADAPTIVE && run->h == 0.0) choose_first(run);
    if (!run_segment(run)) return run->status;
    begin_instant(run);
    pass_instant(run, 0);
  }
  run->t_left = INFINITY;
  if (run->status == GOING && run->terminal >= 0) {
    run->status = TERMINAL;
    run->culprit = run->terminal;
  }
  return run->status;
}

/* A sentence for a run that has ended; the caller adds the name of the culprit. */
const char *run_complaint(const Run *run) {
  switch (run->status) {
    case TERMINAL: return "a terminal event ended the run";
    case STEP_LIMIT: return "all steps are used up: loosen the tolerance";
    case NOT_A_NUMBER: return "a state stopped being a finite number";
    case STEP_TOO_SMALL: return "the step became too small: the system may be stiff, or a law jumps";
    case OVERFLOWN: return "a state grew without bound: the step may be beyond the method's stability";
    case CHATTERING: return "an event chatters: very many of them in no time";
    case NOT_SOLVED: return "the equations of a step could not be solved";
    case NO_MEMORY: return "there is not enough memory for the past of delayed signals";
    default: return "";
  }
}
