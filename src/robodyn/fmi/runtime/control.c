/* How long is the next step, and is it good enough? */

#include "engine.h"

#include <math.h>

#define LARGEST_STATE 1e150
#define SLIVER 1e-9

/* The k-th step of a segment ends at t_segment + k h, the last one at the end of the segment exactly; steps given by
   the model are all of one length, the longest that divides the segment. */
static double choose_fixed(Run *run) {
  double h = fmin(FIXED_STEP, run->shortest_delay);
  if (FAMILY >= TRACED) {
    double segment = run->t_stop - run->t_segment;
    h = segment / fmax(ceil(segment / h - SLIVER), 1.0);
  }
  run->t_new = run->t_segment + (double)(run->k + 1) * h;
  if (run->t_stop - run->t_new < SLIVER * h) {
    run->t_new = run->t_stop;
    h = run->t_stop - run->t;
  }
  return h;
}

/* The proposed step, made to end with the segment exactly and to leave no sliver before that. */
static double choose_adaptive(Run *run) {
  double rest = run->t_stop - run->t, longest = fmin(MAX_STEP, run->shortest_delay), h = fmin(run->h, longest);
  run->was_cut = 0;
  if (rest <= 1.05 * h && rest <= longest + run->resolution) {
    run->was_cut = rest < run->h;
    run->t_new = run->t_stop;
    return rest;
  }
  if (rest < 2.0 * h) {
    h = 0.5 * rest;
    run->was_cut = 1;
  }
  run->t_new = run->t + h;
  return h;
}

/* Root mean square of error_i / (atol scale_i + rtol max(|x0_i|, |x1_i|)). */
static double measure_error(Run *run) {
  double total = 0.0;
  for (int i = 0; i < N_X; i++) {
    double size = fmax(fabs(run->x[START][i]), fabs(run->x[END][i]));
    double error = run->x[ERROR][i] / (run->atol * STATE_SCALE[i] + run->rtol * size);
    total += error * error;
  }
  return sqrt(total / ROOM(N_X));
}

/* h_next = 0.9 h error^(-0.7/k) error_before^(0.4/k): Hairer, Norsett, Wanner (1993), II.4 and (1996), IV.2. A step cut
   short by the end of its segment does not make the proposal shorter. */
static void accept(Run *run, double error, double h) {
  if (run->was_cut && error < 1e-3 && run->h >= 5.0 * h) {
    run->error_before = fmax(error, 1e-4);
    run->was_rejected = 0;
    return;
  }
  error = fmax(error, 1e-10);
  double factor = 0.9 * pow(error, -0.7 / ERROR_ORDER) * pow(run->error_before, 0.4 / ERROR_ORDER);
  factor = fmin(fmax(factor, 0.2), run->was_rejected ? 1.0 : 5.0);
  double proposal = h * factor;
  if (run->was_cut && factor >= 1.0) proposal = fmax(proposal, run->h);
  run->h = proposal;
  run->error_before = fmax(error, 1e-4);
  run->was_rejected = 0;
}

static void reject(Run *run, double error, double h) {
  double factor = error < INFINITY ? fmax(0.2, 0.9 * pow(error, -1.0 / ERROR_ORDER)) : 0.25;
  run->h = h * fmin(factor, 0.9);
  run->was_rejected = 1;
}

static int stop(Run *run, int status, int culprit) {
  run->status = status;
  run->culprit = culprit;
  return 0;
}

/* Whether all states at the end of the step are numbers of a sane size. */
static int check_end(Run *run) {
  for (int i = 0; i < N_X; i++) {
    if (!isfinite(run->x[END][i])) return stop(run, NOT_A_NUMBER, i);
    if (fabs(run->x[END][i]) > LARGEST_STATE) return stop(run, OVERFLOWN, i);
  }
  return 1;
}

/* A step became too short: because of the first rate that is no number, else of the largest error. */
static int blame_step(Run *run) {
  double largest = -1.0;
  int culprit = -1;
  for (int j = 0; j < STAGES; j++)
    for (int i = 0; i < N_X; i++)
      if (!isfinite(run->x[STAGE + j][i])) return stop(run, NOT_A_NUMBER, i);
  for (int i = 0; i < N_X; i++) {
    double size = fabs(run->x[ERROR][i]) / (run->atol * STATE_SCALE[i] + run->rtol * fabs(run->x[START][i]));
    if (size > largest) {
      largest = size;
      culprit = i;
    }
  }
  return stop(run, STEP_TOO_SMALL, culprit);
}

/* Make one accepted step from START to END, t to t_new; 0 when the run cannot go on. */
int take_step(Run *run) {
  run->dense_known = run->end_known = 0;
  run->theta_end = 1.0;
  if (!ADAPTIVE) {
    run->h_tried = choose_fixed(run);
    return attempt(run) ? check_end(run) : stop(run, NOT_SOLVED, -1);
  }
  while (run->steps < MOST_STEPS) {
    double h = choose_adaptive(run);
    run->h_tried = h;
    double error = attempt(run) ? measure_error(run) : INFINITY;
    if (error <= 1.0) {
      accept(run, error, h);
      return check_end(run);
    }
    reject(run, error, h);
    run->steps++;
    if ((run->h < run->min_step && h <= run->min_step + run->resolution) || run->h < run->resolution)
      return blame_step(run);
    run->h = fmax(run->h, run->min_step);
  }
  return stop(run, STEP_LIMIT, -1);
}

/* Root mean square of a row in units of the tolerance of each state. */
static double scaled_size(Run *run, int source) {
  double total = 0.0;
  for (int i = 0; i < N_X; i++) {
    double size = run->x[source][i] / (run->atol * STATE_SCALE[i] + run->rtol * fabs(run->x[START][i]));
    total += size * size;
  }
  return sqrt(total / ROOM(N_X));
}

/* First step by the sizes of x, x_dot and their change: Hairer, Norsett, Wanner (1993), II.4. */
void choose_first(Run *run) {
  need_slope(run);
  double size = scaled_size(run, START), speed = scaled_size(run, STAGE), span = run->t_final - run->t;
  double h = size > 1e-5 && speed > 1e-5 ? 0.01 * size / speed : 1e-6;
  h = fmin(fmin(fmin(h, span), MAX_STEP), run->shortest_delay);
  for (int i = 0; i < N_X; i++) run->x[TRIAL][i] = run->x[START][i] + h * run->x[STAGE][i];
  evaluate_rate(run, run->t + h, TRIAL, END);
  for (int i = 0; i < N_X; i++) run->x[END][i] -= run->x[STAGE][i];
  double largest = fmax(speed, scaled_size(run, END) / h);
  double longer = largest > 1e-15 ? pow(0.01 / largest, 1.0 / ERROR_ORDER) : fmax(1e-6, 1e-3 * h);
  run->h = longer > 0.0 ? fmax(fmin(fmin(100.0 * h, longer), span), run->min_step) : h;
}
