/* What do lanes and convoys know of each other? See lanes.c, convoy.c. */

#ifndef LANES_H
#define LANES_H

#include "parts.h"

enum { MOST_LANES = 8 };

#if defined __x86_64__ && !defined _WIN32
#define HAS_LANES 1
#else
#define HAS_LANES 0
#endif

/* What a lane does: nothing; it may go on; it waits for a function; it follows the leader of a convoy. */
enum { IDLE, READY, WAITING, FOLLOWING };

struct Lane {
  void *place;            /* where its stack stands, while it does not run */
  char *stack;
  Pack *pack;
  Run *run;
  int64_t number;         /* of the run in the queue */
  int64_t status;
  int64_t waited;         /* calls of others since it waits */
  Kernel kernel;          /* what it waits for, with these arguments */
  double t;
  const double *x;
  const double *p;
  double *out;
};

struct Pack {
  void *place;            /* where the caller's stack stands, while a lane runs */
  const void *bottom;     /* of the caller's stack, and its size: for engines that check their memory */
  size_t size;
  int64_t entering;       /* 1: the caller has just let a lane go on */
  int64_t n_lanes;
  int64_t n_kernels;
  const Kernel *kernels;  /* functions of one robot, the cheapest first, */
  const LaneKernel *vectors; /* and the same of one in each lane */
  int64_t n_p;            /* parameters of a run; its table, the same for all, stands behind them */
  double *memory;         /* of what follows, which begins with a line of the cache: */
  double *p;              /* parameters side by side (n_p, n_lanes), then the table */
  double *nowhere;        /* where lanes write that nobody is in */
  double *side_by_side;   /* working vectors, memory and outputs of runs that march, grown when first needed */
  int64_t n_side_by_side;
  Run **queue;
  int64_t *reasons;       /* why run_advance returned, of each run of the queue */
  int64_t n_queue;
  int64_t next;
  int64_t budget;         /* calls of functions until pack_advance returns */
  int64_t calls;          /* of functions since the pack was made, and how many robots these computed */
  int64_t computed;
  int64_t computed_together; /* of these, in convoys */
  int64_t n_convoy;       /* lanes of the convoy under way, its leader first, and rows that it has kept */
  int64_t convoy[MOST_LANES];
  int64_t convoy_rows;
  int64_t moved;          /* whether its followers stand at the end of the step they have made */
  struct Lane lane[MOST_LANES];
};

/* lanes.c */
LaneKernel find_vector(const Pack *pack, Kernel kernel);
void compute_vector(Pack *pack, LaneKernel vector, const int64_t *group, int64_t count);
void wait_for(Run *run, Kernel kernel, double t, const double *x, const double *p, double *out);

/* march.c */
void march_together(Pack *pack, const int64_t *group, int64_t count);

/* convoy.c */
int are_alike(const Run *a, const Run *b);
void begin_convoy(Pack *pack, Kernel kernel, const int64_t *group, int64_t count);

#endif
