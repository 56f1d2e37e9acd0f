/* Recording: which rows [t, y, knot] are kept?

   Between two rows, an output is read from the polynomial through the rows about it, which never reaches across a knot.
   Rows are knots where something happens (an event, a tick that changes memory, a break), where the distance of rows
   changes, and at the ends of the pieces that steps are recorded by.

   Outputs may change faster than states: a crank turns at constant speed in steps of any length while its tip goes round
   and round. Where the engine chooses the rows of a step, the step is therefore cut in halves until the polynomials of
   all pieces give the outputs about as well as the method gives the states. */

#include "parts.h"

/* Error of an output between rows: at most ERROR_PART rtol (its largest magnitude + UNIT_PART of the largest in its unit),
   by an estimate that is some ten times too large. The second part is for outputs that are nothing but errors of the
   solution, such as residuals of constraints. */
#define ERROR_PART 25.0
#define UNIT_PART 0.02
#define SOLVER_PART 4.0
#define ERROR_MEMORY 0.75
/* What is left in the shortest piece is rounding, or a jump: no more than this times as much is tried to be resolved. */
#define NOISE_PART 4.0
/* Shortest piece of a step; pieces that may be added beyond as many as there are steps. */
#define SHORTEST_PIECE 0x1p-14
enum { MOST_ADDED = 10000, TRY_LONGER = 4 };
/* Probes lie at this part of a piece, where no row is; they begin in each second piece and get rarer. */
#define PROBE_PLACE 0.31
enum { PROBE_EVERY = 2, PROBE_PART = 8 };
#define SQRT_HALF 0.70710678118654752
#define PI 3.14159265358979323846
/* Chebyshev-Lobatto points of a piece. */
static const double POINTS[PIECE + 1] = {0.0, 0.5 - 0.5 * SQRT_HALF, 0.5, 0.5 + 0.5 * SQRT_HALF, 1.0};

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

/* What the error of the step makes of the outputs y at the point, (n_y). */
static void find_solver_errors(Run *run, double t, const double *y, double *errors) {
  const Model *model = run->model;
  const double *error = state(run, ERROR);
  double *x = state(run, POINT);
  if (!run->method->adaptive) {
    for (int64_t j = 0; j < model->n_y; j++) errors[j] = 0.0;
    return;
  }
  for (int64_t i = 0; i < model->n_x; i++) x[i] += error[i];
  call_kernel(run, model->outputs, t, x, errors);
  for (int64_t j = 0; j < model->n_y; j++) errors[j] = fabs(errors[j] - y[j]);
}

/* Now and then, what the outputs are between rows. That this may tell the slope at the end of the step must not be used: a
   run would depend on what is recorded of it. */
static void take_probe(Run *run, double from, double length) {
  if (run->n_pieces++ < run->next_probe || run->model->n_y == 0) return;
  run->next_probe += at_least(PROBE_EVERY, run->next_probe / PROBE_PART);
  double *entry = append_row(run, &run->probes, &run->n_probes, &run->probe_capacity, 1 + 2 * run->model->n_y, NULL);
  if (entry == NULL) return;
  int64_t end_known = run->end_known, evaluations = run->evaluations;
  double fraction = from + PROBE_PLACE * length, t = place_point(run, fraction);
  entry[0] = time_at(run, fraction);
  call_kernel(run, run->model->outputs, t, state(run, POINT), entry + 1);
  find_solver_errors(run, t, entry + 1, entry + 1 + run->model->n_y);
  run->end_known = end_known;
  run->evaluations = evaluations;
}

/* The instants asked for from the start of the step to before its end, which the next step has by its right limit. The
   parts between them are pieces for probes. */
static void record_times(Run *run) {
  const Recording *recording = run->recording;
  double before = run->t_new - run->resolution, length = run->t_new - run->t, from = 0.0;
  for (; run->next_time < recording->n_times && recording->times[run->next_time] < before; run->next_time++) {
    double t = recording->times[run->next_time], fraction = (t - run->t) / length;
    if (fraction * length <= run->resolution) fraction = 0.0;
    if (fraction > from) take_probe(run, from, fraction - from);
    add_row(run, t, place_point(run, fraction), POINT);
    from = fraction;
  }
  take_probe(run, from, 1.0 - from);
}

/* Rows of a piece of the step at the n Chebyshev-Lobatto points after its start, where a polynomial through them is good
   throughout the piece; nothing that repeats itself hides between points so unevenly placed. The time of the last. */
static double record_piece(Run *run, double from, double length, int64_t n) {
  double t = run->t;
  for (int64_t k = 1; k <= n; k++) {
    double place = k == n ? 1.0 : n == PIECE ? POINTS[k] : 0.5 - 0.5 * cos(PI * (double)k / (double)n);
    double fraction = from + length * place;
    t = place_point(run, fraction);
    write_row(run, record_row(run, run->n_rows++), time_at(run, fraction), t, POINT, k == n);
  }
  return t;
}

/* Whether the error of an output's polynomial through five Chebyshev-Lobatto points, f and what stands `width` behind it
   and so on, exceeds what is allowed: above 0 where it does. It is estimated from how the Chebyshev coefficients fall off:

       low = |a_1| + |a_2|,  high = |a_3| + |a_4|,  error = high min(1, 2 high / low) */
static inline double excess(const double *f, int64_t width, double allowed) {
  double f0 = f[0], f1 = f[width], f2 = f[2 * width], f3 = f[3 * width], f4 = f[4 * width];
  double ends = 0.5 * (f0 + f4), odd = 0.5 * (f0 - f4), inner = SQRT_HALF * (f1 - f3);
  double low = 0.5 * (fabs(odd + inner) + fabs(ends - f2));
  double high = 0.5 * fabs(odd - inner) + 0.25 * fabs(ends - f1 - f3 + f2);
  return least(high - allowed, 2.0 * high * high - allowed * low);
}

/* Whether an output may exceed what its own size allows: for the sake of its unit, of the error of this step, which is at
   time t and the point, or of noise, which is what the last piece that can be tried leaves. Unit and noise are remembered,
   the errors of the step for a few steps. */
static int is_excused(Run *run, const double *rows, int64_t j, double t, int last) {
  const Model *model = run->model;
  const double *f = rows + j, *end = rows + 4 * row_width(run);
  double size = model->unit[j] == 0 ? 1.0 : 0.0, part = ERROR_PART * run->solver->rtol, *floor = &run->floor[j];
  if (model->unit[j] < 0) return 1;
  for (int64_t k = 0; k < model->n_y; k++)
    if (model->unit[k] == model->unit[j]) size = largest(size, run->largest[k]);
  if (!run->errors_known) find_solver_errors(run, t, end, run->output_errors);
  run->errors_known = 1;
  *floor = largest(*floor, part * UNIT_PART * size);
  double allowed = part * run->largest[j] + *floor + SOLVER_PART * run->output_errors[j];
  if (!(excess(f, row_width(run), allowed) > 0.0)) return 1;
  if (last) *floor += NOISE_PART * fabs(f[0] - 2.0 * f[2 * row_width(run)] + end[j]);
  return 0;
}

/* Whether the polynomial through the last five rows is good enough for all outputs; the last row is at time t and the
   point. */
static int is_resolved(Run *run, double t, int last) {
  int64_t width = row_width(run), n = run->model->n_y;
  const double *rows = record_row(run, run->n_rows - 5) + 1, *end = rows + 4 * width, *floor = run->floor;
  double *size = run->largest, *errors = run->output_errors, *over = run->excess, part = ERROR_PART * run->solver->rtol;
  for (int64_t j = 0; j < n; j++) size[j] = largest(size[j], fabs(end[j]));
  for (int64_t j = 0; j < n; j++)
    over[j] = excess(rows + j, width, part * size[j] + floor[j] + SOLVER_PART * errors[j]);
  int resolved = 1;
  for (int64_t j = 0; j < n; j++)
    if (over[j] > 0.0 && !is_excused(run, rows, j, t, last)) resolved = 0;
  return resolved;
}

/* The step in as many pieces as it takes. They begin as short as the last of the step before, now and then twice as long;
   within the step, one is as long as the one before it, or twice that. */
static void record_pieces(Run *run) {
  double from = 0.0, length = run->piece > 0.0 ? run->piece : 1.0;
  if (run->steps % TRY_LONGER == 0) length = least(2.0 * length, 1.0);
  run->errors_known = 0;
  for (int64_t j = 0; j < run->model->n_y; j++) run->output_errors[j] *= ERROR_MEMORY;
  while (from < 1.0 && make_room(run)) {
    double t = record_piece(run, from, length, PIECE);
    int last = length <= SHORTEST_PIECE || run->n_added >= MOST_ADDED + run->steps;
    if (!is_resolved(run, t, last) && !last) {
      run->n_rows -= PIECE;
      length *= 0.5;
      run->n_added++;
      continue;
    }
    take_probe(run, from, length);
    run->piece = length;
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
  if (run->recording->kind == RECORD_TIMES) {
    record_times(run);
    return;
  }
  if (refine > 1)
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
