/* Recording: which rows [t, y] are kept? */

#include "parts.h"

static double *record_row(const Run *run, int64_t index) { return run->rows + (1 + run->model->n_y) * index; }

/* Keep the extremes of what is watched; a largest that is not a number stays so. */
static void watch(Run *run, double t, const double *values) {
  double *kept = run->extremes;
  for (int64_t k = 0; k < run->model->n_watched; k++, kept += EXTREMES) {
    double value = values[k];
    if (run->n_rows == 1) {
      kept[FIRST] = kept[SMALLEST] = kept[LARGEST] = value;
      kept[SMALLEST_AT] = kept[LARGEST_AT] = t;
    }
    if (value < kept[SMALLEST]) {
      kept[SMALLEST] = value;
      kept[SMALLEST_AT] = t;
    }
    if (value > kept[LARGEST] || value != value) {
      kept[LARGEST] = value;
      kept[LARGEST_AT] = t;
    }
  }
}

/* Append the outputs at a time and a row of states, under the time `label`; delayed signals as last read. What is only
   watched is written behind the row, where the next will stand. */
static void add_row(Run *run, double label, double t, int64_t source) {
  const Model *model = run->model;
  double *entry = record_row(run, run->n_rows++);
  entry[0] = label;
  if (model->n_y + model->n_watched > 0) call_kernel(run, model->outputs, t, state(run, source), entry + 1);
  watch(run, t, entry + 1 + model->n_y);
}

/* Append the outputs at a fraction of the step. */
static void add_point(Run *run, double label, double fraction) {
  double t = set_point(run, fraction);
  if (run->model->n_d > 0) read_inside(run, t);
  if (run->model->n_limited > 0) clip_row(run, t, POINT);
  add_row(run, label, t, POINT);
}

/* The instants asked for from the start of the step to before its end, which the next step has by its right limit. */
static void record_times(Run *run) {
  const Recording *recording = run->recording;
  double before = run->t_new - run->resolution, length = run->t_new - run->t;
  for (; run->next_time < recording->n_times && recording->times[run->next_time] < before; run->next_time++) {
    double t = recording->times[run->next_time], fraction = (t - run->t) / length;
    if (fraction * length <= run->resolution)
      fraction = 0.0;
    else
      need_dense(run);
    add_point(run, t, fraction);
  }
}

/* Rows of the step just made: equally spaced points and its end, or the instants asked for before its end. */
void record_step(Run *run) {
  int64_t refine = run->recording->refine;
  if (run->recording->kind == RECORD_TIMES) {
    record_times(run);
    return;
  }
  if (refine > 1) need_dense(run);
  for (int64_t k = 1; k < refine; k++) {
    double fraction = (double)k / (double)refine;
    add_point(run, run->t + fraction * (run->t_new - run->t), fraction);
  }
  add_point(run, run->t_new, 1.0);
}

/* The first row; then, where steps are kept, the right side of an instant where it differs from the left. */
void record_instant(Run *run) {
  int64_t kind = run->recording->kind, width = 1 + run->model->n_y;
  if (kind == RECORD_TIMES || kind == RECORD_NOTHING) return;
  if (run->n_rows > 0 && kind == RECORD_ENDS) return;
  add_row(run, run->t, run->t, START);
  if (run->n_rows == 1) return;
  const double *right = record_row(run, run->n_rows - 1), *left = right - width;
  for (int64_t i = 0; i < width; i++)
    if (right[i] != left[i]) return;
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
