/* Pace of what drives a model: how long may a step be that no state speaks against?

   The error of a step is seen in the states alone. Where these rest, in a joint that friction holds or before a force
   sets in, steps would grow over whatever is to come. So the quantities that depend on time alone are looked at before the
   run: its span is cut into cells, halved as long as a drive is no parabola in them, and joined again, two by two, as long
   as it is. The width that is left is the longest step there. Times at which references are known to jump or bend are
   left out: steps end there anyway. So they do where a drive is found to jump or bend, at a limit of its amplifier or so:
   the two solutions of which the difference is the error of a step may agree on a bend within it, both of them wrong. */

#include "parts.h"

#include <stdlib.h>

/* Part of its range by which a drive may miss the parabola through three points of a cell. */
#define MISS 0.01
/* Range of a drive, relative to its size, that is rounding; this project's own choice. */
#define ROUNDING 1e-12
/* How many times longer than the drives allow a fixed step may be: of a sine, a quarter of its period at the most. */
#define LONG_STEP 2.0

/* How many times those of its neighbours the second differences about a jump or a bend are at the least; what of them is
   left, as a difference of slopes, on a finer scale; own choices. */
#define STANDS_OUT 2.0
#define STAYS 0.25
#define FINER (1.0 / 256.0)
/* Second difference, relative to the range and to the size of a drive, that does no harm or is rounding. */
#define HARMLESS 1e-8
#define UNSEEN 1e-12

/* The search for a jump or bend. */
#define ZOOM 0.125
enum { NARROWINGS = 6 };

enum { CELLS = 512, POINTS = 4 * CELLS + 1, MOST_DEPTH = 10, MOST_CALLS = 1 << 16 };

typedef struct {
  Run *run;
  double *values;  /* of all drives at equally spaced points (POINTS, n_drives) */
  double *range;   /* of each drive, largest less smallest (n_drives) */
  double *points;  /* of a cell that is halved, at each depth (MOST_DEPTH, 5, n_drives) */
  int64_t calls;
  double bends[MOST_BENDS];
  int64_t n_bends;
} Scan;

static void call_drives(Scan *scan, double t, double *out) {
  call_kernel(scan->run, scan->run->model->drives, t, state(scan->run, START), out);
  scan->calls++;
}

static double time_of(const Scan *scan, int64_t point) {
  const Run *run = scan->run;
  return run->t0 + (run->t_last - run->t0) * ((double)point / (double)(POINTS - 1));
}

static int has_break(const Run *run, double left, double right) {
  int64_t low = 0, high = run->n_breaks;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (run->breaks[middle] < left)
      low = middle + 1;
    else
      high = middle;
  }
  return low < run->n_breaks && run->breaks[low] <= right;
}

/* Whether all drives are parabolas in five points, `stride` numbers apart. */
static int is_smooth(const Scan *scan, const double *points, int64_t stride) {
  for (int64_t k = 0; k < scan->run->model->n_drives; k++) {
    const double *p = points + k;
    double miss = parabola_miss(p[0], p[stride], p[2 * stride], p[3 * stride], p[4 * stride]);
    if (miss > MISS * scan->range[k]) return 0;
  }
  return 1;
}

static void add_cell(Run *run, double t, double h) {
  double *cell = append_row(run, &run->pace, &run->n_pace, &run->pace_capacity, PACE_WIDTH, NULL);
  if (cell == NULL) return;
  cell[0] = t;
  cell[1] = h;
}

/* The cell from left, `width` wide, with five points known, halved as often as it takes. */
static void halve(Scan *scan, double left, double width, const double *points, int depth) {
  int64_t n = scan->run->model->n_drives;
  /* Smooth enough, as fine as it gets, or a break that steps end at anyway. */
  int known = has_break(scan->run, left, left + width) || is_smooth(scan, points, n);
  if (known || depth == MOST_DEPTH || scan->calls > MOST_CALLS) {
    add_cell(scan->run, left, width);
    return;
  }
  double *half = scan->points + 5 * n * depth;
  for (int side = 0; side < 2; side++) {
    double begin = left + 0.5 * width * side;
    /* Three of the five points of a half are known. */
    for (int k = 0; k < 3; k++) memcpy(half + 2 * k * n, points + (2 * side + k) * n, (size_t)n * sizeof(double));
    call_drives(scan, begin + 0.125 * width, half + n);
    call_drives(scan, begin + 0.375 * width, half + 3 * n);
    halve(scan, begin, 0.5 * width, half, depth + 1);
  }
}

/* Knots of a binary tree over all cells: the root is 1, the halves of knot i are 2 i and 2 i + 1, the last CELLS are the
   cells themselves. A knot is smooth where the drives are, and in both its halves. */
static void find_smooth(Scan *scan, char *smooth) {
  int64_t n = scan->run->model->n_drives;
  for (int64_t knot = 2 * CELLS - 1, count = 1; knot > 0; knot--) {
    int64_t first = 4 * (knot * count - CELLS);
    int known = has_break(scan->run, time_of(scan, first), time_of(scan, first + 4 * count));
    smooth[knot] = (char)(known || is_smooth(scan, scan->values + first * n, count * n));
    if (knot < CELLS) smooth[knot] = smooth[knot] && smooth[2 * knot] && smooth[2 * knot + 1];
    /* The first knot of a level is a power of two. */
    if ((knot & (knot - 1)) == 0) count *= 2;
  }
}

static void add_cells(Scan *scan, const char *smooth, int64_t knot, int64_t count) {
  int64_t first = 4 * (knot * count - CELLS);
  double left = time_of(scan, first), width = time_of(scan, first + 4 * count) - left;
  if (smooth[knot]) {
    add_cell(scan->run, left, width);
  } else if (count == 1) {
    halve(scan, left, width, scan->values + first * scan->run->model->n_drives, 0);
  } else {
    add_cells(scan, smooth, 2 * knot, count / 2);
    add_cells(scan, smooth, 2 * knot + 1, count / 2);
  }
}

static void sample(Scan *scan) {
  int64_t n = scan->run->model->n_drives;
  for (int64_t point = 0; point < POINTS; point++) call_drives(scan, time_of(scan, point), scan->values + point * n);
  for (int64_t k = 0; k < n; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t point = 0; point < POINTS; point++) {
      low = least(low, scan->values[point * n + k]);
      high = largest(high, scan->values[point * n + k]);
    }
    /* What changes by less than that is constant but for rounding: it has no pace. */
    double rounding = ROUNDING * largest(fabs(low), fabs(high));
    scan->range[k] = high - low <= rounding ? INFINITY : high - low;
  }
}

/* Backwards: a step must not reach farther into a finer cell than one step of it. */
static void look_ahead(Run *run) {
  double ahead = INFINITY, end = run->t_last;
  for (int64_t i = run->n_pace - 1; i >= 0; i--) {
    double *cell = run->pace + PACE_WIDTH * i;
    cell[2] = ahead;
    ahead = least(cell[1], end - cell[0] + ahead);
    end = cell[0];
  }
}

static double drive_at(Scan *scan, double t, int64_t drive) {
  double *out = scan->points;
  call_drives(scan, t, out);
  return out[drive];
}

/* Narrow [a, b] about a jump or bend to a width: which of the straight lines from both sides leads to the middle? */
static void bisect_bend(Scan *scan, int64_t drive, double *a, double *b, double width) {
  double w = *b - *a, f_a = drive_at(scan, *a, drive), f_b = drive_at(scan, *b, drive);
  double slope_a = (f_a - drive_at(scan, *a - w, drive)) / w, slope_b = (drive_at(scan, *b + w, drive) - f_b) / w;
  for (double c = *a + 0.5 * w; c > *a && c < *b && *b - *a > width; c = *a + 0.5 * (*b - *a)) {
    double f_c = drive_at(scan, c, drive);
    if (fabs(f_c - (f_a + slope_a * (c - *a))) <= fabs(f_c - (f_b - slope_b * (*b - c)))) {
      slope_a = (f_c - f_a) / (c - *a);
      *a = c;
      f_a = f_c;
    } else {
      slope_b = (f_b - f_c) / (*b - c);
      *b = c;
      f_b = f_c;
    }
  }
}

/* The time of a jump or bend between two others. Lines that are curved mislead by the square of the width over which they
   are taken: each time that it is narrowed by ZOOM, as much is added again on both sides. */
static double locate_bend(Scan *scan, int64_t drive, double a, double b) {
  for (int k = 0; k < NARROWINGS; k++) {
    double width = ZOOM * (b - a);
    bisect_bend(scan, drive, &a, &b, width);
    a -= width;
    b += width;
  }
  bisect_bend(scan, drive, &a, &b, 0.0);
  return b;
}

/* Whether the second differences about a time are those of a jump or bend: of what is smooth, they fade on a finer scale. */
static int is_bend(Scan *scan, int64_t drive, double t, double width, double differences) {
  double before = nextafter(t, -INFINITY), fine = FINER * width;
  double left = drive_at(scan, before, drive), right = drive_at(scan, t, drive);
  double slope_left = left - drive_at(scan, before - fine, drive), slope_right = drive_at(scan, t + fine, drive) - right;
  return fabs(right - left) > STAYS * differences || fabs(slope_right - slope_left) > STAYS * FINER * differences;
}

/* Note a time among the others, ascending, unless one is known within a width of it: of another drive, or a break. */
static void add_bend(Scan *scan, double t, double width) {
  int64_t place = scan->n_bends;
  if (has_break(scan->run, t - width, t + width)) return;
  while (place > 0 && scan->bends[place - 1] > t - width) place--;
  if (place < scan->n_bends && scan->bends[place] < t + width) return;
  memmove(scan->bends + place + 1, scan->bends + place, (size_t)(scan->n_bends++ - place) * sizeof(double));
  scan->bends[place] = t;
}

/* Between two neighbouring points: a bend there is in the second differences D about these two alone. */
static void find_bend(Scan *scan, int64_t point, int64_t drive) {
  int64_t n = scan->run->model->n_drives;
  const double *f = scan->values + point * n + drive;
  double D[4], left = time_of(scan, point), right = time_of(scan, point + 1);
  for (int i = 0; i < 4; i++) D[i] = f[(i - 2) * n] - 2.0 * f[(i - 1) * n] + f[i * n];
  double about = fabs(D[1]) + fabs(D[2]), beside = fabs(D[0]) + fabs(D[3]);
  int seen = about > HARMLESS * scan->range[drive] && about > UNSEEN * fabs(f[0]);
  if (!(seen && about > STANDS_OUT * beside) || has_break(scan->run, left, right)) return;
  double t = locate_bend(scan, drive, left, right);
  if (is_bend(scan, drive, t, right - left, about)) add_bend(scan, t, FINER * (right - left));
}

/* Steps are to end at them, unless there are so many that they are better left to the control of the steps: a quantiser. */
static void find_bends(Scan *scan) {
  Run *run = scan->run;
  for (int64_t point = 2; point < POINTS - 3; point++)
    for (int64_t k = 0; k < run->model->n_drives; k++) {
      if (scan->n_bends == MOST_BENDS) return;
      find_bend(scan, point, k);
    }
  int64_t last = scan->n_bends, known = run->n_breaks;
  if (known > run->model->n_breaks) return;
  /* Both are ascending: merged from behind. */
  for (int64_t place = (run->n_breaks += last) - 1; last > 0; place--) {
    int own = known == 0 || run->breaks[known - 1] < scan->bends[last - 1];
    run->breaks[place] = own ? scan->bends[--last] : run->breaks[--known];
  }
}

/* Numbers that decide the pace: span, breaks that are known and how many, parameters of the drives. */
static int64_t key_size(const Model *model) { return 3 + model->n_breaks + model->n_drive_p; }

static void write_key(const Run *run, double *key) {
  const Model *model = run->model;
  *key++ = run->t0;
  *key++ = run->t_last;
  *key++ = (double)run->n_breaks;
  for (int64_t k = 0; k < model->n_breaks; k++) *key++ = k < run->n_breaks ? run->breaks[k] : 0.0;
  for (int64_t k = 0; k < model->n_drive_p; k++) *key++ = run->p[model->drive_p[k]];
}

/* The plan: the key of the pace that is there, room for that of this run, lengths of pace and breaks, and the breaks with
   those found. 0 where it is not to be kept. */
static int has_plan(Run *run) {
  const Model *model = run->model;
  if (model->n_drive_p == 0) return 0;
  size_t size = (size_t)(2 * key_size(model) + 2 + model->n_breaks + MOST_BENDS);
  if (run->plan == NULL) run->plan = calloc(size, sizeof(double));
  return run->plan != NULL;
}

/* Take over the pace of the run before in the same memory, where the same numbers decide it; else note for what it will be
   found. */
static int take_plan(Run *run) {
  int64_t n = key_size(run->model);
  double *known = run->plan, *wanted = known + n, *found = wanted + n;
  write_key(run, wanted);
  if (memcmp(known, wanted, (size_t)n * sizeof(double)) != 0) {
    memcpy(known, wanted, (size_t)n * sizeof(double));
    return 0;
  }
  run->n_pace = (int64_t)found[0];
  run->n_breaks = (int64_t)found[1];
  memcpy(run->breaks, found + 2, (size_t)run->n_breaks * sizeof(double));
  return 1;
}

static void keep_plan(Run *run) {
  double *found = run->plan + 2 * key_size(run->model);
  found[0] = (double)run->n_pace;
  found[1] = (double)run->n_breaks;
  memcpy(found + 2, run->breaks, (size_t)run->n_breaks * sizeof(double));
}

void plan_pace(Run *run) {
  int64_t n = run->model->n_drives;
  char smooth[2 * CELLS];
  if (n == 0 || !isfinite(run->t_last) || !(run->t_last > run->t0)) return;
  int is_kept = has_plan(run);
  if (is_kept && take_plan(run)) return;
  Scan scan = {.run = run, .values = malloc((size_t)(n * (POINTS + 1 + 5 * MOST_DEPTH)) * sizeof(double))};
  if (scan.values == NULL) {
    if (is_kept) run->plan[1] = run->t0; /* of no run */
    run->status = NO_MEMORY;
    return;
  }
  scan.range = scan.values + n * POINTS;
  scan.points = scan.range + n;
  /* Sampled once, joined from the cells up, halved where it must be; then seen from behind. */
  sample(&scan);
  if (run->method->adaptive) find_bends(&scan);
  find_smooth(&scan, smooth);
  add_cells(&scan, smooth, 1, CELLS);
  look_ahead(run);
  free(scan.values);
  if (is_kept) keep_plan(run);
}

/* Longest step from the present time that the drives allow. */
static double paced_step(Run *run) {
  if (run->n_pace == 0) return INFINITY;
  while (run->pace_cursor + 1 < run->n_pace && run->pace[PACE_WIDTH * (run->pace_cursor + 1)] <= run->t) run->pace_cursor++;
  const double *cell = run->pace + PACE_WIDTH * run->pace_cursor;
  double end = run->pace_cursor + 1 < run->n_pace ? cell[PACE_WIDTH] : INFINITY;
  return least(cell[1], end - run->t + cell[2]);
}

/* Longest step from the present time. */
double longest_step(Run *run) { return least(run->max_step, paced_step(run)); }

/* Fixed steps are the caller's choice: how many in a row are too long for the drives? A jump or a bend takes one or two. */
void count_long_steps(Run *run) {
  if (run->method->adaptive || run->n_pace == 0) return;
  run->too_long_now = run->t_new - run->t > LONG_STEP * paced_step(run) ? run->too_long_now + 1 : 0;
  run->steps_too_long = at_least(run->steps_too_long, run->too_long_now);
}
