/* Explicit methods, and steps that the model takes itself: how is one step taken? */

#include "parts.h"

/* Runge-Kutta: k_i = f(t + c_i h, x0 + h sum_j a_ij k_j), x1 = x0 + h sum_i b_i k_i.

   With fixed steps, stages too are kept within the limits of limited states; an adaptive step meets limits at its
   end. */
static int step_explicit(Run *run) {
  const Method *method = run->method;
  double h = run->h_tried;
  int clips = !method->adaptive && run->model->n_limited > 0;
  need_slope(run);
  for (int64_t i = 1; i < method->stages; i++) {
    /* First same as last: the last stage is evaluated at the end of the step itself. */
    int last = method->reuses_last && i == method->stages - 1;
    int64_t target = last ? END : TRIAL;
    double t = run->t + method->c[i] * h;
    combine(run, method->a + i * method->stages, i, h, START, target);
    if (clips) clip_row(run, t, target);
    if (last)
      evaluate_end(run, i);
    else
      evaluate_rate(run, t, target, STAGE + i);
  }
  if (!method->reuses_last) combine(run, method->b, method->stages, h, START, END);
  if (method->adaptive) combine(run, method->e, method->stages, h, -1, ERROR);
  return 1;
}

/* Symplectic Euler: v1 = v0 + h v_dot, z1 = z0 + h z_dot, then q1 = q0 + h q_dot(q0, v1). */
static int step_symplectic(Run *run) {
  const Model *model = run->model;
  const double *start = state(run, START), *slope = state(run, STAGE);
  double h = run->h_tried, *trial = state(run, TRIAL), *end = state(run, END), *change = state(run, STAGE + 1);
  need_slope(run);
  /* Velocities first; then positions with the velocities that were just found. */
  for (int64_t i = 0; i < model->n_x; i++) trial[i] = i < model->n_q ? start[i] : start[i] + h * slope[i];
  if (model->n_q > 0) call_kernel(run, model->position_rate, least(run->t + h, run->t_left), trial, change);
  for (int64_t i = model->n_q; i < model->n_x; i++) change[i] = slope[i];
  for (int64_t i = 0; i < model->n_x; i++) end[i] = start[i] + h * change[i];
  return 1;
}

/* x1 by one call of the model: everything that a step needs twice is computed once. */
static int step_fused(Run *run) {
  const Model *model = run->model;
  /* Its other arguments stand behind x0, where x1 will be: functions read everything before they write. */
  double *inputs = model->n_d > 0 ? run->inputs : state(run, START), t_end = least(run->t + run->h_tried, run->t_left);
  inputs[model->n_x] = run->h_tried;
  inputs[model->n_x + 1] = t_end;
  if (model->n_d > 0) {
    memcpy(inputs, state(run, START), (size_t)model->n_x * sizeof(double));
    read_inside(run, run->t);
    for (int64_t j = 0; j < model->n_d; j++) inputs[model->n_x + 2 + j] = run->d[j];
    read_inside(run, t_end);
  }
  call_kernel(run, model->fused_step, run->t, inputs, state(run, END));
  run->evaluations++;
  return 1;
}

/* Try one step of length h_tried from START to END; 0 when its equations could not be solved. */
int try_step(Run *run) {
  switch (run->method->family) {
    case EXPLICIT: return step_explicit(run);
    case SYMPLECTIC: return step_symplectic(run);
    case ROSENBROCK: return step_rosenbrock(run);
    case ESDIRK: return step_esdirk(run);
    case STABILISED: return step_stabilised(run);
    case IMPLICIT_STEP: return step_implicit(run);
    case CONTACT_STEP: return step_contacts(run);
    default: return step_fused(run);
  }
}
