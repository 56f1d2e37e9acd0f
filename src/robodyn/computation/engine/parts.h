/* What do the parts of the engine ask of one another? */

#ifndef PARTS_H
#define PARTS_H

#include <math.h>
#include <string.h>

#include "engine.h"

/* Points that a step, or a piece of it, is recorded by where the engine chooses: see pieces.c. */
enum { PIECE = 4 };

/* Most jumps and bends of what depends on time alone that are looked for. */
enum { MOST_BENDS = 128 };

/* Numbers of an entry of the pace of drives. */
enum { PACE_WIDTH = 3 };

/* Events of one guard that end a run as chattering, see log.c. */
enum { CHATTER_EVENTS = 50, STORM_EVENTS = 1000 };

/* Explicit steps that may have been longer, after which a stiff one is first tried, and again: see choice.c. */
enum { FIRST_PATIENCE = 15, FIRST_CAUTION = 5 };

/* Numbers in a line of the cache: vectors that lie across two of them are read and written more slowly. */
enum { LINE = 8 };

/* Numbers that loops look at side by side: one alone would wait for the one before it. */
enum { ABREAST = 4 };

/* Where the first line begins in memory with room for one more. */
static inline double *line_start(double *memory) {
  uintptr_t bytes = LINE * sizeof(double), place = (uintptr_t)memory;
  return memory + ((place + bytes - 1) / bytes * bytes - place) / sizeof(double);
}

/* All scalars of a run that change on the way. */
#define N_SCALARS offsetof(Run, model)

static inline double least(double a, double b) { return a < b ? a : b; }
static inline double largest(double a, double b) { return a > b ? a : b; }
static inline int64_t at_least(int64_t n, int64_t least) { return n > least ? n : least; }
static inline int64_t at_most(int64_t n, int64_t most) { return n < most ? n : most; }
static inline int sign_of(double value) { return value > 0.0 ? 1 : value < 0.0 ? -1 : 0; }

/* Distance from |t| to the next number. */
static inline double spacing(double t) { return nextafter(fabs(t), INFINITY) - fabs(t); }

/* How far the second and the fourth of five equally spaced values are from the parabola through the three others. */
static inline double parabola_miss(double a, double b, double c, double d, double e) {
  double first = fabs(b - (0.375 * a + 0.75 * c - 0.125 * e)), last = fabs(d - (0.375 * e + 0.75 * c - 0.125 * a));
  return largest(first, last);
}

/* Whether a method takes its steps by the rates alone, without their derivatives. */
static inline int takes_rates_alone(const Method *method) { return method->family == EXPLICIT || method->family == STABILISED; }

/* A row of states. */
static inline double *state(const Run *run, int64_t index) { return run->x + index * run->model->n_x; }

static inline void copy_row(Run *run, int64_t source, int64_t target) {
  const double *from = state(run, source);
  double *to = state(run, target);
  for (int64_t i = 0, n = run->model->n_x; i < n; i++) to[i] = from[i];
}

/* Numbers of a recorded row [t, y, knot]. */
static inline int64_t row_width(const Run *run) { return run->model->n_y + 2; }

/* Numbers of a step of the history: [start, end, 1 / length, terms of each delayed signal]. */
enum { STEP_HEAD = 3, TERMS = 5 };
static inline int64_t history_width(const Run *run) { return STEP_HEAD + TERMS * run->model->n_d; }

/* A row of guard values. */
static inline double *guard_row(const Run *run, int64_t index) {
  return run->guard_values + index * (run->model->n_guards + 2 * run->model->n_limited);
}

/* out = kernel(t, x, d, m, p) with the present memory and delayed signals as last read. */
static inline void call_kernel(Run *run, Kernel kernel, double t, const double *x, double *out) {
  if (run->compute)
    run->compute(run, kernel, t, x, run->p, out);
  else
    kernel(&t, x, run->d, run->m, run->p, out);
}

static inline void forget_slope(Run *run) { run->slope_known = run->jacobian_known = 0; }

/* evaluation.c */
void evaluate_rate(Run *run, double t, int64_t source, int64_t target);
void need_slope(Run *run);
void need_dense(Run *run);
void take_line(Run *run);
void evaluate_dense(Run *run, double theta, int64_t target);
double set_point(Run *run, double fraction);
void combine(Run *run, const double *weights, int64_t count, double factor, int64_t base, int64_t target);
int clip_row(Run *run, double t, int64_t target);
void project_row(Run *run, double t, int64_t target);
void project_end(Run *run);

/* steps.c, stabilised.c, contact_step.c, implicit.c, linear.c */
int try_step(Run *run);
int step_stabilised(Run *run);
int step_contacts(Run *run);
int64_t contact_step_room(int64_t k, int64_t n, int64_t n_x);
int step_rosenbrock(Run *run);
int step_esdirk(Run *run);
int step_implicit(Run *run);
ENGINE_API int factorise(double *A, int64_t *pivots, int64_t n);
ENGINE_API void solve_factorised(const double *A, const int64_t *pivots, int64_t n, double *b);

/* control.c */
int take_step(Run *run);
void choose_first(Run *run);
double measure_error(const Run *run);
double allowed_error(const Run *run, int64_t i, double size);
int end_is_sane(const Run *run);

/* choice.c */
void note_step(Run *run);
int64_t choose_method(Run *run);
int change_failing(Run *run);

/* drives.c */
void plan_pace(Run *run);
double longest_step(Run *run);
void count_long_steps(Run *run);

/* delays.c */
void begin_delays(Run *run);
void read_right(Run *run);
void read_left(Run *run, double time);
void read_inside(Run *run, double time);
void read_rates(Run *run, double time);
void keep_step(Run *run);
void bound_delayed(Run *run, int64_t j, double from, double to, double bounds[4]);
double next_arrival(Run *run);
int64_t pass_arrivals(Run *run, int64_t level);
void push_jump(Run *run, double t, int64_t level);

/* guards.c, roots.c, crossings.c */
/* Units in the last place of time by which roots are known. */
#define ROOT_ULPS 4.0
typedef struct {
  double left, right, value_left, value_right;
} Bracket;
typedef double (*Value)(Run *run, double theta, int64_t j);
double root_width(const Run *run);
Bracket close_bracket(Run *run, Bracket b, double width, int64_t j, int64_t sign, int zero_crosses, Value value_at, double target);
double guard_value_at(Run *run, double theta, int64_t j);
double locate_root(Run *run, int64_t j, int64_t sign, double start, double end, double value_end, double before);
double point_at(Run *run, double theta);
int guard_crosses(const Run *run, int64_t j, int64_t sign, double value);
void evaluate_guards(Run *run, double t, int64_t source, int64_t target);
void evaluate_end(Run *run, int64_t stage);
void guards_at(Run *run, double theta, int64_t target);
int find_jumps(Run *run);
void evaluate_guard_rates(Run *run);
void carry_signs(Run *run);
void settle_signs(Run *run);
int locate_events(Run *run);
enum { LEAVING = 2 };

/* proof.c: the level of what is not looked at in a step */
#define ASIDE INT64_MIN
enum { MOST_TOO_LONG = 8, MOST_CUTS = 6 };
void bound_quartic(const double c[5], double a, double b, double bounds[4]);
#define CUT (-1.0)
#define TOO_LONG (-2.0)
double scan_step(Run *run);
double count_work(const Run *run, const Method *method);
int may_leave_open(Run *run);
void regret_proof(Run *run, double before);
int changes_between(Run *run, int allowed);
int stays_safe(Run *run);

/* log.c */
void log_event(Run *run, int64_t j, double t);
void log_watchers(Run *run, double end);
int only_watches(const Run *run, int64_t j);

/* instants.c */
int64_t next_tick(const Run *run);
void begin_instant(Run *run);
int64_t run_events(Run *run);
int64_t run_ticks(Run *run);
void settle_instant(Run *run);
void pass_tick(Run *run);
void plan_segment(Run *run);

/* complementarity.c: the data of a problem are these vectors of k numbers, then K row by row, then W column by column. ALLOWED
   says whether a row may leave its INITIAL mode. TOLERANCE: motion that counts as none. */
enum { MOTION, COMPLIANCE, LOWER, UPPER, BELOW, ABOVE, COEFFICIENT, PARTNER, ALLOWED, TOLERANCE, INITIAL, N_VECTORS };
static inline int64_t complementarity_data(int64_t k, int64_t n) { return (N_VECTORS + 2 * n) * k; }
static inline int64_t complementarity_work(int64_t k) { return 2 * k * k + 12 * k; }
ENGINE_API int64_t solve_complementarity(int64_t k, int64_t n, const double *data, double *work, double *modes);

/* record.c, pieces.c */
double *record_row(const Run *run, int64_t index);
double record_piece(Run *run, double from, double length, int64_t n);
void record_pieces(Run *run);
void find_solver_errors(Run *run, double t, const double *y, double *errors);
void take_probe(Run *run, double from, double length);
void watch(Run *run, double t, const double *values, int64_t first);
void watch_within(Run *run, double t, const double *values);
void record_step(Run *run);
void record_instant(Run *run);
void record_end(Run *run);

/* memory.c */
int make_room(Run *run);
int make_room_for_time(Run *run);
double *append_row(Run *run, double **rows, int64_t *count, int64_t *capacity, int64_t width, int64_t *readers);

#endif
