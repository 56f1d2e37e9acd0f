/* Compression with a bounded error: in how few bytes can the recorded rows of a signal be kept?

   A value y is kept as the whole number k = round(y / quantum), off by at most half a quantum. Row i lies in the middle of
   rows i - h and i + h, h being its lowest bit that is set; it is predicted from these, which are decoded before it, by the
   cubic through the rows i - 3h, i - h, i + h and i + 3h. What is left, k - round(prediction), is 0 wherever reading
   between these rows would do: such rows cost next to nothing once zeros in a row are counted instead of written.

   Where there is no quantum, the bits of the values are kept as they are. The numbers of a column are written byte by
   byte, all lowest bytes first: these planes compress better than the numbers. All arithmetic is that of IEEE 754, rounded
   after each operation: what one machine has written, any other reads alike. */

#include "parts.h"

enum { NODES = 4 };
/* A cubic through rows that lie so unevenly that it magnifies their rounding by more than this is not used. */
#define MOST_MAGNIFIED 4.0
/* Adding and subtracting it rounds what is below 2^51. */
#define ROUNDER 6755399441055744.0

static double round_even(double value) { return (value + ROUNDER) - ROUNDER; }

/* Weights of the rows i - 3h, i - h, i + h, i + 3h by which row i is predicted. */
static void find_weights(int64_t n, const double *t, int64_t i, int64_t h, double *w) {
  int64_t node[NODES] = {i - 3 * h, i - h, i + h, i + 3 * h};
  w[0] = w[2] = w[3] = 0.0;
  w[1] = 1.0;
  /* The last rows may have none behind them; both sides of a jump have the same time. */
  if (node[2] >= n || !(t[node[2]] > t[node[1]])) return;
  w[2] = (t[i] - t[node[1]]) / (t[node[2]] - t[node[1]]);
  w[1] = 1.0 - w[2];
  if (node[0] < 0 || node[3] >= n || !(t[node[0]] < t[node[1]] && t[node[2]] < t[node[3]])) return;
  double cubic[NODES], total = 0.0;
  for (int64_t a = 0; a < NODES; a++) {
    cubic[a] = 1.0;
    for (int64_t b = 0; b < NODES; b++)
      if (b != a) cubic[a] *= (t[i] - t[node[b]]) / (t[node[a]] - t[node[b]]);
    total += fabs(cubic[a]);
  }
  for (int64_t a = 0; a < NODES && total <= MOST_MAGNIFIED; a++) w[a] = cubic[a];
}

static double predict(const double *k, int64_t i, int64_t h, const double *w) {
  double inner = w[1] * k[i - h];
  if (w[2] != 0.0) inner += w[2] * k[i + h];
  if (w[0] != 0.0) inner += w[0] * k[i - 3 * h] + w[3] * k[i + 3 * h];
  return round_even(inner);
}

/* The first distance of rows: between the row 0 and the one that is decoded after it. */
static int64_t first_distance(int64_t n) {
  int64_t h = 1;
  while (2 * h < n) h *= 2;
  return h;
}

void column_weights(int64_t n, const double *t, double *weights) {
  for (int64_t h = first_distance(n); h > 0; h /= 2)
    for (int64_t i = h; i < n; i += 2 * h) find_weights(n, t, i, h, weights + NODES * i);
}

/* Whole numbers of either sign as even and odd ones: 0, -1, 1, -2 are 0, 1, 2, 3. */
static uint64_t fold(double r) { return r < 0.0 ? 2 * (uint64_t)(-r) - 1 : 2 * (uint64_t)r; }
static double unfold(uint64_t u) { return u & 1 ? -(double)(u / 2) - 1.0 : (double)(u / 2); }

void encode_columns(int64_t n, int64_t n_columns, const double *weights, const double *y, const double *quanta, double *work,
                    unsigned char *planes, int64_t *widths) {
  double *k = work;
  uint64_t *numbers = (uint64_t *)(work + n);
  for (int64_t c = 0; c < n_columns; c++) {
    for (int64_t i = 0; i < n; i++) k[i] = y[i * n_columns + c];
    if (quanta[c] > 0.0) {
      double inverse = 1.0 / quanta[c];
      for (int64_t i = 0; i < n; i++) k[i] = round_even(k[i] * inverse);
      int64_t place = 0;
      numbers[place++] = fold(k[0]);
      for (int64_t h = first_distance(n); h > 0; h /= 2)
        for (int64_t i = h; i < n; i += 2 * h) numbers[place++] = fold(k[i] - predict(k, i, h, weights + NODES * i));
    } else {
      memcpy(numbers, k, (size_t)n * sizeof *k);
    }
    /* As many planes as the largest number has bytes. */
    uint64_t all = 0;
    for (int64_t i = 0; i < n; i++) all |= numbers[i];
    for (widths[c] = 0; all > 0; all >>= 8, planes += n)
      for (int64_t i = 0, shift = 8 * widths[c]++; i < n; i++) planes[i] = (unsigned char)(numbers[i] >> shift);
  }
}

/* The number at a place of the planes. */
static uint64_t read_planes(int64_t n, int64_t width, const unsigned char *planes, int64_t place) {
  uint64_t bits = 0;
  for (int64_t b = 0; b < width; b++) bits |= (uint64_t)planes[b * n + place] << (8 * b);
  return bits;
}

void decode_column(int64_t n, const double *weights, double quantum, int64_t width, const unsigned char *planes, double *y) {
  if (!(quantum > 0.0)) {
    for (int64_t i = 0; i < n; i++) {
      uint64_t bits = read_planes(n, width, planes, i);
      memcpy(y + i, &bits, sizeof bits);
    }
    return;
  }
  int64_t place = 0;
  y[0] = unfold(read_planes(n, width, planes, place++));
  for (int64_t h = first_distance(n); h > 0; h /= 2)
    for (int64_t i = h; i < n; i += 2 * h)
      y[i] = predict(y, i, h, weights + NODES * i) + unfold(read_planes(n, width, planes, place++));
  for (int64_t i = 0; i < n; i++) y[i] *= quantum;
}
