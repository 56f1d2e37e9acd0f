/* Friction cones: in which direction does a contact point in space begin to slip?

   Two rows with the same partner are the tangents of one contact point. Pivoting knows a pyramid around its cone,
   |f_1|, |f_2| <= mu N. Where its force is outside of the cone the point slips,

       w = l e,    f = -mu N e,    l >= 0,    |e| = 1

   and the tangents are turned until the first is e: e <- (w - s f) / |w - s f| with s no less than their mobility, which
   is a projection on the cone (Moreau). The mode of a point that slips is written as e in the tangents that were given. */

#include "complementarity.h"

enum { MOST_TURNS = 60 };
#define ALIGNED 1e-9
#define ON_CONE (1.0 + 1e-9)

static int is_pair(const Problem *p, int64_t i) {
  return i + 1 < p->k && partner_of(p, i) >= 0 && partner_of(p, i) == partner_of(p, i + 1);
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

/* Turn a pair to where its projection on the cone points; 0 where it is there already. */
static int turn_to_cone(Problem *p, int64_t i) {
  double limit = p->given[COEFFICIENT][i] * p->f[partner_of(p, i)], s = p->A[i * p->k + i] + p->A[(i + 1) * (p->k + 1)];
  double x = p->w[i] - s * p->f[i], y = p->w[i + 1] - s * p->f[i + 1], size = hypot(x, y);
  int sticks = p->mode[i] == HELD && p->mode[i + 1] == HELD, slides = p->mode[i] == FORWARD && p->mode[i + 1] == HELD;
  int within = size <= ON_CONE * s * limit;
  if ((sticks && within) || !(size > 0.0) || (slides && x > 0.0 && fabs(y) <= ALIGNED * size)) return 0;
  turn_pair(p, i, x / size, y / size);
  p->mode[i] = within ? HELD : FORWARD;
  p->mode[i + 1] = HELD;
  return 1;
}

static void write_directions(Problem *p) {
  for (int64_t i = 0; i < p->k; i++) {
    if (!is_pair(p, i)) continue;
    double first = p->mode[i], second = p->mode[i + 1];
    p->mode[i] = first * p->axes[i] - second * p->axes[i + 1];
    p->mode[i + 1] = first * p->axes[i + 1] + second * p->axes[i];
    i++;
  }
}

/* From the modes of the pyramids to those of the cones. Where pivoting fails on the way, the last modes are kept. */
void find_cones(Problem *p) {
  for (int64_t i = 0; i < p->k; i++)
    if (is_pair(p, i)) p->axes[i] = 1.0, p->axes[i + 1] = 0.0, i++;
  for (int64_t pass = 0; pass < MOST_TURNS; pass++) {
    int turned = 0;
    for (int64_t i = 0; i < p->k; i++) {
      if (!is_pair(p, i)) continue;
      if (may_change(p, i)) turned |= turn_to_cone(p, i);
      i++;
    }
    if (!turned) break;
    for (int64_t i = 0; i < p->k; i++) p->kept[i] = p->mode[i];
    if (pivot_gently(p)) continue;
    for (int64_t i = 0; i < p->k; i++) p->mode[i] = p->kept[i];
    break;
  }
  write_directions(p);
}
