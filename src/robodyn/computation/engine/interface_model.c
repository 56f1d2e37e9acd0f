/* Reduced interface model: what is a mechanism at one of its interfaces, and which motion do two sides share?

     P_c = M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c
     M_eff = (A_i (I - P_c) M^-1 A_i^T)^-1
     lambda~ = M_eff A_i (I - P_c) M^-1 f
     z = M_eff [A_i (I - P_c) M^-1 c - A_i' v + A_i M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c' v]

   Peiret, Gonzalez, Kovecses, Teichmann (2020), J. Comput. Nonlinear Dyn. 15, 041001. Matrices are stored by columns. */

#include <float.h>

#include "coupled.h"

/* Relative size below which an eigenvalue counts as zero: constraints may follow from others. */
#define RANK 1e-10
/* Pivots of a Cholesky factor above this part of the largest entry: no eigenvalue of a small matrix is near RANK. */
#define FULL_RANK 1e-4
/* Condition number up to which M_eff is as good as what is solved for. */
#define WELL_CONDITIONED 1e6
/* Sweeps after which Jacobi's method has long converged. */
enum { SWEEPS = 30 };

/* Where the terms of a port stand among their values: n velocities, k rows, m constraints. */
typedef struct {
  const double *M, *c, *f, *A_i, *drift_i, *A_c, *drift_c, *active;
} Terms;

static Terms terms_of(const Port *port) {
  int64_t n = port->n_v, k = port->rows, m = port->n_constraints;
  Terms at;
  at.M = port->term_values;
  at.c = at.M + n * n;
  at.f = at.c + n;
  at.A_i = at.f + n;
  at.drift_i = at.A_i + k * n;
  at.A_c = at.drift_i + k;
  at.drift_c = at.A_c + m * n;
  at.active = at.drift_c + m;
  return at;
}

/* C = A B, (r, n) and (n, s). */
static void multiply(const double *A, const double *B, int64_t r, int64_t n, int64_t s, double *C) {
  for (int64_t j = 0; j < s; j++) {
    double *column = C + j * r;
    for (int64_t i = 0; i < r; i++) column[i] = 0.0;
    for (int64_t l = 0; l < n; l++) {
      double factor = B[j * n + l];
      for (int64_t i = 0; i < r; i++) column[i] += A[l * r + i] * factor;
    }
  }
}

/* B = A^T of (r, n). */
static void transpose(const double *A, int64_t r, int64_t n, double *B) {
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < r; i++) B[i * n + j] = A[j * r + i];
}

/* Rotate rows and columns p and q of a symmetric matrix, and columns of V. */
static void rotate(double *A, double *V, int64_t n, int64_t p, int64_t q) {
  double a = A[q * n + p];
  double theta = (A[q * n + q] - A[p * n + p]) / (2.0 * a);
  double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
  double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
  A[p * n + p] -= t * a;
  A[q * n + q] += t * a;
  A[q * n + p] = A[p * n + q] = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double v = V[p * n + i], w = V[q * n + i];
    V[p * n + i] = c * v - s * w;
    V[q * n + i] = s * v + c * w;
    if (i == p || i == q) continue;
    v = A[p * n + i], w = A[q * n + i];
    A[p * n + i] = A[i * n + p] = c * v - s * w;
    A[q * n + i] = A[i * n + q] = s * v + c * w;
  }
}

/* Eigenvalues of a symmetric matrix on its diagonal, by cyclic rotations (Jacobi); V: eigenvectors as columns. */
static void diagonalise(double *A, double *V, int64_t n) {
  for (int64_t i = 0; i < n * n; i++) V[i] = i % (n + 1) == 0;
  for (int64_t sweep = 0; sweep < SWEEPS; sweep++) {
    int64_t turned = 0;
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++)
        /* What is left moves no eigenvalue by a last digit. */
        if (fabs(A[q * n + p]) > 1e-17 * sqrt(fabs(A[p * n + p] * A[q * n + q]))) {
          rotate(A, V, n, p, q);
          turned = 1;
        }
    if (!turned) return;
  }
}

/* Cholesky's factor L in place of the lower triangle of S, its diagonal inverted; 0 where a pivot is not above a part of the
   diagonal and a bound. */
static int factorise_definite(double *S, int64_t n, double part, double bound) {
  for (int64_t j = 0; j < n; j++) {
    double *column = S + j * n, own = column[j];
    for (int64_t l = 0; l < j; l++)
      for (int64_t i = j; i < n; i++) column[i] -= S[l * n + j] * S[l * n + i];
    if (!(column[j] > part * own && column[j] > bound)) return 0;
    column[j] = 1.0 / sqrt(column[j]);
    for (int64_t i = j + 1; i < n; i++) column[i] *= column[j];
  }
  return 1;
}

/* L^-1 and L^-T on the columns of B, (n, w) row by row. */
static void solve_lower(const double *L, int64_t n, int64_t w, double *B) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t l = 0; l < i; l++)
      for (int64_t k = 0; k < w; k++) B[i * w + k] -= L[l * n + i] * B[l * w + k];
    for (int64_t k = 0; k < w; k++) B[i * w + k] *= L[i * n + i];
  }
}

static void solve_upper(const double *L, int64_t n, int64_t w, double *B) {
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int64_t l = i + 1; l < n; l++)
      for (int64_t k = 0; k < w; k++) B[i * w + k] -= L[i * n + l] * B[l * w + k];
    for (int64_t k = 0; k < w; k++) B[i * w + k] *= L[i * n + i];
  }
}

/* Inverse by Cholesky's factor, in place of S: 0 where a pivot is small. */
static int invert_definite(double *S, int64_t n, double *inverse) {
  double most = 0.0;
  for (int64_t i = 0; i < n; i++) most = largest(most, S[i * n + i]);
  if (!factorise_definite(S, n, FULL_RANK, RANK / FULL_RANK * most)) return 0;
  for (int64_t i = 0; i < n * n; i++) inverse[i] = i % (n + 1) == 0;
  solve_lower(S, n, n, inverse);
  solve_upper(S, n, n, inverse);
  return 1;
}

void invert_symmetric(const double *S, int64_t n, double *inverse, double *work) {
  double *A = work, *V = work + n * n, *reciprocal = V + n * n, most = 0.0;
  memcpy(A, S, sizeof *A * (size_t)(n * n));
  if (invert_definite(A, n, inverse)) return;
  memcpy(A, S, sizeof *A * (size_t)(n * n));
  diagonalise(A, V, n);
  for (int64_t i = 0; i < n; i++) most = largest(most, fabs(A[i * n + i]));
  for (int64_t i = 0; i < n; i++) reciprocal[i] = fabs(A[i * n + i]) > RANK * most ? 1.0 / A[i * n + i] : 0.0;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (int64_t l = 0; l < n; l++) sum += V[l * n + i] * reciprocal[l] * V[l * n + j];
      inverse[j * n + i] = sum;
    }
}

/* Householder's reflections: diagonal d and subdiagonal e (n - 1) of a tridiagonal matrix with the eigenvalues of A, which
   is used up. */
static void tridiagonalise(double *A, int64_t n, double *d, double *e) {
  double p[6];
  for (int64_t k = 0; k < n - 1; k++) {
    double *u = A + k * n, square = 0.0, along = 0.0;
    for (int64_t i = k + 1; i < n; i++) square += u[i] * u[i];
    e[k] = copysign(sqrt(square), -u[k + 1]);
    d[k] = u[k];
    double scale = square - e[k] * u[k + 1];
    if (scale == 0.0) continue;
    /* With the reflector 1 - u u^T / scale: B - u p^T - p u^T, p = B u / scale - u (u^T B u) / (2 scale^2). */
    u[k + 1] -= e[k];
    for (int64_t i = k + 1; i < n; i++) {
      p[i] = 0.0;
      for (int64_t j = k + 1; j < n; j++) p[i] += A[j * n + i] * u[j];
      p[i] /= scale;
      along += p[i] * u[i] / (2.0 * scale);
    }
    for (int64_t i = k + 1; i < n; i++) p[i] -= along * u[i];
    for (int64_t j = k + 1; j < n; j++)
      for (int64_t i = k + 1; i < n; i++) A[j * n + i] -= u[i] * p[j] + p[i] * u[j];
  }
  d[n - 1] = A[n * n - 1];
}

/* Eigenvalues of a tridiagonal matrix in place of d, by implicit QL steps with Wilkinson's shift; e (n) is used up. */
static void find_eigenvalues(double *d, double *e, int64_t n) {
  for (int64_t l = 0; l < n; l++)
    for (int64_t step = 0; step < SWEEPS; step++) {
      int64_t m = l;
      while (m < n - 1 && fabs(e[m]) > 1e-16 * (fabs(d[m]) + fabs(d[m + 1]))) m++;
      if (m == l) break;
      double half = (d[l + 1] - d[l]) / (2.0 * e[l]), s = 1.0, c = 1.0, p = 0.0;
      double g = d[m] - d[l] + e[l] / (half + copysign(sqrt(half * half + 1.0), half));
      for (int64_t i = m - 1; i >= l; i--) {
        double f = s * e[i], b = c * e[i], r = sqrt(f * f + g * g);
        e[i + 1] = r;
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2.0 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
      }
      d[l] -= p;
      e[l] = g;
      e[m] = 0.0;
    }
}

/* Largest by smallest eigenvalue, rows 4 to 6 multiplied by a length; infinite where the smallest is not above the
 * rounding of the largest: then it has no digit, perhaps not even its sign. */
static double condition_number(const double *mobility, int64_t k, double length, double *A) {
  double least_value = INFINITY, most = 0.0, values[6], beside[6];
  for (int64_t j = 0; j < k; j++)
    for (int64_t i = 0; i < k; i++) {
      A[j * k + i] = mobility[j * k + i] * (i < 3 ? 1.0 : length) * (j < 3 ? 1.0 : length);
      if (!isfinite(A[j * k + i])) return INFINITY;
    }
  tridiagonalise(A, k, values, beside);
  find_eigenvalues(values, beside, k);
  for (int64_t i = 0; i < k; i++) {
    least_value = least(least_value, values[i]);
    most = largest(most, values[i]);
  }
  return least_value > (double)k * DBL_EPSILON * most ? most / least_value : INFINITY;
}

int64_t interface_work(int64_t n, int64_t k, int64_t m) {
  int64_t g = k + m;
  return n * n + 3 * n * (g + 2) + 8 * g * g + 6 * (n + g) + 64;
}

/* Columns that are solved for, behind the factorised matrix and its pivots in the room for work. */
static double *columns_of(const Port *port) {
  int64_t n = port->n_v;
  return port->work + n * n + n;
}

/* Rows of A_c that hold, as columns of A_c^T; gives how many. */
static int64_t held_constraints(const Port *port, const Terms *at, double *columns) {
  int64_t n = port->n_v, m = port->n_constraints, held = 0;
  for (int64_t i = 0; i < m; i++) {
    if (!(at->active[i] > 0.5)) continue;
    for (int64_t j = 0; j < n; j++) columns[held * n + j] = at->A_c[j * m + i];
    held++;
  }
  return held;
}

/* Invert a matrix of full rank, (k, k); A is used up. */
static void invert_regular(double *A, int64_t k, double *inverse, int64_t *pivots) {
  int regular = factorise(A, pivots, k);
  for (int64_t i = 0; i < k * k; i++) inverse[i] = regular ? i % (k + 1) == 0 : NAN;
  for (int64_t j = 0; regular && j < k; j++) solve_factorised(A, pivots, k, inverse + j * k);
}

/* Row j of [A_i^T, f, c, A_c^T of what holds]. */
static int64_t fill_row(const Port *port, const Terms *at, int64_t j, double *row) {
  int64_t k = port->rows, m = port->n_constraints, w = k + 2;
  memcpy(row, at->A_i + j * k, sizeof *row * (size_t)k);
  row[k] = at->f[j];
  row[k + 1] = at->c[j];
  for (int64_t i = 0; i < m; i++)
    if (at->active[i] > 0.5) row[w++] = at->A_c[j * m + i];
  return w;
}

/* Less what constraints hold, (k): column b of the products, given B = A_i M^-1 A_c^T (A_c M^-1 A_c^T)^-1. */
static void allow(const double *G, int64_t w, int64_t k, const double *B, int64_t b, double *out) {
  for (int64_t i = 0; i < k; i++) out[i] = G[b * w + i];
  for (int64_t l = 0; l < w - k - 2; l++)
    for (int64_t i = 0; i < k; i++) out[i] -= B[l * k + i] * G[b * w + k + 2 + l];
}

void interface_reduce(const Port *port) {
  Terms at = terms_of(port);
  int64_t n = port->n_v, k = port->rows, w = k + 2, m, pivots[6];
  double *L = port->work, *Y = columns_of(port), *G = Y + n * (w + port->n_constraints);
  memcpy(L, at.M, sizeof *L * (size_t)(n * n));
  for (int64_t j = 0, place = 0; j < n; j++, place += w) w = fill_row(port, &at, j, Y + place);
  /* With M = L L^T and Y = L^-1 of these columns, G = Y^T Y holds all products by M^-1. */
  int definite = factorise_definite(L, n, 0.0, 0.0);
  solve_lower(L, n, w, Y);
  for (int64_t i = 0; i < w * w; i++) G[i] = definite ? 0.0 : NAN;
  for (int64_t i = 0; i < n; i++)
    for (int64_t a = 0; a < w; a++)
      for (int64_t b = 0; b < w; b++) G[a * w + b] += Y[i * w + a] * Y[i * w + b];
  m = w - k - 2;
  double *B = G + w * w, *room = B + k * m;
  if (m > 0) {
    double *S = room, *inverse = S + m * m, *reach = inverse + m * m, *work = reach + k * m;
    for (int64_t j = 0; j < m; j++) {
      memcpy(S + j * m, G + (k + 2 + j) * w + k + 2, sizeof *S * (size_t)m);
      memcpy(reach + j * k, G + (k + 2 + j) * w, sizeof *reach * (size_t)k);
    }
    invert_symmetric(S, m, inverse, work);
    multiply(reach, inverse, k, m, m, B);
  }
  double *inertia = port->model, *mobility = inertia + k * k, *effective = mobility + k * k, *inertial = effective + k;
  double *acceleration = inertial + k, *condition = acceleration + k;
  double *forced = room, *free = forced + k, *copy = free + k;
  for (int64_t j = 0; j < k; j++) allow(G, w, k, B, j, copy + j * k);
  for (int64_t j = 0; j < k; j++)
    for (int64_t i = 0; i < k; i++) mobility[j * k + i] = (copy[j * k + i] + copy[i * k + j]) / 2.0;
  allow(G, w, k, B, k, forced);
  allow(G, w, k, B, k + 1, free);
  for (int64_t i = 0; i < k; i++) free[i] -= at.drift_i[i];
  for (int64_t l = 0, held = 0; l < port->n_constraints; l++)
    if (at.active[l] > 0.5) {
      for (int64_t i = 0; i < k; i++) free[i] += B[held * k + i] * at.drift_c[l];
      held++;
    }
  for (int64_t i = 0; i < k; i++) acceleration[i] = forced[i] - free[i];
  *condition = condition_number(mobility, k, port->length, copy);
  memcpy(copy, mobility, sizeof *copy * (size_t)(k * k));
  if (isfinite(*condition)) invert_regular(copy, k, inertia, pivots);
  else for (int64_t i = 0; i < k * k; i++) inertia[i] = NAN;
  multiply(inertia, forced, k, k, 1, effective);
  multiply(inertia, free, k, k, 1, inertial);
}

/* W = (M + A_i^T inertia A_i)^-1 G^T with G = [A_i; A_c], then (G W)^-1, left in the room for work. */
void interface_prepare(const Port *port, const double *inertia) {
  Terms at = terms_of(port);
  int64_t n = port->n_v, k = port->rows, *pivots = (int64_t *)(port->work + n * n);
  double *M = port->work, *W = columns_of(port), *G = W + n * (k + port->n_constraints);
  double *room = G + n * (k + port->n_constraints);
  multiply(inertia, at.A_i, k, k, n, room);
  transpose(at.A_i, k, n, W);
  memcpy(M, at.M, sizeof *M * (size_t)(n * n));
  for (int64_t j = 0; j < n; j++)
    for (int64_t l = 0; l < k; l++)
      for (int64_t i = 0; i < n; i++) M[j * n + i] += W[l * n + i] * room[j * k + l];
  factorise(M, pivots, n);
  int64_t g = k + held_constraints(port, &at, W + n * k);
  memcpy(G, W, sizeof *G * (size_t)(n * g));
  for (int64_t j = 0; j < g; j++) solve_factorised(M, pivots, n, W + n * j);
  double *S = room, *inverse = S + g * g;
  for (int64_t j = 0; j < g; j++)
    for (int64_t i = 0; i <= j; i++) {
      double sum = 0.0;
      for (int64_t l = 0; l < n; l++) sum += G[i * n + l] * W[j * n + l];
      S[j * g + i] = S[i * g + j] = sum;
    }
  invert_symmetric(S, g, inverse, inverse + g * g);
  /* W (G W)^-1 of the interface's rows alone: the constraints' are to stay at rest. */
  multiply(W, inverse, n, g, k, G);
}

/* The same after interface_reduce, where there are no constraints: w being given, so is the energy of what is attached, and
   W (G W)^-1 = M^-1 A_i^T M_eff. Rounding is that of M_eff: not for what is near a singular position. */
int prepare_reduced(const Port *port) {
  int64_t n = port->n_v, k = port->rows, w = k + 2;
  const double *Y = columns_of(port), *inertia = port->model;
  double *directions = columns_of(port) + n * k, *solved = directions + n * w;
  if (port->n_constraints > 0 || !port->gives || !(port->model[MODEL_SIZE(k) - 1] < WELL_CONDITIONED)) return 0;
  /* L^-T Y_i M_eff, with Y_i = L^-1 A_i^T: row by row, then by columns. */
  for (int64_t i = 0; i < n; i++) multiply(inertia, Y + i * w, k, k, 1, solved + i * k);
  solve_upper(port->work, n, k, solved);
  transpose(solved, k, n, directions);
  return 1;
}

void interface_direct(const Port *port, const double *wanted, double *change) {
  int64_t n = port->n_v, k = port->rows;
  multiply(columns_of(port) + n * (k + port->n_constraints), wanted, n, k, 1, change);
}
