/* Memory of a run: where do its arrays stand, how do they grow, how is its state saved? */

#if defined __linux__
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif

#include "parts.h"

#include <stdlib.h>

enum { FIRST_ROWS = 256, FIRST_GROWTH = 64, LARGE = 1 << 22 };

/* A long record is written once from its beginning to its end: with large pages the system is asked for memory a few
   hundred times less often. */
static void advise(double *rows, int64_t count) {
#if defined __linux__ && defined MADV_HUGEPAGE
  const uintptr_t page = 4096;
  uintptr_t begin = ((uintptr_t)rows + page - 1) / page * page, end = (uintptr_t)(rows + count);
  if (end > begin + LARGE) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
  (void)rows, (void)count;
#endif
}

/* Numbers of the kernels of a step that the model gives: see Model. */
static int64_t count_inputs(const Model *model) {
  return 2 * model->n_x + at_least(model->n_kept + 3 + model->n_unknowns, model->n_d + 2);
}

/* Numbers of the largest complementarity problem, with the room to solve it. */
static int64_t count_problem(const Model *model) {
  int64_t most = 0;
  for (int64_t j = 0; j < model->n_problems; j++) {
    int64_t k = model->problem_rows[j];
    most = at_least(contact_step_room(k, model->problem_joints[j], model->n_x), most);
  }
  return most;
}

/* Give each array its place in the block, or only count where there is no block yet; whole numbers are as long as
   others. */
static int64_t place_arrays(Run *run, double *block) {
  const Model *model = run->model;
  int64_t n = model->n_x, n_all = model->n_guards + 2 * model->n_limited;
  const Method *method = run->first_method, *stiff = method->stiff ? method->stiff : method;
  int64_t n_matrix = method->family == IMPLICIT_STEP ? model->n_unknowns : stiff->gamma > 0.0 ? n : 0;
  int64_t used = 0;
  /* Each begins a line of the cache. */
#define PLACE(array, size) (run->array = (void *)(block ? block + used : NULL), used += ((size) + LINE - 1) / LINE * LINE)
  /* One number more than its rows: what a traced step says of itself. At least two stand behind the first row. */
  PLACE(x, (STAGE + at_least(method->stages, stiff->stages) + 1) * n + 1);
  PLACE(m, model->n_m);
  PLACE(d, 2 * model->n_d);
  PLACE(changed, n + model->n_m);
  PLACE(columns, n_matrix * n_matrix);
  PLACE(factors, n_matrix * n_matrix);
  PLACE(inputs, count_inputs(model));
  PLACE(work, model->march ? model->march->n_work + 1 : 0);
  PLACE(work_outputs, model->march ? model->n_y + model->n_watched : 0);
  PLACE(propagator, model->march ? model->march->pair_width / 2 : 0);
  PLACE(finish, 2 * n + model->n_kept);
  PLACE(correction, model->n_unknowns);
  PLACE(guard_values, N_GUARD_ROWS * n_all);
  PLACE(seen_at, n_all > 0 ? MOST_SEEN : 0);
  PLACE(both, model->rates_and_guards ? n + model->n_guards : 0);
  PLACE(problem, count_problem(model));
  int64_t n_bounds = model->enclosures ? n_all + model->n_conditions : 0;
  PLACE(condition_values, 3 * model->n_conditions);
  PLACE(box, n_bounds > 0 ? 4 * (1 + n + model->n_d + model->n_m) : 0);
  PLACE(safe, 2 * model->n_entries);
  PLACE(bounds_found, 2 * n_bounds);
  PLACE(open, n_bounds);
  PLACE(level, n_bounds);
  PLACE(rest, n_bounds);
  PLACE(tired, n_bounds);
  PLACE(bounds, 2 * model->n_limited);
  PLACE(extremes, EXTREMES * model->n_watched);
  PLACE(delay, model->n_d);
  PLACE(before, model->n_d);
  PLACE(nodes, 5 * model->n_d);
  PLACE(breaks, model->n_breaks + (model->n_drives > 0 ? MOST_BENDS : 0));
  PLACE(largest, model->n_y);
  PLACE(floor, model->n_y);
  PLACE(output_errors, model->n_y + model->n_watched);
  PLACE(excess, model->n_y);
  PLACE(fired_at, STORM_EVENTS * model->n_guards);
  PLACE(n_fired, model->n_guards);
  PLACE(sign, n_all);
  PLACE(from_rate, n_all);
  PLACE(fired, n_all);
  PLACE(pivots, n_matrix);
  PLACE(task_due, model->n_tasks);
  PLACE(cursor, model->n_d);
  PLACE(next_jump, model->n_d);
  PLACE(arrived, model->n_d);
#undef PLACE
  return used;
}

/* Whether at a tick nothing can happen but its tasks, all of them compiled. */
static int is_plain(const Run *run) {
  const Model *model = run->model;
  if (run->n_active > 0 || model->n_d > 0 || run->recording->kind == RECORD_STEPS) return 0;
  for (int64_t k = 0; k < model->n_tasks; k++)
    if (!model->task[k]) return 0;
  return 1;
}

Run *run_new(const Model *model, const Method *method, const Solver *solver, const Recording *recording) {
  Run *run = calloc(1, sizeof *run);
  if (run == NULL) return NULL;
  run->model = model;
  run->first_method = run->method = method;
  run->solver = solver;
  run->recording = recording;
  run->n_active = model->n_guards + (method->adaptive ? 2 * model->n_limited : 0);
  run->plain = is_plain(run);
  run->on_line = run->n_active == 0 && !method->adaptive;
  for (int64_t j = 0; j < model->n_conditions; j++)
    run->n_curved += !(model->condition_kind[model->n_guards + 2 * model->n_limited + j] & STRAIGHT);
  /* One block holds all arrays of fixed size: counted first, then placed. A state saved is a copy of it. */
  run->n_block = place_arrays(run, NULL);
  run->memory = calloc((size_t)(run->n_block + LINE), sizeof(double));
  run->block = line_start(run->memory);
  if (recording->kind != RECORD_NOTHING) {
    /* Where rows are taken away, there is room for some of them; a march has tables for all. */
    int64_t all = recording->most_rows > 0 || model->march ? recording->n_times + 2 : 0;
    run->row_capacity = at_least(all, FIRST_ROWS);
    run->rows = malloc((size_t)(run->row_capacity * row_width(run) + model->n_watched) * sizeof(double));
  }
  if (run->memory == NULL || (run->rows == NULL && run->row_capacity > 0)) {
    run_free(run);
    return NULL;
  }
  advise(run->rows, run->row_capacity * row_width(run));
  place_arrays(run, run->block);
  return run;
}

void run_reset(Run *run) {
  memset(run, 0, N_SCALARS);
  memset(run->block, 0, (size_t)run->n_block * sizeof(double));
  run->method = run->first_method;
  run->p_jacobian = NULL;
}

void run_free(Run *run) {
  if (run == NULL) return;
  free(run->memory);
  free(run->rows);
  free(run->probes);
  free(run->log);
  free(run->history);
  free(run->jumps);
  free(run->pace);
  free(run->plan);
  free(run);
}

/* Room for at least so many rows; 0 where there is none, which ends the run. */
static int reserve(Run *run, double **rows, int64_t *capacity, int64_t width, int64_t wanted) {
  if (wanted <= *capacity) return 1;
  int64_t enough = at_least(2 * *capacity, at_least(wanted, FIRST_GROWTH));
  double *larger = realloc(*rows, (size_t)(enough * width + run->model->n_watched) * sizeof(double));
  if (larger == NULL) {
    run->status = NO_MEMORY;
    return 0;
  }
  advise(larger, enough * width);
  *rows = larger;
  *capacity = enough;
  return 1;
}

/* Whether the record has room for one more piece of a step and the instant after it. */
int make_room(Run *run) {
  int64_t refine = run->recording->refine, wanted = run->n_rows + (refine > 0 ? refine : PIECE) + 3;
  int64_t most = run->recording->most_rows;
  if (run->recording->kind != RECORD_STEPS || wanted <= run->row_capacity) return 1;
  if (most > 0 && 2 * run->row_capacity > most) {
    run->status = RECORD_FULL;
    return 0;
  }
  return reserve(run, &run->rows, &run->row_capacity, row_width(run), wanted);
}

/* The same for one more of given times, where there is not room for all of them. */
int make_room_for_time(Run *run) {
  return reserve(run, &run->rows, &run->row_capacity, row_width(run), run->n_rows + 2);
}

void run_drop_rows(Run *run, int64_t kept) {
  if (kept >= run->n_rows) return;
  memmove(run->rows, record_row(run, run->n_rows - kept), (size_t)(kept * row_width(run)) * sizeof(double));
  run->n_rows = kept;
}

/* A new last row; null where there is no memory for it, which ends the run. Where all delayed signals have readers, rows
   that none of them needs any more make room first. */
double *append_row(Run *run, double **rows, int64_t *count, int64_t *capacity, int64_t width, int64_t *readers) {
  /* History: what no delayed signal will read again is thrown away before the room is doubled. */
  if (*count == *capacity && readers != NULL) {
    int64_t unused = *count;
    for (int64_t j = 0; j < run->model->n_d; j++) unused = readers[j] < unused ? readers[j] : unused;
    if (unused > 0 && 2 * unused >= *count) {
      *count -= unused;
      memmove(*rows, *rows + width * unused, (size_t)(*count * width) * sizeof(double));
      for (int64_t j = 0; j < run->model->n_d; j++) readers[j] -= unused;
    }
  }
  if (!reserve(run, rows, capacity, width, *count + 1)) return NULL;
  return *rows + width * (*count)++;
}

/* The state of a run is [scalars, block, history, jumps]. */
static size_t block_size(const Run *run) { return (size_t)run->n_block * sizeof(double); }

static size_t history_size(const Run *run, int64_t count) {
  return (size_t)(count * history_width(run)) * sizeof(double);
}

static size_t jump_size(const Run *run, int64_t count) { return (size_t)(count * (1 + run->model->n_d)) * sizeof(double); }

static size_t state_size(const Run *run, int64_t n_history, int64_t n_jumps) {
  return N_SCALARS + block_size(run) + history_size(run, n_history) + jump_size(run, n_jumps);
}

int64_t run_state_size(const Run *run) { return (int64_t)state_size(run, run->n_history, run->n_jumps); }

static char *write_part(char *place, const void *part, size_t size) {
  if (size > 0) memcpy(place, part, size);
  return place + size;
}

void run_save(const Run *run, void *state) {
  char *place = write_part(state, run, N_SCALARS);
  place = write_part(place, run->block, block_size(run));
  place = write_part(place, run->history, history_size(run, run->n_history));
  write_part(place, run->jumps, jump_size(run, run->n_jumps));
}

static const char *read_part(const char *place, void *part, size_t size) {
  if (size > 0) memcpy(part, place, size);
  return place + size;
}

int64_t run_restore(Run *run, const void *state, int64_t size) {
  Run saved;
  const char *place = state;
  if (size < (int64_t)N_SCALARS) return 0;
  place = read_part(place, &saved, N_SCALARS);
  if (saved.n_history < 0 || saved.n_jumps < 0) return 0;
  /* Rollback to a state that is not of this run, or cut short, is refused before anything changes. */
  if ((int64_t)state_size(run, saved.n_history, saved.n_jumps) != size) return 0;
  if (!reserve(run, &run->history, &run->history_capacity, history_width(run), saved.n_history)) return 0;
  if (!reserve(run, &run->jumps, &run->jump_capacity, 1 + run->model->n_d, saved.n_jumps)) return 0;
  memcpy(run, &saved, N_SCALARS);
  run->method = run->is_stiff ? run->first_method->stiff : run->first_method;
  place = read_part(place, run->block, block_size(run));
  place = read_part(place, run->history, history_size(run, run->n_history));
  read_part(place, run->jumps, jump_size(run, run->n_jumps));
  return 1;
}

void engine_sizes(int64_t *sizes) {
  sizes[0] = sizeof(Model);
  sizes[1] = sizeof(Method);
  sizes[2] = sizeof(Solver);
  sizes[3] = sizeof(Recording);
  sizes[4] = sizeof(Run);
  sizes[5] = sizeof(Check);
  sizes[6] = sizeof(Slice);
  sizes[7] = sizeof(Record);
  sizes[8] = sizeof(March);
}
