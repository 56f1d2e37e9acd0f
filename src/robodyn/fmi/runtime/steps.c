/* How do the methods that solve no equations take a step? */

#include "engine.h"

#include <math.h>
#include <string.h>

/* Evaluate a kernel of the model with the present memory, parameters and delayed signals as last read. */
void ask(Run *run, Kernel kernel, double t, const double *x, double *out) {
  kernel(&t, x, run->d, run->m, run->p, out);
}

/* x_dot at a time within the step, from one row of states into another; never beyond the left side of a break. */
void evaluate_rate(Run *run, double t, int source, int target) {
  t = fmin(t, run->t_left);
  read_inside(run, t);
  ask(run, KERNEL_RHS, t, run->x[source], run->x[target]);
}

void need_slope(Run *run) {
  if (!run->slope_known) evaluate_rate(run, run->t, START, STAGE);
  run->slope_known = 1;
}

void forget_slope(Run *run) { run->slope_known = run->jacobian_known = 0; }

void copy_row(Run *run, int source, int target) {
  if (source != target) memcpy(run->x[target], run->x[source], sizeof run->x[target]);
}

/* target = base + factor sum_j weights_j STAGE_j over the first stages; a base below 0 is zero. */
void combine(Run *run, const double *weights, int count, double factor, int base, int target) {
  for (int i = 0; i < N_X; i++) {
    double total = 0.0;
    for (int j = 0; j < count; j++) total += weights[j] * run->x[STAGE + j][i];
    run->x[target][i] = (base >= 0 ? run->x[base][i] : 0.0) + factor * total;
  }
}

/* Put the limited states of a row between their limits at a time; 1 when that changed any. */
int clip_row(Run *run, double t, int target) {
  int changed = 0;
  if (N_LIMITED == 0) return 0;
  ask(run, KERNEL_LIMITS, fmin(t, run->t_left), run->x[target], run->bounds);
  for (int k = 0; k < N_LIMITED; k++) {
    double *x = &run->x[target][LIMITED[k]];
    double lower = run->bounds[k], upper = run->bounds[N_LIMITED + k];
    double value = *x < lower ? lower : *x > upper ? upper : *x;
    changed = changed || value != *x;
    *x = value;
  }
  return changed;
}

/* Runge-Kutta: k_i = f(t + c_i h, x0 + h sum_j a_ij k_j), x1 = x0 + h sum_i b_i k_i. */
static int step_explicit(Run *run) {
  double h = run->h_tried;
  need_slope(run);
  for (int i = 1; i < STAGES; i++) {
    int target = REUSES_LAST && i == STAGES - 1 ? END : TRIAL;
    combine(run, METHOD_A + i * STAGES, i, h, START, target);
    if (!ADAPTIVE) clip_row(run, run->t + METHOD_C[i] * h, target);
    evaluate_rate(run, run->t + METHOD_C[i] * h, target, STAGE + i);
  }
  if (!REUSES_LAST) combine(run, METHOD_B, STAGES, h, START, END);
  if (ADAPTIVE) combine(run, METHOD_E, STAGES, h, -1, ERROR);
  return 1;
}

/* Symplectic Euler: v1 = v0 + h v_dot, z1 = z0 + h z_dot, then q1 = q0 + h q_dot(q0, v1). */
static int step_symplectic(Run *run) {
  double h = run->h_tried, *change = run->x[STAGE + 1];
  need_slope(run);
  for (int i = 0; i < N_X; i++)
    run->x[TRIAL][i] = run->x[START][i] + (i < N_Q ? 0.0 : h * run->x[STAGE][i]);
  if (N_Q > 0) ask(run, KERNEL_POSITION_RATE, fmin(run->t + h, run->t_left), run->x[TRIAL], change);
  for (int i = N_Q; i < N_X; i++) change[i] = run->x[STAGE][i];
  for (int i = 0; i < N_X; i++) run->x[END][i] = run->x[START][i] + h * change[i];
  return 1;
}

/* A step that the model takes itself: x1 from [x0, h, time at its end, delayed signals at its start], and those at its
   end. */
static int step_whole(Run *run) {
  memcpy(run->inputs, run->x[START], N_X * sizeof(double));
  run->inputs[N_X] = run->h_tried;
  run->inputs[N_X + 1] = fmin(run->t + run->h_tried, run->t_left);
  read_inside(run, run->t);
  memcpy(run->inputs + N_X + 2, run->d, N_D * sizeof(double));
  read_inside(run, run->inputs[N_X + 1]);
  ask(run, KERNEL_FUSED_STEP, run->t, run->inputs, run->x[END]);
  return 1;
}

/* Try one step of length h_tried from START to END; 0 when its equations could not be solved. */
int attempt(Run *run) {
  switch (FAMILY) {
    case EXPLICIT: return step_explicit(run);
    case SYMPLECTIC: return step_symplectic(run);
    case ROSENBROCK: return step_rosenbrock(run);
    case ESDIRK: return step_esdirk(run);
    case TRACED: return step_traced(run);
    default: return step_whole(run);
  }
}
