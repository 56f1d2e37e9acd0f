/* The hybrid step: how does a run go from one instant to the next?

   One hybrid step, from a time t with x and m as they arrive there:

   1. Events. The actions of the guards found to cross zero at t run in declared order and may change x and m. A guard
      that an action, a task or a break makes jump across zero fires at the same instant; none fires twice at one instant.
      A terminal guard ends the run once these actions are done. Guards that only watch cut no steps: their crossings have
      been noted on the way.
   2. Ticks. The sampled tasks due at t run in declared order; each reads t, x, d, m and writes m. Tick k is at
      t0 + k base period: due tasks are found by whole numbers, never by comparing times.
   3. Segment. x is integrated, with m held, to the next tick, break, delayed jump or the end of the run, or to the first
      crossing of a guard with consequences, if that is earlier.
   4. Record. Every step leaves its rows: left limits at its end; the right limits follow once the instant is settled.

   Events and ticks at the end of the run still happen: what a run leaves are right limits. */

#include "parts.h"

#include <float.h>

/* Put the end of the step between its limits; dense output keeps to the step's polynomial. */
static void clip_end(Run *run) {
  if (run->n_active > 0 && !run->dense_known) {
    /* The polynomial is that of the end as it was: it is made only where this is beyond a limit. */
    copy_row(run, END, TRIAL);
    if (!clip_row(run, run->t_new, TRIAL)) return;
    need_dense(run);
  }
  if (!clip_row(run, run->t_new, END)) return;
  run->end_known = -1;
  if (run->n_active > 0) guards_at(run, 1.0, G_END);
}

/* The end of the step becomes the start of the next; its slope is kept where the method has it. */
static void move_on(Run *run) {
  const Method *method = run->method;
  count_long_steps(run);
  run->last_length = run->t_new - run->t;
  run->smallest_step = least(run->smallest_step, run->last_length);
  run->largest_step = largest(run->largest_step, run->last_length);
  run->steps++;
  run->k++;
  run->n_cuts = 0;
  run->across = 0.0;
  run->t = run->t_new;
  /* First same as last: the slope at the end is the first stage of the next step, where it is known. */
  copy_row(run, END, START);
  forget_slope(run);
  if (method->reuses_last && run->end_known >= 0) {
    copy_row(run, STAGE + method->stages - 1, STAGE);
    run->slope_known = 1;
  } else if (method->needs_end && run->end_known == 1) {
    copy_row(run, STAGE + method->stages, STAGE);
    run->slope_known = 1;
  }
}

/* A step that the error of the states allows and the guards do not: half of it is tried, as part of the same step. */
static int take_back(Run *run) {
  run->budget++;
  if (run->cut > 0.0) {
    run->rejected++;
    return 0;
  }
  run->h = 0.5 * run->h_tried;
  run->was_rejected = 1;
  run->rejected++;
  run->n_too_long++;
  return 0;
}

/* After an accepted step: constraints, events, limits, history, record; then its end is the next start. 1 when a guard
   fired. */
static int finish_step(Run *run) {
  const Model *model = run->model;
  /* Drift off the constraints is taken off first: guards and records see the projected state. */
  project_end(run);
  int fired = run->n_active > 0 || model->enclosures ? locate_events(run) : 0;
  /* A step too long for what the guards do is made again, half as long. */
  if (fired < 0) return take_back(run);
  /* Saturation: limited states end within their limits. */
  if (model->n_limited > 0) clip_end(run);
  if (model->n_d > 0) {
    need_dense(run);
    keep_step(run);
  }
  /* The right limits come when the instant is settled. */
  run->event_at = fired ? run->t_new : INFINITY;
  if (run->recording->kind <= RECORD_TIMES) record_step(run);
  move_on(run);
  if (run->n_active > 0) carry_signs(run);
  if (model->n_d > 0) read_right(run);
  return fired;
}

/* Steps to the end of the segment or the first event. Where nothing can happen at a tick but its tasks, it is passed on
   the way. */
static int64_t run_segment(Run *run) {
  if (run->method->adaptive && run->h == 0.0 && run->budget > 0) choose_first(run);
  for (;;) {
    /* Near a nominal motion whose propagators are known, many steps and ticks at once. */
    if (run->model->march) run->model->march->advance(run);
    /* Step by step to the end of the segment; a guard that fires ends it sooner. */
    while (run->t < run->t_stop) {
      /* The caller looks at the clock and the keyboard between budgets; the run does not notice. */
      if (run->budget <= 0) return BUDGET_USED;
      if (run->t_stop - run->t <= run->resolution && make_room(run)) {
        run->budget--;
        run->t = run->t_stop;
        run->last_length = 0.0;
        break;
      }
      /* A pair of methods chooses anew before each step. */
      if (run->first_method->stiff && choose_method(run)) return NEEDS_JACOBIAN;
      run->budget--;
      if (run->steps + run->rejected >= run->solver->max_steps) run->status = STEP_LIMIT;
      int taken = run->status == GOING && make_room(run) ? take_step(run) : 0;
      /* Below zero: the other method of the pair is to try it. Zero: the run cannot go on. */
      if (taken < 0) continue;
      if (!taken) {
        run->phase = CONCLUDE;
        return ENDED;
      }
      if (finish_step(run)) break;
    }
    /* Only where guards, delays or the record must see the instant is it more than its tasks. */
    if (!run->plain || !run->stop_is_tick || run->stop_is_break || run->t >= run->t_end) {
      begin_instant(run);
      return ENDED;
    }
    pass_tick(run);
  }
}

/* After an instant comes the next segment or the end. */
static void leave_instant(Run *run) {
  run->phase = CONCLUDE;
  if (run->status != GOING) return;
  if (run->terminal >= 0) {
    run->status = TERMINAL;
    run->offender = run->terminal;
  } else if (run->t >= run->t_end) {
    run->status = FINISHED;
  } else {
    plan_segment(run);
  }
}

/* The first instant: tasks due at tick 0, no events. */
static void start_run(Run *run) {
  run->t_stop = run->t;
  run->tick = run->last_tick >= 0 ? next_tick(run) : 0;
  run->stop_is_tick = run->last_tick >= 0 && run->tick == 0;
  begin_instant(run);
}

/* Whether the caller is to see located events before they act. */
static int must_pause(Run *run) {
  if (!run->pause_at_events || run->paused) return 0;
  for (int64_t j = 0; j < run->model->n_guards; j++)
    if (run->fired[j] == LOCATED) return run->paused = 1;
  return 0;
}

int64_t run_advance(Run *run) {
  for (;;) {
    int64_t reason = ENDED;
    switch (run->phase) {
      case BEGIN: start_run(run); break;
      case EVENTS:
        if (must_pause(run)) return EVENTS_DUE;
        reason = run_events(run);
        if (reason == ENDED && (run->terminal >= 0 || run->status != GOING)) run->phase = SETTLE;
        break;
      case TICKS: reason = run_ticks(run); break;
      case SETTLE:
        settle_instant(run);
        leave_instant(run);
        break;
      case SEGMENT: reason = run_segment(run); break;
      default: record_end(run); return ENDED;
    }
    if (reason != ENDED) return reason;
  }
}

/* Times closer than this times the largest time of a run are the same instant. */
#define TIME_RESOLUTION (16.0 * DBL_EPSILON)
/* Ticks of a run without end: no more can be counted by floating-point numbers. */
#define MOST_TICKS 9e15

void run_begin(Run *run, double t0, double t_last) {
  const Solver *solver = run->solver;
  int adaptive = run->method->adaptive != 0;
  double longest = adaptive ? solver->max_step : solver->step;
  /* A step must not be longer than a delay: it would read what it has not computed yet. */
  for (int64_t j = 0; j < run->model->n_d; j++) longest = least(longest, run->delay[j]);
  run->t0 = run->t = t0;
  run->t_left = INFINITY;
  run->t_last = t_last;
  run->max_step = longest;
  run->h = adaptive ? solver->step : 0.0;
  run->error_before = 1.0;
  run->smallest_step = run->stiff_since = INFINITY;
  run->changed_at = -INFINITY;
  run->rescued_at = -INFINITY;
  run->patience = FIRST_PATIENCE;
  run->caution = FIRST_CAUTION;
  run->offender = run->terminal = -1;
  for (int64_t k = 0; k < run->model->n_tasks; k++) run->task_due[k] = run->model->task_offset[k];
  for (int64_t k = 0; k < EXTREMES * run->model->n_watched; k++) run->extremes[k] = NAN;
  /* Delays, the end and the pace of drives: all that must be known before the first step. */
  begin_delays(run);
  run_extend(run, isfinite(t_last) ? t_last : t0);
  plan_pace(run);
  for (run->next_break = 0; run->next_break < run->n_breaks && run->breaks[run->next_break] <= t0;) run->next_break++;
}

void run_extend(Run *run, double t_end) {
  double end = isfinite(t_end) ? t_end : run->t, last = isfinite(run->t_last) ? run->t_last : end;
  double ticks = least((t_end - run->t0) / run->model->base_period, MOST_TICKS);
  run->t_end = t_end;
  run->resolution = TIME_RESOLUTION * largest(fabs(run->t0), fabs(last));
  run->min_step = run->solver->min_step > 0.0 ? run->solver->min_step : run->resolution;
  /* A tick nearer to the end than 1e-9 of a period is at the end. */
  run->last_tick = run->model->n_tasks > 0 ? (int64_t)floor(ticks + 1e-9) : -1;
  /* A run that had reached its old end goes on from there. */
  if (run->phase != CONCLUDE || run->status != FINISHED) return;
  run->status = GOING;
  if (run->open_end) forget_slope(run);
  plan_segment(run);
}

void run_note(Run *run) {
  if (run->n_active > 0) evaluate_guards(run, run->t, START, G_BEFORE);
}

void run_reopen(Run *run, int64_t x_changed, int64_t m_changed, int64_t jumped) {
  run->status = GOING;
  run->guard = run->task = run->tick_due = 0;
  run->x_changed = x_changed;
  run->m_changed = m_changed;
  run->jump_level = jumped ? 0 : SMOOTH;
  run->terminal = run->offender = -1;
  run->t_left = INFINITY;
  /* The error before belongs to what was before. */
  if (x_changed || jumped) run->error_before = 1.0;
  forget_slope(run);
  run->phase = EVENTS;
}

void run_conclude(Run *run, int64_t status) {
  run->status = status;
  run->phase = CONCLUDE;
  record_end(run);
}
