/* What is the shortest x with the least |A x - b|, where A may leave directions open? */

#include "unit.h"

#include <math.h>

/* Make [first, rest] to [beta, 0] by I - tau [1, v] [1, v]^T; v takes the place of the rest, tau is returned. */
static double reflect(double *first, double *rest, int stride, int n) {
  double squares = 0.0, alpha = *first, beta;
  for (int i = 0; i < n; i++) squares += rest[i * stride] * rest[i * stride];
  if (squares == 0.0) return 0.0;
  beta = -copysign(sqrt(alpha * alpha + squares), alpha);
  for (int i = 0; i < n; i++) rest[i * stride] /= alpha - beta;
  *first = beta;
  return (beta - alpha) / beta;
}

static void apply(double tau, const double *v, int stride_v, double *first, double *rest, int stride, int n) {
  double total = *first;
  for (int i = 0; i < n; i++) total += v[i * stride_v] * rest[i * stride];
  *first -= tau * total;
  for (int i = 0; i < n; i++) rest[i * stride] -= tau * total * v[i * stride_v];
}

/* Exchange column k with the longest of those behind it, as seen from row k; its length. */
static double exchange(double *A, int *order, int k, int rows, int columns) {
  double largest = -1.0;
  int longest = k, place;
  for (int j = k; j < columns; j++) {
    double squares = 0.0;
    for (int i = k; i < rows; i++) squares += A[j * rows + i] * A[j * rows + i];
    if (squares > largest) {
      largest = squares;
      longest = j;
    }
  }
  for (int i = 0; i < rows; i++) {
    double value = A[k * rows + i];
    A[k * rows + i] = A[longest * rows + i];
    A[longest * rows + i] = value;
  }
  place = order[k];
  order[k] = order[longest];
  order[longest] = place;
  return sqrt(fmax(largest, 0.0));
}

/* A = Q [T 0] Z P^T, reflections with exchanged columns from the left, then from the right for what is left open: Golub
   and Van Loan (2013), 5.5. Columns shorter than a part of the first do not count. A, column by column, and b are used
   up. */
void solve_shortest(double *A, double *b, int rows, int columns, double part, double *x) {
  int order[ROOM(START_COLUMNS)], rank = 0;
  double taus[ROOM(START_COLUMNS)], y[ROOM(START_COLUMNS)] = {0.0}, first = 0.0;
  for (int j = 0; j < columns; j++) order[j] = j;
  for (int k = 0; k < rows && k < columns; k++, rank++) {
    double length = exchange(A, order, k, rows, columns), *top = A + k * rows + k;
    if (k == 0) first = length;
    if (!(length > part * first)) break;
    double tau = reflect(top, top + 1, 1, rows - k - 1);
    for (int j = 1; j < columns - k; j++)
      apply(tau, top + 1, 1, top + j * rows, top + j * rows + 1, 1, rows - k - 1);
    apply(tau, top + 1, 1, b + k, b + k + 1, 1, rows - k - 1);
  }
  double *open = A + rank * rows;
  for (int i = rank - 1; i >= 0; i--) {
    taus[i] = reflect(A + i * rows + i, open + i, rows, columns - rank);
    for (int j = 0; j < i; j++) apply(taus[i], open + i, rows, A + i * rows + j, open + j, rows, columns - rank);
  }
  for (int i = rank - 1; i >= 0; i--) {
    y[i] = b[i];
    for (int j = i + 1; j < rank; j++) y[i] -= A[j * rows + i] * y[j];
    y[i] /= A[i * rows + i];
  }
  for (int i = 0; i < rank; i++) apply(taus[i], open + i, rows, y + i, y + rank, 1, columns - rank);
  for (int j = 0; j < columns; j++) x[order[j]] = y[j];
}
