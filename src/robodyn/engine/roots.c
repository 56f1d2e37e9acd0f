/* Root finding: at which place of a step is a guard zero, to the last digits of time?

   Symbols: theta = 0..1 the place in the step; left, right the ends of a bracket of the root. The Illinois rule is the
   false position whose value at an end that stays is halved (Dowell and Jarratt 1971). */

#include "parts.h"

enum { MOST_HALVINGS = 60, MOST_ITERATIONS = 120 };

typedef struct {
  double left, right, value_left, value_right;
} Bracket;

/* Value of guard j at a place of the step. */
double guard_value_at(Run *run, double theta, int64_t j) {
  guards_at(run, theta, G_POINT);
  return guard_row(run, G_POINT)[j];
}

/* Rate of one of the model's guards at a place of the step. */
static double rate_at(Run *run, double theta, int64_t j) {
  double t = least(run->t + theta * run->h_tried, run->t_left);
  guards_at(run, theta, G_POINT);
  read_rates(run, t);
  call_kernel(run, run->model->guard_rates, t, state(run, POINT), guard_row(run, G_POINT));
  return guard_row(run, G_POINT)[j];
}

/* Place where a guard turns back that left its root by less than its rounding: there its rate changes sign. While it has
   not turned back it has not crossed: infinity, and its sign is kept for the next step. */
static double find_return(Run *run, int64_t j, int64_t sign, double left, double right) {
  /* Limits of states have no rate of their own: they are taken where they were seen. */
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
  double start = left, value = guard_value_at(run, left, j), shortest = spacing(run->t) / run->h_tried;
  for (int k = 0; k < MOST_HALVINGS; k++) {
    if (sign_of(value) == sign) return (Bracket){left, right, value, value_right};
    left = start + 0.5 * (right - start);
    if (left - start < shortest) break;
    value = guard_value_at(run, left, j);
    if (sign_of(value) != sign) {
      right = left;
      value_right = value;
    }
  }
  return (Bracket){right, right, value, value_right};
}

/* Right end of a bracket of the root of guard j, a few units in the last place of t wide: by the Illinois rule, with a
   bisection when two tries have not halved the bracket. */
double locate_root(Run *run, int64_t j, int64_t sign, double start, double end, double value_end) {
  double width = ROOT_ULPS * spacing(largest(fabs(run->t), fabs(run->t_new))) / run->h_tried;
  int side = 0;
  need_dense(run);
  Bracket b = enter_bracket(run, j, sign, start, end, value_end);
  if (b.left == b.right) return find_return(run, j, sign, start, end);
  /* The weights are the values of the false position, apart from what is halved. */
  double weight_left = b.value_left, weight_right = b.value_right, checked = b.right - b.left;
  for (int k = 0; k < MOST_ITERATIONS && b.right - b.left > width && b.value_right != 0.0; k++) {
    /* Secant: left + (right - left) w_left / (w_left - w_right), seen from the right. */
    double middle = b.right - weight_right * (b.right - b.left) / (weight_right - weight_left);
    if (k % 3 == 2) {
      if (b.right - b.left > 0.5 * checked) middle = 0.5 * (b.left + b.right);
      checked = b.right - b.left;
    }
    /* Rounding may have put it on an end, or beyond. */
    if (!(b.left < middle && middle < b.right)) middle = 0.5 * (b.left + b.right);
    if (middle == b.left || middle == b.right) break;
    double value = guard_value_at(run, middle, j);
    if (sign_of(value) == sign) {
      b.left = middle;
      weight_left = value;
      /* The same end has moved twice: the other one is made to move next. */
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
