/* How do the methods that solve equations take a step? */

#include "engine.h"

#include <math.h>
#include <string.h>

enum { MOST_STAGE_ITERATIONS = 10, MOST_STEP_ITERATIONS = 25 };

/* P A = L U in place, by columns, with partial pivoting; the diagonal of U is stored inverted. 0 when singular. */
static int factorise(double *A, int32_t *pivots, int n) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[k * n + i]) > fabs(A[k * n + best])) best = i;
    pivots[k] = best;
    if (!(fabs(A[k * n + best]) > 0.0)) return 0;
    for (int j = 0; j < n && best != k; j++) {
      double kept = A[j * n + k];
      A[j * n + k] = A[j * n + best];
      A[j * n + best] = kept;
    }
    double inverse = 1.0 / A[k * n + k];
    A[k * n + k] = inverse;
    for (int i = k + 1; i < n; i++) A[k * n + i] *= inverse;
    for (int j = k + 1; j < n; j++) {
      double factor = A[j * n + k];
      if (factor != 0.0)
        for (int i = k + 1; i < n; i++) A[j * n + i] -= A[k * n + i] * factor;
    }
  }
  return 1;
}

static void solve_factorised(const double *A, const int32_t *pivots, int n, double *b) {
  for (int k = 0; k < n; k++) {
    double kept = b[k];
    b[k] = b[pivots[k]];
    b[pivots[k]] = kept;
  }
  for (int j = 0; j < n; j++)
    for (int i = j + 1; i < n; i++) b[i] -= A[j * n + i] * b[j];
  for (int j = n - 1; j >= 0; j--) {
    b[j] *= A[j * n + j];
    for (int i = 0; i < j; i++) b[i] -= A[j * n + i] * b[j];
  }
}

static void need_jacobian(Run *run) {
  if (run->jacobian_known) return;
  read_inside(run, run->t);
  ask(run, KERNEL_JACOBIAN, run->t, run->x[START], run->columns);
  run->jacobian_known = 1;
}

/* df/dt at the start of the step with x held, into SLOPE; with delayed signals, which also change with time, by three
   points a thousandth of a step apart: f_t = (-3 f(t) + 4 f(t + s) - f(t + 2 s)) / (2 s). */
static void evaluate_time_slope(Run *run, double h) {
  double s = 1e-3 * h;
  if (N_D == 0) {
    ask(run, KERNEL_TIME_DERIVATIVE, run->t, run->x[START], run->x[SLOPE]);
    return;
  }
  evaluate_rate(run, run->t + s, START, TRIAL);
  evaluate_rate(run, run->t + 2.0 * s, START, SLOPE);
  for (int i = 0; i < N_X; i++)
    run->x[SLOPE][i] = (-3.0 * run->x[STAGE][i] + 4.0 * run->x[TRIAL][i] - run->x[SLOPE][i]) / (2.0 * s);
}

/* Factorise shift I - scale J without the last states, on which no rate depends; 0 when singular. */
static int factorise_shifted(Run *run, double scale, double shift) {
  int core = N_X - N_QUADRATURES;
  for (int j = 0; j < core; j++) {
    for (int i = 0; i < core; i++) run->factors[j * core + i] = -scale * run->columns[j * N_X + i];
    run->factors[j * (core + 1)] += shift;
  }
  run->matrix_scale = scale;
  run->matrix_shift = shift;
  return factorise(run->factors, run->pivots, core);
}

static void solve_shifted(Run *run, int target) {
  int core = N_X - N_QUADRATURES;
  double *b = run->x[target];
  solve_factorised(run->factors, run->pivots, core, b);
  for (int i = core; i < N_X; i++) {
    double total = 0.0;
    for (int j = 0; j < core; j++) total += run->columns[j * N_X + i] * b[j];
    b[i] = (b[i] + run->matrix_scale * total) / run->matrix_shift;
  }
}

/* One linear system a stage, Hairer and Wanner (1996), IV.7, (7.25):
   (I / (gamma h) - J) u_i = f(t + c_i h, x0 + sum_j a_ij u_j) + sum_j C_ij u_j / h + time_weight_i h f_t */
int step_rosenbrock(Run *run) {
  double h = run->h_tried;
  need_slope(run);
  need_jacobian(run);
  if (!AUTONOMOUS) evaluate_time_slope(run, h);
  if (!factorise_shifted(run, 1.0, 1.0 / (GAMMA * h))) return 0;
  for (int i = 1; i < STAGES; i++) {
    if (i == 1) {
      copy_row(run, STAGE, STAGE + 1);
    } else {
      combine(run, METHOD_A + i * STAGES, i, 1.0, START, TRIAL);
      evaluate_rate(run, run->t + METHOD_C[i] * h, TRIAL, STAGE + i);
    }
    combine(run, METHOD_CC + i * STAGES, i, 1.0 / h, STAGE + i, STAGE + i);
    if (!AUTONOMOUS)
      for (int k = 0; k < N_X; k++) run->x[STAGE + i][k] += METHOD_TIME_WEIGHTS[i] * h * run->x[SLOPE][k];
    solve_shifted(run, STAGE + i);
  }
  combine(run, METHOD_B, STAGES, 1.0, START, END);
  combine(run, METHOD_E, STAGES, 1.0, -1, ERROR);
  return 1;
}

/* Add the correction in POINT to a stage's slope; the size of its effect on x, scaled as errors are. */
static double correct_stage(Run *run, double h, int stage) {
  double total = 0.0;
  for (int k = 0; k < N_X; k++) {
    double allowed = run->atol * STATE_SCALE[k] + run->rtol * fabs(run->x[START][k]);
    double effect = h * GAMMA * run->x[POINT][k] / allowed;
    run->x[stage][k] += run->x[POINT][k];
    total += effect * effect;
  }
  return sqrt(total / ROOM(N_X));
}

/* Simplified Newton for a stage's slope: (I - h gamma J) dk = f(x_i) - k, x_i = base + h gamma k. */
static int solve_stage(Run *run, double h, int i) {
  double before = 0.0, accuracy = 0.01;
  combine(run, METHOD_A + i * STAGES, i, h, START, END);
  copy_row(run, STAGE + i - 1, STAGE + i);
  for (int iteration = 0; iteration < MOST_STAGE_ITERATIONS; iteration++) {
    for (int k = 0; k < N_X; k++) run->x[TRIAL][k] = run->x[END][k] + h * GAMMA * run->x[STAGE + i][k];
    evaluate_rate(run, run->t + METHOD_C[i] * h, TRIAL, POINT);
    for (int k = 0; k < N_X; k++) run->x[POINT][k] -= run->x[STAGE + i][k];
    solve_shifted(run, POINT);
    double size = correct_stage(run, h, STAGE + i);
    double rate = iteration > 0 ? size / before : 0.0;
    if (!(size < INFINITY) || (iteration > 1 && rate >= 1.0)) return size < 1e-3 * accuracy;
    if (size < 1e-3 * accuracy || (iteration > 0 && size * rate < accuracy * (1.0 - rate))) return 1;
    before = size;
  }
  return 0;
}

/* x_i = x0 + h sum_j<i a_ij k_j + h gamma k_i; the error is filtered by the matrix: Hosea and Shampine (1996). */
int step_esdirk(Run *run) {
  double h = run->h_tried;
  need_slope(run);
  need_jacobian(run);
  if (!factorise_shifted(run, GAMMA * h, 1.0)) return 0;
  for (int i = 1; i < STAGES; i++)
    if (!solve_stage(run, h, i)) return 0;
  combine(run, METHOD_B, STAGES, h, START, END);
  combine(run, METHOD_E, STAGES, h, -1, ERROR);
  solve_shifted(run, ERROR);
  return 1;
}

/* Take the correction off the unknowns; its largest entry relative to 1 + |u|. */
static double correct_unknowns(Run *run, double *u) {
  double size = 0.0;
  for (int i = 0; i < N_UNKNOWNS; i++) {
    u[i] -= run->correction[i];
    double change = fabs(run->correction[i]) / (1.0 + fabs(u[i]));
    if (!(change < INFINITY)) return INFINITY;
    size = fmax(size, change);
  }
  return size;
}

/* Newton's method for the unknowns of a step, with a matrix that is kept as long as it serves. */
static int solve_step(Run *run, double t, int fresh, double *u) {
  double key = fresh ? -run->h_tried : run->h_tried, before = 0.0;
  int renew = fabs(run->matrix_scale - key) > 1e-9 * run->h_tried;
  for (int iteration = 0; iteration < MOST_STEP_ITERATIONS; iteration++) {
    ask(run, KERNEL_STEP_RESIDUAL, t, run->inputs, run->correction);
    if (renew) {
      ask(run, KERNEL_STEP_JACOBIAN, t, run->inputs, run->factors);
      run->matrix_scale = key;
      if (!factorise(run->factors, run->pivots, N_UNKNOWNS)) return 0;
    }
    solve_factorised(run->factors, run->pivots, N_UNKNOWNS, run->correction);
    double size = correct_unknowns(run, u);
    if (size == INFINITY) break;
    double rate = iteration > 0 ? size / before : 1.0;
    if (size <= 1e-10 || (rate < 1.0 && size * rate <= 1e-10 * (1.0 - rate))) return 1;
    if (iteration > 1 && renew && rate > 0.5 && size * run->h_tried * run->h_tried <= 1e-11) return 1;
    renew = iteration > 0 && rate > 0.1;
    before = size;
  }
  run->matrix_scale = 0.0;
  return 0;
}

/* Solve residual(x0, x_dot0, w, h, u) = 0 for u; then x1, x_dot1 and w of the next step follow. */
int step_traced(Run *run) {
  int fresh = !run->slope_known, place = 2 * N_X + N_KEPT;
  double *u = run->inputs + place + 3, t = fmin(run->t + run->h_tried, run->t_left);
  need_slope(run);
  read_inside(run, t);
  memcpy(run->inputs, run->x[START], N_X * sizeof(double));
  memcpy(run->inputs + N_X, run->x[STAGE], N_X * sizeof(double));
  run->inputs[place] = run->h_tried;
  run->inputs[place + 1] = fresh;
  run->inputs[place + 2] = SPECTRAL_RADIUS;
  ask(run, KERNEL_STEP_GUESS, t, run->inputs, u);
  if (!solve_step(run, t, fresh, u)) return 0;
  ask(run, KERNEL_STEP_END, t, run->inputs, run->finish);
  for (int i = 0; i < N_X; i++) {
    run->x[END][i] = run->finish[i];
    run->x[STAGE + 1][i] = (run->finish[i] - run->x[START][i]) / run->h_tried;
    run->x[STAGE + STAGES - 1][i] = run->finish[N_X + i];
  }
  memcpy(run->inputs + 2 * N_X, run->finish + 2 * N_X, N_KEPT * sizeof(double));
  return 1;
}
