/* What do the methods for complementarity problems share? See complementarity.c. */

#ifndef COMPLEMENTARITY_H
#define COMPLEMENTARITY_H

#include "parts.h"

enum { HELD = 0, FORWARD = 1, BACKWARD = -1, UNSETTLED = 2 };

/* Whether a row keeps its mode, may change it, or has no force and moves as it is moved. */
enum { FIXED, MAY_CHANGE, FOLLOWS };

/* Tolerances of motion that are left to what is held. */
enum { LEFT = 1000 };

/* A bound from which on there is none. */
#define NO_BOUND 1e200

typedef struct {
  int64_t k;
  int64_t cones;    /* whether a contact point in space may begin to slip */
  const double *given[N_VECTORS];
  const double *b;  /* motions without forces */
  double *A;        /* K W, row by row */
  double *matrix;   /* of the rows that are held, or of all, column by column */
  double *f;
  double *w;
  double *change;
  double *mode;
  double *tried;    /* modes that are tried one by one */
  int64_t *held;    /* numbers of these rows */
  int64_t *pivots;
  /* newton.c */
  double soft;      /* times the compliance */
  const double *bias; /* how much softer rows without and with a partner are */
  double *shift;    /* forces without compliance */
  double *x;        /* forces that would stop each row */
  double *mobility;
  double *left;     /* of the equations */
  double *kept;     /* forces to go back to */
  double *good;     /* forces of the last stage */
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
  return 0.5 * (a + d + hypot(a - d, 2.0 * b));
}

/* newton.c: forces, motions and modes of a solution, tangents of a contact point in space as the direction of its slip; from
   the forces and modes at hand, or from none. 0 where it does not get there. */
int follow_by_newton(Problem *p);
int find_by_newton(Problem *p);

/* Forces of the rows of a problem that has been solved in this room. */
static inline const double *complementarity_forces(int64_t k, const double *work) { return work + 2 * k * k; }

/* complementarity.c */
int64_t solve_from_forces(int64_t k, int64_t n, const double *data, double *work, double *modes, const double *forces);

/* lemke.c: modes of a solution, up to rounding; 0 where it finds none. */
int find_by_lemke(Problem *p);

#endif
