/* How are the variables of a unit read, set and differentiated, and how does it step? 1 is success, 0 refusal. */

#include "instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int refuse(Instance *instance, const char *what) {
  if (instance->tell) instance->tell(instance, what);
  return 0;
}

Instance *instance_make(const char *name, const char *token, Tell tell) {
  Instance *instance;
  if (token == NULL || strcmp(token, MODEL_TOKEN) != 0) return NULL;
  instance = calloc(1, sizeof *instance);
  if (instance == NULL) return NULL;
  instance->tell = tell;
  snprintf(instance->name, sizeof instance->name, "%s", name ? name : "");
  instance_reset(instance);
  return instance;
}

/* Between the start values and the first step, the states shown are the start values. */
static void show_start(Instance *instance) {
  Run *run = &instance->slate.run;
  if (instance->slate.mode > INITIALISING) return;
  memcpy(run->x[START], run->x0, sizeof run->x0);
}

void instance_reset(Instance *instance) {
  Slate *slate = &instance->slate;
  run_free(&slate->run);
  memset(slate, 0, sizeof *slate);
  run_reset(&slate->run);
  slate->stop = INFINITY;
  instance->outputs_known = 0;
  show_start(instance);
}

int instance_get(Instance *instance, const uint32_t *references, size_t n, double *values) {
  Run *run = &instance->slate.run;
  for (size_t i = 0; i < n; i++) {
    uint32_t k = references[i];
    if (k >= END_OF_VARIABLES) return refuse(instance, "there is no variable of this reference");
    if (k >= FIRST_OUTPUT && !instance->outputs_known) {
      run_outputs(run, instance->outputs);
      instance->outputs_known = 1;
    }
    values[i] = k >= FIRST_OUTPUT      ? instance->outputs[k - FIRST_OUTPUT]
                : k >= FIRST_INPUT     ? run->u[k - FIRST_INPUT]
                : k >= FIRST_INITIAL   ? run->x0[k - FIRST_INITIAL]
                : k >= FIRST_PARAMETER ? run->p[k - FIRST_PARAMETER]
                                       : run->t;
  }
  return 1;
}

int instance_set(Instance *instance, const uint32_t *references, size_t n, const double *values) {
  Run *run = &instance->slate.run;
  for (size_t i = 0; i < n; i++) {
    uint32_t k = references[i];
    if (k < FIRST_PARAMETER || k >= FIRST_OUTPUT) return refuse(instance, "only parameters and inputs can be set");
    if (!isfinite(values[i])) return refuse(instance, "values must be finite numbers");
    if (k >= FIRST_INPUT) {
      run->u[k - FIRST_INPUT] = values[i];
    } else if (k >= FIRST_INITIAL) {
      run->x0[k - FIRST_INITIAL] = values[i];
      if (instance->slate.mode > INITIALISING) {
        run->x[START][k - FIRST_INITIAL] = values[i];
        run->moved = 1;
      }
    } else {
      if (PARAMETER_FIXED[k - FIRST_PARAMETER] && instance->slate.mode > INITIALISING)
        return refuse(instance, "this parameter can only be set before the start");
      run->p[k - FIRST_PARAMETER] = values[i];
      run->stale = 1;
    }
  }
  instance->outputs_known = 0;
  show_start(instance);
  return 1;
}

/* Place of a variable in the seed [states, memory, parameters] of the slopes, -1 where nothing can be differentiated. */
static int place_in_seed(uint32_t k) {
  if (k >= FIRST_OUTPUT && k < END_OF_VARIABLES) return OUTPUT_STATE[k - FIRST_OUTPUT];
  if (k >= FIRST_INPUT && k < FIRST_OUTPUT) return N_X + INPUT_PLACE[k - FIRST_INPUT];
  if (k >= FIRST_PARAMETER && k < FIRST_INITIAL) return N_X + N_M + (int)k - FIRST_PARAMETER;
  return -1;
}

/* Slopes of outputs along a direction of inputs, states and parameters, at the present time. */
int instance_slopes(Instance *instance, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                    size_t n_knowns, const double *seed, double *slopes) {
  double column[ROOM(N_X + N_M + N_P)] = {0.0}, all[ROOM(N_Y)];
  for (size_t i = 0; i < n_knowns; i++) {
    int place = place_in_seed(knowns[i]);
    if (place < 0) return refuse(instance, "directional derivatives are by inputs, states and parameters");
    column[place] = seed[i];
  }
  run_slopes(&instance->slate.run, column, all);
  for (size_t i = 0; i < n_unknowns; i++) {
    uint32_t k = unknowns[i];
    if (k < FIRST_OUTPUT || k >= END_OF_VARIABLES) return refuse(instance, "directional derivatives are of outputs");
    slopes[i] = all[k - FIRST_OUTPUT];
  }
  return 1;
}

void instance_open(Instance *instance, double start, double stop, double tolerance) {
  Slate *slate = &instance->slate;
  slate->start = slate->run.t = start;
  slate->stop = stop;
  slate->tolerance = tolerance;
  slate->mode = INITIALISING;
  instance->outputs_known = 0;
}

int instance_begin(Instance *instance) {
  Slate *slate = &instance->slate;
  instance->outputs_known = 0;
  if (!run_begin(&slate->run, slate->start, slate->stop, slate->tolerance))
    return refuse(instance, "delays must be positive");
  slate->mode = READY;
  return 1;
}

/* Go on to time + step; the status of the run is returned, and told where it is not GOING. */
int instance_step(Instance *instance, double time, double step) {
  Run *run = &instance->slate.run;
  const char *name = "";
  char sentence[512];
  int status = run_advance(run, time + step);
  instance->outputs_known = 0;
  if (status == GOING) return status;
  if (status == TERMINAL || status == CHATTERING)
    name = run->culprit >= 0 ? GUARD_NAME[run->culprit] : "";
  else if (run->culprit >= 0)
    name = STATE_NAME[run->culprit];
  snprintf(sentence, sizeof sentence, "at %.9g s %s%s%s", run->t, run_complaint(run), name[0] ? ": " : "", name);
  refuse(instance, sentence);
  return status;
}

void instance_free(Instance *instance) {
  if (instance) run_free(&instance->slate.run);
  free(instance);
}

/* A state is a block [slate, past of its run]; the slate's own pointers mean nothing there. */
size_t state_size(const void *state) { return sizeof(Slate) + past_size(&((const Slate *)state)->run); }

int instance_save(Instance *instance, void **state) {
  Run *run = &instance->slate.run;
  Slate *copy = realloc(*state, state_size(&instance->slate));
  if (copy == NULL) return refuse(instance, "there is not enough memory for the state");
  *copy = instance->slate;
  past_write(run, (char *)(copy + 1));
  copy->run.history.rows = copy->run.jumps.rows = NULL;
  copy->run.history.capacity = copy->run.jumps.capacity = 0;
  *state = copy;
  return 1;
}

int instance_restore(Instance *instance, const void *state) {
  const Slate *saved = state;
  Run *run = &instance->slate.run;
  if (!run_restore(run, &saved->run, (const char *)(saved + 1)))
    return refuse(instance, "there is not enough memory for the state");
  instance->slate.mode = saved->mode;
  instance->slate.start = saved->start;
  instance->slate.stop = saved->stop;
  instance->slate.tolerance = saved->tolerance;
  instance->outputs_known = 0;
  return 1;
}

int state_write(Instance *instance, const void *state, void *bytes, size_t size) {
  if (size < state_size(state)) return refuse(instance, "there is too little room for the state");
  memcpy(bytes, state, state_size(state));
  return 1;
}

int state_read(Instance *instance, const void *bytes, size_t size, void **state) {
  Slate head;
  void *copy;
  if (size < sizeof head) return refuse(instance, "these bytes are no state of this unit");
  memcpy(&head, bytes, sizeof head);
  if (size != state_size(&head)) return refuse(instance, "these bytes are no state of this unit");
  copy = realloc(*state, size);
  if (copy == NULL) return refuse(instance, "there is not enough memory for the state");
  memcpy(copy, bytes, size);
  *state = copy;
  return 1;
}
