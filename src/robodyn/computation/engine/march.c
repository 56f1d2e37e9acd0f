/* March: how do runs go on along a nominal motion by propagators, many steps at once?

   Where mechanics are linear along a nominal motion, steps have one length, ticks have no consequences but their tasks and
   rows are kept at the beginnings of steps, all that depends on time alone is known before: see March. One step of one run,
   or of several side by side, is

     rest        u, relaxing and book-keeping states at the end, from s and m
     propagate   y at the end, from y and u
     tasks       those due at a tick that the step ends at

   The last step before the end of a run is the method's: what happens there is not repeated here. */

#include "lanes.h"

#include <stdlib.h>

/* Times that are this many times as far apart as they can be told are not the same. */
#define APART 4.0
/* Steps after which runs are looked at: one that has left the numbers goes on by the method, which says so. */
enum { LOOK = 64, MOST_TASKS = 256 };

/* Runs that march: their kernels, and where their numbers stand, side by side. */
typedef struct {
  int64_t n;              /* runs, */
  int64_t lanes;          /* places for their numbers side by side, */
  Run *run[MOST_LANES];
  int64_t lane[MOST_LANES]; /* and the place of each */
  Kernel rest;
  Kernel propagate;
  Kernel interpolate;
  Kernel outputs;
  Kernel watched;
  Kernel within;
  const Kernel *task;
  double *s;
  double *m;
  double *y;              /* what outputs and within write, and room for what is watched of one run */
  double *propagator;
  const double *p;
} Party;

/* The step that begins where a run stands, -1 where none does. */
static int64_t find_step(const Run *run) {
  const March *course = run->model->march;
  double steps = (run->t - course->begin) / course->step;
  int64_t k = (int64_t)floor(steps + 0.5);
  if (run->t0 != course->begin || k < 0 || fabs(steps - (double)k) * course->step > APART * run->resolution) return -1;
  if (course->per_tick == 0) return run->model->n_tasks == 0 ? k : -1;
  /* At a tick whose tasks are done. */
  return k % course->per_tick == 0 && next_tick(run) > k / course->per_tick ? k : -1;
}

/* How many steps a run can march from step k on. */
static int64_t count_steps(const Run *run, int64_t k) {
  const March *course = run->model->march;
  const Model *model = run->model;
  int64_t kind = run->recording->kind;
  int simple = run->plain && model->n_limited == 0 && !model->projection && run->method->family == FUSED_STEP;
  if (!simple || model->n_tasks > MOST_TASKS || kind == RECORD_STEPS || run->open_end || (kind == RECORD_TIMES && !course->row_step)) return 0;
  for (int64_t i = 0; i < course->n_fixed; i++)
    if (run->p[course->fixed[i]] != course->fixed_values[i]) return 0;
  /* Up to the last tick, or step, that begins before the end. */
  double steps = floor((run->t_end - course->begin - APART * run->resolution) / course->step);
  int64_t last = at_most((int64_t)steps, course->n_steps), group = at_least(course->per_tick, 1);
  int64_t count = at_most(last - k, run->solver->max_steps - run->steps - run->rejected) / group * group;
  /* The budget ends at a tick, so that it decides nothing. */
  return at_least(at_most(count, (run->budget + group - 1) / group * group), 0);
}

/* The time at which a step begins, as ticks have it. */
static double step_time(const Run *run, int64_t k) {
  const March *course = run->model->march;
  const Model *model = run->model;
  int64_t tick = course->per_tick > 0 ? k / course->per_tick : 0, within = course->per_tick > 0 ? k % course->per_tick : k;
  double at = run->t0;
  if (tick > 0 && model->base_numerator > 0)
    at += (double)(tick * model->base_numerator) / (double)model->base_denominator;
  else
    at += (double)tick * model->base_period;
  return within > 0 ? at + (double)within * course->step : at;
}

/* Look at the last of what is watched at the beginning of a step; only where the largest is positive, or no number, at all
   of it. */
static void look_within(const Party *party, int64_t k) {
  const Model *model = party->run[0]->model;
  const March *course = model->march;
  int64_t L = party->lanes;
  party->within(course->within_rows + k * course->within_width, party->s, NULL, party->m, party->p, party->y);
  int64_t passed = 0;
  for (int64_t l = 0; l < L; l++) passed += !(party->y[l] <= 0.0);
  for (int64_t l = 0; passed > 0 && l < party->n; l++) {
    Run *run = party->run[l];
    double *x = state(run, POINT), *m = run->changed, *values = run->work_outputs;
    if (party->y[party->lane[l]] <= 0.0) continue;
    double t = step_time(run, k);
    for (int64_t i = 0; i < model->n_x; i++) x[i] = party->s[course->place[i] * L + party->lane[l]];
    for (int64_t i = 0; i < model->n_m; i++) m[i] = party->m[i * L + party->lane[l]];
    model->within(&t, x, run->d, m, run->p, values);
    watch_within(run, t, values);
  }
}

/* Look at all that is watched. */
static void look_at_all(const Party *party, int64_t k) {
  const Model *model = party->run[0]->model;
  const March *course = model->march;
  int64_t n = model->n_watched, L = party->lanes;
  double t = step_time(party->run[0], k);
  party->watched(course->watched_rows + k / course->watch * course->watched_width, party->s, NULL, party->m, party->p,
                 party->y);
  for (int64_t l = 0; l < party->n; l++) {
    double *values = party->run[l]->work_outputs;
    for (int64_t i = 0; L > 1 && i < n; i++) values[i] = party->y[i * L + party->lane[l]];
    watch(party->run[l], t, values, 0);
  }
}

/* The row of the beginning of a step. */
static void keep_row(const Party *party, int64_t time) {
  const Run *first = party->run[0];
  const March *course = first->model->march;
  int64_t n_y = first->model->n_y, L = party->lanes;
  double label = first->recording->times[time];
  party->outputs(course->outputs_rows + time * course->outputs_width, party->s, NULL, party->m, party->p, party->y);
  for (int64_t l = 0; l < party->n; l++) {
    Run *run = party->run[l];
    double *entry = record_row(run, run->n_rows++);
    entry[0] = label;
    for (int64_t j = 0; j < n_y; j++) entry[1 + j] = party->y[j * L + party->lane[l]];
    /* Sampled loops make a kink of every tick. */
    entry[1 + n_y] = run->n_rows == 1 || course->per_tick > 0;
    run->next_time++;
  }
}

/* Ticks at which tasks are due next, and rows of what depends on time alone there. */
typedef struct {
  int64_t tick[MOST_TASKS];
  const double *row[MOST_TASKS];
} DueTasks;

/* The tasks with which a run goes on. Divisions are only here, not in the loop: one takes as long as twenty products. */
static void find_due_tasks(const Run *run, DueTasks *due) {
  const Model *model = run->model;
  const March *course = model->march;
  for (int64_t j = 0; j < model->n_tasks; j++) {
    int64_t number = (run->task_due[j] - model->task_offset[j]) / model->task_period[j];
    due->tick[j] = run->task_due[j];
    due->row[j] = (const double *)(intptr_t)course->task_rows[j] + number * course->task_width[j];
  }
}

/* The tasks of a tick. */
static void do_tasks(const Party *party, int64_t tick, DueTasks *due) {
  const Model *model = party->run[0]->model;
  for (int64_t j = 0; j < model->n_tasks; j++) {
    if (due->tick[j] != tick) continue;
    party->task[j](due->row[j], party->s, NULL, party->m, party->p, party->m);
    due->row[j] += model->march->task_width[j];
    due->tick[j] += model->task_period[j];
  }
}

/* Whether all states are numbers. */
static int all_are_finite(const Party *party) {
  int64_t n = party->run[0]->model->march->n_work;
  double total = 0.0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t l = 0; l < party->n; l++) total += 0.0 * party->s[i * party->lanes + party->lane[l]];
  return total == 0.0;
}

/* Steps from number k on; how many were taken. What the number of a step decides is counted along. */
static int64_t take_steps(const Party *party, int64_t k, int64_t count) {
  Run *first = party->run[0];
  const Model *model = first->model;
  const March *course = model->march;
  int64_t n_y = course->n_linear * party->lanes, n_times = first->recording->kind == RECORD_TIMES ? first->recording->n_times : 0;
  int watches = first->recording->watch_steps && model->n_within > 0 && party->within;
  int64_t begun = k, group = k / course->group, group_end = k, until_tick = course->per_tick, look = k + LOOK;
  int64_t tick = course->per_tick > 0 ? k / course->per_tick : 0;
  int64_t next_watch = party->watched ? (k + course->watch - 1) / course->watch * course->watch : INT64_MAX;
  int64_t next_row = first->next_time < n_times ? course->row_step[first->next_time] : INT64_MAX;
  DueTasks due;
  find_due_tasks(first, &due);
  int64_t end = k + count;
  while (k < end) {
    if (k == group_end) {
      party->interpolate(course->weight + group, course->pairs + course->knot[group] * course->pair_width, NULL, NULL, NULL,
                         party->propagator);
      group_end = ++group * course->group;
    }
    if (k == next_row) {
      keep_row(party, first->next_time);
      next_row = first->next_time < n_times ? course->row_step[first->next_time] : INT64_MAX;
    }
    if (k == next_watch) {
      look_at_all(party, k);
      next_watch += course->watch;
    } else if (watches) {
      look_within(party, k);
    }
    party->rest(course->rest_rows + k * course->rest_width, party->s, NULL, party->m, party->p, party->s + n_y);
    party->propagate(course->affine + k * course->affine_width, party->s, party->propagator, NULL, NULL, party->s);
    k++;
    if (--until_tick != 0) continue;
    until_tick = course->per_tick;
    do_tasks(party, ++tick, &due);
    if (k < look) continue;
    look = k + LOOK;
    if (!all_are_finite(party)) break;
  }
  for (int64_t l = 0; l < party->n; l++)
    for (int64_t j = 0; j < model->n_tasks; j++) party->run[l]->task_due[j] = due.tick[j];
  return k - begun;
}

/* The working vector of a run at step k; where it has not marched up to here, nothing was before. */
static void begin_work(Run *run, int64_t k) {
  const March *course = run->model->march;
  const double *x = state(run, START);
  for (int64_t i = 0; i < run->model->n_x; i++) run->work[course->place[i]] = x[i];
  if (run->march_next == k + 1) return;
  for (int64_t i = 0; i < course->n_before; i++) run->work[course->first_before + i] = run->work[course->before[i]];
}

/* A run stands at step k, after so many: its states, its clock, what it counts. */
static void arrive(Run *run, int64_t k, int64_t count) {
  const March *course = run->model->march;
  double *x = state(run, START), length = course->step;
  for (int64_t i = 0; i < run->model->n_x; i++) x[i] = run->work[course->place[i]];
  run->march_next = k + 1;
  run->steps += count;
  run->marched += count;
  run->evaluations += count;
  run->budget -= count;
  run->ticks += course->per_tick > 0 ? count / course->per_tick : 0;
  run->last_length = length;
  run->smallest_step = least(run->smallest_step, length);
  run->largest_step = largest(run->largest_step, length);
  run->t = step_time(run, k);
  run->broken = course->per_tick > 0;
  while (run->next_break < run->n_breaks && run->breaks[run->next_break] <= run->t + run->resolution) run->next_break++;
  forget_slope(run);
  plan_segment(run);
}

/* One run by itself. */
static void march_alone(Run *run, int64_t k, int64_t count) {
  const March *course = run->model->march;
  Party party = {1, 1, {run}, {0}, course->rest, course->propagate, course->interpolate, course->outputs, course->watched,
                 course->within, course->task, run->work, run->m, run->work_outputs, run->propagator, run->p};
  begin_work(run, k);
  count = take_steps(&party, k, count);
  arrive(run, k + count, count);
}

#if HAS_LANES

/* Numbers of all lanes, as many of each as asked for; null where there is no memory. */
static double *make_room_for(Pack *pack, int64_t count) {
  if (count + LINE > pack->n_side_by_side) {
    free(pack->side_by_side);
    pack->n_side_by_side = count + LINE;
    pack->side_by_side = calloc((size_t)pack->n_side_by_side, sizeof(double));
  }
  if (!pack->side_by_side) pack->n_side_by_side = 0;
  return pack->side_by_side ? line_start(pack->side_by_side) : NULL;
}

/* A function of the march for lanes: its numbers stand side by side. */
static Kernel find_side(const Pack *pack, Kernel kernel) { return kernel ? (Kernel)find_vector(pack, kernel) : NULL; }

void march_together(Pack *pack, const int64_t *group, int64_t count) {
  Run *leader = pack->lane[group[0]].run;
  const Model *model = leader->model;
  const March *course = model->march;
  Kernel task[MOST_TASKS];
  int64_t L = pack->n_lanes, k = find_step(leader), n = count_steps(leader, k);
  Party party = {count, L, {NULL}, {0}, find_side(pack, course->rest), find_side(pack, course->propagate),
                 course->interpolate, find_side(pack, course->outputs), find_side(pack, course->watched),
                 find_side(pack, course->within), task, NULL, NULL, NULL, leader->propagator, pack->p};
  if (!party.rest || !party.propagate || (course->outputs && !party.outputs)) return;
  if ((course->within && !party.within) || (course->watched && !party.watched)) return;
  for (int64_t j = 0; j < model->n_tasks; j++)
    if (!(task[j] = find_side(pack, course->task[j]))) return;
  for (int64_t l = 0; l < count; l++) {
    party.run[l] = pack->lane[group[l]].run;
    party.lane[l] = group[l];
    if (!are_alike(leader, party.run[l]) || count_steps(party.run[l], k) != n) return;
  }
  int64_t n_s = (course->n_work + 1) * L, n_m = model->n_m * L, n_y = (model->n_y + model->n_watched) * L;
  party.s = make_room_for(pack, n_s + n_m + n_y + LINE);
  if (!party.s) return;
  party.m = party.s + n_s;
  party.y = party.m + n_m;
  for (int64_t l = 0; l < L; l++) {
    /* Lanes that nobody is in compute what the first one does, to no effect. */
    int64_t number = 0;
    for (int64_t i = 0; i < count; i++) number = group[i] == l ? i : number;
    Run *run = party.run[number];
    if (party.lane[number] == l) begin_work(run, k);
    for (int64_t i = 0; i < course->n_work; i++) party.s[i * L + l] = run->work[i];
    for (int64_t i = 0; i < model->n_m; i++) party.m[i * L + l] = run->m[i];
  }
  n = take_steps(&party, k, n);
  pack->budget -= n;
  for (int64_t l = 0; l < count; l++) {
    Run *run = party.run[l];
    for (int64_t i = 0; i < course->n_work; i++) run->work[i] = party.s[i * L + group[l]];
    for (int64_t i = 0; i < model->n_m; i++) run->m[i] = party.m[i * L + group[l]];
    arrive(run, k + n, n);
  }
  pack->computed += count * (n - 1);
  pack->computed_together += count * n;
  pack->calls += n - 1;
}

#endif

void march(Run *run) {
  int64_t k = find_step(run), count = k < 0 ? 0 : count_steps(run, k), marched = run->marched;
  if (count <= 0) return;
#if HAS_LANES
  /* In a lane, it waits for the others that march; one that leads a convoy does not. */
  if (run->compute && run->compute != wait_for) return;
  if (run->compute) run->compute(run, run->model->march->rest, run->t, state(run, START), run->p, NULL);
#endif
  if (run->marched == marched) march_alone(run, k, count);
}
