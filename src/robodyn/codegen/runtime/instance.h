/* What does a user of the unit hold, whichever version of the interface it speaks?

   Variables are numbered in one row: time, parameters, start values of the states, inputs, outputs. */

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
  END_OF_VARIABLES = FIRST_OUTPUT + N_Y
};

/* Set up, being initialised, between steps, at an event, ended. */
enum { MODE_FRESH, MODE_INITIALISING, MODE_STEP, MODE_EVENT, MODE_ENDED };

typedef void (*Tell)(void *instance, const char *message);

typedef struct {
  Unit unit;
  int pauses; /* whether steps end at located events, for the caller to see them */
  int outputs_known;
  double outputs[ROOM(N_Y)];
  Tell tell;
  char name[128];
  void *environment;
  void *logger;
} Instance;

Instance *instance_make(const char *name, const char *token, Tell tell);
int instance_reset(Instance *instance);
int instance_get(Instance *instance, const uint32_t *references, size_t n, double *values);
int instance_set(Instance *instance, const uint32_t *references, size_t n, const double *values);
int instance_slopes(Instance *instance, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                    size_t n_knowns, const double *seed, double *slopes);
void instance_open(Instance *instance, double start, double stop, double tolerance);
int instance_begin(Instance *instance);
/* Go on to time + step, or to an event: 0, with a complaint, where the run cannot go on. */
int instance_step(Instance *instance, double time, double step);
/* Carry out the events that are due. */
int instance_update(Instance *instance);
int instance_has_ended(const Instance *instance);
void instance_free(Instance *instance);
int instance_save(Instance *instance, void **state);
int instance_restore(Instance *instance, const void *state);
/* A state is a block [size, settings, state of the run]. */
size_t state_size(const void *state);
int state_write(Instance *instance, const void *state, void *bytes, size_t size);
int state_read(Instance *instance, const void *bytes, size_t size, void **state);
const char *instance_complaint(const Instance *instance);
int refuse(Instance *instance, const char *what);

#endif
