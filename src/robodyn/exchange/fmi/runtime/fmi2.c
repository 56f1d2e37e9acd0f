/* The functions of the Functional Mock-up Interface 2.0: all but those of model exchange. */

#include "instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OK, WARNING, DISCARD, ERROR_STATUS, FATAL };
enum { DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED };

typedef struct {
  void (*logger)(void *environment, const char *name, int status, const char *category, const char *message, ...);
  void *(*allocate)(size_t count, size_t size);
  void (*release)(void *memory);
  void (*step_finished)(void *environment, int status);
  void *environment;
} Callbacks;

static void tell(void *self, const char *message) {
  Instance *instance = self;
  const Callbacks *callbacks = instance->logger;
  if (!callbacks || !callbacks->logger) return;
  /* Loggers that do not format get the sentence itself. */
  if (strchr(message, '%') == NULL)
    callbacks->logger(callbacks->environment, instance->name, ERROR_STATUS, "logStatusError", message);
  else
    callbacks->logger(callbacks->environment, instance->name, ERROR_STATUS, "logStatusError", "%s", message);
}

static int answer(int done) { return done ? OK : ERROR_STATUS; }

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT int fmi2SetDebugLogging(void *self, int on, size_t n, const char *const categories[]) {
  (void)self, (void)on, (void)n, (void)categories;
  return OK;
}

EXPORT void *fmi2Instantiate(const char *name, int type, const char *token, const char *resources,
                             const Callbacks *callbacks, int visible, int logging) {
  Instance *instance;
  (void)resources, (void)visible, (void)logging;
  /* Type 0 is model exchange. */
  if (type != 1 && !(type == 0 && HAS_EXCHANGE)) return NULL;
  instance = instance_make(name, token, tell, type == 0);
  if (instance) instance->logger = (void *)callbacks;
  return instance;
}

EXPORT void fmi2FreeInstance(void *self) { instance_free(self); }

EXPORT int fmi2SetupExperiment(void *self, int has_tolerance, double tolerance, double start, int has_stop,
                               double stop) {
  Instance *instance = self;
  if (!instance_is(self, IN(MODE_FRESH), "fmi2SetupExperiment")) return ERROR_STATUS;
  instance_open(instance, start, has_stop ? stop : INFINITY, has_tolerance ? tolerance : 0.0);
  instance->unit.set.mode = MODE_FRESH;
  return OK;
}

EXPORT int fmi2EnterInitializationMode(void *self) {
  Settings *set = &((Instance *)self)->unit.set;
  if (!instance_is(self, IN(MODE_FRESH), "fmi2EnterInitializationMode")) return ERROR_STATUS;
  instance_open(self, set->start, set->stop, set->tolerance);
  return OK;
}

EXPORT int fmi2ExitInitializationMode(void *self) {
  return answer(instance_is(self, IN(MODE_INITIALISING), "fmi2ExitInitializationMode") && instance_begin(self));
}

EXPORT int fmi2Terminate(void *self) {
  ((Instance *)self)->unit.set.mode = MODE_ENDED;
  return OK;
}

EXPORT int fmi2Reset(void *self) { return answer(instance_reset(self)); }

EXPORT int fmi2GetReal(void *self, const uint32_t *references, size_t n, double *values) {
  return answer(instance_get(self, references, n, values));
}

EXPORT int fmi2SetReal(void *self, const uint32_t *references, size_t n, const double *values) {
  return answer(instance_set(self, references, n, values));
}

/* There are no variables of other types: asking for none of them is no error. */
#define ONLY_REALS(function)                                                                  \
  EXPORT int function(void *self, const uint32_t *references, size_t n, const void *values) { \
    (void)references, (void)values;                                                           \
    return n == 0 ? OK : answer(refuse(self, "all variables are real numbers"));              \
  }
ONLY_REALS(fmi2GetInteger)
ONLY_REALS(fmi2GetBoolean)
ONLY_REALS(fmi2GetString)
ONLY_REALS(fmi2SetInteger)
ONLY_REALS(fmi2SetBoolean)
ONLY_REALS(fmi2SetString)

EXPORT int fmi2GetFMUstate(void *self, void **state) { return answer(instance_save(self, state)); }
EXPORT int fmi2SetFMUstate(void *self, void *state) { return answer(instance_restore(self, state)); }

EXPORT int fmi2FreeFMUstate(void *self, void **state) {
  (void)self;
  free(*state);
  *state = NULL;
  return OK;
}

EXPORT int fmi2SerializedFMUstateSize(void *self, void *state, size_t *size) {
  (void)self;
  *size = state_size(state);
  return OK;
}

EXPORT int fmi2SerializeFMUstate(void *self, void *state, char *bytes, size_t size) {
  return answer(state_write(self, state, bytes, size));
}

EXPORT int fmi2DeSerializeFMUstate(void *self, const char *bytes, size_t size, void **state) {
  return answer(state_read(self, bytes, size, state));
}

EXPORT int fmi2GetDirectionalDerivative(void *self, const uint32_t *unknowns, size_t n_unknowns,
                                        const uint32_t *knowns, size_t n_knowns, const double *seed, double *slopes) {
  return answer(instance_slopes(self, unknowns, n_unknowns, knowns, n_knowns, seed, slopes));
}

EXPORT int fmi2SetRealInputDerivatives(void *self, const uint32_t *references, size_t n, const int *order,
                                       const double *values) {
  (void)references, (void)n, (void)order, (void)values;
  return answer(refuse(self, "inputs are held between communication points"));
}

EXPORT int fmi2GetRealOutputDerivatives(void *self, const uint32_t *references, size_t n, const int *order,
                                        double *values) {
  (void)references, (void)n, (void)order, (void)values;
  return answer(refuse(self, "derivatives of outputs by time are not given"));
}

EXPORT int fmi2DoStep(void *self, double time, double step, int keep) {
  (void)keep;
  if (!instance_is(self, IN(MODE_STEP), "fmi2DoStep")) return ERROR_STATUS;
  return instance_step(self, time, step) ? OK : instance_has_ended(self) ? DISCARD : ERROR_STATUS;
}

EXPORT int fmi2CancelStep(void *self) { return answer(refuse(self, "steps are not asynchronous")); }

EXPORT int fmi2GetStatus(void *self, int kind, int *value) {
  (void)self, (void)kind;
  *value = OK;
  return DISCARD;
}

EXPORT int fmi2GetRealStatus(void *self, int kind, double *value) {
  *value = ((Instance *)self)->unit.run->t;
  return kind == LAST_SUCCESSFUL_TIME ? OK : DISCARD;
}

EXPORT int fmi2GetIntegerStatus(void *self, int kind, int *value) {
  (void)self, (void)kind;
  *value = 0;
  return DISCARD;
}

EXPORT int fmi2GetBooleanStatus(void *self, int kind, int *value) {
  *value = instance_has_ended(self);
  return kind == TERMINATED ? OK : DISCARD;
}

EXPORT int fmi2GetStringStatus(void *self, int kind, const char **value) {
  *value = instance_complaint(self);
  (void)kind;
  return DISCARD;
}
