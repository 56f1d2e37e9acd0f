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

/* A run with what it is read by and what it is told by. */
typedef struct {
  Run *run;
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
  double *begun;           /* when the run began its macro step */
  double *impulse;         /* then, of each mean (n_means) */
  const int64_t *impulses; /* places of impulses and of forces among what is read (n_means) */
  const int64_t *forces;
  const int64_t *spheres;  /* first entry of each unit quaternion among the positions and the one behind its last (n_spheres, 2) */
  double since;            /* begin of the last macro step [s] */
  int64_t n_read;
  int64_t n_means;
  int64_t n_values;
  int64_t n_spheres;
  int64_t clock;           /* place among the values of the time of the last exchange, -1: none */
  int64_t span;            /* and of the macro step that its models are implicit in, -1: none is */
  int64_t moved;           /* whether its states were changed at this exchange */
} CoupledRun;

/* Outputs of one run that feed inputs of another together. */
typedef struct {
  Trend *trend;
  Trend *scratch;         /* of the same size */
  const int64_t *outputs; /* (size) */
  const int64_t *inputs;  /* places of c0, then c1, then c2 among the target's values (3, size) */
  double gain;
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
  const int64_t *expected;  /* among the outputs: position, velocity, orientation that this side takes the other's for */
  const int64_t *matrix;    /* among the values: inertia or mobility of the model taken, lower triangle row by row */
  const int64_t *course;    /* c0, c1, c2 of its force or acceleration (3, rows) */
  const int64_t *turned;    /* the far side's rotation (9), null: none */
  const int64_t *states;    /* among the states: position, velocity and turn of the far side, where it is elastic */
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
  int64_t join;
} Pair;

/* Why coupling_advance returned: there is no room for rows; the end is reached; a run needs its caller or has ended, see
   `unit` and `reason`; a model does not exist, see `pair` and `side`; a signal is beyond all bounds. */
enum { ROWS_FULL, COUPLING_ENDED, UNIT_RETURNED, NO_MODEL, SIGNAL_DIVERGED };

typedef struct {
  CoupledRun *units;
  Channel *channels;
  Pair *pairs;
  const int64_t *kept;    /* unit and output of what is written down after an exchange (n_kept, 2) */
  const int64_t *booked;  /* and at the beginning and the end of a run's macro step (n_booked, 2) */
  double *rows;           /* time, step; gap and condition of each pair; kept; booked at the beginning; at the end */
  double time;
  double end;             /* of the macro step under way */
  double step;
  double duration;
  double condition_limit;
  double condition_warning;
  double largest_value;
  int64_t n_units;
  int64_t n_channels;
  int64_t n_pairs;
  int64_t n_kept;
  int64_t n_booked;
  int64_t n_rows;
  int64_t row_capacity;
  int64_t passed;         /* macro steps */
  int64_t sequential;
  int64_t under_way;      /* 1: units[next] goes on, or begins where `entered` is 0 */
  int64_t next;
  int64_t entered;
  int64_t budget;         /* micro steps after which a run returns */
  int64_t unit;
  int64_t reason;
  int64_t pair;
  int64_t side;
} Coupling;

/* Macro steps until the caller is needed; calling again goes on. A run that has ended counts as arrived. */
ENGINE_API int64_t coupling_advance(Coupling *coupling);

/* A reduced model of k rows as numbers: M_eff (k k), mobility (k k), lambda~ (k), z (k), acceleration (k), condition. */
#define MODEL_SIZE(k) (2 * (k) * (k) + 3 * (k) + 1)
ENGINE_API int64_t interface_work(int64_t n, int64_t k, int64_t m);
ENGINE_API void interface_reduce(const Port *port);
/* The change of v nearest in kinetic energy, an attached inertia (k, k) included, for a wanted change of w; after
   interface_prepare for this inertia. */
ENGINE_API void interface_prepare(const Port *port, const double *inertia);
ENGINE_API void interface_direct(const Port *port, const double *wanted, double *change);
/* Inverse of a symmetric matrix on what is independent; work: 2 n n + n. */
ENGINE_API void invert_symmetric(const double *S, int64_t n, double *inverse, double *work);
/* Common motion of two sides, [position, velocity, rotation row by row] each. */
ENGINE_API void interface_join(const Pair *pair, double *motion);
ENGINE_API void coupling_sizes(int64_t *sizes);

#endif
