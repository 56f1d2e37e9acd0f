/* The functions of the Functional Mock-up Interface 3.0: all but those of model exchange alone. */

#include "instance.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { OK, WARNING, DISCARD, ERROR_STATUS, FATAL };

typedef void (*Logger)(void *environment, int status, const char *category, const char *message);

static void tell(void *self, const char *message) {
  Instance *instance = self;
  Logger logger = (Logger)instance->logger;
  if (logger) logger(instance->environment, ERROR_STATUS, "logStatusError", message);
}

static int answer(int done) { return done ? OK : ERROR_STATUS; }

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT int fmi3SetDebugLogging(void *self, bool on, size_t n, const char *const categories[]) {
  (void)self, (void)on, (void)n, (void)categories;
  return OK;
}

static Instance *make(const char *name, const char *token, void *environment, Logger logger, int exchange) {
  Instance *instance = instance_make(name, token, tell, exchange);
  if (instance == NULL) return NULL;
  instance->environment = environment;
  instance->logger = (void *)logger;
  return instance;
}

EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool events, bool early, const uint32_t *intermediate,
                                         size_t n_intermediate, void *environment, Logger logger, void *update) {
  Instance *instance = make(name, token, environment, logger, 0);
  (void)resources, (void)visible, (void)logging, (void)intermediate, (void)n_intermediate, (void)update;
  if (instance == NULL) return NULL;
  instance->has_events = events;
  /* Where steps may not end early, located events are handled inside of them. */
  instance->pauses = events && early;
  return instance;
}

EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                          bool logging, void *environment, Logger logger) {
  (void)resources, (void)visible, (void)logging;
  return HAS_EXCHANGE ? make(name, token, environment, logger, 1) : NULL;
}

EXPORT void *fmi3InstantiateScheduledExecution(void) { return NULL; }
EXPORT void fmi3FreeInstance(void *self) { instance_free(self); }

EXPORT int fmi3EnterInitializationMode(void *self, bool has_tolerance, double tolerance, double start, bool has_stop,
                                       double stop) {
  if (!instance_is(self, IN(MODE_FRESH), "fmi3EnterInitializationMode")) return ERROR_STATUS;
  instance_open(self, start, has_stop ? stop : INFINITY, has_tolerance ? tolerance : 0.0);
  return OK;
}

/* Where the caller handles events, the first instant waits for it. */
EXPORT int fmi3ExitInitializationMode(void *self) {
  return answer(instance_is(self, IN(MODE_INITIALISING), "fmi3ExitInitializationMode") && instance_begin(self));
}

EXPORT int fmi3Terminate(void *self) {
  ((Instance *)self)->unit.set.mode = MODE_ENDED;
  return OK;
}

EXPORT int fmi3Reset(void *self) { return answer(instance_reset(self)); }

EXPORT int fmi3GetFloat64(void *self, const uint32_t *references, size_t n, double *values, size_t n_values) {
  if (n != n_values) return answer(refuse(self, "every variable has one value"));
  return answer(instance_get(self, references, n, values));
}

EXPORT int fmi3SetFloat64(void *self, const uint32_t *references, size_t n, const double *values, size_t n_values) {
  if (n != n_values) return answer(refuse(self, "every variable has one value"));
  return answer(instance_set(self, references, n, values));
}

EXPORT int fmi3GetFMUState(void *self, void **state) { return answer(instance_save(self, state)); }
EXPORT int fmi3SetFMUState(void *self, void *state) { return answer(instance_restore(self, state)); }

EXPORT int fmi3FreeFMUState(void *self, void **state) {
  (void)self;
  free(*state);
  *state = NULL;
  return OK;
}

EXPORT int fmi3SerializedFMUStateSize(void *self, void *state, size_t *size) {
  (void)self;
  *size = state_size(state);
  return OK;
}

EXPORT int fmi3SerializeFMUState(void *self, void *state, unsigned char *bytes, size_t size) {
  return answer(state_write(self, state, bytes, size));
}

EXPORT int fmi3DeserializeFMUState(void *self, const unsigned char *bytes, size_t size, void **state) {
  return answer(state_read(self, bytes, size, state));
}

EXPORT int fmi3GetDirectionalDerivative(void *self, const uint32_t *unknowns, size_t n_unknowns,
                                        const uint32_t *knowns, size_t n_knowns, const double *seed, size_t n_seed,
                                        double *slopes, size_t n_slopes) {
  if (n_knowns != n_seed || n_unknowns != n_slopes) return answer(refuse(self, "every variable has one value"));
  return answer(instance_slopes(self, unknowns, n_unknowns, knowns, n_knowns, seed, slopes));
}

EXPORT int fmi3DoStep(void *self, double time, double step, bool keep, bool *event, bool *terminate, bool *early,
                      double *last) {
  Instance *instance = self;
  int done;
  (void)keep;
  *event = *terminate = *early = false;
  *last = instance->unit.run->t;
  if (!instance_is(self, IN(MODE_STEP), "fmi3DoStep")) return ERROR_STATUS;
  done = instance_step(instance, time, step);
  *event = unit_has_events(&instance->unit);
  *terminate = instance_has_ended(instance);
  *last = instance->unit.run->t;
  *early = *event && *last < time + step;
  return done || *terminate ? OK : ERROR_STATUS;
}

/* Events due at the end of a step act when the discrete states are updated, with the inputs set until then. */
EXPORT int fmi3EnterEventMode(void *self) {
  Instance *instance = self;
  int from = instance->exchange ? MODE_CONTINUOUS : MODE_STEP;
  if (!instance->has_events) return answer(refuse(instance, "this unit was instantiated without event mode"));
  if (!instance_is(self, IN(from), "fmi3EnterEventMode")) return ERROR_STATUS;
  instance_arrive(instance);
  return OK;
}

EXPORT int fmi3UpdateDiscreteStates(void *self, bool *again, bool *terminate, bool *nominals, bool *values, bool *timed,
                                    double *next) {
  int changed = 0, done;
  *again = *nominals = *values = *timed = *terminate = false;
  *next = INFINITY;
  if (!instance_is(self, IN(MODE_EVENT), "fmi3UpdateDiscreteStates")) return ERROR_STATUS;
  done = instance_update(self, &changed, next);
  *values = changed;
  *timed = isfinite(*next);
  *terminate = instance_has_ended(self);
  return done || *terminate ? OK : ERROR_STATUS;
}

/* A unit that has asked to terminate may leave its last event. */
EXPORT int fmi3EnterStepMode(void *self) {
  Instance *instance = self;
  if (instance->exchange) return answer(refuse(instance, "fmi3EnterStepMode is for co-simulation"));
  if (!instance_is(self, IN(MODE_EVENT), "fmi3EnterStepMode")) return ERROR_STATUS;
  return answer(instance_leave(self, MODE_STEP) || instance_has_ended(self));
}

/* What this unit does not have: variables of other types, clocks, scheduled execution. */
#define REFUSED(function) \
  EXPORT int function(void *self) { return answer(refuse(self, #function " is not supported by this unit")); }
REFUSED(fmi3GetFloat32)
REFUSED(fmi3GetInt8)
REFUSED(fmi3GetUInt8)
REFUSED(fmi3GetInt16)
REFUSED(fmi3GetUInt16)
REFUSED(fmi3GetInt32)
REFUSED(fmi3GetUInt32)
REFUSED(fmi3GetInt64)
REFUSED(fmi3GetUInt64)
REFUSED(fmi3GetBoolean)
REFUSED(fmi3GetString)
REFUSED(fmi3GetBinary)
REFUSED(fmi3GetClock)
REFUSED(fmi3SetFloat32)
REFUSED(fmi3SetInt8)
REFUSED(fmi3SetUInt8)
REFUSED(fmi3SetInt16)
REFUSED(fmi3SetUInt16)
REFUSED(fmi3SetInt32)
REFUSED(fmi3SetUInt32)
REFUSED(fmi3SetInt64)
REFUSED(fmi3SetUInt64)
REFUSED(fmi3SetBoolean)
REFUSED(fmi3SetString)
REFUSED(fmi3SetBinary)
REFUSED(fmi3SetClock)
REFUSED(fmi3GetNumberOfVariableDependencies)
REFUSED(fmi3GetVariableDependencies)
REFUSED(fmi3GetAdjointDerivative)
REFUSED(fmi3EnterConfigurationMode)
REFUSED(fmi3ExitConfigurationMode)
REFUSED(fmi3GetIntervalDecimal)
REFUSED(fmi3GetIntervalFraction)
REFUSED(fmi3GetShiftDecimal)
REFUSED(fmi3GetShiftFraction)
REFUSED(fmi3SetIntervalDecimal)
REFUSED(fmi3SetIntervalFraction)
REFUSED(fmi3SetShiftDecimal)
REFUSED(fmi3SetShiftFraction)
REFUSED(fmi3EvaluateDiscreteStates)
REFUSED(fmi3GetOutputDerivatives)
REFUSED(fmi3ActivateModelPartition)
