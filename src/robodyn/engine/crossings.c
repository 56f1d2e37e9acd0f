/* Event location: where in a step does a guard cross zero?

   Symbols: theta = 0..1 the place in the step; left, right the ends of a bracket of the root. */

#include "parts.h"

/* Roots nearer than this part of a step are one instant. */
#define COINCIDENCE 1e-12
#define ROOT_ULPS 4.0

enum { MOST_HALVINGS = 60, MOST_ITERATIONS = 120 };

typedef struct {
  double left, right, value_left, value_right;
} Bracket;

static double value_at(Run *run, double theta, int64_t j) {
  guards_at(run, theta, G_POINT);
  return guard_row(run, G_POINT)[j];
}

/* Rate of one of the model's guards at a place of the step. */
static double rate_at(Run *run, double theta, int64_t j) {
  double *rates = guard_row(run, G_POINT);
  guards_at(run, theta, G_POINT);
  call_kernel(run, run->model->guard_rates, least(run->t + theta * run->h_tried, run->t_left), state(run, POINT), rates);
  return rates[j];
}

/* Place where a guard turns back that left its root by less than its rounding: there its rate changes sign. While it has
   not turned back it has not crossed: infinity, and its sign is kept for the next step. */
static double find_return(Run *run, int64_t j, int64_t sign, double left, double right) {
  if (j >= run->model->n_guards) return right;
  if (sign_of(rate_at(run, right, j)) != -sign) {
    run->from_rate[j] = LEAVING;
    return INFINITY;
  }
  for (int k = 0; k < MOST_HALVINGS && (right - left) * run->h_tried > spacing(run->t); k++) {
    double middle = 0.5 * (left + right);
    if (sign_of(rate_at(run, middle, j)) == -sign)
      right = middle;
    else
      left = middle;
  }
  return right;
}

/* A bracket whose left end has the starting sign, found by halving towards the start where the start itself has not: a
   guard that has just left its root may still show rounding of the other sign there. A bracket of no width says that the
   starting sign was not seen at all. */
static Bracket enter_bracket(Run *run, int64_t j, int64_t sign, double left, double right, double value_right) {
  double start = left, value = value_at(run, left, j), shortest = spacing(run->t) / run->h_tried;
  for (int k = 0; k < MOST_HALVINGS; k++) {
    if (sign_of(value) == sign) return (Bracket){left, right, value, value_right};
    left = start + 0.5 * (right - start);
    if (left - start < shortest) break;
    value = value_at(run, left, j);
    if (sign_of(value) != sign) {
      right = left;
      value_right = value;
    }
  }
  return (Bracket){right, right, value, value_right};
}

/* Right end of a bracket of the root of guard j, a few units in the last place of t wide: by the Illinois rule, with a
   bisection when two tries have not halved the bracket. */
static double locate_root(Run *run, int64_t j, int64_t sign, double start, double end, double value_end) {
  double width = ROOT_ULPS * spacing(largest(fabs(run->t), fabs(run->t_new))) / run->h_tried;
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
    if (sign_of(value) == sign) {
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
static double find_crossing(Run *run, int64_t j) {
  double left = 0.0, end = guard_row(run, G_END)[j];
  int64_t sign = run->sign[j];
  if (sign == 0) return INFINITY;
  if (run->method->adaptive) {
    double middle = guard_row(run, G_MIDDLE)[j];
    if (guard_crosses(run, j, sign, middle)) {
      double place = locate_root(run, j, sign, 0.0, 0.5, middle);
      if (place < INFINITY) return place;
    } else {
      sign = sign_of(middle);
      left = 0.5;
    }
  }
  return guard_crosses(run, j, sign, end) ? locate_root(run, j, sign, left, 1.0, end) : INFINITY;
}

/* Crossing before a place of the step of the first guard of which none is known until then; or infinity. */
static double cross_before(Run *run, double place, double known) {
  double *roots = guard_row(run, G_ROOT);
  const double *values = guard_row(run, G_POINT);
  guards_at(run, place, G_POINT);
  for (int64_t j = 0; j < run->n_active; j++) {
    if (!(roots[j] > known) || only_watches(run, j)) continue;
    if (run->sign[j] == 0 || !guard_crosses(run, j, run->sign[j], values[j])) continue;
    double found = locate_root(run, j, run->sign[j], 0.0, place, values[j]);
    if (found < INFINITY) return roots[j] = found;
    guards_at(run, place, G_POINT);
  }
  return INFINITY;
}

/* Place of the first crossing: guards seen apart in the middle and at the end may have crossed before the first root
   found, and returned after it. They are looked for there and halfway to it. */
static double look_before(Run *run, double earliest, double width) {
  for (int64_t k = 0; k < 2 * run->n_active; k++) {
    double found = cross_before(run, 0.5 * earliest, earliest + width);
    if (found == INFINITY) found = cross_before(run, earliest, earliest + width);
    if (!(found < earliest)) break;
    earliest = found;
  }
  return earliest;
}

/* Note the crossings of watching guards before a place of the step; there may be one in each half of an adaptive step. */
static void note_crossings(Run *run, double end) {
  double *roots = guard_row(run, G_ROOT);
  if (!run->method->adaptive) {
    log_watchers(run, end);
    return;
  }
  log_watchers(run, least(0.5, end));
  if (end <= 0.5) return;
  for (int64_t j = 0; j < run->model->n_guards; j++) {
    if (roots[j] < INFINITY || !only_watches(run, j) || run->fired[j] == LOCATED) continue;
    double value = guard_row(run, G_END)[j];
    int64_t sign = sign_of(guard_row(run, G_MIDDLE)[j]);
    if (guard_crosses(run, j, sign, value)) roots[j] = locate_root(run, j, sign, 0.5, 1.0, value);
  }
  log_watchers(run, end);
}

/* End the step at a place within it, but later than its start by at least a unit in the last place of time. */
static void truncate_step(Run *run, double theta) {
  theta = largest(theta, (nextafter(run->t, INFINITY) - run->t) / run->h_tried);
  if (theta >= 1.0) return;
  evaluate_dense(run, theta, END);
  run->t_new = least(run->t + theta * run->h_tried, run->t_new);
  run->theta_end = theta;
  run->end_known = -1;
  guards_at(run, 1.0, G_END);
}

/* Find the crossings of the step just made; 1 when the step was truncated at the first that has consequences.

   An adaptive step is also looked at in its middle, and again at the first root and halfway to it. The instant is the
   right end of the last root's bracket among those that coincide with the first; later roots are dropped, the next step
   finds them again. Guards without action that end nothing only watch: their crossings are noted and the step stays
   whole. */
int locate_events(Run *run) {
  double *roots = guard_row(run, G_ROOT), earliest = INFINITY;
  int any_root = 0;
  guards_at(run, 1.0, G_END);
  if (run->method->adaptive) {
    need_dense(run);
    guards_at(run, 0.5, G_MIDDLE);
  }
  for (int64_t j = 0; j < run->n_active; j++) {
    roots[j] = find_crossing(run, j);
    any_root |= roots[j] < INFINITY;
    if (!only_watches(run, j)) earliest = least(earliest, roots[j]);
  }
  if (!any_root) return 0;
  if (earliest == INFINITY) {
    note_crossings(run, INFINITY);
    return 0;
  }
  double width = largest(COINCIDENCE, ROOT_ULPS * spacing(run->t_new) / run->h_tried), last;
  last = earliest = look_before(run, earliest, width);
  for (int64_t j = 0; j < run->n_active; j++)
    if (fabs(roots[j] - earliest) <= width) {
      run->fired[j] = LOCATED;
      last = largest(last, roots[j]);
      roots[j] = INFINITY;
    }
  note_crossings(run, last);
  truncate_step(run, last);
  return 1;
}
