/* Lemke's method: the modes of a mixed complementarity problem where pivoting from a guess goes round in circles.

   Symbols: N variables z >= 0 and as many u = q + M z >= 0, of which one of each pair is zero. A row of the problem is

       one-sided           f = below + z                  u = w
       two-sided           f = below + z                  u = w + s,           above - f >= 0 beside s >= 0
       with a partner      f = z - z'                     u = w + s, u' = -w + s,    mu f_partner - z - z' >= 0 beside s

   An artificial variable makes all u positive, and complementary pivots drive it out again. For contacts with friction that
   neither pulls nor gives energy they succeed (Stewart and Trinkle, 1996). */

#include <stdlib.h>

#include "complementarity.h"

enum { MOST_PIVOTS = 30 };
#define NOTHING 1e-11
#define GONE 1e-9

/* u = q + T (nonbasic variables): N rows of N + 1 columns and q. Labels: u_i is i, z_i is N + i, the artificial one 2 N. */
typedef struct {
  int64_t N;
  double *T;
  int64_t *basic;
  int64_t *nonbasic;
  int64_t *first; /* number of the first variable of each row, -1: it has none */
} Dictionary;

static double *entry(const Dictionary *d, int64_t i, int64_t j) { return d->T + i * (d->N + 2) + j; }

static int variables_of(const Problem *p, int64_t i) {
  if (p->given[ALLOWED][i] != MAY_CHANGE) return 0;
  return partner_of(p, i) >= 0 ? 3 : p->given[UPPER][i] < NO_BOUND ? 2 : 1;
}

/* A force f_j = constant + factor z of one variable; friction that slides for certain follows its partner. */
static double constant_of(const Problem *p, int64_t j) {
  if (partner_of(p, j) >= 0) return 0.0;
  return p->given[p->given[ALLOWED][j] == MAY_CHANGE || p->mode[j] > 0.0 ? BELOW : ABOVE][j];
}

/* Add row i of w, times a sign, to row r: forces are measured by what they do to their own row. */
static void add_motion(const Problem *p, Dictionary *d, int64_t i, double sign, int64_t r) {
  *entry(d, r, d->N + 1) += sign * p->b[i];
  for (int64_t j = 0; j < p->k; j++) {
    double a = sign * (p->A[i * p->k + j] + (i == j ? p->given[COMPLIANCE][i] : 0.0));
    int64_t v = d->first[j], partner = partner_of(p, j), by = j;
    *entry(d, r, d->N + 1) += a * constant_of(p, j);
    if (v < 0 && partner >= 0 && d->first[partner] >= 0) v = d->first[partner], by = partner;
    if (v < 0) continue;
    double factor = a / own_mobility(p, by);
    if (by != j) factor *= -p->mode[j] * p->given[COEFFICIENT][j];
    *entry(d, r, v) += factor;
    if (by == j && partner >= 0) *entry(d, r, v + 1) -= factor;
  }
}

static void fill(const Problem *p, Dictionary *d) {
  for (int64_t i = 0; i < p->k; i++) {
    int64_t v = d->first[i], count = variables_of(p, i), last = v + count - 1, partner = partner_of(p, i);
    if (count > 0) add_motion(p, d, i, 1.0, v);
    if (count == 3) add_motion(p, d, i, -1.0, v + 1);
    for (int64_t r = v; count > 1 && r < last; r++) {
      *entry(d, r, last) += 1.0;
      *entry(d, last, r) -= 1.0;
    }
    if (count == 2) *entry(d, last, d->N + 1) = (p->given[ABOVE][i] - p->given[BELOW][i]) * own_mobility(p, i);
    if (count == 3 && d->first[partner] >= 0)
      *entry(d, last, d->first[partner]) = p->given[COEFFICIENT][i] * own_mobility(p, i) / own_mobility(p, partner);
  }
  /* A little more for each row: ties are rare then. */
  for (int64_t r = 0; r < d->N; r++) {
    *entry(d, r, d->N) = 1.0 + 0.1 * (double)r / (double)d->N;
    d->basic[r] = r;
    d->nonbasic[r] = d->N + r;
  }
  d->nonbasic[d->N] = 2 * d->N;
}

/* Exchange the basic variable of a row for the nonbasic one of a column. */
static void exchange(Dictionary *d, int64_t r, int64_t s) {
  double inverse = 1.0 / *entry(d, r, s);
  for (int64_t j = 0; j < d->N + 2; j++) *entry(d, r, j) *= -inverse;
  *entry(d, r, s) = inverse;
  for (int64_t i = 0; i < d->N; i++) {
    double factor = *entry(d, i, s);
    if (i == r || factor == 0.0) continue;
    *entry(d, i, s) = 0.0;
    for (int64_t j = 0; j < d->N + 2; j++) *entry(d, i, j) += factor * *entry(d, r, j);
  }
  int64_t label = d->basic[r];
  d->basic[r] = d->nonbasic[s];
  d->nonbasic[s] = label;
}

/* The row whose variable is the first to become zero as that of a column grows; the artificial one if it is among them; -1
   where none does. */
static int64_t find_leaving(const Dictionary *d, int64_t s) {
  int64_t best = -1;
  double least_ratio = INFINITY;
  for (int64_t i = 0; i < d->N; i++) {
    double slope = *entry(d, i, s);
    if (!(slope < -NOTHING)) continue;
    double ratio = -largest(*entry(d, i, d->N + 1), 0.0) / slope, near = 1e-10 * fabs(least_ratio);
    int first = best < 0 || ratio < least_ratio - near;
    int better = !first && ratio <= least_ratio + near && d->basic[best] != 2 * d->N &&
                 (d->basic[i] == 2 * d->N || slope < *entry(d, best, s));
    if (first || better) {
      best = i;
      least_ratio = first ? ratio : least(ratio, least_ratio);
    }
  }
  return best;
}

static int64_t column_of(const Dictionary *d, int64_t label) {
  int64_t s = 0;
  while (d->nonbasic[s] != label) s++;
  return s;
}

static int is_gone(const Dictionary *d, double scale) {
  for (int64_t i = 0; i < d->N; i++)
    if (d->basic[i] == 2 * d->N) return *entry(d, i, d->N + 1) <= GONE * scale;
  return 1;
}

/* 1 where the artificial variable has been driven out, or is nothing but rounding. */
static int drive_out(Dictionary *d) {
  int64_t r = 0, s = d->N;
  for (int64_t i = 1; i < d->N; i++)
    if (*entry(d, i, d->N + 1) / *entry(d, i, s) < *entry(d, r, d->N + 1) / *entry(d, r, s)) r = i;
  double scale = -*entry(d, r, d->N + 1);
  if (scale <= 0.0) return 1;
  for (int64_t pivot = 0; pivot < MOST_PIVOTS * d->N && r >= 0; pivot++) {
    int64_t left = d->basic[r];
    exchange(d, r, s);
    if (is_gone(d, scale)) return 1;
    /* The partner of what has left enters. */
    s = column_of(d, left < d->N ? left + d->N : left - d->N);
    r = find_leaving(d, s);
  }
  return 0;
}

/* What is basic is not zero. */
static void read_modes(Problem *p, const Dictionary *d) {
  for (int64_t i = 0; i < p->k; i++) {
    int basic[3] = {0, 0, 0}, count = variables_of(p, i);
    for (int64_t r = 0; r < d->N; r++)
      for (int v = 0; v < count; v++) basic[v] |= d->basic[r] == d->N + d->first[i] + v;
    if (count == 1) p->mode[i] = basic[0] ? HELD : FORWARD;
    if (count == 2) p->mode[i] = !basic[0] ? FORWARD : basic[1] ? BACKWARD : HELD;
    if (count == 3) p->mode[i] = !basic[2] ? HELD : basic[0] ? BACKWARD : basic[1] ? FORWARD : HELD;
  }
}

int find_by_lemke(Problem *p) {
  Dictionary d = {0};
  for (int64_t i = 0; i < p->k; i++) d.N += variables_of(p, i);
  int64_t size = d.N * (d.N + 2);
  double *room = calloc((size_t)(size + 2 * d.N + 1 + p->k), sizeof(double));
  if (room == NULL) return 0;
  d.T = room;
  d.basic = (int64_t *)(void *)(room + size);
  d.nonbasic = d.basic + d.N;
  d.first = d.nonbasic + d.N + 1;
  for (int64_t i = 0, next = 0; i < p->k; next += variables_of(p, i++)) d.first[i] = variables_of(p, i) > 0 ? next : -1;
  fill(p, &d);
  int found = d.N > 0 && drive_out(&d);
  if (found) read_modes(p, &d);
  free(room);
  return found;
}
