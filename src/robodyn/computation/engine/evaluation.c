/* Right-hand side and dense output: what does the model say at a time and a state, also between the ends of a step? */

#include "parts.h"

/* x_dot at a time within the step, from one row of states into another; never beyond the left side of a jump. */
void evaluate_rate(Run *run, double t, int64_t source, int64_t target) {
  t = least(t, run->t_left);
  if (run->model->n_d > 0) read_inside(run, t);
  call_kernel(run, run->model->rhs, t, state(run, source), state(run, target));
  run->evaluations++;
}

/* x_dot at the start of the step, into the first stage, unless it is known. */
void need_slope(Run *run) {
  if (run->slope_known) return;
  evaluate_rate(run, run->t, START, STAGE);
  run->slope_known = 1;
}

/* A step that the model takes itself has two rows for its polynomial: x_dot0 and (x1 - x0) / h. */
static void fill_stages(Run *run) {
  need_slope(run);
  const double *start = state(run, START), *end = state(run, END);
  double *change = state(run, STAGE + 1);
  for (int64_t i = 0; i < run->model->n_x; i++) change[i] = (end[i] - start[i]) / run->h_tried;
}

/* Its coefficients for some states: of all powers, each in the order of the stages. */
static inline void sum_powers(const Method *method, double weight, const double *stages, int64_t n, double *coefficients,
                              const int width) {
  double totals[4][ABREAST] = {{0.0}};
  for (int64_t j = 0; j < method->n_dense; j++)
    for (int power = 0; power < 4; power++) {
      double factor = weight * method->P[4 * j + power];
      for (int k = 0; k < width; k++) totals[power][k] += factor * stages[j * n + k];
    }
  for (int power = 0; power < 4; power++)
    for (int k = 0; k < width; k++) coefficients[power * n + k] = totals[power][k];
}

/* The polynomial of the step just made, unless it is known:

       x(theta) = x0 + w sum_j k_j (P_j1 theta + P_j2 theta^2 + P_j3 theta^3 + P_j4 theta^4)

   with w = h, or w = 1 for Rosenbrock methods, whose stages are increments. */
void need_dense(Run *run) {
  const Method *method = run->method;
  int64_t n = run->model->n_x;
  if (run->dense_known) return;
  if (method->family == FUSED_STEP) fill_stages(run);
  if (method->needs_end && run->end_known != 1) {
    evaluate_rate(run, run->t + run->h_tried, END, STAGE + method->stages);
    run->end_known = 1;
  }
  double weight = method->family == ROSENBROCK ? 1.0 : run->h_tried;
  const double *stages = state(run, STAGE);
  double *coefficients = state(run, DENSE + 1);
  copy_row(run, START, DENSE);
  int64_t i = 0;
  for (; i + ABREAST <= n; i += ABREAST) sum_powers(method, weight, stages + i, n, coefficients + i, ABREAST);
  for (; i + 2 <= n; i += 2) sum_powers(method, weight, stages + i, n, coefficients + i, 2);
  for (; i < n; i++) sum_powers(method, weight, stages + i, n, coefficients + i, 1);
  run->dense_known = 1;
  run->n_seen = 0;
}

/* The straight line between the ends of the step in the place of its polynomial. */
void take_line(Run *run) {
  const double *start = state(run, START), *end = state(run, END);
  double *coefficients = state(run, DENSE);
  int64_t n = run->model->n_x;
  for (int64_t i = 0; i < n; i++) {
    coefficients[i] = start[i];
    coefficients[n + i] = end[i] - start[i];
  }
  memset(coefficients + 2 * n, 0, (size_t)(3 * n) * sizeof(double));
  run->dense_known = 1;
  run->n_seen = 0;
}

/* x(theta) into a row. */
void evaluate_dense(Run *run, double theta, int64_t target) {
  int64_t n = run->model->n_x;
  const double *c = state(run, DENSE);
  double *x = state(run, target);
  for (int64_t i = 0; i < n; i++) {
    double value = c[4 * n + i];
    for (int64_t power = 3; power >= 0; power--) value = value * theta + c[power * n + i];
    x[i] = value;
  }
}

/* x at a fraction of the (perhaps cut) step into POINT; its time, never beyond the left side of a jump. */
double set_point(Run *run, double fraction) {
  if (fraction >= 1.0) {
    copy_row(run, END, POINT);
    return least(run->t_new, run->t_left);
  }
  if (fraction <= 0.0) {
    copy_row(run, START, POINT);
    return run->t;
  }
  evaluate_dense(run, fraction * run->theta_end, POINT);
  return least(run->t + fraction * (run->t_new - run->t), run->t_left);
}

/* result = origin + factor sum_j weights_j stage_j for some states; the stages have n each. */
static inline void sum_stages(const double *weights, int64_t count, double factor, const double *stages, int64_t n,
                              const double *origin, double *result, const int width) {
  double total[ABREAST] = {0.0};
  for (int64_t j = 0; j < count; j++)
    for (int k = 0; k < width; k++) total[k] += weights[j] * stages[j * n + k];
  for (int k = 0; k < width; k++) result[k] = (origin ? origin[k] : 0.0) + factor * total[k];
}

/* target = base + factor sum_j weights_j STAGE_j over the first stages; a base below 0 is zero. */
void combine(Run *run, const double *weights, int64_t count, double factor, int64_t base, int64_t target) {
  int64_t n = run->model->n_x, i = 0;
  const double *stages = state(run, STAGE), *origin = base >= 0 ? state(run, base) : NULL;
  double *result = state(run, target);
#define SUM(width) sum_stages(weights, count, factor, stages + i, n, origin ? origin + i : NULL, result + i, width)
  for (; i + ABREAST <= n; i += ABREAST) SUM(ABREAST);
  for (; i + 2 <= n; i += 2) SUM(2);
  for (; i < n; i++) SUM(1);
#undef SUM
}

/* Put a row back on the constraints at a time. */
void project_row(Run *run, double t, int64_t target) {
  double *x = state(run, target);
  call_kernel(run, run->model->projection, least(t, run->t_left), x, run->changed);
  for (int64_t i = 0; i < run->model->n_x; i++) x[i] = run->changed[i];
}

/* The end of the step back on the constraints, where there are any; the step's polynomial stays what it is. */
void project_end(Run *run) {
  if (!run->model->projection) return;
  if (run->n_active > 0) need_dense(run);
  project_row(run, run->t_new, END);
  run->end_known = -1;
}

/* Put the limited states of a row between their limits at a time; 1 when that changed any. */
int clip_row(Run *run, double t, int64_t target) {
  const Model *model = run->model;
  double *x = state(run, target);
  int changed = 0;
  call_kernel(run, model->limits, least(t, run->t_left), x, run->bounds);
  for (int64_t k = 0; k < model->n_limited; k++) {
    double *value = &x[model->limited[k]];
    double clipped = least(largest(*value, run->bounds[k]), run->bounds[model->n_limited + k]);
    changed |= clipped != *value;
    *value = clipped;
  }
  return changed;
}
