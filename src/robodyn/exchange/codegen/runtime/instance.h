/* What does a user of the unit hold, whichever version of the interface it speaks?

   Variables are numbered in one row: time, parameters, start values of the states, inputs, outputs; and, where another
   integrator may carry the states, their rates and the event indicators. */

#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>

#include "unit.h"

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum {
  FIRST_PARAMETER = 1,
  FIRST_INITIAL = FIRST_PARAMETER + N_P,
  FIRST_INPUT = FIRST_INITIAL + N_X,
  FIRST_OUTPUT = FIRST_INPUT + N_INPUTS,
  FIRST_RATE = FIRST_OUTPUT + N_Y,
  FIRST_INDICATOR = FIRST_RATE + N_RATES,
  END_OF_VARIABLES = FIRST_INDICATOR + N_INDICATORS
};

/* Set up, being initialised, between steps, at an event, between events of another integrator, ended. */
enum { MODE_FRESH, MODE_INITIALISING, MODE_STEP, MODE_EVENT, MODE_CONTINUOUS, MODE_ENDED };
#define IN(mode) (1 << (mode))

typedef void (*Tell)(void *instance, const char *message);

typedef struct {
  Unit unit;
  int exchange;   /* whether another integrator carries the states */
  int has_events; /* whether the caller handles events, beginning with the first instant */
  int pauses;     /* whether steps end at located events, for the caller to see them */
  int outputs_known;
  double outputs[ROOM(N_Y + N_RATES + N_INDICATORS)]; /* with rates and indicators */
  Tell tell;
  char name[128];
  void *environment;
  void *logger;
} Instance;

/* With exchange, another integrator carries the states. */
Instance *instance_make(const char *name, const char *token, Tell tell, int exchange);
/* Refuse a call unless the unit is in one of some modes. */
int instance_is(Instance *instance, int modes, const char *call);
int instance_reset(Instance *instance);
int instance_get(Instance *instance, const uint32_t *references, size_t n, double *values);
int instance_set(Instance *instance, const uint32_t *references, size_t n, const double *values);
int instance_slopes(Instance *instance, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                    size_t n_knowns, const double *seed, double *slopes);
void instance_open(Instance *instance, double start, double stop, double tolerance);
int instance_begin(Instance *instance);
/* Go on to time + step, or to an event: 0, with a complaint, where the run cannot go on. */
int instance_step(Instance *instance, double time, double step);
/* Stand at an event, after a step or where another integrator is. */
void instance_arrive(Instance *instance);
/* Carry out the events that are due; whether states have been changed, and the time of the next instant that is planned
   for another integrator, or infinity. */
int instance_update(Instance *instance, int *changed, double *next);
/* Leave an event for a mode. */
int instance_leave(Instance *instance, int mode);
/* What another integrator writes and reads. */
int instance_set_time(Instance *instance, double time);
int instance_set_states(Instance *instance, const double *x, size_t n);
int instance_get_states(Instance *instance, double *x, size_t n);
int instance_get_nominals(Instance *instance, double *nominals, size_t n);
int instance_get_rates(Instance *instance, double *rates, size_t n);
int instance_get_indicators(Instance *instance, double *indicators, size_t n);
/* Whether an event is due after a step of another integrator. */
int instance_completed(Instance *instance, int *due);
int instance_has_ended(const Instance *instance);
void instance_free(Instance *instance);
int instance_save(Instance *instance, void **state);
int instance_restore(Instance *instance, const void *state);
/* A state is a block [size, token, settings, state of the run]. */
size_t state_size(const void *state);
int state_write(Instance *instance, const void *state, void *bytes, size_t size);
int state_read(Instance *instance, const void *bytes, size_t size, void **state);
const char *instance_complaint(const Instance *instance);
int refuse(Instance *instance, const char *what);

#endif
