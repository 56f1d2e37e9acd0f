/* Reduced interface model: what is a mechanism at one of its interfaces, and which motion do two sides share?

     P_c = M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c
     M_eff = (A_i (I - P_c) M^-1 A_i^T)^-1
     lambda~ = M_eff A_i (I - P_c) M^-1 f
     z = M_eff [A_i (I - P_c) M^-1 c - A_i' v + A_i M^-1 A_c^T (A_c M^-1 A_c^T)^-1 A_c' v]

   Peiret, Gonzalez, Kovecses, Teichmann (2020), J. Comput. Nonlinear Dyn. 15, 041001. Matrices are stored by columns. */

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
  const double *M, *c, *f, *A_i, *drift_i, *A_c, *drift_c, *active, *N, *motion;
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
  at.N = at.active + m;
  at.motion = at.N + port->n_q * n;
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

/* Rotate rows and columns p and q of a symmetric matrix, and columns of V where they are wanted. */
static void rotate(double *A, double *V, int64_t n, int64_t p, int64_t q) {
  double a = A[q * n + p];
  double theta = (A[q * n + q] - A[p * n + p]) / (2.0 * a);
  double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
  double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
  A[p * n + p] -= t * a;
  A[q * n + q] += t * a;
  A[q * n + p] = A[p * n + q] = 0.0;
  for (int64_t i = 0; i < n; i++) {
    if (V) {
      double v = V[p * n + i], w = V[q * n + i];
      V[p * n + i] = c * v - s * w;
      V[q * n + i] = s * v + c * w;
    }
    if (i == p || i == q) continue;
    double v = A[p * n + i], w = A[q * n + i];
    A[p * n + i] = A[i * n + p] = c * v - s * w;
    A[q * n + i] = A[i * n + q] = s * v + c * w;
  }
}

/* Eigenvalues of a symmetric matrix on its diagonal, by cyclic rotations (Jacobi); V: eigenvectors as columns, or null. */
static void diagonalise(double *A, double *V, int64_t n) {
  for (int64_t i = 0; V && i < n * n; i++) V[i] = i % (n + 1) == 0;
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

/* Inverse by Cholesky's factor L, in place of S: 0 where a pivot is small. */
static int invert_definite(double *S, int64_t n, double *inverse) {
  double most = 0.0;
  for (int64_t i = 0; i < n; i++) most = largest(most, S[i * n + i]);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = j; i < n; i++) {
      double sum = S[j * n + i];
      for (int64_t l = 0; l < j; l++) sum -= S[l * n + i] * S[l * n + j];
      if (i == j && !(sum > FULL_RANK * S[i * n + i] && sum > RANK / FULL_RANK * most)) return 0;
      S[j * n + i] = i == j ? sqrt(sum) : sum / S[j * n + j];
    }
  }
  for (int64_t k = 0; k < n; k++) {
    double *x = inverse + k * n;
    for (int64_t i = 0; i < n; i++) {
      double sum = i == k;
      for (int64_t l = 0; l < i; l++) sum -= S[l * n + i] * x[l];
      x[i] = sum / S[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
      double sum = x[i];
      for (int64_t l = i + 1; l < n; l++) sum -= S[i * n + l] * x[l];
      x[i] = sum / S[i * n + i];
    }
  }
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

/* Largest by smallest eigenvalue, rows 4 to 6 multiplied by a length; infinite where it is not positive definite. */
static double condition_number(const double *mobility, int64_t k, double length, double *A) {
  double least_value = INFINITY, most = 0.0;
  for (int64_t j = 0; j < k; j++)
    for (int64_t i = 0; i < k; i++) {
      A[j * k + i] = mobility[j * k + i] * (i < 3 ? 1.0 : length) * (j < 3 ? 1.0 : length);
      if (!isfinite(A[j * k + i])) return INFINITY;
    }
  diagonalise(A, 0, k);
  for (int64_t i = 0; i < k; i++) {
    least_value = least(least_value, A[i * k + i]);
    most = largest(most, A[i * k + i]);
  }
  return least_value > 0.0 ? most / least_value : INFINITY;
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
static int64_t held_constraints(const Port *port, const Terms *at, double *columns, double *drift) {
  int64_t n = port->n_v, m = port->n_constraints, held = 0;
  for (int64_t i = 0; i < m; i++) {
    if (!(at->active[i] > 0.5)) continue;
    for (int64_t j = 0; j < n; j++) columns[held * n + j] = at->A_c[j * m + i];
    if (drift) drift[held] = at->drift_c[i];
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

/* What m constraints leave of accelerations x: A_i x less its part along them, (k). B: see interface_reduce; C: A_c^T. */
static void allow(const Port *port, const double *A_i, const double *B, const double *C, int64_t m, const double *x, double *out) {
  int64_t n = port->n_v, k = port->rows;
  multiply(A_i, x, k, n, 1, out);
  for (int64_t l = 0; l < m; l++) {
    double along = 0.0;
    for (int64_t j = 0; j < n; j++) along += C[l * n + j] * x[j];
    for (int64_t i = 0; i < k; i++) out[i] -= B[l * k + i] * along;
  }
}

void interface_reduce(const Port *port) {
  Terms at = terms_of(port);
  int64_t n = port->n_v, k = port->rows, m;
  double *M = port->work, *X = columns_of(port), *C = X + n * (k + port->n_constraints + 2);
  int64_t *pivots = (int64_t *)(M + n * n);
  double *B = C + n * port->n_constraints, *drift = B + k * port->n_constraints, *room = drift + port->n_constraints;
  memcpy(M, at.M, sizeof *M * (size_t)(n * n));
  factorise(M, pivots, n);
  /* Columns: M^-1 of A_i^T, f, c, then A_c^T of what holds. */
  transpose(at.A_i, k, n, X);
  memcpy(X + n * k, at.f, sizeof *X * (size_t)n);
  memcpy(X + n * (k + 1), at.c, sizeof *X * (size_t)n);
  m = held_constraints(port, &at, C, drift);
  memcpy(X + n * (k + 2), C, sizeof *X * (size_t)(n * m));
  for (int64_t j = 0; j < k + 2 + m; j++) solve_factorised(M, pivots, n, X + n * j);
  if (m > 0) {
    /* B = A_i M^-1 A_c^T (A_c M^-1 A_c^T)^-1; C holds A_c^T. */
    double *S = room, *inverse = S + m * m, *reach = inverse + m * m, *work = reach + k * m;
    for (int64_t j = 0; j < m; j++)
      for (int64_t i = 0; i < m; i++) {
        double sum = 0.0;
        for (int64_t l = 0; l < n; l++) sum += C[i * n + l] * X[n * (k + 2 + j) + l];
        S[j * m + i] = sum;
      }
    invert_symmetric(S, m, inverse, work);
    multiply(at.A_i, X + n * (k + 2), k, n, m, reach);
    multiply(reach, inverse, k, m, m, B);
  }
  double *inertia = port->model, *mobility = inertia + k * k, *effective = mobility + k * k, *inertial = effective + k;
  double *acceleration = inertial + k, *condition = acceleration + k;
  double *forced = room, *free = forced + k, *copy = free + k;
  for (int64_t j = 0; j < k; j++) allow(port, at.A_i, B, C, m, X + n * j, copy + j * k);
  for (int64_t j = 0; j < k; j++)
    for (int64_t i = 0; i < k; i++) mobility[j * k + i] = (copy[j * k + i] + copy[i * k + j]) / 2.0;
  allow(port, at.A_i, B, C, m, X + n * k, forced);
  allow(port, at.A_i, B, C, m, X + n * (k + 1), free);
  for (int64_t i = 0; i < k; i++) {
    free[i] -= at.drift_i[i];
    for (int64_t l = 0; l < m; l++) free[i] += B[l * k + i] * drift[l];
    acceleration[i] = forced[i] - free[i];
  }
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
  int64_t g = k + held_constraints(port, &at, W + n * k, 0);
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
  int64_t n = port->n_v, k = port->rows;
  double *X = columns_of(port);
  if (port->n_constraints > 0 || !port->gives || !(port->model[MODEL_SIZE(k) - 1] < WELL_CONDITIONED)) return 0;
  multiply(X, port->model, n, k, k, X + n * k);
  return 1;
}

void interface_direct(const Port *port, const double *wanted, double *change) {
  int64_t n = port->n_v, k = port->rows;
  multiply(columns_of(port) + n * (k + port->n_constraints), wanted, n, k, 1, change);
}
