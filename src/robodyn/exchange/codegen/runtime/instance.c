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

int instance_is(Instance *instance, int modes, const char *call) {
  static const char *const NAMES[] = {"set up", "initialised", "in step mode", "in event mode",
                                      "in continuous-time mode", "ended"};
  char sentence[128];
  if (IN(instance->unit.set.mode) & modes) return 1;
  snprintf(sentence, sizeof sentence, "%s cannot be called while the unit is %s", call, NAMES[instance->unit.set.mode]);
  return refuse(instance, sentence);
}

Instance *instance_make(const char *name, const char *token, Tell tell, int exchange) {
  Instance *instance;
  if (token == NULL || strcmp(token, MODEL_TOKEN) != 0) return NULL;
  instance = calloc(1, sizeof *instance);
  if (instance == NULL) return NULL;
  instance->tell = tell;
  snprintf(instance->name, sizeof instance->name, "%s", name ? name : "");
  instance->exchange = exchange;
  instance->has_events = exchange;
  if (instance_reset(instance)) return instance;
  instance_free(instance);
  return NULL;
}

/* Between the start values and the first step, the states shown are the start values. */
static void show_start(Instance *instance) {
  Unit *unit = &instance->unit;
  if (unit->set.mode <= MODE_INITIALISING) memcpy(unit->run->x, unit->set.x0, N_X * sizeof(double));
}

int instance_reset(Instance *instance) {
  Unit *unit = &instance->unit;
  instance->outputs_known = 0;
  if (!unit_reset(unit)) return refuse(instance, "there is not enough memory for the unit");
  unit->set.exchange = instance->exchange;
  if (!instance->exchange) return 1;
  /* Limits are not the run's: see exchange.c. Inputs jump at instants only. */
  unit->run->n_active = MODEL.n_guards;
  unit->run->open_end = 0;
  return 1;
}

/* Outputs, rates and indicators at the present state. */
static void look(Instance *instance) {
  Unit *unit = &instance->unit;
  if (instance->outputs_known) return;
  unit_outputs(unit, instance->outputs);
  if (N_RATES > 0) unit_rates(unit, instance->outputs + N_Y);
  if (N_INDICATORS > 0) unit_indicators(unit, instance->outputs + N_Y + N_RATES);
  instance->outputs_known = 1;
}

int instance_get(Instance *instance, const uint32_t *references, size_t n, double *values) {
  Unit *unit = &instance->unit;
  double m[ROOM(N_M)];
  for (size_t i = 0; i < n; i++) {
    uint32_t k = references[i];
    if (k >= END_OF_VARIABLES) return refuse(instance, "there is no variable of this reference");
    if (k >= FIRST_OUTPUT) look(instance);
    if (k >= FIRST_INITIAL && k < FIRST_INPUT) unit_look(unit, m);
    values[i] = k >= FIRST_OUTPUT      ? instance->outputs[k - FIRST_OUTPUT]
                : k >= FIRST_INPUT     ? unit->set.u[k - FIRST_INPUT]
                : k >= FIRST_INITIAL   ? unit->set.x0[k - FIRST_INITIAL]
                : k >= FIRST_PARAMETER ? unit->set.p[k - FIRST_PARAMETER]
                : unit->set.exchange   ? unit->set.time
                                       : unit->run->t;
  }
  return 1;
}

/* Inputs, and numbers that are inputs too, change continuously. */
static int is_input(uint32_t k) { return k >= FIRST_INPUT || (k < FIRST_INITIAL && PARAMETER_INPUT[k - FIRST_PARAMETER]); }

int instance_set(Instance *instance, const uint32_t *references, size_t n, const double *values) {
  Unit *unit = &instance->unit;
  Settings *set = &unit->set;
  for (size_t i = 0; i < n; i++) {
    uint32_t k = references[i];
    if (k < FIRST_PARAMETER || k >= FIRST_OUTPUT) return refuse(instance, "only parameters and inputs can be set");
    if (!isfinite(values[i])) return refuse(instance, "values must be finite numbers");
    if (set->mode == MODE_CONTINUOUS && !is_input(k))
      return refuse(instance, "parameters and start values can be set at events, not between them");
    if (k >= FIRST_INPUT) {
      set->unsettled |= set->u[k - FIRST_INPUT] != values[i];
      set->u[k - FIRST_INPUT] = values[i];
    } else if (k >= FIRST_INITIAL) {
      set->placed |= set->x0[k - FIRST_INITIAL] != values[i];
      set->x0[k - FIRST_INITIAL] = values[i];
      if (set->mode > MODE_INITIALISING) {
        unit->run->x[k - FIRST_INITIAL] = values[i];
        set->moved = 1;
      }
    } else {
      if (PARAMETER_FIXED[k - FIRST_PARAMETER] && set->mode > MODE_INITIALISING)
        return refuse(instance, "this parameter can only be set before the start");
      set->unsettled |= set->p[k - FIRST_PARAMETER] != values[i];
      set->p[k - FIRST_PARAMETER] = values[i];
      set->stale = 1;
    }
  }
  instance->outputs_known = 0;
  show_start(instance);
  return 1;
}

/* Place of a variable in the seed [states, memory, parameters] of the slopes, -1 where nothing can be differentiated. */
static int place_in_seed(uint32_t k) {
  if (k >= FIRST_OUTPUT && k < FIRST_RATE) return OUTPUT_STATE[k - FIRST_OUTPUT];
  if (k >= FIRST_INPUT && k < FIRST_OUTPUT) return N_X + INPUT_PLACE[k - FIRST_INPUT];
  if (k >= FIRST_PARAMETER && k < FIRST_INITIAL) return N_X + N_M + (int)k - FIRST_PARAMETER;
  return -1;
}

/* Slopes of outputs and rates along a direction of inputs, states and parameters, at the present time. */
int instance_slopes(Instance *instance, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                    size_t n_knowns, const double *seed, double *slopes) {
  double column[ROOM(N_X + N_M + N_P)] = {0.0}, all[ROOM(N_Y + N_RATES)];
  for (size_t i = 0; i < n_knowns; i++) {
    int place = place_in_seed(knowns[i]);
    if (place < 0) return refuse(instance, "directional derivatives are by inputs, states and parameters");
    column[place] = seed[i];
  }
  unit_slopes(&instance->unit, column, all);
  for (size_t i = 0; i < n_unknowns; i++) {
    uint32_t k = unknowns[i];
    if (k < FIRST_OUTPUT || k >= FIRST_INDICATOR)
      return refuse(instance, "directional derivatives are of outputs and rates of states");
    slopes[i] = all[k - FIRST_OUTPUT];
  }
  return 1;
}

void instance_open(Instance *instance, double start, double stop, double tolerance) {
  Settings *set = &instance->unit.set;
  set->start = set->time = instance->unit.run->t = start;
  set->stop = stop;
  set->tolerance = tolerance;
  set->mode = MODE_INITIALISING;
  instance->outputs_known = 0;
}

int instance_begin(Instance *instance) {
  char complaint[256];
  instance->outputs_known = 0;
  if (!unit_begin(&instance->unit, instance->has_events, complaint, sizeof complaint))
    return refuse(instance, complaint);
  memcpy(instance->unit.set.shown, instance->unit.run->x, N_X * sizeof(double));
  instance->unit.set.mode = instance->has_events ? MODE_EVENT : MODE_STEP;
  return 1;
}

/* A sentence for a run that has ended; the caller adds the name of what is responsible. */
const char *instance_complaint(const Instance *instance) {
  switch (instance->unit.run->status) {
    case TERMINAL: return "a terminal event ended the run";
    case STEP_LIMIT: return "all steps are used up: loosen the tolerance";
    case NOT_A_NUMBER: return "a state stopped being a finite number";
    case STEP_TOO_SMALL: return "the step became too small: the system may be stiff, or a law jumps";
    case OVERFLOWN: return "a state grew without bound: the step may be beyond the method's stability";
    case CHATTERING: return "an event chatters: very many of them in no time";
    case NOT_SOLVED: return "the equations of a step could not be solved";
    case NO_MEMORY: return "there is not enough memory for the past of delayed signals";
    default: return "";
  }
}

int instance_has_ended(const Instance *instance) { return instance->unit.run->status == TERMINAL; }

static int tell_status(Instance *instance) {
  const Run *run = instance->unit.run;
  const char *name = "";
  char sentence[512];
  int by_guard = run->status == TERMINAL || run->status == CHATTERING;
  if (run->status == FINISHED || run->status == GOING) return 1;
  if (run->offender >= 0) name = by_guard ? GUARD_NAME[run->offender] : STATE_NAME[run->offender];
  snprintf(sentence, sizeof sentence, "at %.9g s %s%s%s", run->t, instance_complaint(instance), name[0] ? ": " : "", name);
  return refuse(instance, sentence);
}

/* Part of a step, and of time itself, by which a communication point may differ from where the unit stands: masters add
   times up. */
#define ROUNDED_STEP 1e-6
#define ROUNDED_TIME 1e-9

int instance_step(Instance *instance, double time, double step) {
  const Run *run = instance->unit.run;
  char sentence[128];
  int64_t status = run->status;
  if (!isfinite(time) || !(step >= 0.0) || !isfinite(step)) return refuse(instance, "steps are finite and not negative");
  if (!(fabs(time - run->t) <= ROUNDED_STEP * step + ROUNDED_TIME * fabs(run->t))) {
    snprintf(sentence, sizeof sentence, "a step from %.9g s: the unit stands at %.9g s", time, run->t);
    return refuse(instance, sentence);
  }
  instance->outputs_known = 0;
  if (status == GOING || status == FINISHED) unit_advance(&instance->unit, time + step, instance->pauses);
  return tell_status(instance);
}

void instance_arrive(Instance *instance) {
  Unit *unit = &instance->unit;
  instance->outputs_known = 0;
  memcpy(unit->set.shown, unit->run->x, N_X * sizeof(double));
  if (instance->exchange) exchange_arrive(unit);
  unit->set.mode = MODE_EVENT;
}

int instance_update(Instance *instance, int *changed, double *next) {
  Unit *unit = &instance->unit;
  int64_t status = unit->run->status;
  instance->outputs_known = 0;
  if (status == GOING || status == FINISHED) unit_advance(unit, instance->exchange ? INFINITY : unit->run->t, 0);
  *changed = exchange_settle(unit);
  *next = instance->exchange && unit->run->phase == SEGMENT ? unit->run->t_stop : INFINITY;
  return tell_status(instance);
}

int instance_leave(Instance *instance, int mode) {
  int changed, done = 1;
  double next;
  if (unit_has_events(&instance->unit)) done = instance_update(instance, &changed, &next);
  instance->unit.set.mode = mode;
  return done;
}

void instance_free(Instance *instance) {
  if (instance) unit_free(&instance->unit);
  free(instance);
}
