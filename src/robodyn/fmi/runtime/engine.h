/* What is a run of a model, and what can be done with it?

   A run is one block of memory, and the past of delayed signals, which grows, beside it: copies of both are its state.
   Sizes, tables and kernels of the model and its method stand in model.h, which is generated. The hybrid step is that of
   the simulation: see run_advance. */

#ifndef ENGINE_H
#define ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"

#define ROOM(n) ((n) > 0 ? (n) : 1)

/* Rows of x: start and end of the step, a stage's argument, the error, a point of the polynomial, df/dt, the five
   coefficients of the polynomial, the stages. */
enum { START, END, TRIAL, ERROR, POINT, SLOPE, DENSE, STAGE = DENSE + 5, N_ROWS = STAGE + STAGES + 1 };

/* Rows of guard values: at the settled instant, in the middle and at the end of the step, at a point tried, roots,
   and before any action of the instant. */
enum { G_START, G_MIDDLE, G_END, G_POINT, G_ROOT, G_NOTED, N_GUARD_ROWS };
enum { NOT_FIRED, LOCATED, JUMPED, FIRED_BEFORE };
enum { EXPLICIT, SYMPLECTIC, ROSENBROCK, ESDIRK, TRACED, WHOLE };

/* How a run stands: it goes on, a terminal event ended it, or it cannot go on. */
enum { GOING, TERMINAL, STEP_LIMIT, NOT_A_NUMBER, STEP_TOO_SMALL, OVERFLOWN, CHATTERING, NOT_SOLVED, NO_MEMORY };

#define N_ALL (N_GUARDS + 2 * N_LIMITED)
#define N_REMEMBERED 50
#define N_STEP_INPUTS (2 * N_X + (N_KEPT + 1 + N_UNKNOWNS > N_D ? N_KEPT + 3 + N_UNKNOWNS : N_D + 2))

/* Level of an instant at which nothing jumps. */
#define SMOOTH 1000000

/* Rows of numbers, as many as are needed. */
typedef struct {
  double *rows;
  int64_t count, capacity;
} Rows;

typedef struct {
  double t0, t_final, t_end, t, t_segment, t_stop, t_left, t_new, theta_end, h_tried, last_length;
  double h, error_before, rtol, atol, min_step, resolution, matrix_scale, matrix_shift, shortest_delay;
  int64_t k, tick, last_tick, steps;
  int32_t status, culprit, terminal, armed, guard, task, tick_due, next_break, n_breaks;
  int32_t stop_is_tick, stop_is_break, jump_level, x_changed, m_changed, was_rejected, was_cut;
  int32_t slope_known, end_known, jacobian_known, dense_known, stale, moved, begun;
  double x[N_ROWS][ROOM(N_X)], m[ROOM(N_M)], u[ROOM(N_INPUTS)], x0[ROOM(N_X)];
  double p[ROOM(N_P + N_PRELUDE + N_DATA)], breaks[ROOM(N_BREAKS)];
  double changed[ROOM(N_X + N_M)], bounds[ROOM(2 * N_LIMITED)];
  double columns[ROOM(N_CORE * N_CORE)], factors[ROOM(N_CORE * N_CORE)];
  double inputs[N_STEP_INPUTS], finish[ROOM(2 * N_X + N_KEPT)], correction[ROOM(N_UNKNOWNS)];
  double guard_values[N_GUARD_ROWS][ROOM(N_ALL)];
  double fired_at[ROOM(N_GUARDS)][N_REMEMBERED];
  int64_t n_fired[ROOM(N_GUARDS)], task_due[ROOM(N_TASKS)];
  double d[ROOM(N_D)], delay[ROOM(N_D)], before[ROOM(N_D)];
  int64_t cursor[ROOM(N_D)], next[ROOM(N_D)];
  Rows history, jumps;
  int32_t sign[ROOM(N_ALL)], from_rate[ROOM(N_ALL)], fired[ROOM(N_ALL)], pivots[ROOM(N_CORE)];
} Run;

/* hybrid.c */
void run_reset(Run *run);
int run_begin(Run *run, double t0, double t_final, double tolerance);
int run_advance(Run *run, double t_end);
void run_outputs(Run *run, double *y);
void run_slopes(Run *run, const double *seed, double *slopes);
const char *run_complaint(const Run *run);

/* steps.c */
void ask(Run *run, Kernel kernel, double t, const double *x, double *out);
void evaluate_rate(Run *run, double t, int source, int target);
void need_slope(Run *run);
void forget_slope(Run *run);
int clip_row(Run *run, double t, int target);
int attempt(Run *run);
void copy_row(Run *run, int source, int target);
void combine(Run *run, const double *weights, int count, double factor, int base, int target);

/* control.c */
int take_step(Run *run);
void choose_first(Run *run);

/* implicit.c */
int step_rosenbrock(Run *run);
int step_esdirk(Run *run);
int step_traced(Run *run);

/* past.c */
void begin_past(Run *run);
void read_right(Run *run);
void read_inside(Run *run, double time);
void keep_step(Run *run);
double next_jump(const Run *run);
int pass_jumps(Run *run, int level);
void push_jump(Run *run, int level);
size_t past_size(const Run *run);
void past_write(const Run *run, char *bytes);
int run_restore(Run *run, const Run *other, const char *bytes);
void run_free(Run *run);

/* guards.c */
void need_dense(Run *run);
double set_point(Run *run, double fraction);
int locate_events(Run *run);
void guards_at(Run *run, double theta, int target);
void note_guards(Run *run);
int find_jumps(Run *run);
void carry_signs(Run *run);
void settle_signs(Run *run);

#endif
