/* Reading between rows: how far are the polynomials through recorded rows from what is known between them?

   Signals of a run are read by the same rules, see results/signal.py. */

#include "parts.h"

#include <stdlib.h>

/* Rows of a polynomial, and how many of them are better than a cubic of two rows and their rates. */
enum { MOST_ROWS = 6, LEAST_ROWS = 5 };

/* Part of the largest output of a unit that counts as size of the others; distance of rows, as part of the run, at which they
   close in on a jump; size of what is nothing but rounding; part of a step's error that reading need not be better than. */
#define UNIT_PART 0.02
#define JUMP_PART 1e-6
#define ROUNDING 1e-9
#define SOLVER_PART 4.0
#define SHORTEST 1e-3

static double time_of(const Record *record, int64_t row) { return record->t[row * record->t_next]; }
static double value_of(const Record *record, int64_t row, int64_t j) { return record->y[row * record->y_next + j]; }

/* Whether no polynomial reaches across a row: knots, both sides of a jump, the first and the last row. */
static int is_end(const Record *record, int64_t row) {
  if (row == 0 || row == record->n_rows - 1 || record->knot[row * record->knot_next] != 0.0) return 1;
  double t = time_of(record, row);
  return t == time_of(record, row - 1) || t == time_of(record, row + 1);
}

/* Number of rows of the polynomial for the interval that begins at a row, and the first of them: as many on each side where
   the ends allow. */
static int64_t find_window(const Record *record, int64_t row, int64_t *first) {
  int64_t left = row, right = row + 1;
  while (left > row - MOST_ROWS + 1 && !is_end(record, left)) left--;
  while (right < row + MOST_ROWS && !is_end(record, right)) right++;
  int64_t count = right - left + 1 < MOST_ROWS ? right - left + 1 : MOST_ROWS, begin = at_least(row + 1 - MOST_ROWS / 2, left);
  *first = begin < right + 1 - count ? begin : right + 1 - count;
  return count;
}

/* Neville: p_ij(t) = p_i(j-1)(t) + (t - t_i) / (t_j - t_i) (p_(i+1)j(t) - p_i(j-1)(t)). */
static double read_polynomial(const Record *record, int64_t first, int64_t count, int64_t j, double t) {
  double p[MOST_ROWS];
  for (int64_t k = 0; k < count; k++) p[k] = value_of(record, first + k, j);
  for (int64_t span = 1; span < count; span++)
    for (int64_t k = 0; k + span < count; k++) {
      double node = time_of(record, first + k);
      p[k] += (t - node) / (time_of(record, first + k + span) - node) * (p[k + 1] - p[k]);
    }
  return p[0];
}

/* The cubic through both ends of an interval with the rates there. */
static double read_cubic(const Record *record, int64_t row, int64_t j, int64_t rate, double t) {
  double length = time_of(record, row + 1) - time_of(record, row), s = (t - time_of(record, row)) / length;
  double left = value_of(record, row, j), rise = s * s * (3.0 - 2.0 * s) * (value_of(record, row + 1, j) - left);
  double slopes = (1.0 - s) * value_of(record, row, rate) - s * value_of(record, row + 1, rate);
  return left + rise + s * (1.0 - s) * length * slopes;
}

/* The last row that is not after a time; -1 where the time is outside of the record or its rows there close in on a jump. */
static int64_t find_row(const Record *record, double t) {
  int64_t low = 0, high = record->n_rows - 1;
  double begin = time_of(record, 0), end = time_of(record, high);
  if (!(t >= begin && t < end)) return -1;
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (time_of(record, middle) <= t)
      low = middle;
    else
      high = middle;
  }
  return time_of(record, low + 1) - time_of(record, low) > JUMP_PART * (end - begin) ? low : -1;
}

/* By how much reading an output at a probe is further off than the error of the step explains. */
static double find_excess(const Record *record, int64_t probe, int64_t row, int64_t j) {
  const double *entry = record->probes + probe * record->probe_next;
  int64_t first, count = find_window(record, row, &first), rate = record->rate[j];
  double t = entry[0], read;
  if (count < LEAST_ROWS && rate >= 0)
    read = read_cubic(record, row, j, rate, t);
  else
    read = read_polynomial(record, first, count, j, t);
  double excess = fabs(read - entry[1 + j]) - SOLVER_PART * entry[1 + record->n_y + j];
  /* What is not a number has no size: such probes say nothing. */
  return excess > 0.0 ? excess : 0.0;
}

static int compare(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Largest magnitude of each output. */
static void find_magnitudes(const Record *record, double *most) {
  for (int64_t j = 0; j < record->n_y; j++) most[j] = 0.0;
  for (int64_t k = 0; k < record->n_rows; k++)
    for (int64_t j = 0; j < record->n_y; j++) most[j] = largest(fabs(value_of(record, k, j)), most[j]);
}

/* size = rounding + largest magnitude + 0.02 largest magnitude of any output of its unit; numbers without one are about 1.
   Rounding of a rate is what changes its output by 1e-9 in the whole run. */
static double find_size(const Record *record, const double *most, int64_t j) {
  double span = time_of(record, record->n_rows - 1) - time_of(record, 0), unit = record->unit[j] == 0 ? 1.0 : 0.0;
  double rounding = ROUNDING, brief = least(largest(span, SHORTEST), 1.0);
  for (int64_t i = 0; i < record->n_y; i++)
    if (record->unit[i] == record->unit[j]) unit = largest(most[i], unit);
  for (int64_t i = 0; i < record->degree[j]; i++) rounding /= brief;
  return rounding + most[j] + UNIT_PART * unit;
}

int64_t find_errors_between(const Record *record, double share, double *errors) {
  int64_t n_y = record->n_y, n = 0;
  double *most = malloc((size_t)(n_y + record->n_probes + 1) * sizeof(double)), *excess = most + n_y;
  int64_t *rows = malloc((size_t)(record->n_probes + 1) * sizeof(int64_t)), done = most && rows && record->n_rows > 0;
  if (done) find_magnitudes(record, most);
  for (int64_t k = 0; done && k < record->n_probes; k++)
    rows[k] = find_row(record, record->probes[k * record->probe_next]);
  for (int64_t j = 0; done && j < n_y; j++) {
    n = errors[j] = 0;
    if (record->unit[j] < 0) continue;
    for (int64_t k = 0; k < record->n_probes; k++)
      if (rows[k] >= 0) excess[n++] = find_excess(record, k, rows[k], j);
    /* The quantile "lower", which is one of the values. */
    if (n > 0) qsort(excess, (size_t)n, sizeof(double), compare);
    if (n > 0) errors[j] = excess[(int64_t)((double)(n - 1) * share)] / find_size(record, most, j);
  }
  free(most);
  free(rows);
  return done;
}
