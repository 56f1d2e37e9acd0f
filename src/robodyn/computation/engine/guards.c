/* Guards of events: what sign has a guard, and does a jump make it fire?

   The guards are the model's, then x_i - upper_i and x_i - lower_i of limited states (adaptive methods only). A guard
   fires when its sign at the start of a step and its value later say so:

       rising: sign < 0 and g >= 0        falling: sign > 0 and g <= 0

   Its sign at the start is that of its value; where that is exactly 0, or the guard has just fired and no action has
   moved it from its root, it is the sign of its rate dg/dt; where that is 0 too the guard cannot fire in this step. A guard
   whose side is noted has the sign of the side it came to, also where it turns round at once: its return is an event too,
   and what is noted is always its sign. */

#include "parts.h"

/* Most guards that actions take back at an instant: what goes on and on there must end. */
enum { MOST_RETURNS = 50 };

/* Limits of states as guards, behind those of the model. */
static void compare_limits(Run *run, double t, const double *x, double *values) {
  const Model *model = run->model;
  if (run->n_active == model->n_guards) return;
  /* Saturation is an event too: x - upper rises, x - lower falls through zero. */
  call_kernel(run, model->limits, t, x, run->bounds);
  for (int64_t k = 0; k < model->n_limited; k++) {
    double value = x[model->limited[k]];
    values[model->n_guards + k] = value - run->bounds[model->n_limited + k];
    values[model->n_guards + model->n_limited + k] = value - run->bounds[k];
  }
}

/* All guards at a time and a row of states; delayed signals as last read. */
void evaluate_guards(Run *run, double t, int64_t source, int64_t target) {
  const Model *model = run->model;
  const double *x = state(run, source);
  double *values = guard_row(run, target);
  if (model->n_guards > 0) call_kernel(run, model->guards, t, x, values);
  compare_limits(run, t, x, values);
}

/* The slope at the end of the step, as its last stage, and the guards there. Lanes compute them apart. */
void evaluate_end(Run *run, int64_t stage) {
  const Model *model = run->model;
  double t = least(run->t_new, run->t_left), *values = guard_row(run, G_END);
  if (!model->rates_and_guards || run->n_active == 0 || model->n_d > 0 || run->compute) {
    evaluate_rate(run, t, END, STAGE + stage);
    return;
  }
  call_kernel(run, model->rates_and_guards, t, state(run, END), run->both);
  memcpy(state(run, STAGE + stage), run->both, (size_t)model->n_x * sizeof(double));
  memcpy(values, run->both + model->n_x, (size_t)model->n_guards * sizeof(double));
  compare_limits(run, t, state(run, END), values);
  run->guards_known = 1;
  run->evaluations++;
}

static void copy_guards(Run *run, int64_t source, int64_t target) {
  const double *from = guard_row(run, source);
  double *to = guard_row(run, target);
  for (int64_t j = 0; j < run->n_active; j++) to[j] = from[j];
}

/* A place of the step as the point, back on the constraints as its end would be, so that an event finds its guard where it
   was located; delayed signals are read there. Returns its time. */
double point_at(Run *run, double theta) {
  double t = least(theta >= 1.0 ? run->t_new : run->t + theta * run->h_tried, run->t_left);
  if (theta >= 1.0 || theta <= 0.0) {
    copy_row(run, theta > 0.0 ? END : START, POINT);
  } else {
    evaluate_dense(run, theta, POINT);
    if (run->model->projection) project_row(run, t, POINT);
  }
  if (run->model->n_d > 0) theta >= 1.0 ? read_left(run, t) : read_inside(run, t);
  return t;
}

/* All guards at a place of the step. They are computed once at each: one guard's search serves all others. */
void guards_at(Run *run, double theta, int64_t target) {
  int inside = theta > 0.0 && theta < 1.0;
  if (theta <= 0.0 && run->armed && run->model->n_d == 0) {
    copy_guards(run, G_FIRST, target);
    return;
  }
  for (int64_t k = 0; inside && k < run->n_seen; k++)
    if (run->seen_at[k] == theta) {
      copy_guards(run, G_SEEN + k, target);
      return;
    }
  evaluate_guards(run, point_at(run, theta), POINT, target);
  if (!inside || run->n_seen >= MOST_SEEN) return;
  run->seen_at[run->n_seen] = theta;
  copy_guards(run, target, G_SEEN + run->n_seen++);
}

/* Whether guard j, which began with a sign, has crossed zero in the wanted direction; limits are met upwards at the upper
   one, downwards at the lower one. */
int guard_crosses(const Run *run, int64_t j, int64_t sign, double value) {
  const Model *model = run->model;
  int64_t direction = j < model->n_guards ? model->guard_direction[j] : j < model->n_guards + model->n_limited ? 1 : -1;
  return (sign < 0 && value >= 0.0 && direction >= 0) || (sign > 0 && value <= 0.0 && direction <= 0);
}

/* Fire the guards that a task, an action or a break made to jump across zero; 1 when there is any.

   A guard fires once at an instant, and again where actions have taken it back: what hits after others have settled settles
   too. Where nothing but an action or a task can have moved a guard, it is compared with its value just before; the left
   side of the instant may differ from that by rounding. */
int find_jumps(Run *run) {
  const double *before = guard_row(run, run->jump_level < SMOOTH ? G_END : G_BEFORE), *now = guard_row(run, G_POINT);
  int found = 0;
  evaluate_guards(run, run->t, START, G_POINT);
  for (int64_t j = 0; j < run->model->n_guards; j++) {
    /* Once, and again where an action took it back in between; only what has really moved. */
    if (run->fired[j] == JUMP_DONE && sign_of(now[j]) == run->sign[j] && run->returns < MOST_RETURNS)
      run->fired[j] = NOT_FIRED, run->returns++;
    if (run->fired[j] != NOT_FIRED || now[j] == before[j]) continue;
    if (!guard_crosses(run, j, run->sign[j], now[j])) continue;
    run->fired[j] = JUMPED;
    found = 1;
  }
  return found;
}

/* Rates of all guards at the present state, into G_POINT; the limits themselves count as constant. */
void evaluate_guard_rates(Run *run) {
  const Model *model = run->model;
  double *rates = guard_row(run, G_POINT);
  read_rates(run, run->t);
  if (model->n_guards > 0) call_kernel(run, model->guard_rates, run->t, state(run, START), rates);
  if (run->n_active == model->n_guards) return;
  need_slope(run);
  for (int64_t k = 0; k < model->n_limited; k++) {
    double rate = state(run, STAGE)[model->limited[k]];
    rates[model->n_guards + k] = rates[model->n_guards + model->n_limited + k] = rate;
  }
}

/* Whether the sign of a guard waits, or stays what it is.

   Before the instant is settled, the signs of guards that have fired wait; after it, a guard that nothing moved keeps its
   sign. So does one that is still on its way out of its root. */
static int keeps_sign(Run *run, int64_t j, double value, int settled) {
  int fired = run->fired[j] != NOT_FIRED;
  if (fired && !settled) return 1;
  if (run->from_rate[j] == LEAVING && !fired) {
    run->from_rate[j] = 1;
    return 1;
  }
  int unmoved = value == guard_row(run, G_END)[j] && value != 0.0;
  return settled && run->armed && !fired && unmoved;
}

/* Where in memory the side of a guard is noted, or null. */
static double *side_of(const Run *run, int64_t j) {
  int64_t place = j < run->model->n_guards ? run->model->guard_side[j] : 0;
  return place > 0 ? run->m + place - 1 : NULL;
}

/* Signs of the guards at the start of the next step, from their values in a row. A step too short to move a guard from
   its root leaves the matter to the rate again. */
static void set_signs(Run *run, int64_t source, int settled) {
  const double *values = guard_row(run, source), *before = guard_row(run, G_BEFORE);
  int rates_known = 0, too_short = run->last_length <= run->resolution;
  for (int64_t j = 0; j < run->n_active; j++) {
    if (keeps_sign(run, j, values[j], settled)) continue;
    /* At its root the value says nothing: the noted side, or the rate, tells where it is going. */
    int at_root = settled && run->fired[j] == LOCATED && values[j] == before[j];
    int not_left_root = run->from_rate[j] == 1 && too_short && run->fired[j] == NOT_FIRED;
    int by_rate = values[j] == 0.0 || at_root || not_left_root;
    const double *side = side_of(run, j);
    /* A crossing that was located came to the other side. */
    if (by_rate && settled && side && *side != 0.0) {
      run->sign[j] = at_root ? -run->sign[j] : sign_of(*side);
      run->from_rate[j] = 1;
      continue;
    }
    /* One evaluation serves all guards. */
    if (by_rate && !rates_known) {
      evaluate_guard_rates(run);
      rates_known = 1;
    }
    run->sign[j] = sign_of(by_rate ? guard_row(run, G_POINT)[j] : values[j]);
    run->from_rate[j] = by_rate;
  }
}

/* Signs at the end of a step become those at the start of the next. */
void carry_signs(Run *run) {
  set_signs(run, G_END, 0);
  copy_guards(run, G_END, G_FIRST);
}

/* The side of a guard that fired is its sign, and so it is where none is noted yet. */
static void note_sides(Run *run) {
  for (int64_t j = 0; j < run->model->n_guards; j++) {
    double *side = side_of(run, j), sign = (double)run->sign[j];
    if (side == NULL || sign == 0.0 || *side == sign || (run->fired[j] == NOT_FIRED && *side != 0.0)) continue;
    *side = sign;
    forget_slope(run);
  }
}

/* Signs after all actions and tasks of an instant; what fired there is forgotten. */
void settle_signs(Run *run) {
  for (int64_t j = 0; j < run->n_active; j++)
    if (run->fired[j] < 0) run->fired[j] = -run->fired[j];
  evaluate_guards(run, run->t, START, G_START);
  set_signs(run, G_START, 1);
  copy_guards(run, G_START, G_FIRST);
  note_sides(run);
  for (int64_t j = 0; j < run->n_active; j++) run->fired[j] = NOT_FIRED;
  run->armed = 1;
}
