/* How does another integrator carry the states of a unit? 1 is success, 0 refusal. */

#include "instance.h"

#include <math.h>
#include <string.h>

static int has_length(Instance *instance, size_t n, size_t expected) {
  return n == expected || refuse(instance, "there must be as many numbers as the unit has states or indicators");
}

int instance_set_time(Instance *instance, double time) {
  if (!isfinite(time)) return refuse(instance, "time must be a finite number");
  instance->outputs_known = 0;
  exchange_set_time(&instance->unit, time);
  return 1;
}

int instance_set_states(Instance *instance, const double *x, size_t n) {
  if (!has_length(instance, n, N_X)) return 0;
  instance->outputs_known = 0;
  memcpy(instance->unit.run->x, x, n * sizeof(double));
  return 1;
}

/* Before the start, start values are looked for where parameters or inputs have been changed. */
int instance_get_states(Instance *instance, double *x, size_t n) {
  double m[ROOM(N_M)];
  if (!has_length(instance, n, N_X)) return 0;
  unit_look(&instance->unit, m);
  memcpy(x, instance->unit.run->x, n * sizeof(double));
  return 1;
}

/* Infinite here is the magnitude of states whose error does not count. */
int instance_get_nominals(Instance *instance, double *nominals, size_t n) {
  if (!has_length(instance, n, N_X)) return 0;
  for (size_t i = 0; i < n; i++) nominals[i] = isfinite(MODEL.scale[i]) ? MODEL.scale[i] : 1.0;
  return 1;
}

int instance_get_rates(Instance *instance, double *rates, size_t n) {
  if (!has_length(instance, n, N_X)) return 0;
  unit_rates(&instance->unit, rates);
  return 1;
}

int instance_get_indicators(Instance *instance, double *indicators, size_t n) {
  if (!has_length(instance, n, N_INDICATORS)) return 0;
  if (n > 0) unit_indicators(&instance->unit, indicators);
  return 1;
}

int instance_completed(Instance *instance, int *due) {
  instance->outputs_known = 0;
  *due = exchange_is_due(&instance->unit);
  return 1;
}
