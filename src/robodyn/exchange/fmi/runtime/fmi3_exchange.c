/* The functions of the Functional Mock-up Interface 3.0 for model exchange. */

#include "instance.h"

#include <stdbool.h>

enum { OK, WARNING, DISCARD, ERROR_STATUS, FATAL };

static int answer(int done) { return done ? OK : ERROR_STATUS; }

/* States are known from the initialisation on, and may be tried between events. */
enum { KNOWN = IN(MODE_INITIALISING) | IN(MODE_EVENT) | IN(MODE_CONTINUOUS) | IN(MODE_ENDED) };

static int is_carried(Instance *instance, int modes, const char *call) {
  if (!instance->exchange) return refuse(instance, "this unit was instantiated for co-simulation");
  return instance_is(instance, modes, call);
}

EXPORT int fmi3EnterContinuousTimeMode(void *self) {
  return answer(is_carried(self, IN(MODE_EVENT), "fmi3EnterContinuousTimeMode") &&
                instance_leave(self, MODE_CONTINUOUS));
}

EXPORT int fmi3CompletedIntegratorStep(void *self, bool no_way_back, bool *event, bool *terminate) {
  int due = 0, done = is_carried(self, IN(MODE_CONTINUOUS), "fmi3CompletedIntegratorStep") &&
                      instance_completed(self, &due);
  (void)no_way_back;
  *event = due;
  *terminate = false;
  return answer(done);
}

EXPORT int fmi3SetTime(void *self, double time) {
  return answer(is_carried(self, IN(MODE_EVENT) | IN(MODE_CONTINUOUS), "fmi3SetTime") && instance_set_time(self, time));
}

EXPORT int fmi3SetContinuousStates(void *self, const double *x, size_t n) {
  return answer(is_carried(self, IN(MODE_CONTINUOUS), "fmi3SetContinuousStates") && instance_set_states(self, x, n));
}

EXPORT int fmi3GetContinuousStates(void *self, double *x, size_t n) {
  return answer(is_carried(self, KNOWN, "fmi3GetContinuousStates") && instance_get_states(self, x, n));
}

EXPORT int fmi3GetNominalsOfContinuousStates(void *self, double *nominals, size_t n) {
  return answer(is_carried(self, KNOWN, "fmi3GetNominalsOfContinuousStates") &&
                instance_get_nominals(self, nominals, n));
}

EXPORT int fmi3GetContinuousStateDerivatives(void *self, double *rates, size_t n) {
  return answer(is_carried(self, KNOWN, "fmi3GetContinuousStateDerivatives") && instance_get_rates(self, rates, n));
}

EXPORT int fmi3GetEventIndicators(void *self, double *indicators, size_t n) {
  return answer(is_carried(self, KNOWN, "fmi3GetEventIndicators") && instance_get_indicators(self, indicators, n));
}

EXPORT int fmi3GetNumberOfContinuousStates(void *self, size_t *n) {
  *n = N_X;
  return answer(is_carried(self, ~0, "fmi3GetNumberOfContinuousStates"));
}

EXPORT int fmi3GetNumberOfEventIndicators(void *self, size_t *n) {
  *n = N_INDICATORS;
  return answer(is_carried(self, ~0, "fmi3GetNumberOfEventIndicators"));
}
