/* The functions of the Functional Mock-up Interface 2.0 for model exchange. */

#include "instance.h"

#include <math.h>

enum { OK, WARNING, DISCARD, ERROR_STATUS, FATAL };

typedef struct {
  int again, terminate, nominals_changed, values_changed, next_is_known;
  double next;
} EventInfo;

static int answer(int done) { return done ? OK : ERROR_STATUS; }

/* States are known from the initialisation on, and may be tried between events. */
enum { KNOWN = IN(MODE_INITIALISING) | IN(MODE_EVENT) | IN(MODE_CONTINUOUS) | IN(MODE_ENDED) };

static int is_carried(Instance *instance, int modes, const char *call) {
  if (!instance->exchange) return refuse(instance, "this unit was instantiated for co-simulation");
  return instance_is(instance, modes, call);
}

/* The first instant waits for the first call of fmi2NewDiscreteStates: the initialisation ends in event mode. */
EXPORT int fmi2EnterEventMode(void *self) {
  if (!is_carried(self, IN(MODE_CONTINUOUS), "fmi2EnterEventMode")) return ERROR_STATUS;
  instance_arrive(self);
  return OK;
}

EXPORT int fmi2NewDiscreteStates(void *self, EventInfo *info) {
  int done;
  *info = (EventInfo){0, 0, 0, 0, 0, INFINITY};
  if (!is_carried(self, IN(MODE_EVENT), "fmi2NewDiscreteStates")) return ERROR_STATUS;
  done = instance_update(self, &info->values_changed, &info->next);
  info->next_is_known = isfinite(info->next) != 0;
  info->terminate = instance_has_ended(self);
  return done || info->terminate ? OK : ERROR_STATUS;
}

EXPORT int fmi2EnterContinuousTimeMode(void *self) {
  return answer(is_carried(self, IN(MODE_EVENT), "fmi2EnterContinuousTimeMode") &&
                instance_leave(self, MODE_CONTINUOUS));
}

EXPORT int fmi2CompletedIntegratorStep(void *self, int no_way_back, int *event, int *terminate) {
  (void)no_way_back;
  *event = *terminate = 0;
  return answer(is_carried(self, IN(MODE_CONTINUOUS), "fmi2CompletedIntegratorStep") && instance_completed(self, event));
}

EXPORT int fmi2SetTime(void *self, double time) {
  return answer(is_carried(self, IN(MODE_EVENT) | IN(MODE_CONTINUOUS), "fmi2SetTime") && instance_set_time(self, time));
}

EXPORT int fmi2SetContinuousStates(void *self, const double *x, size_t n) {
  return answer(is_carried(self, IN(MODE_CONTINUOUS), "fmi2SetContinuousStates") && instance_set_states(self, x, n));
}

EXPORT int fmi2GetContinuousStates(void *self, double *x, size_t n) {
  return answer(is_carried(self, KNOWN, "fmi2GetContinuousStates") && instance_get_states(self, x, n));
}

EXPORT int fmi2GetNominalsOfContinuousStates(void *self, double *nominals, size_t n) {
  return answer(is_carried(self, KNOWN, "fmi2GetNominalsOfContinuousStates") &&
                instance_get_nominals(self, nominals, n));
}

EXPORT int fmi2GetDerivatives(void *self, double *rates, size_t n) {
  return answer(is_carried(self, KNOWN, "fmi2GetDerivatives") && instance_get_rates(self, rates, n));
}

EXPORT int fmi2GetEventIndicators(void *self, double *indicators, size_t n) {
  return answer(is_carried(self, KNOWN, "fmi2GetEventIndicators") && instance_get_indicators(self, indicators, n));
}
