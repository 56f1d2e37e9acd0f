/* Slices: how are many runs of one model that differ in numbers begun, judged and measured at once?

   The caller gives arrays with a row a run and gets such arrays back; it looks at single runs only where one did not end
   as it should. */

#include "parts.h"

/* Energy below this part of the potential one is rounding; power below this part of the energy that moved in a run's time
   measures nothing. What all torques do over this times the distance that the absolute tolerance does not see may appear
   or vanish: the share of the energy that may, 1e-3, goes into it, and steps add up. */
#define STILL_ENERGY 1e-9
#define STILL_POWER 1e-3
#define UNSEEN_DISTANCE 1e4

/* Of Run.extremes, or a copy of it. */
typedef struct {
  const double *values;
  int64_t n;
} Seen;

static double seen(Seen all, int64_t row, int64_t what) { return all.values[what * all.n + row]; }

/* The larger of two numbers; a first one that is none stays, so that no check holds by it. */
static double more(double a, double b) { return b > a ? b : a; }

/* How much energy changed place: kinetic, potential since the start, and what forces pass on within one step. A massless
   part passes on all that it gets: its own energy says nothing of how much that is. At rest only the last digits of the
   potential energy move. */
static double energy_moved(Seen all, int64_t row, double atol, double longest) {
  int64_t kinetic = row + 1, potential = row + 2, passing = row + 3, effort = row + 4;
  double high = seen(all, potential, LARGEST), low = seen(all, potential, SMALLEST), first = seen(all, potential, FIRST);
  double lifted = more(fabs(high - first), fabs(low - first));
  double moved = fabs(seen(all, kinetic, LARGEST)) + lifted + fabs(seen(all, passing, LARGEST)) * longest;
  double still = STILL_ENERGY * more(fabs(high), fabs(low));
  return more(more(moved, still), UNSEEN_DISTANCE * atol * seen(all, effort, LARGEST));
}

/* Largest change of E - W as part of the energy that moved. */
static void check_balance(Seen all, int64_t row, double moved, double *found) {
  double first = seen(all, row, FIRST), rise = seen(all, row, LARGEST) - first, fall = first - seen(all, row, SMALLEST);
  double change = rise >= fall ? rise : fall;
  found[0] = moved > 0.0 ? change / moved : change;
  found[2] = seen(all, row, rise >= fall ? LARGEST_AT : SMALLEST_AT);
}

/* How far an invariant is violated: not at all below 0; of some as part of a size, which is at least `least`. */
static void check_invariant(Seen all, const Check *check, double least_size, double *found) {
  double value = seen(all, check->row, LARGEST), size = more(seen(all, check->size, LARGEST), least_size);
  if (value <= 0.0) value = 0.0;
  found[0] = check->relative && size > 0.0 ? value / size : value;
}

void check_watched(const Check *checks, int64_t n_checks, const double *extremes, int64_t n_watched, double duration,
                   double atol, double longest, double *found) {
  Seen all = {extremes, n_watched};
  double moved = 0.0, creep = 0.0;
  for (int64_t k = 0; k < n_checks; k++)
    if (checks[k].form == CHECK_BALANCE) {
      moved = energy_moved(all, checks[k].row, atol, longest);
      /* What all torques do at a speed of the tolerance. */
      creep = atol * seen(all, checks[k].row + 4, LARGEST);
    }
  /* Neither a force nor a speed of the size of the tolerance is seen. */
  double still = duration > 0.0 ? more(STILL_POWER * moved / duration, atol * atol) : 0.0;
  for (int64_t k = 0; k < n_checks; k++, found += 3) {
    const Check *check = &checks[k];
    found[1] = check->limit;
    found[2] = seen(all, check->row, LARGEST_AT);
    if (check->form == CHECK_BALANCE) {
      check_balance(all, check->row, moved, found);
    } else if (check->form == CHECK_CLOSED) {
      /* A limit for its size; twice the residual of the start, where that is given so. */
      found[0] = seen(all, check->row, LARGEST);
      found[1] = more(check->limit * seen(all, check->size, LARGEST), 2.0 * seen(all, check->row, FIRST));
    } else {
      check_invariant(all, check, check->form == CHECK_PASSIVE ? more(still, creep / check->limit) : 0.0, found);
    }
  }
}

/* The row of a signal that is largest by its magnitude (sign 0), as it is (1) or with the other sign (-1); the first that is
   not a number comes before all. */
static int64_t find_largest(int64_t n, const double *y, int64_t next, int sign) {
  int64_t best = 0;
  for (int64_t k = 0; k < n; k++) {
    double value = sign ? sign * y[k * next] : fabs(y[k * next]), most = sign ? sign * y[best * next] : fabs(y[best * next]);
    if (value != value) return k;
    if (value > most) best = k;
  }
  return best;
}

/* integral y dt / T by the trapezoidal rule, or sqrt(integral y^2 dt / T), exact for values joined by straight lines; jumps
   are two rows at one time. */
static double average(int64_t n, const double *t, const double *y, int64_t next, int square) {
  double total = 0.0, span = t[(n - 1) * next] - t[0], last = y[(n - 1) * next];
  for (int64_t k = 0; k + 1 < n; k++) {
    double left = y[k * next], right = y[(k + 1) * next], length = t[(k + 1) * next] - t[k * next];
    total += length * (square ? left * (left + right) + right * right : left + right);
  }
  if (square) return span > 0.0 ? sqrt(total / (3.0 * span)) : fabs(last);
  return span > 0.0 ? total / (2.0 * span) : last;
}

double take_measure(int64_t kind, int64_t n, const double *t, const double *y, int64_t next) {
  switch (kind) {
    case MEASURE_PEAK: return fabs(y[next * find_largest(n, y, next, 0)]);
    case MEASURE_RMS: return average(n, t, y, next, 1);
    case MEASURE_MEAN: return average(n, t, y, next, 0);
    case MEASURE_FINAL: return y[(n - 1) * next];
    case MEASURE_MAX: return y[next * find_largest(n, y, next, 1)];
    case MEASURE_MIN: return y[next * find_largest(n, y, next, -1)];
    default: return t[next * find_largest(n, y, next, 0)];
  }
}

void slice_begin(const Slice *slice, Run **runs, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    Run *run = runs[k];
    const Model *model = run->model;
    double t0 = run->t0, t_last = run->t_last;
    run_reset(run);
    memcpy(run->x, slice->x, (size_t)model->n_x * sizeof(double));
    memcpy(run->m, slice->m, (size_t)model->n_m * sizeof(double));
    memcpy(run->delay, slice->delay, (size_t)model->n_d * sizeof(double));
    memcpy(run->before, slice->before, (size_t)model->n_d * sizeof(double));
    memcpy(run->breaks, slice->breaks, (size_t)slice->n_breaks * sizeof(double));
    run->n_breaks = slice->n_breaks;
    run_begin(run, t0, t_last);
  }
}

/* Whether all that a run has recorded are finite numbers. */
static int is_finite(const Run *run) {
  int64_t width = row_width(run);
  for (int64_t k = 0; k < run->n_rows; k++) {
    const double *row = record_row(run, k);
    for (int64_t j = 1; j + 1 < width; j++)
      if (!isfinite(row[j])) return 0;
  }
  return 1;
}

/* Whether its outputs can be read between rows. */
static int is_readable(const Slice *slice, const Run *run) {
  int64_t width = row_width(run), n_y = run->model->n_y;
  if (!slice->reading) return 1;
  Record record = *slice->reading;
  record.n_rows = run->n_rows;
  record.t_next = record.y_next = record.knot_next = width;
  record.t = run->rows;
  record.y = run->rows + 1;
  record.knot = run->rows + width - 1;
  record.n_probes = run->n_probes;
  record.probes = run->probes;
  if (!find_errors_between(&record, slice->share, slice->errors)) return 0;
  for (int64_t j = 0; j < n_y; j++)
    if (!(slice->errors[j] <= slice->most_between)) return 0;
  return 1;
}

/* Whether a run has reached its end and keeps all that it must. */
static int is_sound(const Slice *slice, const Run *run) {
  if (run->status != FINISHED || run->n_rows == 0 || run->n_missed > 0 || run->steps_too_long > slice->most_too_long) return 0;
  if ((slice->events_count && run->n_log > 0) || !is_finite(run)) return 0;
  check_watched(slice->checks, slice->n_checks, run->extremes, run->model->n_watched, run->t - run->t0,
                run->solver->atol, run->largest_step, slice->found);
  for (int64_t k = 0; k < slice->n_checks; k++)
    if (!(slice->found[3 * k] <= slice->found[3 * k + 1])) return 0;
  return is_readable(slice, run);
}

void slice_judge(const Slice *slice, Run **runs, int64_t n, int64_t *sound, double *measures) {
  for (int64_t k = 0; k < n; k++) {
    const Run *run = runs[k];
    sound[k] = is_sound(slice, run);
    for (int64_t j = 0; sound[k] && j < slice->n_measures; j++)
      measures[k * slice->n_measures + j] =
          take_measure(slice->kinds[j], run->n_rows, run->rows, run->rows + 1 + slice->columns[j], row_width(run));
  }
}
