/* An exported model at work: what is a run of the engine whose parameters, inputs and start values others set?

   Sizes, tables and functions of the model stand in model.h, which is generated. */

#ifndef UNIT_H
#define UNIT_H

#include "engine.h"
#include "model.h"

#define ROOM(n) ((n) > 0 ? (n) : 1)

/* What others have set, which is, with the run, all that can be saved and put back. A start that is looked for is
   unsettled when parameters or inputs have been changed before it, unless start values have been placed. */
typedef struct {
  double start, stop, tolerance;
  double time; /* of the integrator outside */
  double p[ROOM(N_P + N_PRELUDE + N_DATA)]; /* parameters, what depends on them alone, the run's table */
  double u[ROOM(N_INPUTS)];
  double x0[ROOM(N_X)];
  double shown[ROOM(N_X)];        /* states as the integrator outside last knew them */
  int32_t held[ROOM(N_LIMITED)];  /* 1: stands at the upper limit, -1: at the lower one, and would go on */
  int32_t exchange;  /* another integrator carries the states */
  int32_t mode;      /* for whoever holds the unit */
  int32_t stale;     /* parameters have been changed since the prelude was computed */
  int32_t moved;     /* states have been changed since the last step */
  int32_t begun;
  int32_t unsettled;
  int32_t placed;
} Settings;

typedef struct {
  Settings set;
  Solver solver;
  Run *run;
  const Recording *recording; /* of a run as a whole; null: it goes from one communication point to the next */
} Unit;

/* 0 where there is no memory. */
int unit_reset(Unit *unit);
void unit_free(Unit *unit);
/* Tolerances as they have been set. */
void unit_set_tolerance(Unit *unit);
/* Stand at the start; unless it waits for the next call of unit_advance, the first instant: tasks due at tick 0; then the
   state is made consistent. 0, with a complaint, where it cannot be. A run as a whole goes on to its stop. */
int unit_begin(Unit *unit, int waits, char *complaint, size_t room);
/* Go on to a communication point: what the engine's run_advance returned. With pauses, before the actions of a located
   event too; the next call, also one to the same time, carries them out. Where another integrator carries the states, to
   an infinite time: the instant is settled and the next one planned. */
int64_t unit_advance(Unit *unit, double t_end, int pauses);
/* Whether events wait for unit_advance, or the first instant does. */
int unit_has_events(const Unit *unit);
/* Outputs at the present state, with parameters and inputs as they have been set. */
void unit_outputs(Unit *unit, double *y);
/* x_dot, and the event indicators: guards, then limited states by their limits; see exchange.c. */
void unit_rates(Unit *unit, double *rates);
void unit_indicators(Unit *unit, double *indicators);
/* slopes.c: dy = (dy/dx, dy/dm, dy/dp) seed, the slopes of all outputs along a direction of states, memory and
   parameters; behind them those of the rates where these are shown. */
void unit_slopes(Unit *unit, const double *seed, double *slopes);
/* Before the start, states and past are what they would be from here. */
void unit_look(Unit *unit, double *m);

/* text.c: like snprintf, with %s and %g only. */
void compose(char *to, size_t room, const char *format, ...);
/* Another integrator carries the states: its time; whether an instant is due after its step; stand at an instant; note
   which states are held at their limits after it, and whether any state has been changed. */
void exchange_set_time(Unit *unit, double t);
int exchange_is_due(Unit *unit);
void exchange_arrive(Unit *unit);
int exchange_settle(Unit *unit);
/* States at which the model is evaluated. */
void place_states(Unit *unit, const double *m, double *x);

/* start.c, shortest.c */
int find_start(Unit *unit, char *complaint, size_t room);
void solve_shortest(double *A, double *b, int rows, int columns, double part, double *x);

#endif
