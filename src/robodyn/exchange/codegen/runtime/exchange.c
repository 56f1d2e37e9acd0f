/* An exported model whose states another integrator carries: what are their rates, and when is an instant due?

   A limited state is free or held. Free, its rate is that of its law, also where a step tried has left the limits, and
   its indicators are x - upper and x - lower. Where it has reached a limit and would go on it is held: its rate is 0, and
   the indicator of that limit is the rate that it would have, which turns round when it leaves. */

#include "unit.h"

#include <math.h>
#include <string.h>

static void call(Unit *unit, Kernel kernel, const double *x, const double *m, double *out) {
  kernel(&unit->run->t, x, unit->run->d, m, unit->set.p, out);
}

/* Lower and upper limit of limited state k. */
static void read_limits(Unit *unit, const double *m, double *lower, double *upper) {
  double bounds[ROOM(2 * N_LIMITED)];
  if (N_LIMITED > 0) call(unit, MODEL.limits, unit->run->x, m, bounds);
  memcpy(lower, bounds, N_LIMITED * sizeof(double));
  memcpy(upper, bounds + N_LIMITED, N_LIMITED * sizeof(double));
}

void place_states(Unit *unit, const double *m, double *x) {
  double lower[ROOM(N_LIMITED)], upper[ROOM(N_LIMITED)];
  memcpy(x, unit->run->x, N_X * sizeof(double));
  if (N_LIMITED == 0 || !unit->set.exchange) return;
  read_limits(unit, m, lower, upper);
  for (int k = 0; k < N_LIMITED; k++) {
    double *value = &x[MODEL.limited[k]];
    if (unit->set.held[k])
      *value = unit->set.held[k] > 0 ? upper[k] : lower[k];
    else if (*value > upper[k])
      *value = nextafter(upper[k], lower[k]);
    else if (*value < lower[k])
      *value = nextafter(lower[k], upper[k]);
  }
}

void unit_rates(Unit *unit, double *rates) {
  double m[ROOM(N_M)], x[ROOM(N_X)];
  unit_look(unit, m);
  place_states(unit, m, x);
  if (N_X > 0) call(unit, MODEL.rhs, x, m, rates);
  for (int k = 0; k < N_LIMITED; k++)
    if (unit->set.held[k]) rates[MODEL.limited[k]] = 0.0;
}

/* Rates as if no state were held: those at or beyond their limits count as just within. */
static void find_free_rates(Unit *unit, const double *m, double *rates) {
  double lower[ROOM(N_LIMITED)], upper[ROOM(N_LIMITED)], x[ROOM(N_X)];
  place_states(unit, m, x);
  read_limits(unit, m, lower, upper);
  for (int k = 0; k < N_LIMITED; k++) {
    double *value = &x[MODEL.limited[k]];
    if (*value >= upper[k]) *value = nextafter(upper[k], lower[k]);
    if (*value <= lower[k]) *value = nextafter(lower[k], upper[k]);
  }
  call(unit, MODEL.rhs, x, m, rates);
}

/* How far a state is beyond a limit; one that is infinite is never met. */
static double measure(double value, double limit) { return isfinite(limit) ? value - limit : limit > 0.0 ? -1.0 : 1.0; }

void unit_indicators(Unit *unit, double *indicators) {
  double m[ROOM(N_M)], x[ROOM(N_X)], rates[ROOM(N_X)], lower[ROOM(N_LIMITED)], upper[ROOM(N_LIMITED)];
  int any_held = 0;
  unit_look(unit, m);
  place_states(unit, m, x);
  if (N_GUARDS > 0) call(unit, MODEL.guards, x, m, indicators);
  read_limits(unit, m, lower, upper);
  for (int k = 0; k < N_LIMITED; k++) any_held |= unit->set.held[k];
  if (any_held) find_free_rates(unit, m, rates);
  for (int k = 0; k < N_LIMITED; k++) {
    int64_t i = MODEL.limited[k];
    indicators[N_GUARDS + k] = unit->set.held[k] > 0 ? rates[i] : measure(unit->run->x[i], upper[k]);
    indicators[N_GUARDS + N_LIMITED + k] = unit->set.held[k] < 0 ? rates[i] : measure(unit->run->x[i], lower[k]);
  }
}

/* Until the next instant nothing sees the other side of a jump there, nor the time before the last one. */
void exchange_set_time(Unit *unit, double t) {
  Run *run = unit->run;
  unit->set.time = t;
  if (run->phase != SEGMENT) return;
  run->t = fmax(t, run->t_segment);
  if (run->stop_is_break) run->t = fmin(run->t, run->t_left);
}

/* Inputs change continuously between instants: what they are now belongs to the left side of the next. */
static void hold_inputs(Unit *unit) {
  double m[ROOM(N_M)];
  unit_look(unit, m);
  memcpy(unit->run->m, m, N_M * sizeof(double));
}

/* Whether the states are further from the constraints than the tolerance of the method; fixed is where they belong. */
static int has_drifted(Unit *unit, double *fixed) {
  const double *x = unit->run->x;
  double both[ROOM(N_X + N_M)], total = 0.0;
  if (!MODEL.projection || N_X == 0) return 0;
  call(unit, MODEL.projection, x, unit->run->m, both);
  for (int i = 0; i < N_X; i++) {
    double part = (both[i] - x[i]) / (unit->solver.atol * MODEL.scale[i] + unit->solver.rtol * fabs(x[i]));
    total += part * part;
    fixed[i] = both[i];
  }
  return !(total <= N_X);
}

/* Distance from its limit that a held state may have by rounding, as part of the limit. */
#define ROUNDED_LIMIT 1e-12

static int is_moved(double value, double limit) { return !(fabs(value - limit) <= ROUNDED_LIMIT * fabs(limit)); }

/* Whether a free state has left its limits, or a held one would come back or has been moved. */
static int limits_are_due(Unit *unit) {
  double indicators[ROOM(N_GUARDS + 2 * N_LIMITED)], at[ROOM(N_X)];
  if (N_LIMITED == 0) return 0;
  unit_indicators(unit, indicators);
  place_states(unit, unit->run->m, at);
  for (int k = 0; k < N_LIMITED; k++) {
    double upper = indicators[N_GUARDS + k], lower = indicators[N_GUARDS + N_LIMITED + k];
    int64_t i = MODEL.limited[k];
    int held = unit->set.held[k];
    if (held && is_moved(unit->run->x[i], at[i])) return 1;
    if (held > 0 ? upper <= 0.0 : upper > 0.0) return 1;
    if (held < 0 ? lower >= 0.0 : lower < 0.0) return 1;
  }
  return 0;
}

int exchange_is_due(Unit *unit) {
  Run *run = unit->run;
  double fixed[ROOM(N_X)];
  hold_inputs(unit);
  /* An input may have moved a jump of a reference. */
  int moved = run->next_break < run->n_breaks && run->breaks[run->next_break] < run->t_stop;
  return (N_GUARDS > 0 && run_watch(run) > 0) || limits_are_due(unit) || has_drifted(unit, fixed) || moved;
}

/* Put limited states on the limits that they have left. */
static void clip_states(Unit *unit) {
  double lower[ROOM(N_LIMITED)], upper[ROOM(N_LIMITED)], *x = unit->run->x;
  read_limits(unit, unit->run->m, lower, upper);
  for (int k = 0; k < N_LIMITED; k++) {
    double *value = &x[MODEL.limited[k]];
    double limit = unit->set.held[k] > 0 ? upper[k] : lower[k];
    if (unit->set.held[k] && !is_moved(*value, limit)) *value = limit;
    *value = fmin(fmax(*value, lower[k]), upper[k]);
  }
}

void exchange_arrive(Unit *unit) {
  Run *run = unit->run;
  double fixed[ROOM(N_X)];
  hold_inputs(unit);
  clip_states(unit);
  if (has_drifted(unit, fixed)) memcpy(run->x, fixed, N_X * sizeof(double));
  run_arrive(run, unit->set.time);
}

int exchange_settle(Unit *unit) {
  Run *run = unit->run;
  double lower[ROOM(N_LIMITED)], upper[ROOM(N_LIMITED)], rates[ROOM(N_X)];
  int changed = memcmp(unit->set.shown, run->x, N_X * sizeof(double)) != 0;
  memcpy(unit->set.shown, run->x, N_X * sizeof(double));
  if (N_LIMITED == 0 || !unit->set.exchange) return changed;
  read_limits(unit, run->m, lower, upper);
  memset(unit->set.held, 0, sizeof unit->set.held);
  find_free_rates(unit, run->m, rates);
  for (int k = 0; k < N_LIMITED; k++) {
    int64_t i = MODEL.limited[k];
    unit->set.held[k] = (run->x[i] >= upper[k] && rates[i] > 0.0) - (run->x[i] <= lower[k] && rates[i] < 0.0);
  }
  return changed;
}
