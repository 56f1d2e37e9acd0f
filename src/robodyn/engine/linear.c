/* LU factorisation: how are the dense linear systems of implicit methods solved?

   A matrix is stored by columns, A[j * n + i] is row i of column j, so that the innermost loops run through memory in
   order. */

#include "parts.h"

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

/* P A = L U in place of A, with partial pivoting; 0 when singular. L has a unit diagonal. The diagonal of U is stored
   inverted: many solutions follow, and multiplying is cheaper. */
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
  return 1;
}

/* Solve L U x = P b, x in place of b. */
void solve_factorised(const double *A, const int64_t *pivots, int64_t n, double *b) {
  /* L y = P b downwards, U x = y upwards. */
  for (int64_t k = 0; k < n; k++) swap(&b[k], &b[pivots[k]]);
  for (int64_t j = 0; j < n; j++) {
    double factor = b[j];
    if (factor != 0.0)
      for (int64_t i = j + 1; i < n; i++) b[i] -= A[j * n + i] * factor;
  }
  for (int64_t j = n - 1; j >= 0; j--) {
    double factor = b[j] *= A[j * n + j];
    for (int64_t i = 0; i < j; i++) b[i] -= A[j * n + i] * factor;
  }
}
