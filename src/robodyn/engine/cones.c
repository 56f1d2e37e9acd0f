/* Friction cones: in which direction does a contact point in space begin to slip?

   Two rows with the same partner are the tangents of one contact point. Pivoting knows a pyramid around its cone,
   |f_1|, |f_2| <= mu N. From there each point is put where its force belongs,

       sticks    w = 0,                        |f| <= mu N
       slips     w = l e,    f = -mu N e,      l >= 0,    |e| = 1

   by projections on the cones: with g = w - s f, s the largest mobility of the two tangents, a point sticks where
   |g| <= s mu N, else e = g / |g|. Its tangents are turned so that the first is e, and all other rows are pivoted anew, until
   nothing turns any more. The modes of a point that slips are then written as e in the tangents that were given. */

#include "complementarity.h"

enum { MOST_TURNS = 30 };
#define ALIGNED 1e-9
#define ON_CONE (1.0 + 1e-9)

static int is_open(const Problem *p, int64_t i) {
  return p->given[ALLOWED][i] == MAY_CHANGE && p->mode[partner_of(p, i)] == HELD;
}

static void turn_two(double *first, double *second, double c, double s) {
  double a = *first, b = *second;
  *first = c * a + s * b;
  *second = c * b - s * a;
}

/* Rows and columns i and i + 1 along c and s of them; `axes` holds the first one in the tangents that were given. */
static void turn_pair(Problem *p, int64_t i, double c, double s) {
  int64_t k = p->k;
  for (int64_t j = 0; j < k; j++) turn_two(p->A + i * k + j, p->A + (i + 1) * k + j, c, s);
  for (int64_t j = 0; j < k; j++) turn_two(p->A + j * k + i, p->A + j * k + i + 1, c, s);
  turn_two(p->b + i, p->b + i + 1, c, s);
  double x = p->axes[i], y = p->axes[i + 1];
  p->axes[i] = c * x - s * y;
  p->axes[i + 1] = c * y + s * x;
}

/* Put a pair where its projection on the cone says; 0 where it is there already. */
static int project_pair(Problem *p, int64_t i) {
  double limit = p->given[COEFFICIENT][i] * p->f[partner_of(p, i)], s = largest_mobility(p, i);
  double x = p->w[i] - s * p->f[i], y = p->w[i + 1] - s * p->f[i + 1], size = hypot(x, y);
  int slid = p->bound[i + 1] == LOOSE, slides = size > ON_CONE * s * limit;
  int same = p->bound[i] != UNBOUND && slid == slides && (!slides || (x > 0.0 && fabs(y) <= ALIGNED * size));
  if (slides && !same) turn_pair(p, i, x / size, y / size);
  p->mode[i] = p->mode[i + 1] = slides ? FORWARD : HELD;
  p->bound[i] = BOUND;
  p->bound[i + 1] = slides ? LOOSE : BOUND;
  return !same;
}

int project_cones(Problem *p) {
  int moved = 0;
  for (int64_t i = 0; i < p->k; i++) {
    if (!is_pair(p, i)) continue;
    if (is_open(p, i)) moved |= project_pair(p, i);
    i++;
  }
  return moved;
}

void write_directions(Problem *p) {
  for (int64_t i = 0; i < p->k; i++) {
    if (!is_pair(p, i)) continue;
    double first = p->mode[i], second = p->bound[i + 1] == LOOSE ? 0.0 : p->mode[i + 1];
    p->mode[i] = first * p->axes[i] - second * p->axes[i + 1];
    p->mode[i + 1] = first * p->axes[i + 1] + second * p->axes[i];
    i++;
  }
}

/* Where pivoting fails on the way, the last modes are kept. */
int find_cones(Problem *p) {
  for (int64_t pass = 0; pass < MOST_TURNS; pass++) {
    if (!project_cones(p)) return 1;
    for (int64_t i = 0; i < p->k; i++) p->kept[i] = p->mode[i];
    if (pivot_gently(p)) continue;
    for (int64_t i = 0; i < p->k; i++) p->mode[i] = p->kept[i];
    return 0;
  }
  return 0;
}
