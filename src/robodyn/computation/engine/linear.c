/* LU factorisation: how are the dense linear systems of implicit methods solved?

   A matrix is stored by columns, A[j * n + i] is row i of column j, so that the innermost loops run through memory in
   order. Small systems are solved in registers, by code made for their size. */

#include "parts.h"

enum { SMALL = 8 };

static void swap(double *a, double *b) {
  double kept = *a;
  *a = *b;
  *b = kept;
}

/* One step of the elimination: the column of L, and the update of the columns to its right. */
static void eliminate(double *A, int64_t n, int64_t k) {
  double inverse = 1.0 / A[k * n + k];
  A[k * n + k] = inverse;
  for (int64_t i = k + 1; i < n; i++) A[k * n + i] *= inverse;
  for (int64_t j = k + 1; j < n; j++) {
    double factor = A[j * n + k];
    if (factor != 0.0)
      for (int64_t i = k + 1; i < n; i++) A[j * n + i] -= A[k * n + i] * factor;
  }
}

/* The rows of b in the order that swaps put them in, in place of the swaps. */
static void order_rows(int64_t *pivots, int64_t n) {
  int64_t order[SMALL];
  for (int64_t k = 0; k < n; k++) order[k] = k;
  for (int64_t k = 0; k < n; k++) {
    int64_t kept = order[k];
    order[k] = order[pivots[k]];
    order[pivots[k]] = kept;
  }
  for (int64_t k = 0; k < n; k++) pivots[k] = order[k];
}

/* P A = L U in place of A, with partial pivoting; 0 when singular. L has a unit diagonal. The diagonal of U is stored
   inverted: many solutions follow, and multiplying is cheaper. Pivots: the row that each is swapped with; of small
   systems, the order of the rows. */
int factorise(double *A, int64_t *pivots, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    /* The largest pivot of the column; without one it depends on those before it. */
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
      if (fabs(A[k * n + i]) > fabs(A[k * n + best])) best = i;
    pivots[k] = best;
    if (!(fabs(A[k * n + best]) > 0.0)) return 0;
    for (int64_t j = 0; j < n && best != k; j++) swap(&A[j * n + k], &A[j * n + best]);
    eliminate(A, n, k);
  }
  if (n <= SMALL) order_rows(pivots, n);
  return 1;
}

#if defined __GNUC__ && !defined __clang__
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

/* L y = P b downwards, U x = y upwards, y in registers where n is known to the compiler. */
static inline void solve_small(const double *A, const int64_t *order, const int64_t n, double *b) {
  double y[SMALL];
  UNROLLED for (int64_t i = 0; i < n; i++) y[i] = b[order[i]];
  UNROLLED for (int64_t j = 0; j < n; j++) {
    UNROLLED for (int64_t i = j + 1; i < n; i++) y[i] -= A[j * n + i] * y[j];
  }
  UNROLLED for (int64_t j = n - 1; j >= 0; j--) {
    y[j] *= A[j * n + j];
    UNROLLED for (int64_t i = 0; i < j; i++) y[i] -= A[j * n + i] * y[j];
  }
  UNROLLED for (int64_t i = 0; i < n; i++) b[i] = y[i];
}

/* Columns in pairs: b is read and written half as often, each entry in the same order of operations. */
static void solve_large(const double *A, const int64_t *pivots, int64_t n, double *restrict b) {
  for (int64_t k = 0; k < n; k++) swap(&b[k], &b[pivots[k]]);
  for (int64_t j = 0; j + 1 < n; j += 2) {
    const double *left = A + j * n, *right = left + n;
    double first = b[j], second = b[j + 1] -= left[j + 1] * first;
    for (int64_t i = j + 2; i < n; i++) b[i] = b[i] - left[i] * first - right[i] * second;
  }
  for (int64_t j = n - 1; j > 0; j -= 2) {
    const double *right = A + j * n, *left = right - n;
    double first = b[j] *= right[j], second = (b[j - 1] - right[j - 1] * first) * left[j - 1];
    b[j - 1] = second;
    for (int64_t i = 0; i < j - 1; i++) b[i] = b[i] - right[i] * first - left[i] * second;
  }
  if (n % 2) b[0] *= A[0];
}

/* Solve L U x = P b, x in place of b. */
void solve_factorised(const double *A, const int64_t *pivots, int64_t n, double *b) {
  switch (n) {
    case 1: solve_small(A, pivots, 1, b); break;
    case 2: solve_small(A, pivots, 2, b); break;
    case 3: solve_small(A, pivots, 3, b); break;
    case 4: solve_small(A, pivots, 4, b); break;
    case 5: solve_small(A, pivots, 5, b); break;
    case 6: solve_small(A, pivots, 6, b); break;
    case 7: solve_small(A, pivots, 7, b); break;
    case SMALL: solve_small(A, pivots, SMALL, b); break;
    default: solve_large(A, pivots, n, b);
  }
}
