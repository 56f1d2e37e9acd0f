/* Stabilised explicit method: RKC, the Runge-Kutta-Chebyshev method of order 2, for motions that settle fast and are damped.

   Symbols: s stages, rho the spectral radius of df/dx: how fast the fastest motion settles; T_j Chebyshev polynomials.

   Stages that a Runge-Kutta method has beyond those that its order needs can serve its stability instead: that of RKC grows
   as s^2,

       h rho <= 2/3 (s^2 - 1)(1 - 2/15 epsilon),    epsilon = 2/13 the damping

   so that a step of any length takes about sqrt(1.5 h rho) evaluations, no derivatives and no equations to solve. Contacts and
   their bristles are such motions: stiff, damped, and their modes change too often for factorised matrices. What swings fast
   and is not damped needs short steps as with any explicit method.

   Sommeijer, Shampine and Verwer (1998), RKC: an explicit solver for parabolic PDEs; J. Comput. Appl. Math. 88, 315-326:

       Y_0 = x0,    Y_1 = Y_0 + mu1~ h F_0
       Y_j = (1 - mu_j - nu_j) Y_0 + mu_j Y_{j-1} + nu_j Y_{j-2} + mu_j~ h F_{j-1} + gamma_j~ h F_0,    x1 = Y_s
       error = 0.8 (x0 - x1) + 0.4 h (F_0 + F_1)

   The rows of its stages are x_dot at the start, (x1 - x0) / h, the direction of the fastest motion, and x_dot at the end. */

#include "parts.h"

#define EPSILON (2.0 / 13.0)
/* Part of the estimated radius that is added, for what it misses; change of the estimate that ends the search for it. */
#define MARGIN 0.2
#define CLOSE 0.03
/* Length of the perturbation by which it is estimated: in tolerances, and at least this part of the state, for rounding. */
#define LEAST_PERTURBED 1e-2
#define PART_PERTURBED 1e-7
/* Most evaluations for one estimate, steps that it serves, stages of a step. */
enum { MOST_SEARCHES = 50, SERVES = 10, MOST_STAGES = 250 };
enum { SLOPE, CHANGE, FASTEST, SLOPE_AT_END };

/* Root mean square of the difference of two rows, in tolerances. */
static double distance(const Run *run, const double *a, const double *b) {
  const double *x = state(run, START);
  double total = 0.0;
  for (int64_t i = 0; i < run->model->n_x; i++) {
    double size = (a[i] - (b ? b[i] : 0.0)) / allowed_error(run, i, fabs(x[i]));
    total += size * size;
  }
  return sqrt(total / (double)at_least(run->model->n_x, 1));
}

/* The spectral radius by a power method without derivatives, y <- x0 + d (f(y) - f(x0)) / |f(y) - f(x0)|, from the last
   direction; where modes have just changed, or a step was unstable, from the slope or from its error. */
static void estimate_radius(Run *run) {
  int64_t n = run->model->n_x;
  const double *x = state(run, START), *f = state(run, STAGE + SLOPE);
  double *direction = state(run, STAGE + FASTEST), *y = state(run, TRIAL), *f_y = state(run, STAGE + SLOPE_AT_END);
  if (run->radius_age < 0) memcpy(direction, run->was_rejected ? state(run, ERROR) : f, (size_t)n * sizeof(double));
  double size = largest(LEAST_PERTURBED, PART_PERTURBED * distance(run, x, NULL)), rate = 0.0, before = 0.0;
  for (int64_t search = 0; search < MOST_SEARCHES; search++, before = rate) {
    double length = distance(run, direction, NULL);
    if (!(length > 0.0) || !isfinite(length)) break;
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + size / length * direction[i];
    evaluate_rate(run, run->t, TRIAL, STAGE + SLOPE_AT_END);
    for (int64_t i = 0; i < n; i++) direction[i] = f_y[i] - f[i];
    rate = distance(run, f_y, f) / size;
    if (search > 0 && fabs(rate - before) <= CLOSE * rate) break;
  }
  run->radius = (1.0 + MARGIN) * rate;
  run->radius_age = 0;
}

/* From T_j-1, T_j and their first two derivatives at w to those of the next degree. */
static void raise_degree(double w, double before[3], double now[3]) {
  double next[3] = {2.0 * w * now[0] - before[0], 2.0 * (now[0] + w * now[1]) - before[1],
                    2.0 * (2.0 * now[1] + w * now[2]) - before[2]};
  memcpy(before, now, sizeof next);
  memcpy(now, next, sizeof next);
}

/* The stages of a step of s of them, the last into END. */
static void take_stages(Run *run, int64_t s) {
  const double *x = state(run, START), *f_0 = state(run, STAGE + SLOPE), *f = state(run, STAGE + SLOPE_AT_END);
  int64_t n = run->model->n_x;
  double h = run->h_tried, w0 = 1.0 + EPSILON / (double)(s * s);

  double before[3] = {1.0, 0.0, 0.0}, now[3] = {w0, 1.0, 0.0}, below[3] = {1.0, 0.0, 0.0}, last_T[3] = {w0, 1.0, 0.0};
  for (int64_t j = 2; j <= s; j++) raise_degree(w0, below, last_T);
  double w1 = last_T[1] / last_T[2];

  /* Y_0 and Y_1, in two rows that take turns so that the last stage is END; b_0 = b_1 = b_2. */
  int64_t rows[2] = {s % 2 ? END : TRIAL, s % 2 ? TRIAL : END};
  double b[3] = {0.0, 0.25 / (w0 * w0), 0.25 / (w0 * w0)}, c = b[1] * w1, *first = state(run, rows[0]);
  memcpy(state(run, rows[1]), x, (size_t)n * sizeof(double));
  for (int64_t i = 0; i < n; i++) first[i] = x[i] + c * h * f_0[i];

  for (int64_t j = 2; j <= s; j++) {
    const double *last = state(run, rows[j % 2]);
    double *y = state(run, rows[(j + 1) % 2]), a = 1.0 - b[2] * now[0];
    evaluate_rate(run, run->t + c * h, rows[j % 2], STAGE + SLOPE_AT_END);

    raise_degree(w0, before, now);
    b[0] = b[1];
    b[1] = b[2];
    b[2] = now[2] / (now[1] * now[1]);
    double mu = 2.0 * b[2] * w0 / b[1], nu = -b[2] / b[0], mu_h = 2.0 * b[2] * w1 / b[1] * h;
    double rest = 1.0 - mu - nu, gamma_h = -a * mu_h;
    for (int64_t i = 0; i < n; i++) y[i] = rest * x[i] + mu * last[i] + nu * y[i] + mu_h * f[i] + gamma_h * f_0[i];
    c = w1 * now[2] / now[1];
  }
}

/* One step with as many stages as it needs to be stable; 0 where these would be too many. */
int step_stabilised(Run *run) {
  /* Where the slope was forgotten modes may have changed. */
  if (!run->slope_known || run->was_rejected || run->radius == 0.0) run->radius_age = -1;
  need_slope(run);
  if (run->radius_age < 0 || run->radius_age >= SERVES) estimate_radius(run);
  run->radius_age++;

  double h = run->h_tried, stages = ceil(sqrt(1.0 + 1.5 * h * run->radius / (1.0 - 2.0 / 15.0 * EPSILON)));
  if (!(stages <= MOST_STAGES)) return 0;
  take_stages(run, at_least((int64_t)stages, 2));
  evaluate_end(run, SLOPE_AT_END);

  const double *start = state(run, START), *end = state(run, END);
  double *change = state(run, STAGE + CHANGE);
  for (int64_t i = 0; i < run->model->n_x; i++) change[i] = (end[i] - start[i]) / h;
  combine(run, run->method->e, run->method->stages, h, -1, ERROR);
  return 1;
}
