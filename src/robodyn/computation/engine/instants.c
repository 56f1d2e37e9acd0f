/* Events and ticks: what happens at an instant? */

#include "parts.h"

/* Arrive at an instant: note which tick, break and delayed jumps it is, and read the delayed signals from the right. */
void begin_instant(Run *run) {
  int reached = run->t >= run->t_stop;
  run->t_left = INFINITY;
  run->tick_due = reached && run->stop_is_tick;
  run->jump_level = reached && run->stop_is_break ? 0 : SMOOTH;
  run->x_changed = run->m_changed = run->paused = 0;
  run->guard = run->task = run->returns = 0;
  /* Breaks that have been reached are done. */
  while (run->jump_level == 0 && run->next_break < run->n_breaks && run->breaks[run->next_break] <= run->t)
    run->next_break++;
  /* Jumps that left some time ago arrive now, as smooth as integrating them since has made them. */
  if (run->model->n_d > 0) {
    run->jump_level = pass_arrivals(run, run->jump_level);
    read_right(run);
  }
  /* Nothing is smooth across a jump: the slope of the last stage does not hold on the other side. */
  if (run->jump_level < SMOOTH) forget_slope(run);
  if (run->n_active > 0) evaluate_guards(run, run->t, START, G_BEFORE);
  run->phase = EVENTS;
}

/* Modes of complementarity problems, one after the other, each on the m the one before it left. */
static void find_modes(Run *run, int64_t problems) {
  const Model *model = run->model;
  for (int64_t j = 0; j < model->n_problems; j++) {
    if (!(problems >> j & 1)) continue;
    int64_t k = model->problem_rows[j], n = model->problem_joints[j];
    call_kernel(run, model->problem[j], run->t, state(run, START), run->problem);
    solve_complementarity(k, n, run->problem, run->problem + complementarity_data(k, n), run->m + model->problem_place[j]);
  }
}

/* A compiled action: new x and m, after the modes that it reads there. */
static void act(Run *run, Kernel action, int64_t problems) {
  const Model *model = run->model;
  double *x = state(run, START);
  find_modes(run, problems);
  call_kernel(run, action, run->t, x, run->changed);
  for (int64_t i = 0; i < model->n_x; i++) x[i] = run->changed[i];
  for (int64_t i = 0; i < model->n_m; i++) run->m[i] = run->changed[model->n_x + i];
  run->x_changed = 1;
}

/* Mark what fired as done and look for guards that jumped; 1 when there are any. */
static int run_again(Run *run) {
  for (int64_t j = 0; j < run->n_active; j++)
    if (run->fired[j] == LOCATED) run->fired[j] = -LOCATED;
  int something_jumped = run->x_changed || run->m_changed || run->jump_level < SMOOTH;
  return run->armed && run->model->n_guards > 0 && something_jumped && find_jumps(run);
}

/* Actions of the guards that fired, in declared order, each on the x and m the one before it left. Guards that an action
   makes jump across zero fire at the same instant, after those. */
int64_t run_events(Run *run) {
  const Model *model = run->model;
  do {
    while (run->guard < model->n_guards) {
      int64_t j = run->guard++, fired = run->fired[j];
      if (fired != LOCATED && fired != JUMPED) continue;
      log_event(run, j, run->t);
      if (fired == JUMPED) run->fired[j] = JUMP_DONE;
      /* An action in another language: the caller carries it out, and comes back for the next. */
      if (model->guard_action[j] == OUTSIDE) {
        run->x_changed = 1;
        return NEEDS_ACTION;
      }
      if (model->guard_action[j]) act(run, model->guard_action[j], model->guard_problems[j]);
    }
    run->guard = 0;
  } while (run_again(run));
  run->phase = TICKS;
  return ENDED;
}

/* Take over the memory a task has written; note whether it differs. */
static void take_memory(Run *run) {
  for (int64_t i = 0; i < run->model->n_m; i++) {
    if (run->m[i] != run->changed[i]) run->m_changed = 1;
    run->m[i] = run->changed[i];
  }
}

/* Tasks due at this tick, in their order, each on the m the one before it left. */
int64_t run_ticks(Run *run) {
  const Model *model = run->model;
  if (run->tick_due) {
    while (run->task < model->n_tasks) {
      int64_t k = run->task++;
      if (run->task_due[k] != run->tick) continue;
      run->task_due[k] += model->task_period[k];
      /* A task in another language, as with actions. */
      if (!model->task[k]) return NEEDS_TASK;
      call_kernel(run, model->task[k], run->t, state(run, START), run->changed);
      take_memory(run);
    }
    run->tick_due = 0;
    run->ticks++;
  }
  /* New memory may make a guard jump: then there are events once more at this instant. */
  run->phase = run->m_changed && run_again(run) ? EVENTS : SETTLE;
  return ENDED;
}

/* Level of what has jumped at this instant by itself, also from outside; a tick's jump is followed only through delays that
   feed one another directly. SMOOTH: nothing has. */
static int64_t own_level(const Run *run) {
  int64_t depth = run->model->delay_depth;
  int jumped = run->x_changed || run->t <= run->t0 || (run->open_end && run->t >= run->t_end) || run->jump_level == 0;
  if (jumped) return 1;
  return run->m_changed ? at_least(run->method->order, depth) - depth + 1 : SMOOTH;
}

/* Leave an instant: limits, signs of the guards, right side of the record, coming delayed jumps. At the start, before any
   guard is armed, an action may make the state consistent. */
void settle_instant(Run *run) {
  const Model *model = run->model;
  int first = run->t <= run->t0;
  /* The start is made consistent, then within its limits. */
  if (!run->armed && model->start_action && first) act(run, model->start_action, model->start_problems);
  if (model->n_limited > 0 && (run->x_changed || run->m_changed || first)) clip_row(run, run->t, START);
  if (run->x_changed || run->m_changed) forget_slope(run);
  /* A state that meets its limit has a rate that jumps. */
  for (int64_t j = model->n_guards; j < run->n_active; j++)
    if (run->fired[j] != NOT_FIRED) run->broken = 1;
  /* From here on guards compare with the signs of this side of the instant. */
  if (run->n_active > 0) settle_signs(run);
  if (run->x_changed || run->m_changed || run->jump_level < SMOOTH) run->broken = 1;
  record_instant(run);
  if (model->n_d > 0) {
    push_jump(run, run->t, SMOOTH);
    if (own_level(run) < SMOOTH) push_jump(run, run->t, own_level(run));
  }
}

/* An instant without events, delays or right limits to record: its tasks, then the next segment. */
void pass_tick(Run *run) {
  const Model *model = run->model;
  /* A step that the model takes itself has no slope to keep: whether the memory changes does not matter. */
  int fused = run->method->family == FUSED_STEP;
  run->m_changed = fused;
  for (int64_t k = 0; k < model->n_tasks; k++) {
    if (run->task_due[k] != run->tick) continue;
    run->task_due[k] += model->task_period[k];
    call_kernel(run, model->task[k], run->t, state(run, START), fused ? run->m : run->changed);
    if (!fused) take_memory(run);
  }
  run->ticks++;
  if (run->m_changed) {
    run->broken = 1;
    if (model->n_limited > 0) clip_row(run, run->t, START);
    forget_slope(run);
  }
  plan_segment(run);
}

/* Number of the next tick at which any task is due. */
int64_t next_tick(const Run *run) {
  int64_t tick = INT64_MAX;
  for (int64_t k = 0; k < run->model->n_tasks; k++)
    if (run->task_due[k] < tick) tick = run->task_due[k];
  return tick;
}

/* The nearest number to t0 + tick base, from whole numbers where they are known: ticks are never found by comparing
   times. */
static double tick_time(const Run *run) {
  const Model *model = run->model;
  if (model->base_numerator > 0)
    return run->t0 + (double)(run->tick * model->base_numerator) / (double)model->base_denominator;
  return run->t0 + (double)run->tick * model->base_period;
}

/* The segment ends at the next tick, delayed jump, break or the end of the run, whichever is first. Within it, a break and
   an open end are seen from the left. */
void plan_segment(Run *run) {
  /* The end of the run, unless a tick comes before it, ... */
  run->t_stop = run->t_end;
  run->stop_is_tick = run->stop_is_break = 0;
  if (run->last_tick >= 0) {
    run->tick = next_tick(run);
    if (run->tick <= run->last_tick) {
      run->t_stop = least(tick_time(run), run->t_end);
      run->stop_is_tick = 1;
    }
  }
  /* ... a delayed jump before that, ... */
  double arrival = run->model->n_d > 0 ? next_arrival(run) : INFINITY;
  if (arrival < run->t_stop) {
    run->t_stop = arrival;
    run->stop_is_tick = 0;
  }
  /* ... or a break. One that only rounding tells from a tick is at the tick: samples there see what begins with it. */
  double at = run->next_break < run->n_breaks ? run->breaks[run->next_break] : INFINITY;
  double near = run->stop_is_tick ? run->resolution : 0.0;
  if (at <= run->t_stop + near) {
    if (at < run->t_stop - near) run->stop_is_tick = 0;
    run->t_stop = run->stop_is_tick ? largest(at, run->t_stop) : at;
    run->stop_is_break = 1;
  }
  /* Rates within the segment must not see what begins at its end. */
  int from_left = run->stop_is_break || (run->open_end && run->t_stop == run->t_end);
  run->t_left = from_left ? nextafter(least(at, run->t_stop), -INFINITY) : run->t_stop;
  run->t_segment = run->t;
  run->k = 0;
  run->phase = SEGMENT;
}
