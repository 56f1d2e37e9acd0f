/* Pieces of steps: how many rows does a step need, so that its outputs can be read between them?

   Outputs may change faster than states: a crank turns at constant speed in steps of any length while its tip goes round
   and round. Where the engine chooses the rows of a step, the step is therefore cut in halves until the polynomials of
   all pieces give the outputs about as well as the method gives the states. */

#include "parts.h"

/* Error of an output between rows: at most ERROR_PART rtol (its largest magnitude + UNIT_PART of the largest in its unit),
   by an estimate that is some ten times too large. The second part is for outputs that are nothing but errors of the
   solution, such as residuals of constraints. None needs to be better than SOLVER_PART times what the error of the step
   makes of it; that is remembered for some steps. */
#define ERROR_PART 25.0
#define UNIT_PART 0.02
#define SOLVER_PART 4.0
#define ERROR_MEMORY 0.75
/* What is left in the shortest piece is rounding, or a jump: no more than this times as much is tried to be resolved. */
#define NOISE_PART 4.0
/* Shortest piece as part of its step and of the resolution of time; pieces that may be added beyond as many as there are
   steps; steps after which longer pieces are tried. */
#define SHORTEST_PIECE 0x1p-14
#define SHORTEST_TIME 1000.0
enum { MOST_ADDED = 10000, TRY_LONGER = 4 };
#define SQRT_HALF 0.70710678118654752

/* Whether the error of an output's polynomial through five Chebyshev-Lobatto points, f and what stands `width` behind it
   and so on, exceeds what is allowed: above 0 where it does. It is estimated from how the Chebyshev coefficients fall off:

       low = |a_1| + |a_2|,  high = |a_3| + |a_4|,  error = high min(1, 2 high / low) */
static inline double excess(const double *f, int64_t width, double allowed) {
  double f0 = f[0], f1 = f[width], f2 = f[2 * width], f3 = f[3 * width], f4 = f[4 * width];
  /* a_1 to a_4 of the cosine transform through the five points. */
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
  for (int64_t j = 0; j < n; j++) size[j] = largest(fabs(end[j]), size[j]);
  for (int64_t j = 0; j < n; j++)
    over[j] = excess(rows + j, width, part * size[j] + floor[j] + SOLVER_PART * errors[j]);
  int resolved = 1;
  for (int64_t j = 0; j < n; j++)
    if (over[j] > 0.0 && !is_excused(run, rows, j, t, last)) resolved = 0;
  return resolved;
}

/* The step in as many pieces as it takes. They begin as short as the last of the step before, now and then twice as long;
   within the step, one is as long as the one before it, or twice that. */
void record_pieces(Run *run) {
  double from = 0.0, length = run->piece > 0.0 ? run->piece : 1.0;
  if (run->steps % TRY_LONGER == 0) length = least(2.0 * length, 1.0);
  run->errors_known = 0;
  for (int64_t j = 0; j < run->model->n_y; j++) run->output_errors[j] *= ERROR_MEMORY;
  while (from < 1.0 && make_room(run)) {
    /* A piece is written down, judged, and taken back in two halves where its polynomial is not good enough. */
    double t = record_piece(run, from, length, PIECE);
    int shortest = length <= SHORTEST_PIECE || length * (run->t_new - run->t) <= SHORTEST_TIME * run->resolution;
    int last = shortest || run->n_added >= MOST_ADDED + run->steps;
    if (!is_resolved(run, t, last) && !last) {
      run->n_rows -= PIECE;
      length *= 0.5;
      run->n_added++;
      continue;
    }
    take_probe(run, from, length);
    run->piece = length;
    from += length;
    /* Pieces are those of a binary tree: twice as long only where a longer one begins. */
    if (from < 1.0 && fmod(from, 2.0 * length) == 0.0) length *= 2.0;
  }
}
