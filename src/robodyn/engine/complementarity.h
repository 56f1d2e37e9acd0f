/* What do the methods for complementarity problems share? See complementarity.c. */

#ifndef COMPLEMENTARITY_H
#define COMPLEMENTARITY_H

#include "parts.h"

enum { UNBOUND, BOUND, LOOSE };
enum { HELD = 0, FORWARD = 1, BACKWARD = -1, UNSETTLED = 2 };

/* Whether a row keeps its mode, may change it, or has no force and moves as it is moved. */
enum { FIXED, MAY_CHANGE, FOLLOWS };

/* Tolerances of motion that are left to what is held. */
enum { LEFT = 1000 };

/* A bound from which on there is none. */
#define NO_BOUND 1e200

typedef struct {
  int64_t k;
  int64_t exact;   /* 0: with their compliance rows are independent, and pivoting finds the only solution; 1: without it */
  const double *given[N_VECTORS];
  double *A;       /* K W, row by row */
  double *matrix;  /* of the rows that are held, column by column */
  double *f;
  double *w;
  double *change;
  double *b;       /* motions without forces, along tangents as they are turned */
  double *axes;    /* of each pair of tangents the first one, in those that were given */
  double *kept;    /* modes to go back to */
  double *bound;   /* rows whose mode the cones decide, and those along which what slips has no force */
  double *mode;
  int64_t *held;   /* numbers of these rows */
  int64_t *pivots;
} Problem;

static inline int64_t partner_of(const Problem *p, int64_t i) { return (int64_t)p->given[PARTNER][i]; }

static inline double own_mobility(const Problem *p, int64_t i) {
  return fabs(p->A[i * p->k + i] + p->given[COMPLIANCE][i]);
}

/* Whether rows i and i + 1 are the tangents of a contact point in space. */
static inline int is_pair(const Problem *p, int64_t i) {
  return i + 1 < p->k && partner_of(p, i) >= 0 && partner_of(p, i) == partner_of(p, i + 1);
}

/* Of two tangents together. */
static inline double largest_mobility(const Problem *p, int64_t i) {
  double a = p->A[i * (p->k + 1)], d = p->A[(i + 1) * (p->k + 1)], b = p->A[i * p->k + i + 1];
  return 0.5 * (a + d + hypot(a - d, 2.0 * b)) + p->given[COMPLIANCE][i];
}

/* complementarity.c: pivoting from the present modes, 1 where no contradiction is left. */
int pivot_gently(Problem *p);

/* cones.c: from the modes of pyramids to those of cones, 1 where nothing turns any more; modes of tangents as directions. */
int find_cones(Problem *p);
int project_cones(Problem *p);
void write_directions(Problem *p);

/* lemke.c: modes of a solution, up to rounding; 0 where it finds none. */
int find_by_lemke(Problem *p);

/* relaxation.c: forces, motions and modes of a solution, the last ones and 0 where it does not get there. */
int find_by_relaxation(Problem *p);

#endif
