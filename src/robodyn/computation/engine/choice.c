/* Choice of the method: does a stiff step pay, or an explicit one?

   How fast the fastest motion settles, lambda, is seen in the last two stages of an explicit step, which are at the same
   time: Hairer and Wanner (1996), IV.2,

       h |lambda| = h |f(x_b) - f(x_a)| / |x_b - x_a|

   Near the end of the method's stability the error control cannot choose longer steps, however smooth the motion. Before
   that, what settles fast spoils the accuracy of explicit steps where the motion itself, by the change of f along the
   step, is much slower. Whether the stiff method is cheaper is then tried: one of its steps, so long that it pays, is
   taken and forgotten, and where its error is allowed the method takes over. A trial that fails leaves no trace in the
   motion, so a run that stays explicit is that of the explicit method, bit by bit. The way back is the same: every few
   stiff steps an explicit one is tried. Work is counted in operations, never in seconds: the same model takes the same
   steps everywhere. */

#include "parts.h"

/* Part of the stability beyond which an explicit step counts as limited by it, and within which one may take over. */
#define LIMITED 0.6
#define STABLE 0.5

/* Without such a limit: h |lambda| from which on the fastest motion may spoil a step, and part of it by which the slope
   of a slow motion changes at most. */
#define SPOILS 0.25
#define SLOW 0.1

/* Explicit steps between two trials, in units of what a trial costs. */
#define TRIAL_SHARE 8.0

/* How much longer than a step that costs the same an explicit one must be to take over again. */
#define GAIN 1.2

/* Part of the record's room that explicit steps may be about to use up. */
#define ROOM_USED 0.5

/* After a step that became too small was given to the other method, the same within so many resolutions of time is the
   end of the run. */
#define SAME_PLACE 1e6

/* Stiff steps after which an explicit one is tried, and most of them where that was regretted within so many explicit
   steps; most steps that may have been longer after which a stiff one is tried again. */
enum { LOOK_BACK = 10, MOST_LOOK_BACK = 160, REGRET = 100, MOST_PATIENCE = 480 };

/* Steps over which their mean length is taken: between ticks, single ones are cut short. */
enum { MEMORY = 16 };

/* h |lambda| of the explicit step just taken, and by which part of it the slope of the motion changed. */
static double estimate_stiffness(Run *run, double *slope_change) {
  const Method *method = run->method;
  int64_t last = STAGE + method->stages - 1;
  /* Two evaluations at the same time t + h, of the last stage and of the end: f_b - f_a is J (x_b - x_a). */
  if (method->needs_end && run->end_known != 1) {
    evaluate_rate(run, run->t_new, END, last + 1);
    run->end_known = 1;
  }
  const double *f_b = state(run, method->needs_end ? last + 1 : last), *x_b = state(run, END);
  const double *f_a = state(run, method->needs_end ? last : last - 1), *x_a = state(run, TRIAL);
  const double *f_0 = state(run, STAGE);
  double rates = 0.0, states = 0.0, changes = 0.0, slopes = 0.0;
  for (int64_t i = 0; i < run->model->n_x; i++) {
    /* Weighed as errors are: a state far below its tolerance tells nothing. */
    double weight = 1.0 / allowed_error(run, i, fabs(x_b[i])), rate = weight * (f_b[i] - f_a[i]);
    double change = weight * (x_b[i] - x_a[i]), slope = weight * f_b[i], turn = weight * (f_b[i] - f_0[i]);
    rates += rate * rate;
    states += change * change;
    slopes += slope * slope;
    changes += turn * turn;
  }
  *slope_change = slopes > 0.0 ? sqrt(changes / slopes) : 1.0;
  return states > 0.0 ? run->h_tried * sqrt(rates / states) : 0.0;
}

/* After an accepted step: may it have been longer? One over a whole segment was not, and one cut short says little. */
void note_step(Run *run) {
  run->phase_steps++;
  /* A mean over the last steps: those between ticks are of many lengths. */
  run->mean_step += (run->h_tried - run->mean_step) / (double)(run->phase_steps < MEMORY ? run->phase_steps : MEMORY);
  if (run->is_stiff) {
    run->evidence++;
    run->stiff_steps++;
    run->stiff_time += run->h_tried;
    return;
  }
  if (run->method->stability == 0.0) return;
  if (run->t_new == run->t_stop && (run->k == 0 || run->method->needs_end)) return;
  double slope_change, stiffness = estimate_stiffness(run, &slope_change);
  /* At the border of stability, or with a fast motion that a slow one drags along. */
  int limited = stiffness > LIMITED * run->method->stability;
  if (limited && ++run->limited_steps == FIRST_PATIENCE) {
    run->stiff_since = run->t;
    run->stiff_step = run->h_tried;
  }
  if (limited || (stiffness > SPOILS && slope_change < SLOW * stiffness)) {
    run->evidence++;
  } else if (run->evidence > 0 && !run->was_cut) {
    run->evidence--;
  }
}

/* Rows that a step adds to the record; where it takes as many as it needs, those of one piece. */
static double count_rows(const Run *run) {
  if (run->recording->kind != RECORD_STEPS) return 0.0;
  return (double)(run->recording->refine > 0 ? run->recording->refine : PIECE);
}

/* Operations of one step: without its rows of the record, so that these change nothing of what is proven. */
double count_work(const Run *run, const Method *method) {
  const Model *model = run->model;
  double stages = (double)method->stages, n = (double)model->n_x, core = n - (double)model->n_quadratures;
  double work = (stages - 1.0) * (double)model->rhs_work + stages * stages * n;
  if (takes_rates_alone(method)) return work;
  return work + (double)model->jacobian_work + 2.0 * core * core * (core / 3.0 + stages - 1.0);
}

static double work_with_rows(const Run *run, const Method *method) {
  return count_work(run, method) + count_rows(run) * (double)run->model->outputs_work;
}

/* Whether explicit steps of a length would fill the record before the end. */
static int fills_record(const Run *run, double h) {
  double rows = (run->t_end - run->t) / h * count_rows(run), most = (double)run->recording->most_rows;
  return most > 0.0 && rows > 0.0 && rows > ROOM_USED * (most - (double)run->n_rows);
}

/* Error of a step with a method, taken from START and forgotten. */
static double try_method(Run *run, const Method *method, double h) {
  const Method *present = run->method;
  run->method = method;
  run->h_tried = h;
  run->t_new = run->t + h;
  double slope_change, error = try_step(run) ? measure_error(run) : INFINITY;
  if (method->family == EXPLICIT && estimate_stiffness(run, &slope_change) > STABLE * method->stability) error = INFINITY;
  run->method = present;
  return error;
}

/* The other method goes on, with steps of a first length. Where an explicit phase was short, the next is not soon tried. */
static void take_over(Run *run, int64_t is_stiff, double h) {
  if (is_stiff) {
    if (run->stiff_phases == 0) {
      run->replaced_at = run->t;
      run->replaced_step = run->failing ? 0.0 : run->mean_step;
    }
    int regretted = run->stiff_phases > 0 && run->phase_steps < REGRET;
    run->look_back = !regretted ? LOOK_BACK : run->look_back < MOST_LOOK_BACK ? 2 * run->look_back : MOST_LOOK_BACK;
  }
  run->is_stiff = is_stiff;
  run->stiff_phases += is_stiff;
  run->method = is_stiff ? run->first_method->stiff : run->first_method;
  run->h = h;
  run->error_before = 1.0;
  run->was_rejected = 0;
  run->other_mean = run->mean_step;
  run->evidence = run->phase_steps = 0;
  run->patience = run->caution;
  run->failing = 0;
}

/* A trial that was not worth it is not soon repeated, the dearer it is the later. */
static void wait_longer(Run *run, double cost) {
  int64_t longer = at_least(2 * run->patience, (int64_t)(TRIAL_SHARE * cost));
  run->evidence = 0;
  run->patience = longer < MOST_PATIENCE ? longer : MOST_PATIENCE;
}

/* Try a stiff step where explicit ones may have been longer; 1 when that needs the jacobian. */
static int consider_stiff(Run *run) {
  if (run->evidence < run->patience || run->only_explicit) return 0;
  /* A stiff step must be as many times longer as it is dearer, or the record would run full. */
  double cost = work_with_rows(run, run->first_method->stiff) / work_with_rows(run, run->first_method);
  double mean = largest(run->mean_step, run->last_length), h = fills_record(run, mean) ? mean : cost * mean;
  if (h > least(run->t_stop - run->t, longest_step(run))) {
    /* No step of this segment is long enough, or only one from its start. */
    if (run->k == 0) wait_longer(run, 0.0);
    return 0;
  }
  /* One step is tried and forgotten; where its error is allowed, the method takes over. */
  if (!run->model->jacobian) return 1;
  if (try_method(run, run->first_method->stiff, h) <= 1.0) {
    take_over(run, 1, h);
  } else {
    run->trials++;
    wait_longer(run, cost);
  }
  return 0;
}

/* Back to explicit steps: where the stiff ones, cut short as they are, cover less time for their work than explicit ones
   did before; or where an explicit one is allowed that is a little longer than one of the same cost. */
static void consider_explicit(Run *run) {
  if (run->evidence < run->look_back) return;
  run->evidence = 0;
  /* The explicit step that costs as much a second as the present ones. */
  double worth = run->mean_step * work_with_rows(run, run->first_method) / work_with_rows(run, run->method);
  double h = least(least(GAIN * worth, run->t_stop - run->t), longest_step(run));
  if (fills_record(run, h)) return;
  int paid = worth >= run->other_mean;
  if (!paid || try_method(run, run->first_method, h) <= 1.0) {
    run->caution = paid ? FIRST_CAUTION : run->caution < MOST_PATIENCE ? 2 * run->caution : MOST_PATIENCE;
    take_over(run, 0, paid ? h : run->other_mean);
  } else {
    run->trials++;
  }
}

/* Before a step: with which method? 1 when the answer needs a jacobian that the model does not have yet. */
int64_t choose_method(Run *run) {
  if (run->failing && !run->only_explicit) {
    if (!run->model->jacobian) return 1;
    take_over(run, 1, run->h);
  }
  if (!run->is_stiff) return consider_stiff(run);
  consider_explicit(run);
  return 0;
}

/* A step has become too small: may the other method try, which did not fail here itself? */
int change_failing(Run *run) {
  if (!run->first_method->stiff || run->only_explicit) return 0;
  if (run->t - run->rescued_at <= SAME_PLACE * run->resolution) return 0;
  run->rescued_at = run->t;
  run->h = largest(run->last_length, 1e3 * run->min_step);
  if (run->is_stiff)
    take_over(run, 0, run->h);
  else
    run->failing = 1;
  return 1;
}
