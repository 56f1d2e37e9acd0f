/* Interface merge: on which motion do two sides of one body agree after a macro step, and how do they take it on?

   A motion is [position (1 or 3), velocity (k), rotation row by row (9, where it is coupled)]. */

#include "coupled.h"

/* Distance at which an interface is where it should be [m, rad]. */
#define CLOSED 1e-12
/* Sine of an angle below which it is the angle. */
#define SMALL 1e-9

static double norm(const double *v, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

/* C = A B^T of (3, 3), row by row. */
static void times_transposed(const double *A, const double *B, double *C) {
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 3; j++)
      C[3 * i + j] = A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

/* Rotation vector in world axes that takes the first rotation to the second. */
static void turn_between(const double *first, const double *second, double *turn) {
  double R[9];
  times_transposed(second, first, R);
  turn[0] = (R[7] - R[5]) / 2.0;
  turn[1] = (R[2] - R[6]) / 2.0;
  turn[2] = (R[3] - R[1]) / 2.0;
  double size = norm(turn, 3), factor = size < SMALL ? 1.0 : atan2(size, (R[0] + R[4] + R[8] - 1.0) / 2.0) / size;
  for (int64_t i = 0; i < 3; i++) turn[i] *= factor;
}

/* A rotation followed by another, given as a rotation vector in world axes (Rodrigues). */
static void turn_by(const double *rotation, const double *turn, double *turned) {
  double angle = norm(turn, 3), T[9];
  memcpy(turned, rotation, 9 * sizeof *turned);
  if (angle == 0.0) return;
  double x = turn[0] / angle, y = turn[1] / angle, z = turn[2] / angle, s = sin(angle), c = 1.0 - cos(angle);
  double K[9] = {0.0, -z, y, z, 0.0, -x, -y, x, 0.0};
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 3; j++) {
      double square = K[3 * i] * K[j] + K[3 * i + 1] * K[3 + j] + K[3 * i + 2] * K[6 + j];
      T[3 * i + j] = (i == j) + s * K[3 * i + j] + c * square;
    }
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 3; j++)
      turned[3 * i + j] = T[3 * i] * rotation[j] + T[3 * i + 1] * rotation[3 + j] + T[3 * i + 2] * rotation[6 + j];
}

static int64_t places(const Port *port) { return port->rows < 3 ? port->rows : 3; }

const double *port_motion(const Port *port) {
  int64_t n = port->n_v, k = port->rows, m = port->n_constraints;
  return port->term_values + n * n + 2 * n + k * n + k + m * n + 2 * m + port->n_q * n;
}

/* From the first place to the second, along and about the axes (k). */
static void apart(const Port *port, const double *first, const double *second, double *out) {
  int64_t n = places(port), k = port->rows;
  for (int64_t i = 0; i < n; i++) out[i] = second[i] - first[i];
  if (port->rotates) turn_between(first + n + k, second + n + k, out + n);
}

double motion_gap(const Port *port, const double *first, const double *second) {
  double between[6];
  apart(port, first, second, between);
  double along = norm(between, places(port));
  return port->rotates ? largest(along, norm(between + 3, 3)) : along;
}

/* How much of the way to the second side the first one goes: (M_1 + M_2)^-1 M_2 = W_1 (W_1 + W_2)^-1, by the mobilities,
   which exist also where an inertia does not. Its transpose, by columns. */
static void share_of(const Pair *pair, double *share) {
  int64_t k = pair->first->rows, pivots[6];
  const double *first = pair->first->model + k * k, *second = pair->second->model + k * k;
  double sum[36];
  if (pair->join == JOIN_MEAN) {
    for (int64_t i = 0; i < k * k; i++) share[i] = i % (k + 1) == 0 ? 0.5 : 0.0;
    return;
  }
  for (int64_t i = 0; i < k * k; i++) sum[i] = first[i] + second[i];
  memcpy(share, first, sizeof *share * (size_t)(k * k));
  factorise(sum, pivots, k);
  for (int64_t j = 0; j < k; j++) solve_factorised(sum, pivots, k, share + j * k);
}

void interface_join(const Pair *pair, double *motion) {
  const Port *port = pair->first;
  int64_t n = places(port), k = port->rows;
  const double *a = port_motion(port), *b = port_motion(pair->second);
  double share[36], between[6], moved[6];
  share_of(pair, share);
  apart(port, a, b, between);
  for (int64_t i = 0; i < k; i++) {
    double sum = 0.0, faster = 0.0;
    for (int64_t j = 0; j < k; j++) {
      sum += share[i * k + j] * between[j];
      faster += share[i * k + j] * (b[n + j] - a[n + j]);
    }
    moved[i] = sum;
    motion[n + i] = a[n + i] + faster;
  }
  for (int64_t i = 0; i < n; i++) motion[i] = a[i] + moved[i];
  if (port->rotates) turn_by(a + n + k, moved + n, motion + n + k);
}

/* Quaternions that were moved along their tangents have the length 1 again. */
static void put_on_sphere(const CoupledUnit *unit, double *x) {
  for (int64_t s = 0; s < unit->n_spheres; s++) {
    int64_t first = unit->spheres[2 * s], end = unit->spheres[2 * s + 1];
    double size = norm(x + first, end - first);
    for (int64_t i = first; i < end; i++) x[i] /= size;
  }
}

/* States with which an interface has the motion port->wanted, by the changes nearest in kinetic energy, attached inertia
   included; the terms are those at the present states.

   One Newton step closes a gap but for its square. To force that to zero would throw a mechanism about that cannot move
   so, near a singular position: on the way it is left to the next exchange. The velocity changes by the terms of the
   last step, for the same reason. */
void move_interface(const Port *port, CoupledUnit *unit, const double *inertia, int64_t steps) {
  int64_t n = places(port), k = port->rows, n_v = port->n_v, n_q = port->n_q;
  const double *own = port_motion(port), *N = own - n_q * n_v, *motion = port->wanted;
  double between[6], *x = unit->run->x, *change = port->change;
  if (!prepare_reduced(port)) interface_prepare(port, inertia);
  for (int64_t step = 1; step <= steps; step++) {
    double most = 0.0;
    apart(port, own, motion, between);
    for (int64_t i = 0; i < k; i++) most = largest(most, fabs(between[i]));
    if (most <= CLOSED) break;
    interface_direct(port, between, change);
    for (int64_t j = 0; j < n_v; j++)
      for (int64_t i = 0; i < n_q; i++) x[i] += N[j * n_q + i] * change[j];
    put_on_sphere(unit, x);
    if (step == steps) break;
    evaluate_terms(unit, port);
    interface_prepare(port, inertia);
  }
  for (int64_t i = 0; i < k; i++) between[i] = motion[n + i] - own[n + i];
  interface_direct(port, between, change);
  for (int64_t j = 0; j < n_v; j++) x[n_q + j] += change[j];
  unit->moved = 1;
}
