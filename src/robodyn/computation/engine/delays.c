/* Delayed signals: what were they some time ago, and when do their jumps arrive?

   The signals of every step are kept as polynomials of degree 4 through five equally spaced points of the step,

       w(theta) = (1 - theta) w0 + theta w1 + theta (1 - theta) (a + b theta + c theta^2)

   which give both ends to the last digit: a signal that does not jump is continuous from step to step, and an event that
   watches it sees its root once. At a time where a signal jumped, the side counts: a step reads the right limit at its
   start and the left limit at its end. Instants at which something jumped are kept with a level, which counts how often the
   jump has been integrated. */

#include "parts.h"

static double *kept_step(const Run *run, int64_t index) { return run->history + history_width(run) * index; }

/* Delayed signal j at a place theta of a step of the history. */
static double signal_at(const Run *run, int64_t j, int64_t index, double theta) {
  if (index < 0) return run->before[j];
  const double *terms = kept_step(run, index) + STEP_HEAD + TERMS * j;
  double rest = 1.0 - theta;
  return rest * terms[0] + theta * terms[1] + theta * rest * (terms[2] + theta * (terms[3] + theta * terms[4]));
}

/* Its rate there. */
static double rate_at(const Run *run, int64_t j, int64_t index, double theta) {
  if (index < 0) return 0.0;
  const double *step = kept_step(run, index), *terms = step + STEP_HEAD + TERMS * j;
  double bend = terms[2] + theta * (terms[3] + theta * terms[4]), twist = terms[3] + 2.0 * theta * terms[4];
  return (terms[1] - terms[0] + (1.0 - 2.0 * theta) * bend + theta * (1.0 - theta) * twist) * step[2];
}

/* Step of the history that signal j reads at time t, from the left or from the right; step -1, before the start, ends at t0. */
static int64_t step_at(const Run *run, int64_t j, double t, int from_right) {
  int64_t index = run->cursor[j];
  /* The cursor only goes forward: a run's delayed time does. */
  double passed = from_right ? t + run->resolution : t - run->resolution;
  if (index < 0 && index + 1 < run->n_history && run->t0 < passed) index = 0;
  int64_t width = history_width(run);
  for (const double *step = run->history + width * index; index >= 0 && index + 1 < run->n_history && step[1] < passed; step += width)
    index++;
  return index;
}

static double place_in(const Run *run, int64_t index, double t) {
  if (index < 0) return 0.0;
  const double *step = kept_step(run, index);
  return (t - step[0]) * step[2];
}

/* The same, but exactly at an end of the step where the time is the same as that: from both sides of an instant, a signal
   that does not jump there is the same to the last digit. */
static double place_at_instant(const Run *run, int64_t index, double t) {
  if (index < 0 || t - kept_step(run, index)[0] <= run->resolution) return 0.0;
  return kept_step(run, index)[1] - t <= run->resolution ? 1.0 : place_in(run, index, t);
}

/* Right limits d(t+) at the present time; moves the cursors there. */
void read_right(Run *run) {
  for (int64_t j = 0; j < run->model->n_d; j++) {
    double t = run->t - run->delay[j];
    int64_t index = run->cursor[j] = step_at(run, j, t, 1);
    run->d[j] = signal_at(run, j, index, place_at_instant(run, index, t));
  }
}

/* Left limits at the end of the present step. */
void read_left(Run *run, double time) {
  for (int64_t j = 0; j < run->model->n_d; j++) {
    double t = time - run->delay[j];
    int64_t index = step_at(run, j, t, 0);
    run->d[j] = signal_at(run, j, index, place_at_instant(run, index, t));
  }
}

/* Delayed signals at a time within the present step, its end seen from the left. */
void read_inside(Run *run, double time) {
  for (int64_t j = 0; j < run->model->n_d; j++) {
    double t = time - run->delay[j];
    int64_t index = step_at(run, j, t, 0);
    run->d[j] = signal_at(run, j, index, place_in(run, index, t));
  }
}

/* Rates of the delayed signals, behind these; at the present time from the right. */
void read_rates(Run *run, double time) {
  for (int64_t j = 0; j < run->model->n_d; j++) {
    double t = time - run->delay[j];
    int64_t index = step_at(run, j, t, time <= run->t);
    run->d[run->model->n_d + j] = rate_at(run, j, index, place_in(run, index, t));
  }
}

/* [middle, radius, and those of its rate, by the place in the present step] of delayed signal j between two times. */
void bound_delayed(Run *run, int64_t j, double from, double to, double bounds[4]) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, begin = from - run->delay[j], end = to - run->delay[j];
  int64_t last = step_at(run, j, end, 0);
  for (int64_t index = step_at(run, j, begin, 1) < last ? step_at(run, j, begin, 1) : last; index <= last; index++) {
    double c[5] = {index < 0 ? run->before[j] : 0.0, 0.0, 0.0, 0.0, 0.0}, part[4], scale = 1.0, a = 0.0, b = 0.0;
    if (index >= 0) {
      const double *step = kept_step(run, index), *w = step + STEP_HEAD + TERMS * j;
      a = largest(place_in(run, index, begin), 0.0);
      b = least(largest(place_in(run, index, end), a), 1.0);
      scale = run->h_tried * step[2];
      c[0] = w[0];
      c[1] = w[1] - w[0] + w[2];
      c[2] = w[3] - w[2];
      c[3] = w[4] - w[3];
      c[4] = -w[4];
    }
    bound_quartic(c, a, b, part);
    for (int k = 0; k < 2; k++) {
      double factor = k ? scale : 1.0;
      low[k] = least(low[k], factor * (part[2 * k] - part[2 * k + 1]));
      high[k] = largest(high[k], factor * (part[2 * k] + part[2 * k + 1]));
    }
  }
  for (int k = 0; k < 2; k++) {
    bounds[2 * k] = 0.5 * (low[k] + high[k]);
    bounds[2 * k + 1] = 0.5 * (high[k] - low[k]);
  }
}

/* [w0, w1, a, b, c] of signal j from its values at the five points: the quadratic goes through what the three inner ones
   leave of the straight line. */
static void fit(const double *nodes, int64_t n, int64_t j, double *terms) {
  double w0 = nodes[j], w1 = nodes[4 * n + j];
  /* What is left of the line, divided by theta (1 - theta) at 1/4, 1/2 and 3/4. */
  double first = (nodes[n + j] - (0.75 * w0 + 0.25 * w1)) * (16.0 / 3.0);
  double middle = (nodes[2 * n + j] - 0.5 * (w0 + w1)) * 4.0;
  double last = (nodes[3 * n + j] - (0.25 * w0 + 0.75 * w1)) * (16.0 / 3.0);
  double c = 8.0 * (first - 2.0 * middle + last), b = 2.0 * (last - first) - c;
  terms[0] = w0;
  terms[1] = w1;
  terms[2] = middle - 0.5 * b - 0.25 * c;
  terms[3] = b;
  terms[4] = c;
}

/* Append the present step's delayed signals to the history; a step too short to matter is left out. */
void keep_step(Run *run) {
  int64_t n = run->model->n_d;
  /* At five points of the step; its ends are seen from inside. */
  if (run->t_new - run->t <= run->resolution) return;
  for (int k = 0; k < 5; k++) {
    double t = set_point(run, 0.25 * k);
    if (k == 0)
      read_right(run);
    else if (k == 4)
      read_left(run, t);
    else
      read_inside(run, t);
    call_kernel(run, run->model->delayed, t, state(run, POINT), run->nodes + k * n);
  }
  double *step = append_row(run, &run->history, &run->n_history, &run->history_capacity, history_width(run), run->cursor);
  if (step == NULL) return;
  step[0] = run->t;
  step[1] = run->t_new;
  step[2] = 1.0 / (run->t_new - run->t);
  for (int64_t j = 0; j < n; j++) fit(run->nodes, n, j, step + STEP_HEAD + TERMS * j);
  if (!run->bent || run->theta_end < 1.0) return;
  push_jump(run, run->t_new, run->bent);
  /* It may arrive before the segment ends as it was planned. */
  double arrival = next_arrival(run);
  if (arrival >= run->t_stop) return;
  run->t_stop = run->t_left = arrival;
  run->stop_is_tick = run->stop_is_break = 0;
}

/* A jump of the list: [t, level of each delayed signal]. */
static double *kept_jump(const Run *run, int64_t index) { return run->jumps + (1 + run->model->n_d) * index; }

/* Earliest time at which a delayed signal jumps or has a kink [s]. */
double next_arrival(Run *run) {
  double t = INFINITY;
  for (int64_t j = 0; j < run->model->n_d; j++) {
    int64_t *next = &run->next_jump[j];
    while (*next < run->n_jumps && kept_jump(run, *next)[1 + j] >= SMOOTH) ++*next;
    if (*next < run->n_jumps) t = least(t, kept_jump(run, *next)[0] + run->delay[j]);
  }
  return t;
}

/* Pass the jumps that have arrived by now; the lowest level of these and the one given. */
int64_t pass_arrivals(Run *run, int64_t level) {
  for (int64_t j = 0; j < run->model->n_d; j++) {
    run->arrived[j] = SMOOTH;
    for (; run->next_jump[j] < run->n_jumps; run->next_jump[j]++) {
      const double *jump = kept_jump(run, run->next_jump[j]);
      if (!(jump[0] + run->delay[j] <= run->t)) break;
      run->arrived[j] = at_most((int64_t)jump[1 + j], run->arrived[j]);
    }
    level = at_most(run->arrived[j], level);
  }
  return level;
}

/* What happened at a time with a level will arrive after each delay; and what has just arrived, once it has been integrated as
   often as that takes. What has been integrated often enough is smooth. */
void push_jump(Run *run, double t, int64_t level) {
  int64_t n = run->model->n_d, smooth = at_least(run->method->order, run->model->delay_depth) + 1;
  double *jump = run->n_jumps > 0 && kept_jump(run, run->n_jumps - 1)[0] == t ? kept_jump(run, run->n_jumps - 1) : NULL;
  for (int64_t k = 0; k < n; k++) {
    int64_t own = level;
    for (int64_t j = 0; j < n && level >= SMOOTH; j++) own = at_most(run->arrived[j] + run->model->passage[j * n + k], own);
    if (own >= smooth) continue;
    if (jump == NULL) {
      jump = append_row(run, &run->jumps, &run->n_jumps, &run->jump_capacity, 1 + n, run->next_jump);
      if (jump == NULL) return;
      jump[0] = t;
      for (int64_t i = 0; i < n; i++) jump[1 + i] = SMOOTH;
    }
    jump[1 + k] = least(jump[1 + k], (double)own);
  }
}

/* No past but that before the start. */
void begin_delays(Run *run) {
  for (int64_t j = 0; j < run->model->n_d; j++) {
    run->d[j] = run->before[j];
    run->cursor[j] = -1;
    run->next_jump[j] = 0;
  }
}
