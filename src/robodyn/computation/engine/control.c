/* Step size control: how long is the next step, and is it good enough? */

#include "parts.h"

#define LARGEST_STATE 1e150

/* A fixed step's rest shorter than this part of a step belongs to the step before it. */
#define SLIVER 1e-9

#define SAFETY 0.9
#define LEAST_FACTOR 0.2
#define LARGEST_FACTOR 5.0

/* Least error remembered for the next proposal; an error that makes any proposal longer. */
#define LEAST_ERROR 1e-4
#define NEGLIGIBLE 1e-3

/* Part of a step up to a change that may not be there. */
#define RECEDES 1e-3

/* The k-th step of a segment ends at t_segment + k h, the last one at the end of the segment exactly. Steps given by the
   model are all of one length, the longest that divides the segment: some carry over what belongs to a length. */
static double choose_fixed(Run *run) {
  double h = run->max_step;
  if (run->method->family >= IMPLICIT_STEP) {
    double segment = run->t_stop - run->t_segment;
    h = segment / largest(ceil(segment / h - SLIVER), 1.0);
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
  /* Stretched a little, one step reaches the end; or two equal ones do; so no sliver of a step is left. */
  double rest = run->t_stop - run->t, longest = longest_step(run), h = least(run->h, longest);
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

/* Tolerance of state i where it has some size. */
double allowed_error(const Run *run, int64_t i, double size) {
  return run->solver->atol * run->model->scale[i] + run->solver->rtol * size;
}

/* x^y; of portable models to seven digits, since C libraries differ in the last of sixteen. */
static double power(const Run *run, double x, double y) {
  double value = pow(x, y);
  return run->model->portable ? (double)(float)value : value;
}

/* x^a y^b, by one exponential where a power need not be portable. */
static double product_of_powers(const Run *run, double x, double a, double y, double b) {
  return run->model->portable ? power(run, x, a) * power(run, y, b) : exp(a * log(x) + b * log(y));
}

/* Root mean square of error_i / (atol scale_i + rtol max(|x0_i|, |x1_i|)). */
double measure_error(const Run *run) {
  const double *start = state(run, START), *end = state(run, END), *errors = state(run, ERROR);
  const double *scale = run->model->scale;
  double atol = run->solver->atol, rtol = run->solver->rtol, sums[2] = {0.0, 0.0};
  int64_t n = run->model->n_x;
  /* Two at a time, as processors divide. */
  for (int64_t i = 0; i + 1 < n; i += 2)
    for (int64_t k = 0; k < 2; k++) {
      double size = largest(fabs(start[i + k]), fabs(end[i + k])), error = errors[i + k] / (atol * scale[i + k] + rtol * size);
      sums[k] += error * error;
    }
  if (n % 2) {
    double error = errors[n - 1] / allowed_error(run, n - 1, largest(fabs(start[n - 1]), fabs(end[n - 1])));
    sums[0] += error * error;
  }
  return sqrt((sums[0] + sums[1]) / (double)at_least(n, 1));
}

/* Propose the next step by a proportional-integral rule: Hairer, Norsett, Wanner (1993), II.4 and (1996), IV.2,

       h_next = 0.9 h error^(-0.7/k) error_before^(0.4/k)

   A step cut short by the end of its segment does not make the proposal shorter. */
static void accept(Run *run, double error, double h) {
  double k = (double)run->method->error_order;
  /* Between ticks most steps are cut short: the powers below are spared where they decide nothing. */
  if (run->was_cut && error < NEGLIGIBLE && run->h >= LARGEST_FACTOR * h) {
    /* The rule would leave the proposal as it is: the factor is above 1 and the proposal longer than it allows. */
    run->error_before = largest(error, LEAST_ERROR);
    run->was_rejected = 0;
    return;
  }
  /* Proportional-integral: the error before damps the answer to this one. After a rejection no step grows. */
  error = largest(error, 1e-10);
  double factor = SAFETY * product_of_powers(run, error, -0.7 / k, run->error_before, 0.4 / k);
  factor = least(largest(factor, LEAST_FACTOR), run->was_rejected ? 1.0 : LARGEST_FACTOR);
  double proposal = h * factor;
  if (run->was_cut && factor >= 1.0) proposal = largest(proposal, run->h);
  run->h = proposal;
  run->error_before = largest(error, LEAST_ERROR);
  run->was_rejected = 0;
}

/* Shorten the proposal: by the error, or to a quarter where there is none. */
static void reject(Run *run, double error, double h) {
  /* The classical rule, from the error alone: h_next = 0.9 h error^(-1/k). */
  double factor = 0.25;
  if (error < INFINITY) factor = largest(LEAST_FACTOR, SAFETY * power(run, error, -1.0 / (double)run->method->error_order));
  run->h = h * least(factor, 0.9);
  run->was_rejected = 1;
  run->rejected++;
}

static int stop(Run *run, int64_t status, int64_t offender) {
  run->status = status;
  run->offender = offender;
  return 0;
}

/* First state whose derivative, in the order of the stages, or value is no finite number; -1 if none. */
static int64_t find_infinite(const Run *run) {
  for (int64_t j = 0; j <= run->method->stages; j++) {
    const double *values = state(run, j < run->method->stages ? STAGE + j : END);
    for (int64_t i = 0; i < run->model->n_x; i++)
      if (!isfinite(values[i])) return i;
  }
  return -1;
}

/* The end of the step is no number or too large: because of which state? */
static int blame_end(Run *run) {
  const double *end = state(run, END);
  int64_t offender = find_infinite(run);
  if (offender >= 0) return stop(run, NOT_A_NUMBER, offender);
  for (offender = 0; !(fabs(end[offender]) > LARGEST_STATE);) offender++;
  return stop(run, OVERFLOWN, offender);
}

/* A step became too short: because of the first state that is no number, else the one of largest error. */
static int blame_step(Run *run) {
  const double *start = state(run, START), *errors = state(run, ERROR);
  double most = -1.0;
  int64_t offender = find_infinite(run);
  if (offender >= 0) return stop(run, NOT_A_NUMBER, offender);
  for (int64_t i = 0; i < run->model->n_x; i++) {
    double size = fabs(errors[i]) / allowed_error(run, i, fabs(start[i]));
    if (size > most) {
      most = size;
      offender = i;
    }
  }
  return stop(run, STEP_TOO_SMALL, offender);
}

/* Whether all states at the end of the step are numbers of a sane size. */
int end_is_sane(const Run *run) {
  const double *end = state(run, END);
  int64_t n = run->model->n_x, bad = 0, i = 0;
  double sums[ABREAST] = {0.0}, total = 0.0;
  /* Where the sum of their sizes is sane, and so is none that is no number, each of them is. */
  for (; i + ABREAST <= n; i += ABREAST)
    for (int64_t k = 0; k < ABREAST; k++) sums[k] += fabs(end[i + k]);
  for (; i < n; i++) total += fabs(end[i]);
  for (int64_t k = 0; k < ABREAST; k++) total += sums[k];
  if (total <= LARGEST_STATE) return 1;
  for (i = 0; i < n; i++) bad |= !(fabs(end[i]) <= LARGEST_STATE);
  return !bad;
}

static int check_end(Run *run) { return end_is_sane(run) ? 1 : blame_end(run); }

/* Make one accepted step from START to END, t to t_new; 0 when the run cannot go on (status, offender), -1 when another
   method is to try it. */
int take_step(Run *run) {
  run->dense_known = run->end_known = run->guards_known = run->bent = 0;
  run->theta_end = 1.0;
  if (!run->method->adaptive) {
    run->h_tried = choose_fixed(run);
    return try_step(run) ? check_end(run) : stop(run, NOT_SOLVED, run->offender);
  }
  while (run->steps + run->rejected < run->solver->max_steps) {
    /* Up to a change of a condition, or as proposed. */
    double h = run->cut > 0.0 ? run->cut : choose_adaptive(run);
    run->bent = run->cut > 0.0 ? run->cut_level : 0;
    if (run->cut > 0.0) {
      run->t_new = run->t + h;
      run->was_cut = 1;
    }
    run->cut = 0.0;
    run->h_tried = h;
    run->dense_known = run->end_known = run->guards_known = 0;
    /* Equations that could not be solved are an error beyond all bounds. */
    double error = try_step(run) ? measure_error(run) : INFINITY;
    /* The error of a step across a change says little: what lies before it is tried first. */
    if (error > 1.0 && error < INFINITY && changes_between(run, 0)) {
      run->rejected++;
      /* So near a change as a step that is far too long says it to be, it recedes: the next step is not as long again. */
      if (run->cut < RECEDES * h) run->h = least(run->h, 0.5 * h);
      continue;
    }
    if (error <= 1.0) {
      accept(run, error, h);
      note_step(run);
      return check_end(run);
    }
    reject(run, error, h);
    /* Shorter than the shortest: the other method of a pair may try, else the run ends here. */
    if ((run->h < run->min_step && h <= run->min_step + run->resolution) || run->h < run->resolution)
      return change_failing(run) ? -1 : blame_step(run);
    run->h = largest(run->h, run->min_step);
  }
  return stop(run, STEP_LIMIT, run->offender);
}

/* Root mean square of a row in units of the tolerance of each state. */
static double scaled_size(const Run *run, int64_t source) {
  const double *values = state(run, source), *start = state(run, START);
  double total = 0.0;
  for (int64_t i = 0; i < run->model->n_x; i++) {
    double size = values[i] / allowed_error(run, i, fabs(start[i]));
    total += size * size;
  }
  return sqrt(total / (double)at_least(run->model->n_x, 1));
}

/* First step of an adaptive method by the sizes of x, x_dot and their change: Hairer, Norsett, Wanner (1993), II.4. */
void choose_first(Run *run) {
  need_slope(run);
  const double *start = state(run, START), *slope = state(run, STAGE);
  double *trial = state(run, TRIAL), *end = state(run, END);
  double size = scaled_size(run, START), speed = scaled_size(run, STAGE), span = run->t_last - run->t;
  /* An Euler step that changes x by a hundredth of its size, */
  double h = size > 1e-5 && speed > 1e-5 ? 0.01 * size / speed : 1e-6;
  h = least(least(h, span), longest_step(run));
  for (int64_t i = 0; i < run->model->n_x; i++) trial[i] = start[i] + h * slope[i];
  /* the second derivative from where it leads, */
  evaluate_rate(run, run->t + h, TRIAL, END);
  for (int64_t i = 0; i < run->model->n_x; i++) end[i] -= slope[i];
  double most = largest(speed, scaled_size(run, END) / h);
  /* and a step whose error would be a hundredth: h^k max(|x_dot|, |x_ddot|) = 0.01. */
  double longer = most > 1e-15 ? power(run, 0.01 / most, 1.0 / (double)run->method->error_order) : largest(1e-6, 1e-3 * h);
  run->h = longer > 0.0 ? largest(least(least(100.0 * h, longer), span), run->min_step) : h;
}
