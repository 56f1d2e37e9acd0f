/* Projected Gauss-Seidel: forces of a complementarity problem where pivoting goes round in circles.

   One row after the other, and the two tangents of a contact point in space together, is given the force that stops it, or
   the nearest one that it can have:

       f_i <- P(f_i - w_i / A_ii),    w = b + A f

   P: to what a force may be, a normal one at least zero, friction within its levels or its cone of the radius mu N. Each
   row keeps its compliance, so that dependent ones share what they hold. It knows nothing of modes and cannot go in circles
   of them; it is slow where rows nearly depend on each other, and is therefore asked last. */

#include "complementarity.h"

enum { MOST_SWEEPS = 4000, TANGENT_STEPS = 3 };

static double motion_of(const Problem *p, int64_t i) {
  double total = p->b[i] + p->given[COMPLIANCE][i] * p->f[i];
  for (int64_t j = 0; j < p->k; j++) total += p->A[i * p->k + j] * p->f[j];
  return total;
}

/* The limit of a row's friction, nothing where its contact does not push. */
static double limit_of(const Problem *p, int64_t i) {
  return p->given[COEFFICIENT][i] * largest(p->f[partner_of(p, i)], 0.0);
}

/* A row that keeps its mode, or one of any kind but the tangents of a point in space. */
static double relax_row(Problem *p, int64_t i) {
  double below = p->given[BELOW][i], above = p->given[UPPER][i] >= NO_BOUND ? INFINITY : p->given[ABOVE][i];
  double wanted = p->f[i] - motion_of(p, i) / own_mobility(p, i);
  if (partner_of(p, i) >= 0) above = limit_of(p, i), below = -above;
  if (p->given[ALLOWED][i] != MAY_CHANGE && p->given[INITIAL][i] != HELD)
    return partner_of(p, i) >= 0 ? -p->given[INITIAL][i] * above : p->given[INITIAL][i] > 0.0 ? below : p->given[ABOVE][i];
  return least(largest(wanted, below), above);
}

static void relax_pair(Problem *p, int64_t i, double *first, double *second) {
  double limit = limit_of(p, i), s = largest_mobility(p, i);
  *first = p->f[i] - motion_of(p, i) / s;
  *second = p->f[i + 1] - motion_of(p, i + 1) / s;
  double size = hypot(*first, *second), factor = size > limit ? limit / size : 1.0;
  *first *= factor;
  *second *= factor;
}

static double put(Problem *p, int64_t i, double force) {
  double moved = fabs(force - p->f[i]) * own_mobility(p, i) / p->given[TOLERANCE][i];
  p->f[i] = force;
  return moved;
}

/* The friction of a row. */
static double relax_friction(Problem *p, int64_t of) {
  double moved = 0.0, first, second;
  for (int64_t i = 0; i < p->k; i++) {
    if (partner_of(p, i) != of) continue;
    if (!is_pair(p, i) || p->given[ALLOWED][i] != MAY_CHANGE) {
      moved = largest(moved, put(p, i, relax_row(p, i)));
      continue;
    }
    relax_pair(p, i, &first, &second);
    moved = largest(moved, largest(put(p, i, first), put(p, i + 1, second)));
    i++;
  }
  return moved;
}

/* One sweep over all rows, each beside its friction; the largest change, by what it does to its own row, in tolerances. */
static double sweep(Problem *p) {
  double moved = 0.0;
  for (int64_t i = 0; i < p->k; i++) {
    if (partner_of(p, i) >= 0) continue;
    moved = largest(moved, put(p, i, relax_row(p, i)));
    for (int step = 0; step < TANGENT_STEPS; step++) moved = largest(moved, relax_friction(p, i));
  }
  return moved;
}

/* What each row does under these forces; the cones decide on tangents in space. */
static void read_modes(Problem *p) {
  for (int64_t i = 0; i < p->k; i++) {
    double f = p->f[i], below = p->given[BELOW][i], above = p->given[UPPER][i] >= NO_BOUND ? INFINITY : p->given[ABOVE][i];
    if (partner_of(p, i) >= 0) above = limit_of(p, i), below = -above;
    if (p->given[ALLOWED][i] == MAY_CHANGE) p->mode[i] = f <= below ? FORWARD : f >= above ? BACKWARD : HELD;
  }
}

int find_by_relaxation(Problem *p) {
  for (int64_t i = 0; i < p->k; i++) p->f[i] = 0.0, p->mode[i] = p->given[INITIAL][i], p->bound[i] = UNBOUND;
  double moved = INFINITY;
  for (int64_t sweeps = 0; sweeps < MOST_SWEEPS && moved > 1.0; sweeps++) moved = sweep(p);
  read_modes(p);
  for (int64_t i = 0; i < p->k; i++) p->w[i] = motion_of(p, i);
  return moved <= LEFT;
}
