/* Extrapolation of inputs: how do signals go on between two exchanges? Polynomials of last values, or last means. */

#include "coupled.h"

/* Most values that a polynomial goes through. */
enum { MOST = 3 };

void trend_add(Trend *trend, double begin, double end, const double *values, const int64_t *places, double gain) {
  int64_t n = trend->size, most = trend->order + 1, last = trend->count - 1;
  /* A second exchange at the same time replaces the first. */
  if (last >= 0 && trend->spans[2 * last] == begin && trend->spans[2 * last + 1] == end) trend->count--;
  if (trend->count == most) {
    memmove(trend->spans, trend->spans + 2, sizeof *trend->spans * (size_t)(2 * (most - 1)));
    memmove(trend->values, trend->values + n, sizeof *trend->values * (size_t)(n * (most - 1)));
    trend->count--;
  }
  trend->spans[2 * trend->count] = begin;
  trend->spans[2 * trend->count + 1] = end;
  double *row = trend->values + n * trend->count++;
  for (int64_t i = 0; i < n; i++) row[i] = gain * values[places ? places[i] : i];
}

/* Mean of s^k over a span. */
double mean_power(double a, double b, int64_t k) {
  double sum = 0.0;
  for (int64_t i = 0; i <= k; i++) {
    double product = 1.0;
    for (int64_t j = 0; j < k; j++) product *= j < i ? a : b;
    sum += product;
  }
  return sum / (double)(k + 1);
}

/* Coefficients in powers of the time since `begin` of the polynomial with these values, or means, (count, size); gives
   how many rows: fewer than order + 1 as long as there are fewer values. */
int64_t trend_fit(const Trend *trend, double begin, double *coefficients) {
  int64_t n = trend->count, size = trend->size, pivots[MOST];
  double A[MOST * MOST], b[MOST];
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < n; k++) A[k * n + i] = mean_power(trend->spans[2 * i] - begin, trend->spans[2 * i + 1] - begin, k);
  factorise(A, pivots, n);
  for (int64_t j = 0; j < size; j++) {
    for (int64_t i = 0; i < n; i++) b[i] = trend->values[i * size + j];
    solve_factorised(A, pivots, n, b);
    for (int64_t i = 0; i < n; i++) coefficients[i * size + j] = b[i];
  }
  return n;
}

void trend_copy(const Trend *trend, Trend *other) {
  other->count = trend->count;
  memcpy(other->spans, trend->spans, sizeof *trend->spans * (size_t)(2 * trend->count));
  memcpy(other->values, trend->values, sizeof *trend->values * (size_t)(trend->size * trend->count));
}
