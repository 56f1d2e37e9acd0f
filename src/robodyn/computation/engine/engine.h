/* Hybrid simulation engine: what is a model, a method, a run, and what can be done with them?

   Symbols: t time [s]; x = [q (n_q), v (n_v), z] continuous states; m discrete memory; d delayed signals; p parameters;
   y outputs; g guards, whose zero crossings are events; h step size; theta = 0..1 a place in a step.

   A Model, a Method, a Solver and a Recording are read only and may be shared by any number of runs, also in threads
   at once. A Run belongs to one thread at a time. There is no other state.

   Every field of the structures has eight bytes on 64-bit machines, one declaration a line: other languages read their
   layout from this text. */

#ifndef ENGINE_H
#define ENGINE_H

#include <stddef.h>
#include <stdint.h>

#if !defined ENGINE_LIBRARY
#define ENGINE_API
#elif defined _WIN32
#define ENGINE_API __declspec(dllexport)
#else
#define ENGINE_API __attribute__((visibility("default")))
#endif

/* A traced function of the model, out = f(t, x, d, m, p); a null pointer means: not given. */
typedef void (*Kernel)(const double *t, const double *x, const double *d, const double *m, const double *p, double *out);

/* An action that the caller carries out: see NEEDS_ACTION. */
#define OUTSIDE ((Kernel)(intptr_t)-1)

struct Run;

/* Takes many steps of a run at once, if it can. */
typedef void (*Advance)(struct Run *run);

/* How runs march along a nominal motion by propagators, see march.c: steps of one length from `begin` on, whose kernels have the
   row of numbers of their instant in the place of the time, and a working vector s in the place of the states,
   s = [y (n_linear), u, y before, other states]. */
typedef struct March {
  Advance advance;          /* `march`: what is exported has no need of it */
  int64_t n_linear;         /* entries of y */
  int64_t n_work;           /* entries of s */
  int64_t n_steps;
  int64_t per_tick;         /* steps between two ticks, 0: there are none */
  int64_t group;            /* steps with one propagator, */
  int64_t watch;            /* and between two looks at what is watched */
  int64_t affine_width;     /* numbers of a row of each of the tables below */
  int64_t pair_width;
  int64_t rest_width;
  int64_t outputs_width;
  int64_t watched_width;
  int64_t within_width;
  int64_t n_fixed;          /* parameters that the tables hold for */
  int64_t first_before;     /* where in s the entries of y before begin, */
  int64_t n_before;         /* and how many they are */
  double begin;             /* [s] */
  double step;              /* [s] */
  Kernel rest;              /* u, y before and the other states, at the end of the step */
  Kernel propagate;         /* y at the end of the step: its t is the affine column, its d the propagator */
  Kernel interpolate;       /* the propagator: its t is the weight, its x the pair */
  Kernel outputs;           /* y (n_y) */
  Kernel watched;           /* what is watched (n_watched) */
  Kernel within;            /* the largest of the last of what is watched (1) */
  const Kernel *task;       /* the new m, see Model (n_tasks) */
  const int64_t *place;     /* of each state in s (n_x) */
  const int64_t *before;    /* of which entry of y each is (n_before) */
  const int64_t *fixed;     /* which parameters (n_fixed), */
  const double *fixed_values; /* and their values */
  const int64_t *knot;      /* of each group of steps with one propagator: the piece of the nominal motion that it is on, */
  const double *weight;     /* and how far along it, 0..1 */
  const double *affine;     /* (n_steps, affine_width) */
  const double *pairs;      /* propagators at the start of each piece and what they change on it (pieces, pair_width) */
  const double *rest_rows;  /* rows of the middle of each step */
  const double *outputs_rows; /* of each time to record, */
  const int64_t *row_step;  /* and the step that begins there */
  const double *watched_rows; /* of each look at what is watched, the start first, */
  const double *within_rows; /* and of the end of each step */
  const int64_t *task_width; /* of each task, numbers of a row and address of the rows of the ticks at which it is due (n_tasks) */
  const int64_t *task_rows;
} March;

/* A hybrid system by its kernels and its tables of sizes, clocks and guards. */
typedef struct {
  int64_t n_q;              /* positions, the first states */
  int64_t n_x;              /* states */
  int64_t n_m;              /* entries of the memory */
  int64_t n_d;              /* delayed signals */
  int64_t n_y;              /* outputs that are recorded */
  int64_t n_watched;        /* outputs behind these of which only the extremes are kept */
  int64_t n_within;         /* the last of these, which may be looked at in every step: what passes 0 there */
  int64_t n_guards;         /* guards */
  int64_t n_limited;        /* states with limits */
  int64_t n_tasks;          /* sampled tasks */
  int64_t n_breaks;         /* most times at which references may jump */
  int64_t n_kept;           /* numbers that an implicit step hands to the next */
  int64_t n_unknowns;       /* unknowns of an implicit step */
  int64_t n_problems;       /* complementarity problems */
  int64_t start_problems;   /* which of them are solved before start_action: the sum of 2^number */
  int64_t n_drives;         /* quantities that depend on time alone */
  int64_t n_drive_p;        /* parameters that decide them, 0: not known */
  int64_t n_conditions;     /* numbers whose levels decide between one course of the rates and another */
  int64_t n_entries;        /* entries of the box that bounds depend on */
  int64_t work_state;       /* 1 + the state that keeps books of work, 0: none */
  int64_t n_quadratures;    /* last states on which no rate depends: implicit methods find them by substitution */
  int64_t autonomous;       /* 1: the rates do not depend on time itself, delays aside */
  int64_t rhs_work;         /* operations of one call of rhs, */
  int64_t jacobian_work;    /* of jacobian and time_derivative together, */
  int64_t outputs_work;     /* and of outputs: what methods cost is compared by them; */
  int64_t bounds_work;      /* of enclosures and drifts together */
  int64_t delay_depth;      /* longest chain of delays that feed one another directly: jumps stay jumps along it */
  int64_t portable;         /* 1: the same bits on every platform: no step's length depends on the C library */
  int64_t base_numerator;   /* the base period as a fraction [s], 0: only known as base_period */
  int64_t base_denominator;
  double base_period;       /* time between ticks [s] */
  Kernel rhs;               /* x_dot (n_x) */
  Kernel jacobian;          /* df/dx (n_x * n_x), column by column */
  Kernel time_derivative;   /* partial df/dt (n_x) */
  Kernel position_rate;     /* q_dot (n_q) */
  Kernel outputs;           /* y (n_y + n_watched) */
  Kernel within;            /* the last of what is watched (n_within) */
  Kernel guards;            /* g (n_guards) */
  Kernel rates_and_guards;  /* [x_dot, g] (n_x + n_guards) in one call, where they share most of their work */
  Kernel guard_rates;       /* dg/dt along the motion (n_guards); its d is [d, d_dot] (n_d each) */
  Kernel limits;            /* [lower, upper] (n_limited each) */
  Kernel delayed;           /* present values of the delayed signals (n_d) */
  Kernel drives;            /* what depends on time alone and drives rates and guards (n_drives) */
  Kernel conditions;        /* the numbers whose levels decide (n_conditions) */
  Kernel enclosures;        /* middles and radii of guards, of x - upper and x - lower of limited states and of conditions, for
                               all points of a box (2, n_guards + 2 n_limited + n_conditions); its x is the box, see proof.c */
  Kernel drifts;            /* the same of their rates as the point moves through the box */
  Kernel step_guess;        /* implicit step: first u. Its x is [x0, x_dot0 (n_x each), w (n_kept), h, fresh, spectral
                               radius, u (n_unknowns)], its t the end; fresh: w is not from a step that ended here */
  Kernel step_residual;     /* r(u) (n_unknowns) */
  Kernel step_jacobian;     /* dr/du, column by column */
  Kernel step_end;          /* [x1, x_dot1, next w] */
  Kernel fused_step;        /* x1 in one call from x = [x0, h, time at the end, d at the start], d at the end */
  Kernel rosenbrock_step;   /* of a method of that family: its stages behind the slope at the start, then x1 (n_x each), and
                               above 0 where a solution misses its equations; from x = [x0, h, latest time to be seen] */
  Kernel start_action;      /* [x, m] made consistent once at the start, after the tasks due there */
  Kernel projection;        /* [x, m]: x put back on the constraints at the end of each step; m is not used */
  const int64_t *limited;   /* which states have limits (n_limited) */
  const int64_t *passage;   /* integrations from delayed signal j, row by row, to what delays keep as k, 1 at least (n_d * n_d) */
  const int64_t *condition_kind; /* of guards, limits and conditions, see JUMP (n_guards + 2 n_limited + n_conditions) */
  const int64_t *entries;   /* places in the box that bounds depend on (n_entries) */
  const int64_t *drive_p;   /* places of the parameters that decide drives, at least (n_drive_p) */
  const Kernel *task;       /* the new m (n_m); null: the caller's, see NEEDS_TASK (n_tasks) */
  const int64_t *task_period;    /* [ticks] (n_tasks) */
  const int64_t *task_offset;    /* first tick at which the task is due (n_tasks) */
  const int64_t *guard_direction; /* +1 rising, -1 falling, 0 both (n_guards) */
  const int64_t *guard_terminal;  /* 1: the event ends the run (n_guards) */
  const int64_t *guard_side;      /* 1 + place in m of the side of zero that a guard is on, -1 or 1; 0: none (n_guards) */
  const Kernel *guard_action;     /* [x, m] after the event; null: none; OUTSIDE: the caller's (n_guards) */
  const int64_t *guard_problems;  /* complementarity problems solved before that: the sum of 2^number (n_guards) */
  const Kernel *problem;          /* data of each, see complementarity.c (n_problems) */
  const int64_t *problem_rows;    /* its rows (n_problems) */
  const int64_t *problem_joints;  /* joints that they depend on (n_problems) */
  const int64_t *problem_place;   /* where in m its modes go, or forces, see contact_step.c (n_problems) */
  const int64_t *problem_events;  /* guard by which the first event of its contacts is noted, -1: none is (n_problems) */
  const double *scale;            /* nominal magnitude of each state (n_x) */
  const int64_t *unit;            /* number of each output's unit, 0 for none: numbers of about 1; negative: it holds (n_y) */
  const struct March *march;      /* null: steps are taken by the method alone */
} Model;

/* An integration method: its tables, see the families in steps.c, implicit.c, stabilised.c and contact_step.c. */
enum { EXPLICIT, SYMPLECTIC, ROSENBROCK, ESDIRK, STABILISED, IMPLICIT_STEP, FUSED_STEP, CONTACT_STEP };

typedef struct Method {
  int64_t family;
  int64_t stages;
  int64_t order;
  int64_t error_order;   /* power of h in the error estimate */
  int64_t adaptive;      /* 1: steps are chosen by their error */
  int64_t reuses_last;   /* 1: the last stage is the first of the next step */
  int64_t needs_end;     /* 1: the polynomial needs x_dot at the end, which stands behind the stages */
  int64_t n_dense;       /* stages that the polynomial is made of */
  double gamma;          /* diagonal of an implicit method */
  double stability;      /* of an adaptive explicit method: h |lambda| on the negative axis where its stability ends */
  const double *a;       /* (stages, stages) row by row, strictly lower triangle */
  const double *b;       /* (stages) */
  const double *c;       /* (stages) */
  const double *e;       /* weights of the error estimate (stages) */
  const double *C;       /* transformed Rosenbrock matrix (stages, stages) */
  const double *time_weights; /* factors of h df/dt (stages) */
  const double *P;       /* polynomial: powers 1 to 4 of theta of each stage (n_dense, 4) */
  const struct Method *stiff; /* takes over while that is cheaper, see choice.c; null: none */
} Method;

/* Settings of the integration. */
typedef struct {
  double step;            /* fixed step, or first adaptive one, 0: choose it [s] */
  double rtol;            /* error of state i in a step: at most atol scale_i + rtol |x_i| (root mean square) */
  double atol;
  double max_step;        /* [s] */
  double min_step;        /* 0: the resolution of time [s] */
  double spectral_radius; /* of implicit steps: what is left after a step of motions too fast for it */
  int64_t max_steps;      /* accepted and rejected */
} Solver;

/* Which rows are kept: points of every step and both sides of jumps; or given times by their right limits; or the first
   and last instant; or nothing. A row is [t, y, knot]: 1 where the outputs are not smooth, or may not be, see record.c. */
enum { RECORD_STEPS, RECORD_TIMES, RECORD_ENDS, RECORD_NOTHING };

typedef struct {
  int64_t kind;
  int64_t refine;       /* points of each step; 0: as many as the polynomials between them need */
  int64_t keep_end;     /* 1: with given times, the end of the run is kept too */
  int64_t watch_steps;  /* 1: with given times, the last of what is watched is looked at in every step too */
  int64_t n_times;
  int64_t most_rows;    /* beyond these the run ends; 0: rows are taken away as they come, see run_drop_rows */
  const double *times;  /* ascending (n_times) */
} Recording;

/* What is kept of an output that is watched. */
enum { FIRST, SMALLEST, SMALLEST_AT, LARGEST, LARGEST_AT, POSITIVE_AT, EXTREMES };

/* How a run stands: it goes on, or why it ended. */
enum {
  GOING, FINISHED, TERMINAL, INTERRUPTED, STEP_LIMIT, WALL_TIME, NOT_A_NUMBER, STEP_TOO_SMALL, OVERFLOWN, CHATTERING,
  FAILED, NOT_SOLVED, RECORD_FULL, NO_MEMORY
};

/* Why `run_advance` returned: the run has ended; the budget of steps is used up; task number task - 1 is the caller's,
   who writes m and sets m_changed where it differs; so is the action of guard number guard - 1, who writes x and m;
   located events are due (asked for by pause_at_events); a stiff step is to be tried, for which the model has no
   jacobian: the caller adds it, or sets only_explicit. Each time, calling again resumes the run. */
enum { ENDED, BUDGET_USED, NEEDS_TASK, NEEDS_ACTION, EVENTS_DUE, NEEDS_JACOBIAN };

/* Where in the hybrid step a run is: see run_advance. */
enum { BEGIN, EVENTS, TICKS, SETTLE, SEGMENT, CONCLUDE };

/* Rows of x: start and end of the step, argument of a stage, error estimate, point of the polynomial, df/dt, the five
   coefficients of the polynomial, the stages and perhaps x_dot at the end. */
enum { START, END, TRIAL, ERROR, POINT, TIME_SLOPE, DENSE, STAGE = DENSE + 5 };

/* Rows of guard_values: at the settled instant, in the middle and at the end of the step, at a point tried, places of
   the roots, at the instant before any action, at the start and the quarters of the step, at the places seen in it. */
enum { G_START, G_MIDDLE, G_END, G_POINT, G_ROOT, G_BEFORE, G_FIRST, G_QUARTER, G_LAST_QUARTER, G_SEEN };
enum { G_LEFT = G_QUARTER, G_RIGHT = G_LAST_QUARTER };
enum { MOST_SEEN = 32, N_GUARD_ROWS = G_SEEN + MOST_SEEN };

/* Kinds of conditions: the level that decides is the sign of a value, zero being of either side, at which something jumps, or
   bends; the whole number below it; the number of a row of a table, which rises with the place in it. UNBOUNDED: no bounds are known.
   STRAIGHT is added to the kind of a condition that is affine in time and states, LATE to one that what a delay keeps depends on. */
enum { JUMP, KINK, STAIR, TABLE, UNBOUNDED, STRAIGHT = 8, LATE = 16 };

/* What became of a guard at this instant: nothing; its root was located; it jumped across zero; it jumped and has
   acted; -LOCATED: it was located and has acted. */
enum { NOT_FIRED, LOCATED, JUMPED, JUMP_DONE };

/* Level of an instant at which no delayed signal jumps; a jump has level 1, and one more for each integration; 0 is of what
   jumps by itself. */
#define SMOOTH 1000000


/* Computes a function of a run's model, in place of calling it: out = kernel(t, x, d, m, p). */
typedef void (*Compute)(struct Run *run, Kernel kernel, double t, const double *x, const double *p, double *out);

/* One run. What stands before `model` changes on the way and is, with the arrays, the state of the run. */
typedef struct Run {
  /* The time axis: start, end of this portion and of the whole run, times closer than resolution are the same. */
  double t0;
  double t_end;
  double t_last;
  double resolution;
  /* The step: from t to t_new in a segment from t_segment to t_stop, none of whose functions sees a time beyond t_left,
     the left side of a jump. The step tried was h_tried long, and is cut at theta_end. */
  double t;
  double t_segment;
  double t_stop;
  double t_left;
  double t_new;
  double theta_end;
  double h_tried;
  double last_length;
  /* Step control: proposal, last error, allowed steps. */
  double h;
  double error_before;
  double max_step;
  double min_step;
  double piece;           /* length of the last piece that rows were kept of, as part of its step */
  double event_at;        /* end of the step, where a guard fires there */
  double missed_at;       /* time of the first change that was passed over, of the first that was not decided */
  double unproven_at;
  double cut;             /* length of the step to be made again up to a change, 0: as proposed */
  double changed_at;      /* where steps last ended at a change of a condition */
  double across;          /* length of the present step, if it leads across a change at its start */
  double proof_work;      /* operations that proofs have taken */
  double reach;           /* how far ahead of the motion safe boxes are made [steps] */
  double smallest_step;
  double largest_step;
  /* The factorised matrix: shift I - scale J, or of an implicit step scale = its h, negative for a fresh one. */
  double matrix_scale;
  double matrix_shift;
  double newton_rate;     /* slowest convergence of Newton's method in the last step */
  double radius;          /* spectral radius of df/dx by which a stabilised step counts its stages [1/s] */
  /* Choice of the method: since when stability has limited explicit steps, and how long one was then; the same for the
     first that a stiff one replaced (0: it had become too small); the mean of the last steps, and of the last of the
     other method; the time covered by the stiff method; and when a step that had become too small was last given to the other one. */
  double stiff_since;
  double stiff_step;
  double replaced_at;
  double replaced_step;
  double mean_step;
  double other_mean;
  double stiff_time;
  double rescued_at;
  int64_t phase;
  int64_t status;
  int64_t offender;       /* state (numerical failures) or guard (TERMINAL, CHATTERING) responsible, or -1 */
  int64_t terminal;       /* terminal guard that fired, or -1 */
  int64_t budget;         /* steps until run_advance returns */
  int64_t k;              /* number of the step in its segment */
  int64_t slope_known;    /* whether the first stage is x_dot at START */
  int64_t end_known;      /* 1: x_dot at END stands behind the stages; -1: END was changed after the step */
  int64_t jacobian_known;
  int64_t matrix_serves;  /* whether Newton's method converged fast with the last derivatives */
  int64_t radius_age;     /* steps since the radius was estimated, -1: it does not hold here */
  int64_t dense_known;
  int64_t guards_known;   /* 1: those at END were computed with its slope */
  int64_t was_rejected;
  int64_t n_too_long;     /* steps in a row that guards found too long */
  int64_t was_cut;        /* the proposal was cut short by the end of the segment */
  int64_t bent;           /* the step ends where something bends: the level of that, 0: nothing does */
  int64_t cut_level;      /* level of the change up to which the step is to be made again */
  int64_t tick;
  int64_t last_tick;
  int64_t tick_due;
  int64_t task;           /* next task of this instant */
  int64_t guard;          /* next guard of this instant */
  int64_t returns;        /* guards that actions took back at this instant */
  int64_t next_break;
  int64_t n_breaks;
  int64_t stop_is_tick;
  int64_t stop_is_break;
  int64_t jump_level;
  int64_t armed;          /* whether guards have signs: not before the first instant is settled */
  int64_t paused;         /* whether located events have been shown to the caller */
  int64_t m_changed;
  int64_t x_changed;
  int64_t next_time;      /* of the times to record */
  int64_t n_rows;
  int64_t broken;         /* whether smoothness has ended since the last row */
  int64_t n_pieces;       /* pieces of steps that rows were kept of, and how many of them are more than the steps */
  int64_t n_added;
  int64_t errors_known;   /* whether output_errors are those of this step */
  int64_t n_probes;
  int64_t next_probe;     /* piece in which the next probe is taken */
  int64_t n_seen;         /* places of this step at which the guards are known */
  int64_t n_proven;       /* steps in which nothing changed unseen, proven; in which it was not decided; in which it did; and
                             the guard, limit or condition of the first such step */
  int64_t n_unproven;
  int64_t unproven;
  int64_t n_missed;
  int64_t missed;
  int64_t safe_known;     /* whether there is a safe box */
  int64_t pause;          /* steps until one is tried again, and how many these were */
  int64_t patch;
  int64_t n_cuts;         /* how often the present step was made again */
  int64_t set_aside;      /* how many are not looked at in this step, for the time being or without bounds; and how many guards */
  int64_t guards_aside;
  int64_t only_aside;     /* 1: guards that are not set aside are decided, and need no other look */
  int64_t crossed;        /* guard that a scan found to cross first, or -1 */
  int64_t quick;          /* changes in a row that follow one another closely */
  int64_t n_log;
  int64_t n_history;
  int64_t n_jumps;
  int64_t n_pace;
  int64_t pace_cursor;    /* the part of the pace at the start of the step */
  int64_t steps;
  int64_t marched;        /* steps by propagators */
  int64_t march_next;     /* 1 + the step that the working vector stands at; 0: none */
  int64_t rejected;
  int64_t steps_too_long; /* most fixed steps in a row that are too long for what drives the model */
  int64_t too_long_now;   /* how many were so up to now */
  int64_t evaluations;
  int64_t jacobians;
  int64_t factorisations;
  int64_t newton_iterations;
  int64_t ticks;
  int64_t is_stiff;       /* 1: the stiff method has taken over */
  int64_t failing;        /* 1: an explicit step has become too small, a stiff one is to try */
  int64_t only_explicit;  /* 1: there is no jacobian to be had */
  int64_t evidence;       /* explicit steps that may have been longer; with the stiff method, its steps since a look back */
  int64_t limited_steps;  /* explicit steps limited by stability, all of them */
  int64_t patience;       /* evidence after which a stiff step is tried */
  int64_t caution;        /* patience after a return to explicit steps */
  int64_t look_back;      /* stiff steps after which an explicit one is tried */
  int64_t phase_steps;    /* steps since a method took over */
  int64_t stiff_steps;
  int64_t stiff_phases;   /* how often the stiff method took over */
  int64_t trials;         /* steps tried with the other method that were not worth it */

  /* What the run was made for, and choices of the caller. */
  const Model *model;
  const Method *first_method;
  const Method *method;     /* that steps now: the first or its stiff one */
  const Solver *solver;
  const Recording *recording;
  const double *p;          /* parameters and what follows from them: the caller's */
  const double *p_jacobian; /* the same for jacobian and time_derivative; null: p */
  int64_t pause_at_events;  /* 1: return EVENTS_DUE before the actions of located events */
  int64_t open_end;         /* 1: at t_end something from outside may jump: it is seen from the left, like a break */
  int64_t n_active;         /* guards, and with adaptive methods the limits of states behind them */
  Compute compute;          /* null: functions are called */
  void *lane;               /* of whoever computes them */
  int64_t plain;            /* 1: at a tick nothing can happen but its tasks, all of them compiled */
  int64_t on_line;          /* 1: fixed steps that nothing ends, looked at along the line between their ends */
  int64_t n_curved;         /* conditions that may change and change back along a line */

  /* Arrays of fixed size, one block. */
  int64_t n_block;          /* numbers in the block */
  double *memory;           /* the block, and room before it to begin with a line of the cache */
  double *block;
  double *x;                /* (rows, n_x): see START */
  double *m;                /* (n_m) */
  double *d;                /* delayed signals as last read, behind them their rates where these are needed (2, n_d) */
  double *changed;          /* what a task or an action writes (n_x + n_m) */
  double *columns;          /* df/dx (n_x, n_x) */
  double *factors;          /* of the iteration matrix */
  double *inputs;           /* x of the kernels of a step that the model gives */
  double *work;             /* working vector of a march (n_work), */
  double *work_outputs;     /* what its outputs write (n_y + n_watched), */
  double *propagator;       /* and the propagator (pair_width / 2) */
  double *finish;           /* what step_end writes (2 n_x + n_kept) */
  double *correction;       /* of an implicit step's unknowns (n_unknowns) */
  double *guard_values;     /* (N_GUARD_ROWS, n_guards + 2 n_limited) */
  double *seen_at;          /* the places (MOST_SEEN) */
  double *both;             /* what rates_and_guards writes (n_x + n_guards) */
  double *problem;          /* data of a complementarity problem and room to solve it */
  double *bounds;           /* lower and upper limits (2, n_limited) */
  double *condition_values; /* at both ends of a part of a step, at a point of it (3, n_conditions) */
  double *box;              /* middles, radii, and those of the rates, of time, states, delayed signals and memory */
  double *safe;             /* lower and upper ends of a box in which nothing changes (2, n_entries) */
  double *bounds_found;     /* what enclosures and drifts write */
  int64_t *open;            /* whether each of these is left open by its bounds */
  int64_t *rest;            /* steps for which each of these was last not looked at */
  int64_t *tired;           /* steps in which each of these is not looked at: its bounds decided nothing */
  int64_t *level;           /* of each guard, limit and condition, on the left of the part of the step looked at */
  double *extremes;         /* of what is watched: first, smallest, its time, largest, its time, when first positive
                               (nan: never) (EXTREMES, n_watched) */
  double *delay;            /* how late each delayed signal is [s], positive (n_d); the caller's */
  double *before;           /* delayed signals before the start (n_d); the caller's */
  double *nodes;            /* delayed signals at five points of a step (5, n_d) */
  double *breaks;           /* times that steps must meet exactly, ascending (n_breaks); the caller's, and those found */
  double *largest;          /* magnitude of each output so far (n_y) */
  double *floor;            /* error of each output between rows that is allowed whatever its size (n_y) */
  double *output_errors;    /* what the error of the step makes of the outputs (n_y) */
  double *excess;           /* by how much the error of each output exceeds what is allowed (n_y) */
  double *fired_at;         /* last times at which guards with actions fired (n_guards, STORM_EVENTS) */
  int64_t *n_fired;         /* how often they did (n_guards) */
  int64_t *sign;            /* of each guard at the start of the step */
  int64_t *from_rate;       /* 1: the sign is that of the guard's rate; LEAVING: it is kept, the guard leaves its root */
  int64_t *fired;           /* see NOT_FIRED */
  int64_t *pivots;
  int64_t *task_due;        /* tick at which each task is due next (n_tasks) */
  int64_t *cursor;          /* step of the history that each delay reads at the start of the step, -1 before t0 (n_d) */
  int64_t *next_jump;       /* first jump that has not reached each delayed signal yet (n_d) */
  int64_t *arrived;         /* lowest level of what reached each of them at this instant (n_d) */

  /* Arrays that grow; their lengths stand above. */
  double *rows;             /* recorded [t, y, knot] */
  int64_t row_capacity;
  double *probes;           /* [t, y, what the error of the step makes of y] between rows, to judge interpolation by */
  int64_t probe_capacity;
  double *log;              /* events [t, guard] */
  int64_t log_capacity;
  double *history;          /* steps [start, end, 1 / length, w0, w1, a, b, c of each delayed signal] */
  int64_t history_capacity;
  double *jumps;            /* [t, level of each delayed signal] of what will reach them */
  int64_t jump_capacity;
  double *pace;             /* [t, longest step here, longest step from there on] where drives change: see drives.c */
  int64_t pace_capacity;
  double *plan;             /* the last pace found and what it was found for, kept from run to run: see drives.c */
} Run;

/* A run with room for all arrays; null where there is no memory. The caller then fills x[START], m, p, delay, before,
   breaks and n_breaks. */
ENGINE_API Run *run_new(const Model *model, const Method *method, const Solver *solver, const Recording *recording);
ENGINE_API void run_free(Run *run);
/* As made: for another run of the same model, method, solver and recording. */
ENGINE_API void run_reset(Run *run);
/* Stand at t0, before its events and tasks; t_last is the end of the whole run, or infinite. */
ENGINE_API void run_begin(Run *run, double t0, double t_last);
/* Let the run go on to another end than t_last, also after it has finished a portion. An infinite end is for a run whose
   steps another integrator takes: with a budget of no steps, run_advance settles the instant at which the run stands and
   plans the next, t_stop. */
ENGINE_API void run_extend(Run *run, double t_end);
/* Go on until the run ends or the caller is needed: ENDED, BUDGET_USED, ... */
ENGINE_API int64_t run_advance(Run *run);
/* Note the guards at the instant that ended a portion, before the caller changes memory there. */
ENGINE_API void run_note(Run *run);
/* Take as many steps as can be taken by the propagators of its model: see March. */
ENGINE_API void march(Run *run);
/* Stand again at that instant, after its tasks: the caller has changed x, or m, or what acts like a break (parameters).
   Guards that this makes jump across zero fire. */
ENGINE_API void run_reopen(Run *run, int64_t x_changed, int64_t m_changed, int64_t jumped);
/* For a run whose steps another integrator takes, which writes x[START] and t: how many guards have crossed zero since
   the last instant. */
ENGINE_API int64_t run_watch(Run *run);
/* Stand at an instant, time t, before its events and tasks: the guards that have crossed fire, and what was planned for
   t_stop is due when t is not earlier, but for the rounding of sums. */
ENGINE_API void run_arrive(Run *run, double t);
/* End a run from outside, with its last row. */
ENGINE_API void run_conclude(Run *run, int64_t status);
/* Forget the rows but the last so many, which it still compares the next with: whoever takes rows away while the run goes on
   has copied them. */
ENGINE_API void run_drop_rows(Run *run, int64_t kept);
/* The state of a run as bytes without addresses, for a run of the same model and method; the record is not in it, only
   its length: 0 where there is no memory for it. */
ENGINE_API int64_t run_state_size(const Run *run);
ENGINE_API void run_save(const Run *run, void *state);
ENGINE_API int64_t run_restore(Run *run, const void *state, int64_t size);
/* A function of the model that computes one robot in each lane: one address a lane, but for the parameters, which stand
   side by side. */
typedef void (*LaneKernel)(const double **t, const double **x, const double **d, const double **m, const double *p, double **out);

/* Runs of one model that are carried out at once, see lanes.c: some functions of one robot, the cheapest first, and the same in lanes, numbers
   of parameters, a table that is the same for all runs, the most numbers that a function gives. Null where there are no
   lanes, or no memory. */
typedef struct Pack Pack;
ENGINE_API Pack *pack_new(int64_t n_lanes, int64_t n_kernels, const Kernel *kernels, const LaneKernel *vectors, int64_t n_p,
                          const double *table, int64_t n_table, int64_t longest);
ENGINE_API void pack_free(Pack *pack);
/* Carry out runs until run_advance has returned for each, or for so many calls of functions: how many are under way; then
   the same call goes on with them. reasons: what run_advance returned. */
ENGINE_API int64_t pack_advance(Pack *pack, Run **runs, int64_t n_runs, int64_t *reasons, int64_t budget);
/* A function of many robots, so many times: arrays t, x, d, m, p and out with the distance from one robot's numbers to the
   next, 0 where all have the same; out may be x. t: the time, how much it grows from one time to the next, the start. n_p:
   parameters; side_by_side: room for those of all lanes, with the table behind them. */
ENGINE_API void compute_many(LaneKernel vector, int64_t n_lanes, int64_t n, int64_t times, double *const *arrays,
                             const int64_t *strides, int64_t n_p, double *side_by_side);
/* Calls of functions until now, how many robots these computed, and how many of them in convoys. */
ENGINE_API void pack_count(const Pack *pack, int64_t *counts);
/* A check of what a run has watched: energy that appears or vanishes (five rows from `row` on), constraints that are not kept,
   what is to give no energy, any other invariant. */
enum { CHECK_BALANCE, CHECK_CLOSED, CHECK_PASSIVE, CHECK_INVARIANT };

typedef struct {
  int64_t form;
  int64_t row;          /* of what is watched: how far it is violated */
  int64_t size;         /* row of the size that it is measured by */
  int64_t relative;     /* 1: judged as part of that size */
  double limit;
} Check;

/* Largest magnitude, root mean square, mean over time, last value, largest and smallest value, time of the largest
   magnitude. */
enum { MEASURE_PEAK, MEASURE_RMS, MEASURE_MEAN, MEASURE_FINAL, MEASURE_MAX, MEASURE_MIN, MEASURE_TIME_OF_PEAK };

/* What was recorded of a run, rows at some distance from one another, and what its outputs were between them. */
typedef struct {
  int64_t n_y;
  const int64_t *unit;      /* of each output, see Model */
  const int64_t *rate;      /* output that is its rate, -1: none */
  const int64_t *degree;    /* how many times it is itself the rate of another */
  int64_t n_rows;
  const double *t;
  int64_t t_next;
  const double *y;
  int64_t y_next;
  const double *knot;
  int64_t knot_next;
  int64_t n_probes;
  const double *probes;     /* [t, y, what the error of the step makes of y] */
  int64_t probe_next;
} Record;

/* Runs of one model that differ in their parameters alone: how they begin, and what is asked of them. */
typedef struct {
  const double *x;          /* states at the start (n_x) */
  const double *m;          /* memory (n_m) */
  const double *delay;      /* see Run */
  const double *before;
  const double *breaks;
  int64_t n_breaks;
  int64_t n_checks;
  const Check *checks;
  int64_t most_too_long;    /* steps in a row that may be too long for what drives the model */
  int64_t events_count;     /* 1: a run with events is for the caller to judge */
  double *found;            /* room for what the checks find (n_checks, 3) */
  const Record *reading;    /* how outputs are read between rows, whose errors are to be judged; null: they are not */
  double share;             /* of the probes that must keep the limit */
  double most_between;      /* that limit */
  double *errors;           /* room for the errors between rows (n_y) */
  int64_t n_measures;
  const int64_t *kinds;     /* of the measures */
  const int64_t *columns;   /* outputs that they are of */
} Slice;

/* Value, limit and time of each check (n_checks, 3) of extremes as those of a run (EXTREMES, n_watched); duration: simulated
   time; longest: the longest step. */
ENGINE_API void check_watched(const Check *checks, int64_t n_checks, const double *extremes, int64_t n_watched, double duration,
                              double atol, double longest, double *found);
/* One number of a signal y at the times t of n rows, at a distance `next` from one another. */
ENGINE_API double take_measure(int64_t kind, int64_t n, const double *t, const double *y, int64_t next);
/* By how much reading each output between rows is off, as part of its size, in all but a share of the probes (n_y); 0 of those
   that hold. 0: there are no rows, or no memory. */
ENGINE_API int64_t find_errors_between(const Record *record, double share, double *errors);
/* Begin runs again from their first instant; their parameters stand where they stood before. */
ENGINE_API void slice_begin(const Slice *slice, Run **runs, int64_t n);
/* Of runs that have ended: 1 where the end was reached and every check holds, and then the measures (n, n_measures). */
ENGINE_API void slice_judge(const Slice *slice, Run **runs, int64_t n, int64_t *sound, double *measures);
/* Rows of a record as columns of few bytes, see columns.c. First, for rows at the times t, weights (4 n) that all columns share;
   then the columns y (n, n_columns) for so many bytes of each number (widths), one behind the other (8 n n_columns bytes are
   enough); off by at most half its quantum, a power of two, or exact where that is 0. Work: 2 n numbers. n is at least 1. */
ENGINE_API void column_weights(int64_t n, const double *t, double *weights);
ENGINE_API void encode_columns(int64_t n, int64_t n_columns, const double *weights, const double *y, const double *quanta,
                               double *work, unsigned char *planes, int64_t *widths);
ENGINE_API void decode_column(int64_t n, const double *weights, double quantum, int64_t width, const unsigned char *planes,
                              double *y);
/* Sizes of Model, Method, Solver, Recording, Run, Check, Slice, Record and March, to be compared with those read from this text. */
ENGINE_API void engine_sizes(int64_t *sizes);

#endif
