/* Convoy: how do runs go on together that take the same steps?

   Where the model takes fixed steps itself, ticks have no consequences and rows are kept at given times, nothing of a
   run's course depends on its states: robots differ by their numbers alone. Once all runs wait for such a step and stand
   alike, the first one leads. It goes its course, and what it calls is computed for all; the others stay where they wait
   and only get what is written for them: states, memory, rows, what is watched. What happens more rarely ends the convoy
   before it is met: then the others get the leader's scalars and go on as if they had come there by themselves. */

#include "lanes.h"

#if HAS_LANES

/* Times that are this many times as far apart as they can be told are not the same. */
#define APART 4.0

/* Whether rows are asked for within the step under way, not at its start, or a probe of it. */
static int is_recorded_within(const Run *run) {
  const Recording *recording = run->recording;
  double before = run->t_new - run->resolution, length = run->t_new - run->t;
  if (recording->kind != RECORD_TIMES) return 0;
  for (int64_t k = run->next_time; k < recording->n_times && recording->times[k] < before; k++)
    if ((recording->times[k] - run->t) / length * length > run->resolution) return 1;
  return run->model->n_y > 0 && run->n_pieces >= run->next_probe;
}

/* Whether the step under way and what follows up to the next step depend on no state. */
static int is_even(const Run *run) {
  const Model *model = run->model;
  double apart = APART * run->resolution;
  if (run->method->family != FUSED_STEP || !run->plain || model->n_limited > 0 || model->projection) return 0;
  if (run->first_method->stiff || run->budget < 2 || run->steps + run->rejected + 2 > run->solver->max_steps) return 0;
  if (is_recorded_within(run)) return 0;
  if (run->t_new < run->t_stop) return run->t_stop - run->t_new > apart;
  /* A tick, and neither the end nor a break there or right behind it. */
  if (!run->stop_is_tick || run->stop_is_break || run->t_end - run->t_new <= apart || model->base_period <= apart) return 0;
  return run->next_break >= run->n_breaks || run->breaks[run->next_break] - run->t_new > apart;
}

static int are_equal(const void *a, const void *b, int64_t count) {
  return count == 0 || memcmp(a, b, (size_t)count * sizeof(double)) == 0;
}

/* Whether two runs will take the same course: the same settings, scalars, clocks, breaks and pace. */
int are_alike(const Run *a, const Run *b) {
  /* Runs have models and recordings of their own, with the same tables. */
  int same = a->method == b->method && a->solver == b->solver && memcmp(a->model, b->model, sizeof(Model)) == 0;
  same &= memcmp(a->recording, b->recording, sizeof(Recording)) == 0 && a->open_end == b->open_end;
  if (!same || memcmp(a, b, N_SCALARS) != 0) return 0;
  return are_equal(a->task_due, b->task_due, a->model->n_tasks) && are_equal(a->breaks, b->breaks, a->n_breaks) &&
         are_equal(a->pace, b->pace, PACE_WIDTH * a->n_pace);
}

/* Whether all that such runs call is there for lanes. */
static int all_vectors_are_there(const Pack *pack, const Run *run) {
  const Model *model = run->model;
  int watches = run->recording->watch_steps && model->n_within > 0, there = 1;
  if (run->recording->kind == RECORD_TIMES) {
    there &= model->n_y + model->n_watched == 0 || find_vector(pack, model->outputs) != NULL;
    there &= !watches || find_vector(pack, model->within) != NULL;
  }
  for (int64_t k = 0; k < model->n_tasks; k++) there &= find_vector(pack, model->task[k]) != NULL;
  return there;
}

static Run *member(const Pack *pack, int64_t k) { return pack->lane[pack->convoy[k]].run; }

static int all_are_sane(const Pack *pack) {
  int sane = 1;
  for (int64_t k = 0; k < pack->n_convoy; k++) sane &= end_is_sane(member(pack, k));
  return sane;
}

/* The runs part where they wait for the step just computed. */
static void end_convoy(Pack *pack) {
  Run *leader = member(pack, 0);
  for (int64_t k = 1; k < pack->n_convoy; k++) {
    Run *run = member(pack, k);
    memcpy(run, leader, N_SCALARS);
    memcpy(run->task_due, leader->task_due, (size_t)leader->model->n_tasks * sizeof(int64_t));
    pack->lane[pack->convoy[k]].status = READY;
  }
  leader->compute = wait_for;
  pack->n_convoy = 0;
}

/* Followers are at the end of their step where the leader is. */
static void move_followers(Pack *pack) {
  for (int64_t k = 1; k < pack->n_convoy && !pack->moved; k++) copy_row(member(pack, k), END, START);
  pack->moved = 1;
}

/* What stands behind x0 for the next step, and which of the rows kept since the last one are knots. */
static void prepare_step(Pack *pack) {
  const Run *leader = member(pack, 0);
  int64_t last = row_width(leader) - 1, first = at_least(pack->convoy_rows - 2, 0);
  int64_t n = leader->n_rows > pack->convoy_rows ? leader->n_rows : first;
  for (int64_t k = 1; k < pack->n_convoy; k++) {
    Run *run = member(pack, k);
    for (int64_t i = 0; i < 2; i++) state(run, END)[i] = state(leader, END)[i];
    for (int64_t i = first; i < n; i++) record_row(run, i)[last] = record_row(leader, i)[last];
  }
  pack->convoy_rows = leader->n_rows;
}

/* The place in a run's memory that is the leader's in its own. */
static double *own_place(const Run *run, const Run *leader, const double *place) {
  int in_block = place >= leader->block && place < leader->block + leader->n_block;
  return in_block ? run->block + (place - leader->block) : run->rows + (place - leader->rows);
}

/* A function that the leader calls, computed for all; rows are kept of the start of a step. */
static void call_for_all(Pack *pack, Kernel kernel, double t, const double *x, double *out) {
  const Run *leader = member(pack, 0);
  int is_row = kernel == leader->model->outputs;
  for (int64_t k = 0; k < pack->n_convoy; k++) {
    struct Lane *lane = &pack->lane[pack->convoy[k]];
    lane->t = t;
    lane->x = is_row ? state(lane->run, START) : own_place(lane->run, leader, x);
    lane->out = own_place(lane->run, leader, out);
  }
  compute_vector(pack, find_vector(pack, kernel), pack->convoy, pack->n_convoy);
  pack->budget--;
  pack->calls++;
  pack->computed += pack->n_convoy;
  pack->computed_together += pack->n_convoy;
}

/* What followers keep of a row, or of the end of a step. */
static void keep_watched(Pack *pack, int is_row, double t) {
  const Run *leader = member(pack, 0);
  for (int64_t k = 1; k < pack->n_convoy; k++) {
    struct Lane *lane = &pack->lane[pack->convoy[k]];
    if (is_row) {
      lane->out[-1] = pack->lane[pack->convoy[0]].out[-1];
      watch(lane->run, t, lane->out + leader->model->n_y, 0);
    } else {
      watch_within(lane->run, t, lane->out);
    }
  }
}

/* What the leader calls: outputs for a row, what is watched in every step, tasks, the step itself. */
static void compute_together(Run *run, Kernel kernel, double t, const double *x, const double *p, double *out) {
  Pack *pack = ((struct Lane *)run->lane)->pack;
  const Model *model = run->model;
  int is_step = kernel == model->fused_step, is_row = kernel == model->outputs, is_watched = kernel == model->within;
  (void)p;
  if (!is_row && !is_watched) move_followers(pack);
  if (is_step) prepare_step(pack);
  call_for_all(pack, kernel, t, x, out);
  if (is_row || is_watched) keep_watched(pack, is_row, t);
  if (!is_step) return;
  pack->moved = 0;
  if (pack->budget <= 0 || !all_are_sane(pack) || !is_even(run)) end_convoy(pack);
}

/* Where all runs have just made such a step, and stand alike, the first of them leads from there on. */
void begin_convoy(Pack *pack, Kernel kernel, const int64_t *group, int64_t count) {
  Run *leader = pack->lane[group[0]].run;
  if (kernel != leader->model->fused_step || !is_even(leader)) return;
  for (int64_t l = 0; l < pack->n_lanes; l++)
    if (pack->lane[l].status == WAITING) return;
  for (int64_t k = 0; k < count; k++) {
    pack->convoy[k] = group[k];
    if (!are_alike(leader, member(pack, k))) return;
  }
  if (!all_vectors_are_there(pack, leader)) return;
  pack->n_convoy = count;
  pack->convoy_rows = leader->n_rows;
  pack->moved = 0;
  if (!all_are_sane(pack)) {
    pack->n_convoy = 0;
    return;
  }
  leader->compute = compute_together;
  for (int64_t k = 1; k < count; k++) pack->lane[group[k]].status = FOLLOWING;
}

#endif
