/* Recording: which rows [t, y, knot] are kept?

   Between two rows, an output is read from the polynomial through the rows about it, which never reaches across a knot.
   Rows are knots where something happens (an event, a tick that changes memory, a break), where the distance of rows
   changes, and at the ends of the pieces that steps are recorded by. */

#include "parts.h"

/* Probes lie at this part of a piece, where no row is; they begin in each second piece and get rarer. */
#define PROBE_PLACE 0.31
enum { PROBE_EVERY = 2, PROBE_PART = 8 };
#define PI 3.14159265358979323846
/* Chebyshev-Lobatto points of a piece. */
static const double POINTS[PIECE + 1] = {0.0, 0.14644660940672624, 0.5, 0.85355339059327376, 1.0};

double *record_row(const Run *run, int64_t index) { return run->rows + row_width(run) * index; }

static void make_knot(Run *run, int64_t index) { record_row(run, index)[row_width(run) - 1] = 1.0; }

/* Keep the extremes of one quantity that is watched; a largest that is not a number stays so. Nothing has been seen of it
   before where there is no time of its smallest. */
static void widen(Run *run, double t, int64_t k, double value) {
  int64_t n = run->model->n_watched;
  double *kept = run->extremes + k;
  if (kept[n * SMALLEST_AT] != kept[n * SMALLEST_AT]) {
    kept[n * FIRST] = kept[n * SMALLEST] = kept[n * LARGEST] = value;
    kept[n * SMALLEST_AT] = kept[n * LARGEST_AT] = t;
  }
  if (value > 0.0 && kept[n * POSITIVE_AT] != kept[n * POSITIVE_AT]) kept[n * POSITIVE_AT] = t;
  if (value < kept[n * SMALLEST]) {
    kept[n * SMALLEST] = value;
    kept[n * SMALLEST_AT] = t;
  }
  if (value > kept[n * LARGEST] || value != value) {
    kept[n * LARGEST] = value;
    kept[n * LARGEST_AT] = t;
  }
}

/* Keep the extremes of what is watched, from one quantity on. Mostly one is between its own: then it is not positive for
   the first time either. */
void watch(Run *run, double t, const double *values, int64_t first) {
  int64_t n = run->model->n_watched, count = n - first;
  const double *smallest = run->extremes + n * SMALLEST + first, *most = run->extremes + n * LARGEST + first;
  double outside[ABREAST] = {0.0}, total = 0.0;
  int64_t i = 0;
  /* Several at a time; only where any is outside is it looked for. */
  for (; i + ABREAST <= count; i += ABREAST)
    for (int64_t k = 0; k < ABREAST; k++)
      outside[k] += (values[i + k] >= smallest[i + k]) & (values[i + k] <= most[i + k]) ? 0.0 : 1.0;
  for (int64_t k = 0; k < ABREAST; k++) total += outside[k];
  for (int64_t k = total > 0.0 ? 0 : i; k < count; k++)
    if (!(values[k] >= smallest[k] && values[k] <= most[k])) widen(run, t, first + k, values[k]);
}

/* Write a row of the outputs at a time and a row of states, under the time `label`; delayed signals as last read. What is
   only watched is written behind it, where its knot and the next row will stand. */
static void write_row(Run *run, double *entry, double label, double t, int64_t source, int knot) {
  const Model *model = run->model;
  entry[0] = label;
  if (model->n_y + model->n_watched > 0) call_kernel(run, model->outputs, t, state(run, source), entry + 1);
  /* Where a guard fires, a load may have jumped; only what follows from that must be as promised. */
  if (label != run->event_at || source == START) watch(run, t, entry + 1 + model->n_y, 0);
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

/* What the error of the step makes of the outputs y at the point, (n_y + n_watched); nothing where it makes no number of them. */
void find_solver_errors(Run *run, double t, const double *y, double *errors) {
  const Model *model = run->model;
  const double *error = state(run, ERROR);
  double *x = state(run, POINT);
  if (!run->method->adaptive) {
    for (int64_t j = 0; j < model->n_y; j++) errors[j] = 0.0;
    return;
  }
  /* y(x + error) - y(x), one evaluation for all outputs. */
  for (int64_t i = 0; i < model->n_x; i++) x[i] += error[i];
  call_kernel(run, model->outputs, t, x, errors);
  for (int64_t j = 0; j < model->n_y; j++) {
    double change = fabs(errors[j] - y[j]);
    errors[j] = isfinite(change) ? change : 0.0;
  }
}

/* Now and then, what the outputs are between rows; what is watched is overwritten by what follows. That this may tell the
   slope at the end of the step must not be used: a run would depend on what is recorded of it. */
void take_probe(Run *run, double from, double length) {
  if (run->n_pieces++ < run->next_probe || run->model->n_y == 0) return;
  run->next_probe += at_least(PROBE_EVERY, run->next_probe / PROBE_PART);
  double *entry = append_row(run, &run->probes, &run->n_probes, &run->probe_capacity, 1 + 2 * run->model->n_y, NULL);
  if (entry == NULL) return;
  int64_t end_known = run->end_known, evaluations = run->evaluations;
  /* Looked at, not used: neither the slope found on the way nor its evaluation counts. */
  double fraction = from + PROBE_PLACE * length, t = place_point(run, fraction);
  entry[0] = time_at(run, fraction);
  call_kernel(run, run->model->outputs, t, state(run, POINT), entry + 1);
  find_solver_errors(run, t, entry + 1, entry + 1 + run->model->n_y);
  run->end_known = end_known;
  run->evaluations = evaluations;
}

/* Whether any number is positive, or is none. */
static int any_positive(const double *values, int64_t n) {
  double sums[ABREAST] = {0.0}, total = 0.0;
  int64_t i = 0;
  /* What is not positive adds nothing; of the others, one that is no number included, no sum is zero. */
  for (; i + ABREAST <= n; i += ABREAST)
    for (int64_t k = 0; k < ABREAST; k++) sums[k] += values[i + k] <= 0.0 ? 0.0 : values[i + k];
  for (; i < n; i++) total += values[i] <= 0.0 ? 0.0 : values[i];
  for (int64_t k = 0; k < ABREAST; k++) total += sums[k];
  return !(total == 0.0);
}

/* Keep the last of what is watched where any of it is positive. */
void watch_within(Run *run, double t, const double *values) {
  const Model *model = run->model;
  if (any_positive(values, model->n_within)) watch(run, t, values, model->n_watched - model->n_within);
}

/* Look at the last of what is watched within the step just made and at its end, where no rows are: only what is positive
   there counts. See take_probe. */
static void watch_step(Run *run) {
  const Model *model = run->model;
  int64_t end_known = run->end_known, evaluations = run->evaluations;
  double *values = record_row(run, run->n_rows);
  for (int64_t k = run->method->adaptive ? 1 : PIECE; k <= PIECE; k++) {
    int64_t at_end = k == PIECE && model->n_limited == 0 && model->n_d == 0;
    double t = at_end ? least(run->t_new, run->t_left) : place_point(run, POINTS[k]);
    if (k == PIECE && run->t_new == run->event_at) continue;
    call_kernel(run, model->within, t, state(run, at_end ? END : POINT), values);
    watch_within(run, t, values);
  }
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
    if (!make_room_for_time(run)) return;
    add_row(run, t, place_point(run, fraction), POINT);
    from = fraction;
  }
  take_probe(run, from, 1.0 - from);
}

/* Rows of a piece of the step at the n Chebyshev-Lobatto points after its start, where a polynomial through them is good
   throughout the piece; nothing that repeats itself hides between points so unevenly placed. The time of the last. */
double record_piece(Run *run, double from, double length, int64_t n) {
  double t = run->t;
  for (int64_t k = 1; k <= n; k++) {
    double place = k == n ? 1.0 : n == PIECE ? POINTS[k] : 0.5 - 0.5 * cos(PI * (double)k / (double)n);
    double fraction = from + length * place;
    t = place_point(run, fraction);
    write_row(run, record_row(run, run->n_rows++), time_at(run, fraction), t, POINT, k == n);
  }
  return t;
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
    if (run->recording->watch_steps && run->model->n_within > 0) watch_step(run);
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
  /* The right side is kept only where it differs. */
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
      if (!(t <= run->t + run->resolution) || !make_room_for_time(run)) break;
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
