/* Recording: which rows [t, y, knot] are kept?

   Between two rows, an output is read from the polynomial through the rows about it, which never reaches across a knot.
   Rows are knots where something happens (an event, a tick that changes memory, a break), where the distance of rows
   changes, and at the ends of the pieces that steps are recorded by.

   Outputs may change faster than states: a crank turns at constant speed in steps of any length while its tip goes round
   and round. Where the engine chooses the rows of a step, the step is therefore cut in halves until the polynomials of
   all pieces give the outputs about as well as the method gives the states. */

#include "parts.h"

/* Error of an output between rows: at most ERROR_PART rtol (its largest magnitude + UNIT_PART of the largest in its unit).
   The second part is for outputs that are nothing but errors of the solution, such as residuals of constraints. */
#define ERROR_PART 5.0
#define UNIT_PART 0.02
/* Shortest piece of a step; pieces that may be added beyond as many as there are steps. */
#define SHORTEST_PIECE 0x1p-14
enum { MOST_ADDED = 10000 };
/* Probes lie at this part of a piece, where no row is; they begin at each fourth piece and get rarer. */
#define PROBE_PLACE 0.31
enum { PROBE_EVERY = 4, PROBE_PART = 16 };
#define PI 3.14159265358979323846

static double *record_row(const Run *run, int64_t index) { return run->rows + row_width(run) * index; }

static void make_knot(Run *run, int64_t index) { record_row(run, index)[row_width(run) - 1] = 1.0; }

/* Write a row of the outputs at a time and a row of states, under the time `label`; delayed signals as last read. */
static void write_row(Run *run, double *entry, double label, double t, int64_t source, int knot) {
  entry[0] = label;
  if (run->model->n_y > 0) call_kernel(run, run->model->outputs, t, state(run, source), entry + 1);
  entry[row_width(run) - 1] = knot;
}

/* Where the distance of rows changes, one polynomial through them would magnify the rounding of the close ones. */
static void find_uneven(Run *run) {
  if (run->n_rows < 3) return;
  const double *last = record_row(run, run->n_rows - 1);
  int64_t width = row_width(run);
  double length = last[0] - last[-width], before = last[-width] - last[-2 * width];
  if (length < 0.5 * before || length > 2.0 * before) make_knot(run, run->n_rows - 2);
}

/* Append a row of a step recorded by its end, or of given times. */
static void add_row(Run *run, double label, double t, int64_t source) {
  int knot = run->n_rows == 0 || run->broken;
  write_row(run, record_row(run, run->n_rows++), label, t, source, knot);
  if (run->broken && run->n_rows > 1) make_knot(run, run->n_rows - 2);
  run->broken = 0;
  find_uneven(run);
}

/* The point at a fraction of the step, within all limits; its time. */
static double place_point(Run *run, double fraction) {
  if (fraction > 0.0 && fraction < 1.0) need_dense(run);
  double t = set_point(run, fraction);
  if (run->model->n_d > 0) read_inside(run, t);
  if (run->model->n_limited > 0) clip_row(run, t, POINT);
  return t;
}

static double time_at(const Run *run, double fraction) {
  return fraction < 1.0 ? run->t + fraction * (run->t_new - run->t) : run->t_new;
}

/* Now and then, what the outputs are between rows. That the slope at the end of the step is known must not be used: a run
   would depend on what is recorded of it. */
static void take_probe(Run *run, double from, double length) {
  if (run->n_pieces++ < run->next_probe) return;
  run->next_probe += at_least(PROBE_EVERY, run->next_probe / PROBE_PART);
  double *entry = append_row(run, &run->probes, &run->n_probes, &run->probe_capacity, row_width(run), NULL);
  if (entry == NULL) return;
  int64_t end_known = run->end_known, evaluations = run->evaluations;
  double fraction = from + PROBE_PLACE * length, t = place_point(run, fraction);
  write_row(run, entry, time_at(run, fraction), t, POINT, 1);
  run->end_known = end_known;
  run->evaluations = evaluations;
}

/* The instants asked for from the start of the step to before its end, which the next step has by its right limit. */
static void record_times(Run *run) {
  const Recording *recording = run->recording;
  double before = run->t_new - run->resolution, length = run->t_new - run->t;
  for (; run->next_time < recording->n_times && recording->times[run->next_time] < before; run->next_time++) {
    double t = recording->times[run->next_time], fraction = (t - run->t) / length;
    if (fraction * length <= run->resolution) fraction = 0.0;
    add_row(run, t, place_point(run, fraction), POINT);
  }
}

/* Rows of a piece of the step at the n Chebyshev-Lobatto points after its start, where a polynomial through them is good
   throughout the piece; nothing that repeats itself hides between points so unevenly placed. */
static void record_piece(Run *run, double from, double length, int64_t n) {
  for (int64_t k = 1; k <= n; k++) {
    double fraction = k < n ? from + 0.5 * length * (1.0 - cos(PI * (double)k / (double)n)) : from + length;
    double t = place_point(run, fraction);
    write_row(run, record_row(run, run->n_rows++), time_at(run, fraction), t, POINT, k == n);
  }
}

/* Error of the polynomial through five Chebyshev-Lobatto points, from how its Chebyshev coefficients fall off:

       |a_1| + |a_2|,  |a_3| + |a_4| = r (|a_1| + |a_2|),  error = 2 r (|a_3| + |a_4|) */
static double piece_error(double f0, double f1, double f2, double f3, double f4) {
  double ends = 0.5 * (f0 + f4), odd = 0.5 * (f0 - f4), inner = 0.70710678118654752 * (f1 - f3);
  double low = 0.5 * (fabs(odd + inner) + fabs(ends - f2));
  double high = 0.5 * fabs(odd - inner) + 0.25 * fabs(ends - f1 - f3 + f2);
  return high < 0.5 * low ? 2.0 * high * high / low : high;
}

/* Whether the polynomial through the last five rows is good enough for all outputs. */
static int is_resolved(Run *run) {
  const Model *model = run->model;
  int64_t width = row_width(run), n = model->n_y;
  const double *f4 = record_row(run, run->n_rows - 1) + 1, *f3 = f4 - width, *f2 = f3 - width, *f1 = f2 - width;
  const double *f0 = f1 - width;
  double *largest_output = run->largest, *largest_unit = run->largest + n, part = ERROR_PART * run->solver->rtol;
  int resolved = 1;
  for (int64_t j = 0; j < n; j++) {
    if (model->unit[j] < 0) continue;
    double most = largest(largest(fabs(f0[j]), fabs(f2[j])), fabs(f4[j])), *unit = &largest_unit[model->unit[j]];
    largest_output[j] = largest(largest_output[j], most);
    *unit = largest(*unit, most);
    double error = piece_error(f0[j], f1[j], f2[j], f3[j], f4[j]);
    if (error > part * (largest_output[j] + UNIT_PART * *unit)) resolved = 0;
  }
  return resolved;
}

/* The step in as many pieces as it takes; a piece is as long as the one before it, or twice that. */
static void record_pieces(Run *run) {
  double from = 0.0, length = 1.0;
  while (from < 1.0 && make_room(run)) {
    record_piece(run, from, length, PIECE);
    int may_add = run->n_added < MOST_ADDED + run->steps && length > SHORTEST_PIECE;
    if (!is_resolved(run) && may_add) {
      run->n_rows -= PIECE;
      length *= 0.5;
      run->n_added++;
      continue;
    }
    take_probe(run, from, length);
    from += length;
    if (from < 1.0 && fmod(from, 2.0 * length) == 0.0) length *= 2.0;
  }
}

/* Rows of the step just made: its points and its end, or the instants asked for before its end. */
void record_step(Run *run) {
  int64_t refine = run->recording->refine;
  if (run->recording->kind == RECORD_STEPS && refine == 0) {
    record_pieces(run);
    return;
  }
  if (run->recording->kind == RECORD_TIMES)
    record_times(run);
  else if (refine > 1)
    record_piece(run, 0.0, 1.0, refine);
  else
    add_row(run, run->t_new, place_point(run, 1.0), POINT);
  take_probe(run, 0.0, 1.0);
}

/* The first row; then, where steps are kept, the right side of an instant where it differs from the left. */
void record_instant(Run *run) {
  int64_t kind = run->recording->kind, width = row_width(run);
  if (kind == RECORD_TIMES || kind == RECORD_NOTHING) return;
  if (run->n_rows > 0 && kind == RECORD_ENDS) return;
  if (run->broken && run->n_rows > 0) make_knot(run, run->n_rows - 1);
  run->broken = 0;
  double *right = record_row(run, run->n_rows++), *left = right - width;
  write_row(run, right, run->t, run->t, START, 1);
  if (run->n_rows == 1) return;
  for (int64_t i = 0; i < width - 1; i++)
    if (right[i] != left[i]) {
      make_knot(run, run->n_rows - 2);
      return;
    }
  run->n_rows--;
}

/* The last row: the instants asked for at the end of the run, or the end itself where it is not yet kept. */
void record_end(Run *run) {
  const Recording *recording = run->recording;
  if (recording->kind == RECORD_TIMES) {
    for (; run->next_time < recording->n_times; run->next_time++) {
      double t = recording->times[run->next_time];
      if (!(t <= run->t + run->resolution)) break;
      add_row(run, t, run->t, START);
    }
    int missing = run->n_rows == 0 || record_row(run, run->n_rows - 1)[0] < run->t;
    if (recording->keep_end && missing) add_row(run, run->t, run->t, START);
  }
  /* A run that could not even begin leaves its start. */
  int begins = run->n_rows == 0 && (recording->kind == RECORD_STEPS || recording->kind == RECORD_ENDS);
  int ends = run->n_rows == 1 && recording->kind == RECORD_ENDS && run->t > run->t0;
  if (begins || ends) add_row(run, run->t, run->t, START);
}
