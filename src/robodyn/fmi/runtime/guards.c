/* What sign has a guard, does it cross zero in a step, and where?

   The guards are the model's own, then x_i - upper_i and x_i - lower_i of limited states (adaptive methods only). A
   guard fires when its sign at the start of a step and its value later say so:
       rising: sign < 0 and g >= 0,  falling: sign > 0 and g <= 0
   Its sign at the start is that of its value; where that is exactly 0, or the guard has just fired and nothing has moved
   it from its root, it is the sign of its rate; where that is 0 too it cannot fire in this step. */

#include "engine.h"

#include <float.h>
#include <math.h>

#define COINCIDENCE 1e-12
#define N_ACTIVE (ADAPTIVE ? N_ALL : N_GUARDS)

enum { MOST_HALVINGS = 60, MOST_ITERATIONS = 120, LEAVING = 2 };

static int sign_of_value(double value) { return value > 0.0 ? 1 : value < 0.0 ? -1 : 0; }

static double spacing(double t) { return nextafter(fabs(t), INFINITY) - fabs(t); }

/* The polynomial of the step just made, x(theta) = sum_k DENSE_k theta^k. */
void need_dense(Run *run) {
  double h = run->h_tried, weight = FAMILY == ROSENBROCK ? 1.0 : h;
  if (run->dense_known) return;
  if (FAMILY == WHOLE) {
    need_slope(run);
    for (int i = 0; i < N_X; i++) run->x[STAGE + 1][i] = (run->x[END][i] - run->x[START][i]) / h;
  }
  if (NEEDS_END) {
    evaluate_rate(run, run->t + h, END, STAGE + STAGES);
    run->end_known = 1;
  }
  copy_row(run, START, DENSE);
  for (int power = 0; power < 4; power++)
    for (int i = 0; i < N_X; i++) {
      double total = 0.0;
      for (int j = 0; j < N_DENSE; j++) total += weight * METHOD_P[4 * j + power] * run->x[STAGE + j][i];
      run->x[DENSE + 1 + power][i] = total;
    }
  run->dense_known = 1;
}

static void evaluate_dense(Run *run, double theta, int target) {
  for (int i = 0; i < N_X; i++) {
    double value = run->x[DENSE + 4][i];
    for (int power = 3; power >= 0; power--) value = value * theta + run->x[DENSE + power][i];
    run->x[target][i] = value;
  }
}

/* Put x at a fraction of the (perhaps cut) step into POINT; its time, never beyond the left side of a break. */
double set_point(Run *run, double fraction) {
  if (fraction >= 1.0) {
    copy_row(run, END, POINT);
    return fmin(run->t_new, run->t_left);
  }
  if (fraction <= 0.0) {
    copy_row(run, START, POINT);
    return run->t;
  }
  evaluate_dense(run, fraction * run->theta_end, POINT);
  return fmin(run->t + fraction * (run->t_new - run->t), run->t_left);
}

/* All guards at a time and a row of states; delayed signals as last read. */
static void evaluate_guards(Run *run, double t, int source, int target) {
  double *values = run->guard_values[target], *x = run->x[source];
  if (N_GUARDS > 0) ask(run, KERNEL_GUARDS, t, x, values);
  if (N_ACTIVE > N_GUARDS) ask(run, KERNEL_LIMITS, t, x, run->bounds);
  for (int k = 0; k < N_LIMITED && N_ACTIVE > N_GUARDS; k++) {
    values[N_GUARDS + k] = x[LIMITED[k]] - run->bounds[N_LIMITED + k];
    values[N_GUARDS + N_LIMITED + k] = x[LIMITED[k]] - run->bounds[k];
  }
}

/* All guards at a place of the step. */
void guards_at(Run *run, double theta, int target) {
  double t = fmin(theta >= 1.0 ? run->t_new : run->t + theta * run->h_tried, run->t_left);
  if (theta >= 1.0)
    copy_row(run, END, POINT);
  else
    evaluate_dense(run, theta, POINT);
  read_inside(run, t);
  evaluate_guards(run, t, POINT, target);
}

static int direction_of(int j) { return j < N_GUARDS ? GUARD_DIRECTION[j] : j < N_GUARDS + N_LIMITED ? 1 : -1; }

static int crosses(int direction, int sign, double value) {
  return (sign < 0 && value >= 0.0 && direction >= 0) || (sign > 0 && value <= 0.0 && direction <= 0);
}

/* Values of the guards before any action or task. */
void note_guards(Run *run) { evaluate_guards(run, run->t, START, G_NOTED); }

/* Fire the guards that a task, an action, an input or a break made to jump across zero; 1 when there is any. */
int find_jumps(Run *run) {
  const double *before = run->guard_values[run->jump_level < SMOOTH ? G_END : G_NOTED];
  int found = 0;
  evaluate_guards(run, run->t, START, G_POINT);
  for (int j = 0; j < N_GUARDS; j++) {
    double value = run->guard_values[G_POINT][j];
    if (run->fired[j] != NOT_FIRED || value == before[j]) continue;
    if (crosses(GUARD_DIRECTION[j], run->sign[j], value)) {
      run->fired[j] = JUMPED;
      found = 1;
    }
  }
  return found;
}

/* Rates of all guards at the present state, into G_POINT; the limits themselves count as constant. */
static void evaluate_rates(Run *run) {
  double *rates = run->guard_values[G_POINT];
  if (N_GUARDS > 0) ask(run, KERNEL_GUARD_RATES, run->t, run->x[START], rates);
  if (N_ACTIVE == N_GUARDS) return;
  need_slope(run);
  for (int k = 0; k < N_LIMITED; k++)
    rates[N_GUARDS + k] = rates[N_GUARDS + N_LIMITED + k] = run->x[STAGE][LIMITED[k]];
}

/* Signs at the start of the next step. Before the instant is settled, the signs of guards that have fired wait; after
   it, a guard that nothing moved keeps its sign. */
static void set_signs(Run *run, int source, int settled) {
  int rates_known = 0, too_short = run->last_length <= run->resolution;
  for (int j = 0; j < N_ACTIVE; j++) {
    double value = run->guard_values[source][j];
    int fired = run->fired[j], untouched = fired == NOT_FIRED;
    if (!untouched && !settled) continue;
    if (run->from_rate[j] == LEAVING && untouched) {
      run->from_rate[j] = 1;
      continue;
    }
    if (settled && run->armed && untouched && value == run->guard_values[G_END][j] && value != 0.0) continue;
    int at_root = settled && fired == LOCATED && value == run->guard_values[G_NOTED][j];
    int by_rate = value == 0.0 || at_root || (run->from_rate[j] == 1 && too_short && untouched);
    if (by_rate && !rates_known) {
      evaluate_rates(run);
      rates_known = 1;
    }
    run->sign[j] = sign_of_value(by_rate ? run->guard_values[G_POINT][j] : value);
    run->from_rate[j] = by_rate;
  }
}

void carry_signs(Run *run) { set_signs(run, G_END, 0); }

void settle_signs(Run *run) {
  for (int j = 0; j < N_ACTIVE; j++)
    if (run->fired[j] < 0) run->fired[j] = -run->fired[j];
  evaluate_guards(run, run->t, START, G_START);
  set_signs(run, G_START, 1);
  for (int j = 0; j < N_ACTIVE; j++) run->fired[j] = NOT_FIRED;
  run->armed = 1;
}

static double rate_at(Run *run, double theta, int j) {
  guards_at(run, theta, G_POINT);
  double t = fmin(run->t + theta * run->h_tried, run->t_left);
  ask(run, KERNEL_GUARD_RATES, t, run->x[POINT], run->guard_values[G_POINT]);
  return run->guard_values[G_POINT][j];
}

/* Place where a guard turns back that left its root by less than its rounding: there its rate changes sign. */
static double find_return(Run *run, int j, int sign, double left, double right) {
  if (j >= N_GUARDS) return right;
  if (sign_of_value(rate_at(run, right, j)) != -sign) {
    run->from_rate[j] = LEAVING;
    return INFINITY;
  }
  for (int k = 0; k < MOST_HALVINGS && (right - left) * run->h_tried > spacing(run->t); k++) {
    double middle = 0.5 * (left + right);
    if (sign_of_value(rate_at(run, middle, j)) == -sign)
      right = middle;
    else
      left = middle;
  }
  return right;
}

static double value_at(Run *run, double theta, int j) {
  guards_at(run, theta, G_POINT);
  return run->guard_values[G_POINT][j];
}

typedef struct {
  double left, right, value_left, value_right;
} Bracket;

/* A bracket whose left end has the starting sign, found by halving towards the start where the start itself shows
   rounding of the other sign; one of no width says that the starting sign was not seen at all. */
static Bracket enter_bracket(Run *run, int j, int sign, double left, double right, double value_right) {
  double start = left, value = value_at(run, left, j), shortest = spacing(run->t) / run->h_tried;
  for (int k = 0; k < MOST_HALVINGS; k++) {
    if (sign_of_value(value) == sign) return (Bracket){left, right, value, value_right};
    left = start + 0.5 * (right - start);
    if (left - start < shortest) break;
    value = value_at(run, left, j);
    if (sign_of_value(value) != sign) {
      right = left;
      value_right = value;
    }
  }
  return (Bracket){right, right, value, value_right};
}

/* Right end of a bracket of the root of guard j, a few units in the last place of t wide, by the Illinois rule, with a
   bisection when two tries have not halved the bracket. */
static double locate_root(Run *run, int j, int sign, double start, double end, double value_end) {
  double width = 4.0 * spacing(fmax(fabs(run->t), fabs(run->t_new))) / run->h_tried;
  int side = 0;
  need_dense(run);
  Bracket b = enter_bracket(run, j, sign, start, end, value_end);
  if (b.left == b.right) return find_return(run, j, sign, start, end);
  double weight_left = b.value_left, weight_right = b.value_right, checked = b.right - b.left;
  for (int k = 0; k < MOST_ITERATIONS && b.right - b.left > width && b.value_right != 0.0; k++) {
    double middle = b.right - weight_right * (b.right - b.left) / (weight_right - weight_left);
    if (k % 3 == 2) {
      if (b.right - b.left > 0.5 * checked) middle = 0.5 * (b.left + b.right);
      checked = b.right - b.left;
    }
    if (!(b.left < middle && middle < b.right)) middle = 0.5 * (b.left + b.right);
    if (middle == b.left || middle == b.right) break;
    double value = value_at(run, middle, j);
    if (sign_of_value(value) == sign) {
      b.left = middle;
      weight_left = value;
      if (side < 0) weight_right *= 0.5;
      side = -1;
    } else {
      b.right = middle;
      b.value_right = weight_right = value;
      if (side > 0) weight_left *= 0.5;
      side = 1;
    }
  }
  return b.right;
}

/* Place of the first crossing of guard j in the step, or infinity; an adaptive step is also looked at in its middle. */
static double find_crossing(Run *run, int j) {
  int direction = direction_of(j), sign = run->sign[j];
  double left = 0.0;
  if (sign == 0) return INFINITY;
  if (ADAPTIVE) {
    double middle = run->guard_values[G_MIDDLE][j];
    if (crosses(direction, sign, middle)) {
      double place = locate_root(run, j, sign, 0.0, 0.5, middle);
      if (place < INFINITY) return place;
    } else {
      sign = sign_of_value(middle);
      left = 0.5;
    }
  }
  double end = run->guard_values[G_END][j];
  return crosses(direction, sign, end) ? locate_root(run, j, sign, left, 1.0, end) : INFINITY;
}

/* End the step at a place within it, but later than its start. */
static void truncate_step(Run *run, double theta) {
  theta = fmax(theta, (nextafter(run->t, INFINITY) - run->t) / run->h_tried);
  if (theta >= 1.0) return;
  evaluate_dense(run, theta, END);
  run->t_new = fmin(run->t + theta * run->h_tried, run->t_new);
  run->theta_end = theta;
  run->end_known = -1;
  guards_at(run, 1.0, G_END);
}

/* Find the crossings of the step just made; 1 when it was cut at the first. Roots that coincide with the first fire
   together; later ones are found again by the next step. */
int locate_events(Run *run) {
  double *roots = run->guard_values[G_ROOT], earliest = INFINITY;
  guards_at(run, 1.0, G_END);
  if (ADAPTIVE) {
    need_dense(run);
    guards_at(run, 0.5, G_MIDDLE);
  }
  for (int j = 0; j < N_ACTIVE; j++) earliest = fmin(earliest, roots[j] = find_crossing(run, j));
  if (earliest == INFINITY) return 0;
  double width = fmax(COINCIDENCE, 4.0 * spacing(run->t_new) / run->h_tried), last = earliest;
  for (int j = 0; j < N_ACTIVE; j++)
    if (fabs(roots[j] - earliest) <= width) {
      run->fired[j] = LOCATED;
      last = fmax(last, roots[j]);
    }
  truncate_step(run, last);
  return 1;
}
