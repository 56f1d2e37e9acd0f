/* Implicit methods: how is a step taken that has equations to solve? */

#include "parts.h"

enum { MOST_STAGE_ITERATIONS = 10, MOST_STEP_ITERATIONS = 25 };

/* Newton's error in a stage as part of the tolerance of the step: it must not disturb the error estimate. */
#define NEWTON_ACCURACY 0.01

/* Largest correction of an implicit step's unknowns that still counts, relative to 1 + |u|; and the same for what h^2 u
   stands for: accelerations and forces that keep positions lose digits in short steps. */
#define STEP_ACCURACY 1e-10
#define STEP_ROUNDING 1e-11

/* Rates of convergence: above the first the matrix of an implicit step is made anew, above the second that of stages, whose
   derivatives cost more iterations; above the third nothing is gained any more. */
#define FAST 0.1
#define SERVING 0.3
#define STALLED 0.5

/* Part of a step by which step sizes differ that share a matrix. */
#define SAME 1e-9

/* A kernel of derivatives at the start of the step, which may have been compiled by itself. */
static void call_derivative(Run *run, Kernel kernel, double *out) {
  const double *x = state(run, START), *p = run->p_jacobian ? run->p_jacobian : run->p;
  if (run->compute)
    run->compute(run, kernel, run->t, x, p, out);
  else
    kernel(&run->t, x, run->d, run->m, p, out);
}

/* df/dx at the start of the step, unless it is known. */
static void need_jacobian(Run *run) {
  if (run->jacobian_known) return;
  if (run->model->n_d > 0) read_inside(run, run->t);
  call_derivative(run, run->model->jacobian, run->columns);
  run->jacobians++;
  run->jacobian_known = 1;
}

/* df/dt at the start of the step with x held, into TIME_SLOPE.

   With delayed signals, which also change with time, or without a kernel: by three points a thousandth of a step apart,
   f_t = (-3 f(t) + 4 f(t + s) - f(t + 2 s)) / (2 s), whose error is far below the method's. */
static void evaluate_time_slope(Run *run, double h) {
  const Model *model = run->model;
  double *slope = state(run, TIME_SLOPE), s = 1e-3 * h;
  if (model->time_derivative && model->n_d == 0) {
    call_derivative(run, model->time_derivative, slope);
    return;
  }
  evaluate_rate(run, run->t + s, START, TRIAL);
  evaluate_rate(run, run->t + 2.0 * s, START, TIME_SLOPE);
  const double *now = state(run, STAGE), *soon = state(run, TRIAL);
  for (int64_t i = 0; i < model->n_x; i++) slope[i] = (-3.0 * now[i] + 4.0 * soon[i] - slope[i]) / (2.0 * s);
}

/* Factorise shift I - scale J; 0 when singular. The last states, on which no rate depends, are left out: solve_shifted
   finds them by substitution. */
static int factorise_shifted(Run *run, double scale, double shift) {
  int64_t n = run->model->n_x, core = n - run->model->n_quadratures;
  /* Books are block lower triangular: (shift - scale J_cc) x_c = b_c does without them. */
  for (int64_t j = 0; j < core; j++) {
    for (int64_t i = 0; i < core; i++) run->factors[j * core + i] = -scale * run->columns[j * n + i];
    run->factors[j * (core + 1)] += shift;
  }
  run->matrix_scale = scale;
  run->matrix_shift = shift;
  run->factorisations++;
  return factorise(run->factors, run->pivots, core);
}

/* Solve the system factorised last, in place of a row of states. */
static void solve_shifted(Run *run, int64_t target) {
  int64_t n = run->model->n_x, core = n - run->model->n_quadratures;
  double *b = state(run, target);
  solve_factorised(run->factors, run->pivots, core, b);
  /* Their rows: shift x_i - scale J_ic x_c = b_i. */
  for (int64_t i = core; i < n; i++) {
    double total = b[i];
    for (int64_t j = 0; j < core; j++) total += run->columns[j * n + i] * (run->matrix_scale * b[j]);
    b[i] = total / run->matrix_shift;
  }
}

/* All stages by one call of the model, which cannot choose pivots; 0 where it would have had to. The stages are written where
   they belong, x1 behind them; h and the latest time stand behind x0, where the end of the step will be. */
static int take_traced(Run *run) {
  const Method *method = run->method;
  int64_t n = run->model->n_x, stages = method->stages;
  double *start = state(run, START), *end = state(run, END), *error = state(run, ERROR);
  const double *first = state(run, STAGE + 1), *found = state(run, STAGE + stages);
  start[n] = run->h_tried;
  start[n + 1] = run->t_left;
  call_kernel(run, run->model->rosenbrock_step, run->t, start, state(run, STAGE + 1));
  if (!(found[n] <= 0.0)) return 0;
  for (int64_t i = 0; i < n; i++) {
    end[i] = found[i];
    error[i] = 0.0;
  }
  /* Mostly one stage is the error. */
  for (int64_t j = 1; j < stages; j++) {
    double weight = method->e[j];
    if (weight == 0.0) continue;
    for (int64_t i = 0; i < n; i++) error[i] += weight * first[(j - 1) * n + i];
  }
  run->evaluations += stages - 1;
  run->jacobians++;
  run->factorisations++;
  return 1;
}

/* Rosenbrock: one linear system a stage, Hairer and Wanner (1996), IV.7, (7.25):

       (I / (gamma h) - J) u_i = f(t + c_i h, x0 + sum_j a_ij u_j) + sum_j C_ij u_j / h + time_weight_i h f_t

   Row 0 of the stages stays the slope at the start, so that a rejected step need not compute it again. */
int step_rosenbrock(Run *run) {
  const Method *method = run->method;
  double h = run->h_tried;
  int64_t n = run->model->n_x, stages = method->stages;
  int autonomous = run->model->autonomous && run->model->n_d == 0;
  if (run->model->rosenbrock_step && take_traced(run)) return 1;
  need_slope(run);
  need_jacobian(run);
  if (!autonomous) evaluate_time_slope(run, h);
  if (!factorise_shifted(run, 1.0, 1.0 / (method->gamma * h))) return 0;
  for (int64_t i = 1; i < stages; i++) {
    /* The first increment starts from the slope that is known; the others from the stage they lead to. */
    if (i == 1) {
      copy_row(run, STAGE, STAGE + 1);
    } else {
      combine(run, method->a + i * stages, i, 1.0, START, TRIAL);
      evaluate_rate(run, run->t + method->c[i] * h, TRIAL, STAGE + i);
    }
    combine(run, method->C + i * stages, i, 1.0 / h, STAGE + i, STAGE + i);
    if (!autonomous) {
      const double *slope = state(run, TIME_SLOPE);
      double *stage = state(run, STAGE + i), weight = method->time_weights[i] * h;
      for (int64_t k = 0; k < n; k++) stage[k] += weight * slope[k];
    }
    solve_shifted(run, STAGE + i);
  }
  /* Stiffly accurate: the last increment is the step's correction, and its error. */
  combine(run, method->b, stages, 1.0, START, END);
  combine(run, method->e, stages, 1.0, -1, ERROR);
  return 1;
}

/* Add the correction in POINT to a stage's slope; the size of its effect on x, scaled as errors are. */
static double correct_stage(Run *run, double h, int64_t stage) {
  const Solver *solver = run->solver;
  int64_t n = run->model->n_x;
  const double *start = state(run, START), *correction = state(run, POINT);
  double *slope = state(run, stage), total = 0.0;
  for (int64_t k = 0; k < n; k++) {
    double allowed = solver->atol * run->model->scale[k] + solver->rtol * fabs(start[k]);
    double effect = h * run->method->gamma * correction[k] / allowed;
    slope[k] += correction[k];
    total += effect * effect;
  }
  return sqrt(total / (double)at_least(n, 1));
}

/* Simplified Newton for a stage's slope: (I - h gamma J) dk = f(x_i) - k, x_i = base + h gamma k. */
static int solve_stage(Run *run, double h, int64_t i) {
  int64_t n = run->model->n_x;
  double *trial = state(run, TRIAL), *residual = state(run, POINT), before = 0.0;
  const double *base = state(run, END), *slope = state(run, STAGE + i);
  /* What the stages before it give; the first guess of its slope is that of the stage before it. */
  combine(run, run->method->a + i * run->method->stages, i, h, START, END);
  copy_row(run, STAGE + i - 1, STAGE + i);
  for (int iteration = 0; iteration < MOST_STAGE_ITERATIONS; iteration++) {
    for (int64_t k = 0; k < n; k++) trial[k] = base[k] + h * run->method->gamma * slope[k];
    evaluate_rate(run, run->t + run->method->c[i] * h, TRIAL, POINT);
    for (int64_t k = 0; k < n; k++) residual[k] -= slope[k];
    solve_shifted(run, POINT);
    run->newton_iterations++;
    double size = correct_stage(run, h, STAGE + i);
    /* Linear convergence: the error left is about size rate / (1 - rate), Hairer and Wanner (1996), IV.8. */
    double rate = iteration > 0 ? size / before : 0.0;
    run->newton_rate = largest(run->newton_rate, rate);
    if (!(size < INFINITY) || (iteration > 1 && rate >= 1.0)) return size < 1e-3 * NEWTON_ACCURACY;
    if (size < 1e-3 * NEWTON_ACCURACY || (iteration > 0 && size * rate < NEWTON_ACCURACY * (1.0 - rate))) return 1;
    before = size;
  }
  return 0;
}

static int solve_stages(Run *run, double h) {
  run->newton_rate = 0.0;
  for (int64_t i = 1; i < run->method->stages; i++)
    if (!solve_stage(run, h, i)) return 0;
  return 1;
}

/* The matrix of Newton's method at the start of this step; 0 when singular. */
static int renew_matrix(Run *run, double h) {
  need_jacobian(run);
  return factorise_shifted(run, run->method->gamma * h, 1.0);
}

/* Diagonally implicit with an explicit first stage: x_i = x0 + h sum_j<i a_ij k_j + h gamma k_i, k_i = f(t + c_i h,
   x_i); 0 when Newton does not converge. The error estimate is filtered by (I - h gamma J)^-1, so that stiff parts do not
   spoil it: Hosea and Shampine (1996). */
int step_esdirk(Run *run) {
  const Method *method = run->method;
  double h = run->h_tried, scale = method->gamma * h;
  /* Derivatives of an earlier step serve as long as Newton's method converges fast with them. */
  int kept = run->matrix_serves && !run->jacobian_known;
  need_slope(run);
  if (!kept && !renew_matrix(run, h)) return 0;
  if (kept && fabs(run->matrix_scale - scale) > SAME * scale && !factorise_shifted(run, scale, 1.0)) return 0;
  if (!solve_stages(run, h) && (!kept || !renew_matrix(run, h) || !solve_stages(run, h))) {
    run->matrix_serves = 0;
    return 0;
  }
  run->matrix_serves = run->newton_rate < SERVING;
  combine(run, method->b, method->stages, h, START, END);
  /* Filtered, fast modes that have settled do not count. */
  combine(run, method->e, method->stages, h, -1, ERROR);
  solve_shifted(run, ERROR);
  return 1;
}

/* Take the correction off an implicit step's unknowns; its largest entry relative to 1 + |u|. */
static double correct_unknowns(Run *run, double *u) {
  double size = 0.0;
  for (int64_t i = 0; i < run->model->n_unknowns; i++) {
    u[i] -= run->correction[i];
    double change = fabs(run->correction[i]) / (1.0 + fabs(u[i]));
    if (!(change < INFINITY)) return INFINITY;
    size = largest(size, change);
  }
  return size;
}

/* Evaluate and factorise dr/du; 0 when singular. */
static int make_matrix(Run *run, double t, double key) {
  call_kernel(run, run->model->step_jacobian, t, run->inputs, run->factors);
  run->jacobians++;
  run->factorisations++;
  run->matrix_scale = key;
  return factorise(run->factors, run->pivots, run->model->n_unknowns);
}

/* Newton's method for an implicit step's unknowns, from the model's guess, with a matrix that is kept, from step to step
   too, as long as it serves. It depends on h, and on whether w counts: the sign of its key tells. */
static int solve_step(Run *run, double t, int fresh, double *u) {
  double key = fresh ? -run->h_tried : run->h_tried, before = 0.0;
  int renew = fabs(run->matrix_scale - key) > SAME * run->h_tried;
  for (int iteration = 0; iteration < MOST_STEP_ITERATIONS; iteration++) {
    call_kernel(run, run->model->step_residual, t, run->inputs, run->correction);
    run->evaluations++;
    /* A matrix of the same step size serves as long as the iteration converges fast. */
    if (renew && !make_matrix(run, t, key)) return 0;
    solve_factorised(run->factors, run->pivots, run->model->n_unknowns, run->correction);
    run->newton_iterations++;
    double size = correct_unknowns(run, u);
    if (size == INFINITY) break;
    double rate = iteration > 0 ? size / before : 1.0;
    /* Done by its size, or by what its rate leaves; or where rounding lets it get no smaller. */
    if (size <= STEP_ACCURACY || (rate < 1.0 && size * rate <= STEP_ACCURACY * (1.0 - rate))) return 1;
    if (iteration > 1 && renew && rate > STALLED && size * (run->h_tried * run->h_tried) <= STEP_ROUNDING) return 1;
    renew = iteration > 0 && rate > FAST;
    before = size;
  }
  run->matrix_scale = 0.0;
  return 0;
}

/* x1 into END, the three rows of the polynomial into the stages, w for the next step. */
static void take_finish(Run *run) {
  int64_t n = run->model->n_x;
  const double *start = state(run, START), *finish = run->finish;
  double *end = state(run, END), *change = state(run, STAGE + 1), *slope = state(run, STAGE + 2);
  for (int64_t i = 0; i < n; i++) {
    end[i] = finish[i];
    change[i] = (finish[i] - start[i]) / run->h_tried;
    slope[i] = finish[n + i];
  }
  for (int64_t i = 0; i < run->model->n_kept; i++) run->inputs[2 * n + i] = finish[2 * n + i];
}

/* A step whose equations the model gives: solve r(x0, x_dot0, w, h, u) = 0 for u, then x1, x_dot1 and w of the next step
   follow; 0 when Newton does not converge. */
int step_implicit(Run *run) {
  const Model *model = run->model;
  int fresh = !run->slope_known;
  int64_t n = model->n_x, place = 2 * n + model->n_kept;
  double *inputs = run->inputs, *u = inputs + place + 3, t = least(run->t + run->h_tried, run->t_left);
  need_slope(run);
  if (model->n_d > 0) read_inside(run, t);
  const double *start = state(run, START), *slope = state(run, STAGE);
  for (int64_t i = 0; i < n; i++) {
    inputs[i] = start[i];
    inputs[n + i] = slope[i];
  }
  /* [x0, x_dot0, w, h, fresh, radius, u], see Model. */
  inputs[place] = run->h_tried;
  inputs[place + 1] = fresh;
  inputs[place + 2] = run->solver->spectral_radius;
  call_kernel(run, model->step_guess, t, inputs, u);
  if (!solve_step(run, t, fresh, u)) return 0;
  call_kernel(run, model->step_end, t, inputs, run->finish);
  take_finish(run);
  return 1;
}
