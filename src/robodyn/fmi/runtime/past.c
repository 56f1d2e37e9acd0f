/* What were the delayed signals some time ago, and when do their jumps arrive?

   The signals of every step are kept as polynomials of degree 4 through five points of the step, as in the simulation.
   At a time where a signal jumped, the side counts: a step reads the right limit at its start and the left limit at its
   end. Instants at which something jumped are kept with a level, which counts how often the jump has been integrated. */

#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_WIDTH = 2 + 5 * N_D, JUMP_WIDTH = 2, FIRST_ROOM = 64 };

static double *kept_step(const Run *run, int64_t index) { return run->history.rows + STEP_WIDTH * index; }

/* The time before the start, step -1, ends at t0. */
static double end_of(const Run *run, int64_t index) { return index < 0 ? run->t0 : kept_step(run, index)[1]; }

static double read_signal(const Run *run, int j, int64_t index, double t) {
  if (index < 0) return run->before[j];
  const double *step = kept_step(run, index), *terms = step + 2 + 5 * j;
  double theta = (t - step[0]) / (step[1] - step[0]), value = terms[4];
  for (int power = 3; power >= 0; power--) value = value * theta + terms[power];
  return value;
}

/* Right limits at the present time; moves the cursors there. */
void read_right(Run *run) {
  for (int j = 0; j < N_D; j++) {
    double t = run->t - run->delay[j];
    int64_t *index = &run->cursor[j];
    while (*index + 1 < run->history.count && end_of(run, *index) <= t + run->resolution) ++*index;
    run->d[j] = read_signal(run, j, *index, t);
  }
}

/* Delayed signals at a time within the present step, its end seen from the left. */
void read_inside(Run *run, double time) {
  for (int j = 0; j < N_D; j++) {
    double t = time - run->delay[j];
    int64_t index = run->cursor[j];
    while (index + 1 < run->history.count && end_of(run, index) < t - run->resolution) index++;
    run->d[j] = read_signal(run, j, index, t);
  }
}

/* A new last row. Rows that no cursor needs any more make room for it, else more memory is taken; NULL when there is
   none, which ends the run. */
static double *append(Run *run, Rows *rows, int width, int64_t *cursors) {
  if (rows->count == rows->capacity) {
    int64_t unused = rows->count;
    for (int j = 0; j < N_D; j++) unused = cursors[j] < unused ? cursors[j] : unused;
    if (2 * unused >= rows->count && unused > 0) {
      rows->count -= unused;
      memmove(rows->rows, rows->rows + width * unused, (size_t)(rows->count * width) * sizeof(double));
      for (int j = 0; j < N_D; j++) cursors[j] -= unused;
    } else {
      int64_t capacity = rows->capacity > 0 ? 2 * rows->capacity : FIRST_ROOM;
      double *larger = realloc(rows->rows, (size_t)(capacity * width) * sizeof(double));
      if (larger == NULL) {
        run->status = NO_MEMORY;
        return NULL;
      }
      rows->rows = larger;
      rows->capacity = capacity;
    }
  }
  return rows->rows + width * rows->count++;
}

/* Append the present step's signals, by their values at five points of it; a step too short to matter is left out. */
void keep_step(Run *run) {
  double nodes[5][ROOM(N_D)];
  if (N_D == 0 || run->t_new - run->t <= run->resolution) return;
  need_dense(run);
  for (int k = 0; k < 5; k++) {
    double t = set_point(run, 0.25 * k);
    read_inside(run, t);
    ask(run, KERNEL_DELAYED, t, run->x[POINT], nodes[k]);
  }
  double *step = append(run, &run->history, STEP_WIDTH, run->cursor);
  if (step == NULL) return;
  step[0] = run->t;
  step[1] = run->t_new;
  for (int j = 0; j < N_D; j++)
    for (int power = 0; power < 5; power++) {
      double value = 0.0;
      for (int k = 0; k < 5; k++) value += TO_COEFFICIENTS[5 * power + k] * nodes[k][j];
      step[2 + 5 * j + power] = value;
    }
}

/* Earliest time at which a delayed signal jumps or has a kink. */
double next_jump(const Run *run) {
  double t = INFINITY;
  for (int j = 0; j < N_D; j++)
    if (run->next[j] < run->jumps.count) t = fmin(t, run->jumps.rows[JUMP_WIDTH * run->next[j]] + run->delay[j]);
  return t;
}

/* Pass the jumps that have arrived by now; the lowest level of these and the one given. */
int pass_jumps(Run *run, int level) {
  for (int j = 0; j < N_D; j++)
    for (; run->next[j] < run->jumps.count; run->next[j]++) {
      const double *jump = run->jumps.rows + JUMP_WIDTH * run->next[j];
      if (!(jump[0] + run->delay[j] <= run->t)) break;
      level = jump[1] < level ? (int)jump[1] : level;
    }
  return level;
}

/* What happened now will arrive after each delay; jumps integrated often enough are smooth. */
void push_jump(Run *run, int level) {
  if (N_D == 0 || level > MOST_LEVELS) return;
  if (run->jumps.count > 0) {
    double *last = run->jumps.rows + JUMP_WIDTH * (run->jumps.count - 1);
    if (last[0] == run->t) {
      last[1] = fmin(last[1], level);
      return;
    }
  }
  double *jump = append(run, &run->jumps, JUMP_WIDTH, run->next);
  if (jump == NULL) return;
  jump[0] = run->t;
  jump[1] = level;
}

/* Delays, and the signals before the start: as given, else their own start values. One may depend on others: each round
   settles at least one more. */
void begin_past(Run *run) {
  double given[ROOM(2 * N_D)], now[ROOM(N_D)];
  if (N_D == 0) return;
  model_past(run->p, given);
  run->history.count = run->jumps.count = 0;
  run->shortest_delay = INFINITY;
  for (int j = 0; j < N_D; j++) {
    run->delay[j] = given[j];
    run->shortest_delay = fmin(run->shortest_delay, given[j]);
    run->d[j] = isnan(given[N_D + j]) ? 0.0 : given[N_D + j];
    run->cursor[j] = -1;
    run->next[j] = 0;
  }
  for (int round = 0; round < N_D; round++) {
    ask(run, KERNEL_DELAYED, run->t, run->x[START], now);
    for (int j = 0; j < N_D; j++)
      if (isnan(given[N_D + j])) run->d[j] = now[j];
  }
  memcpy(run->before, run->d, sizeof run->before);
}

static size_t bytes_of(const Rows *rows, int width) { return (size_t)(rows->count * width) * sizeof(double); }

/* How many bytes a run has outside itself. */
size_t past_size(const Run *run) { return bytes_of(&run->history, STEP_WIDTH) + bytes_of(&run->jumps, JUMP_WIDTH); }

void past_write(const Run *run, char *bytes) {
  size_t n = bytes_of(&run->history, STEP_WIDTH);
  if (n > 0) memcpy(bytes, run->history.rows, n);
  if (run->jumps.count > 0) memcpy(bytes + n, run->jumps.rows, bytes_of(&run->jumps, JUMP_WIDTH));
}

static int refill(Rows *rows, int width, int64_t count, const char *bytes) {
  if (count > rows->capacity) {
    double *larger = realloc(rows->rows, (size_t)(count * width) * sizeof(double));
    if (larger == NULL) return 0;
    rows->rows = larger;
    rows->capacity = count;
  }
  rows->count = count;
  if (count > 0) memcpy(rows->rows, bytes, bytes_of(rows, width));
  return 1;
}

/* Take another run over, with what `past_write` wrote of it; 0 when there is no memory for that. */
int run_restore(Run *run, const Run *other, const char *bytes) {
  Rows history = run->history, jumps = run->jumps;
  int done = refill(&history, STEP_WIDTH, other->history.count, bytes) &&
             refill(&jumps, JUMP_WIDTH, other->jumps.count, bytes + bytes_of(&other->history, STEP_WIDTH));
  if (done) *run = *other;
  run->history = history;
  run->jumps = jumps;
  if (!done) run->status = NO_MEMORY;
  return done;
}

void run_free(Run *run) {
  free(run->history.rows);
  free(run->jumps.rows);
}
