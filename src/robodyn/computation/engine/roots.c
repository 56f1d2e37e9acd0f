/* Root finding: at which place of a step is a guard, or a condition, zero, to the last digits of time?

   Symbols: theta = 0..1 the place in the step; left, right the ends of a bracket of the root. */

#include "parts.h"

enum { MOST_HALVINGS = 60, MOST_ITERATIONS = 120 };

/* Value of guard j at a place of the step. */
double guard_value_at(Run *run, double theta, int64_t j) {
  guards_at(run, theta, G_POINT);
  return guard_row(run, G_POINT)[j];
}

/* Rate of one of the model's guards at a place of the step. */
static double rate_at(Run *run, double theta, int64_t j) {
  double t = point_at(run, theta);
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

/* The bracket as narrow as the places seen so far make it, around its first crossing. */
static Bracket narrow(const Run *run, int64_t j, int64_t sign, Bracket b) {
  for (int side = 0; side < 2; side++)
    for (int64_t k = 0; k < run->n_seen; k++) {
      double place = run->seen_at[k], value = guard_row(run, G_SEEN + k)[j];
      if (!(place > b.left && place < b.right) || (sign_of(value) == sign) != side) continue;
      /* First the nearest place that is across, then the last before it that is not. */
      if (side)
        b = (Bracket){place, b.right, value, b.value_right};
      else
        b = (Bracket){b.left, place, b.value_left, value};
    }
  return b;
}

/* Part of the way from a to b at which the guard is zero, by the parabola through three points that gives the place as a
   function of the value; 0.5 where this may lead astray (Chandrupatla 1997). The place c has just been left. */
static double interpolate(double a, double b, double c, double fa, double fb, double fc) {
  double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
  if (!(phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)) return 0.5;
  return fa / (fb - fa) * (fc / (fb - fc)) + (c - a) / (b - a) * (fa / (fc - fa)) * (fb / (fc - fb));
}

/* A few units in the last place of t, as part of the step. */
double root_width(const Run *run) { return ROOT_ULPS * spacing(largest(fabs(run->t), fabs(run->t_new))) / run->h_tried; }

/* The bracket no wider than that: its left end keeps its sign, the right end has the other one, or is zero where that
   counts as crossed. What is zero there is value_at(run, theta, j) - target. */
Bracket close_bracket(Run *run, Bracket b, double width, int64_t j, int64_t sign, int zero_crosses, Value value_at, double target) {
  /* The end moved last is a; b.left and b.right in turn, as they move; the place left is c. */
  double c = NAN, value_c = NAN;
  int moved_right = 0;
  for (int k = 0; k < MOST_ITERATIONS && b.right - b.left > width && b.value_right != 0.0; k++) {
    double length = b.right - b.left, part = b.value_left / (b.value_left - b.value_right), nearest = 0.5 * width / length;
    if (k > 0 && moved_right)
      part = 1.0 - interpolate(b.right, b.left, c, b.value_right, b.value_left, value_c);
    else if (k > 0)
      part = interpolate(b.left, b.right, c, b.value_left, b.value_right, value_c);
    /* Not nearer to an end than the root is to be known: so the other end comes as near. */
    double middle = b.left + length * least(largest(part, nearest), 1.0 - nearest);
    if (!(b.left < middle && middle < b.right)) middle = 0.5 * (b.left + b.right);
    if (middle == b.left || middle == b.right) break;
    double value = value_at(run, middle, j) - target;
    moved_right = zero_crosses ? sign_of(value) != sign : sign_of(value) == -sign;
    c = moved_right ? b.right : b.left;
    value_c = moved_right ? b.value_right : b.value_left;
    b = moved_right ? (Bracket){b.left, middle, b.value_left, value} : (Bracket){middle, b.right, value, b.value_right};
  }
  return b;
}

/* Right end of a bracket of the root of guard j, a few units in the last place of t wide. A root beyond a place, which is
   of no interest, is not located: the bracket's right end as it is. */
double locate_root(Run *run, int64_t j, int64_t sign, double start, double end, double value_end, double before) {
  double width = root_width(run);
  need_dense(run);
  Bracket b = enter_bracket(run, j, sign, start, end, value_end);
  if (b.left == b.right) return find_return(run, j, sign, start, end);
  b = narrow(run, j, sign, b);
  if (b.left >= before && b.right > before + 2.0 * width) return b.right;
  return close_bracket(run, b, width, j, sign, 1, guard_value_at, 0.0).right;
}
