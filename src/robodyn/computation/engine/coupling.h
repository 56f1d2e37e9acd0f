/* Coupled runs: what do runs exchange that are advanced together, one macro step after the other?

   Structures are read as those of engine.h are. Arrays belong to the caller; places are numbers of entries. */

#ifndef COUPLING_H
#define COUPLING_H

#include "engine.h"

/* out = f(p): what depends on parameters alone. */
typedef void (*Prelude)(const double *p, double *out);

/* The last values of a vector, as many as a polynomial of an order goes through, each at an instant or the mean over a span. */
typedef struct {
  int64_t order;
  int64_t size;
  int64_t count;    /* values so far, at most order + 1 */
  double *spans;    /* begin and end of each [s] (order + 1, 2) */
  double *values;   /* (order + 1, size) */
} Trend;

/* One subsystem: a run with what it is read by and what it is told by, or one that the caller moves. */
typedef struct {
  Run *run;                /* null: the caller reads, writes and advances it */
  Kernel read;             /* outputs that are exchanged or written down (n_read) */
  Prelude run_prelude;     /* of the run's parameters, of its derivatives' and of its interfaces'; null: none */
  Prelude jacobian_prelude;
  Prelude port_prelude;
  double *values;          /* of the tunable numbers (n_values) */
  double *run_p;           /* [values, prelude, table] */
  double *jacobian_p;      /* null: the run's own */
  double *port_p;
  double *outputs;         /* as read last: what was read, then means of forces over the last macro step (n_read + n_means) */
  double *noted;           /* after the exchange */
  double *begun;           /* when the unit began its macro step */
  double *arrived;         /* at its end, before the event that it is cut at */
  double *saved;           /* where the macro step began, before the exchange */
  double *impulse;         /* when the macro step began, of each mean (n_means) */
  const int64_t *impulses; /* places of impulses and of forces among what is read (n_means) */
  const int64_t *forces;
  const int64_t *spheres;  /* first entry of each unit quaternion among the positions and the one behind its last (n_spheres, 2) */
  double since;            /* begin of the last macro step [s] */
  double event;            /* first event of the macro step that moved outputs [s]; infinite: none */
  int64_t jumped;          /* whether there was an event after its beginning */
  int64_t early;           /* whether the caller has filled `arrived` */
  int64_t n_read;
  int64_t n_means;
  int64_t n_values;
  int64_t n_spheres;
  int64_t clock;           /* place among the values of the time of the last exchange, -1: none */
  int64_t span;            /* and of the macro step that its models are implicit in, -1: none is */
  int64_t moved;           /* whether its states were changed at this exchange */
} CoupledUnit;

/* Outputs of one unit that feed inputs of another together. */
typedef struct {
  Trend *trend;
  Trend *scratch;         /* of the same size */
  Trend *saved;
  const int64_t *outputs; /* (size) */
  const int64_t *inputs;  /* places of c0, then c1, then c2 among the target's values (3, size) */
  double *course;         /* the polynomials sent last, for a target that the caller writes (n_course, size) */
  int64_t n_course;       /* 0: nothing was sent */
  double gain;
  double largest;         /* magnitude so far */
  double largest_saved;
  int64_t source;
  int64_t target;
  int64_t late;           /* they depend on what is sent in the same exchange */
  int64_t mean;           /* they are means over the last macro step */
} Channel;

/* How a port takes the model of the other side. */
enum { TAKES_NONE, TAKES_RIGID, TAKES_ELASTIC };

/* How two sides that take models rigidly come together: each by the other's share of the inertia, both halfway, or not. */
enum { JOIN_INERTIA, JOIN_MEAN, JOIN_NONE };

/* One side of a connection, with the terms of its equations there. */
typedef struct {
  Kernel terms;             /* M, c, f, A_i, A_i' v, A_c, A_c' v, which constraints hold, N, motion: see reduced.py */
  Trend *trend;             /* of the acceleration sent */
  Trend *saved;
  const int64_t *velocity;  /* among the outputs (rows) */
  const int64_t *expected;  /* among the outputs: position, velocity, orientation that this side takes the other's for */
  const int64_t *matrix;    /* among the values: inertia or mobility of the model taken, lower triangle row by row */
  const int64_t *course;    /* c0, c1, c2 of its force or acceleration (3, rows) */
  const int64_t *turned;    /* the far side's rotation (9), null: none */
  const int64_t *states;    /* among the states: position, velocity and turn of the far side, where it is elastic */
  double *sent;             /* c0, c1, c2 of the acceleration sent (n_sent, rows) */
  int64_t n_sent;
  double *wanted;           /* motion that this side goes on with after the exchange, or the far side's, see `moves` */
  int64_t moves;            /* 0: it keeps its own motion */
  double *term_values;
  double *model;            /* see MODEL_SIZE */
  double *work;             /* see interface_work */
  double *change;           /* of velocities (n_v) */
  double length;            /* in units of which rotations are compared with displacements [m] */
  double warned_at;         /* when its condition number was first beyond the warning [s]; not a number: never */
  double warned;            /* and what it was */
  int64_t unit;
  int64_t rows;
  int64_t n_q;
  int64_t n_v;
  int64_t n_constraints;
  int64_t rotates;
  int64_t takes;
  int64_t gives;            /* whether the other side takes its model */
} Port;

/* Two ports that are one place. */
typedef struct {
  Port *first;
  Port *second;
  double gap;        /* between the sides before the last exchange, or the angle if that is larger */
  double condition;  /* the larger of the models' condition numbers */
  double speed;      /* largest so far */
  int64_t join;
} Pair;

/* What is asked of the caller, who then calls again: of `unit` to read its outputs; to write the channels that have a course;
   to start it; to move it to `end`; to do what its run returned for (`reason`); to say how it ended before `end`; to save it
   and to go back there; to write down the macro step. Of the port `side` of `pair` to give its model, or to take the other's.
   The answer to `move`, `serve` and `end` stands in `answer`. */
enum { DONE, READ_UNIT, WRITE_UNIT, START_UNIT, MOVE_UNIT, SERVE_UNIT, END_UNIT, SAVE_UNIT, RESTORE_UNIT, RECORD_UNIT, GIVE_MODEL, TAKE_MODEL,
/* Why there is nothing more to do for now: all units have started; there is no room for rows; or for good: the end is reached;
   a unit has stopped; a model does not exist, see `pair` and `side`; a signal is beyond all bounds. */
       STARTED, ROWS_FULL, COUPLING_ENDED, UNIT_STOPPED, NO_MODEL, SIGNAL_DIVERGED };

/* Answers: the unit goes on; it ends the run where all units arrive; it could not get there. */
enum { GOES_ON, ENDS_THERE, STOPPED_BEFORE };

typedef struct {
  CoupledUnit *units;
  Channel *channels;
  Pair *pairs;
  const int64_t *kept;    /* unit and output of what is written down after an exchange (n_kept, 2) */
  const int64_t *booked;  /* and at the beginning and the end of a run's macro step (n_booked, 2) */
  double *rows;           /* time, step; gap and condition of each pair; kept; booked at the beginning; at the end */
  double time;
  double end;             /* of the macro step under way */
  double noted_at;        /* time of the last exchange after which all units were read [s] */
  double step;            /* the next one, where it is adapted */
  double first_step;
  double planned;         /* before an event cut it */
  double cut;             /* where the macro step is cut at an event [s]; infinite: nowhere */
  double duration;
  double tolerance;       /* of the coupling error; 0: the macro step is fixed */
  double error;           /* of the last macro step, in units of the tolerance */
  double missed;          /* first error beyond it that was taken in the smallest step */
  double missed_at;       /* when [s]; not a number: never */
  double least_scale;     /* largest value as long as all are smaller */
  double smallest_step;
  double largest_step;
  double condition_limit;
  double condition_warning;
  double largest_value;
  int64_t order;          /* smallest power of the step in any coupling error */
  int64_t n_units;
  int64_t n_channels;
  int64_t n_pairs;
  int64_t n_kept;
  int64_t n_booked;
  int64_t n_rows;
  int64_t row_capacity;
  int64_t passed;         /* macro steps of the first length */
  int64_t steps;          /* macro steps taken, tried again because of their error, and because of an event */
  int64_t rejected;
  int64_t n_cut;
  int64_t sequential;
  int64_t cuts;           /* whether macro steps are cut at events */
  int64_t restores;       /* whether they are tried again */
  int64_t closing_steps;  /* Newton steps that join an interface, at most */
  int64_t budget;         /* micro steps after which a run returns */
  int64_t unit;
  int64_t pair;
  int64_t side;
  int64_t looking;        /* whether outputs are read that will be `noted` */
  int64_t reason;
  int64_t answer;
  int64_t ended;          /* the answer that ends the run */
  int64_t asked;
  int64_t advance_at;     /* where the routines of these names go on; 0: from their beginning */
  int64_t move_at;
  int64_t exchange_at;
  int64_t look_at;
  int64_t save_at;
  int64_t restore_at;
} Coupling;

/* Macro steps until the caller is needed; calling again goes on. */
ENGINE_API int64_t coupling_advance(Coupling *coupling);
/* Parts of it by themselves: an exchange at the present time for a macro step to `end`; all that changes, saved and restored. */
ENGINE_API int64_t coupling_exchange(Coupling *coupling);
ENGINE_API int64_t coupling_save(Coupling *coupling);
ENGINE_API int64_t coupling_restore(Coupling *coupling);
/* A last row without a macro step: as noted after an exchange here, otherwise as read last. */
ENGINE_API void coupling_note(Coupling *coupling);

/* What is done with a unit that is a run: read its outputs; prepare what depends on its numbers alone; write polynomials of time
   (n, size) from `begin` on into its values at some places, zeros behind them (3, size); attach the model of a port of the other
   side, with the motion in port->wanted. */
ENGINE_API void unit_read(CoupledUnit *unit);
ENGINE_API void unit_prepare(const CoupledUnit *unit);
ENGINE_API void unit_write(CoupledUnit *unit, const double *course, int64_t n, int64_t size, const int64_t *places, double begin);
ENGINE_API void unit_reduce(const CoupledUnit *unit, const Port *port);
ENGINE_API void unit_attach(CoupledUnit *unit, const Port *port, const Port *sender, double time, int64_t closing_steps);

/* A reduced model of k rows as numbers: M_eff (k k), mobility (k k), lambda~ (k), z (k), acceleration (k), condition. */
#define MODEL_SIZE(k) (2 * (k) * (k) + 3 * (k) + 1)
ENGINE_API int64_t interface_work(int64_t n, int64_t k, int64_t m);
ENGINE_API void interface_reduce(const Port *port);
/* Inverse of a symmetric matrix on what is independent; work: 2 n n + n. */
ENGINE_API void invert_symmetric(const double *S, int64_t n, double *inverse, double *work);
/* Common motion of two sides, [position, velocity, rotation row by row] each. */
ENGINE_API void interface_join(const Pair *pair, double *motion);
ENGINE_API void coupling_sizes(int64_t *sizes);

#endif
