/* Where does a run start whose start is looked for: at rest, or where all constraints are met?

   The searches of the simulation, from the described start values, with the parameters and inputs as they are set:
     at rest:   f(t, x, d, m, p) = 0, delayed signals are what they are now, tasks leave m as it is; quantisers are
                ideal and friction carries nothing, then tasks run with quantisers as they are
     assembled: h(q, t) = 0 by the shortest steps, then h'(q, v, t) = 0, without what keeps its start value */

#include "unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETTLED 1e-10
#define STILL 1e-6
#define CLOSED 1e-9
#define TOUCHING 1e-9
#define SUM 1e-9

enum { REST_STEPS = 40, TRANSIENT_STEPS = 2000, SAMPLES = 100, CLOSING_STEPS = 100 };

typedef struct {
  double matrix[ROOM(START_ROWS * START_COLUMNS)], right[ROOM(START_ROWS)];
  double values[ROOM(2 * START_ROWS)], fresh[ROOM(2 * START_ROWS)];
  double z[ROOM(START_COLUMNS)], trial[ROOM(START_COLUMNS)], step[ROOM(START_COLUMNS)];
  double ideal[ROOM(N_P + N_PRELUDE + N_DATA)];
} Work;

static void call(Run *run, Kernel kernel, double t, const double *x, double *out) {
  kernel(&t, x, run->d, run->m, run->p, out);
}

/* Rest is that of references just before the start. */
static double before(const Run *run) { return run->t - 1e-12; }

static double largest(const double *values, int n) {
  double found = 0.0;
  for (int i = 0; i < n; i++)
    if (!(fabs(values[i]) <= found)) found = isnan(values[i]) ? INFINITY : fabs(values[i]);
  return found;
}

static double norm(const double *values, int n) {
  double total = 0.0;
  for (int i = 0; i < n; i++) total += values[i] * values[i];
  return sqrt(total);
}

/* States, memory and delayed signals from which a search begins. */
static void guess(Unit *unit) {
  Run *run = unit->run;
  memcpy(run->x, STATE_GUESS, N_X * sizeof(double));
  memcpy(run->m, MEMORY_GUESS, N_M * sizeof(double));
  memcpy(run->d, DELAY_GUESS, N_D * sizeof(double));
  for (int k = 0; k < N_INPUTS; k++) run->m[INPUT_PLACE[k]] = unit->set.u[k];
}

/* The unknowns z = [x, d, m as far as tasks change it] in units of their nominal magnitudes: where each stands. */
static double *unknown(Run *run, int i) {
  if (i < N_REST_RATES) return &run->x[i];
  return i < N_REST_RATES + N_D ? &run->d[i - N_REST_RATES] : &run->m[REST_MEMORY[i - N_REST_RATES - N_D]];
}

static void put(Run *run, const double *z) {
  for (int i = 0; i < N_REST; i++) *unknown(run, i) = z[i] * REST_SCALE[i];
}

static void measure_rates(Run *run, const double *z, double *rates) {
  put(run, z);
  call(run, KERNEL_REST, before(run), run->x, rates);
  for (int i = 0; i < N_REST; i++) rates[i] /= REST_SCALE[i];
}

/* step = (E / h - J)^-1 rates, E the identity for states with a rate; an infinite h is Newton's. What is fixed stays. */
static void solve_step(Run *run, Work *work, double h, double part) {
  put(run, work->z);
  call(run, KERNEL_REST_JACOBIAN, before(run), run->x, work->matrix);
  for (int j = 0; j < N_REST; j++) {
    for (int i = 0; i < N_REST; i++) work->matrix[j * N_REST + i] *= -(REST_SCALE[j] / REST_SCALE[i]);
  }
  for (int k = 0; k < N_FIXED; k++)
    for (int i = 0; i < N_REST; i++) work->matrix[REST_FIXED[k] * N_REST + i] = 0.0;
  for (int j = 0; j < N_REST_RATES; j++) work->matrix[j * N_REST + j] += 1.0 / h;
  memcpy(work->right, work->values, N_REST * sizeof(double));
  solve_shortest(work->matrix, work->right, N_REST, N_REST, part, work->step);
  for (int k = 0; k < N_FIXED; k++) work->step[REST_FIXED[k]] = 0.0;
}

/* trial = z + factor step, and the rates there. */
static void try_step(Run *run, Work *work, double factor) {
  for (int i = 0; i < N_REST; i++) work->trial[i] = work->z[i] + factor * work->step[i];
  measure_rates(run, work->trial, work->fresh);
}

static int rest_by_newton(Run *run, Work *work) {
  for (int k = 0; k < REST_STEPS; k++) {
    measure_rates(run, work->z, work->values);
    if (!isfinite(largest(work->values, N_REST))) return 0;
    solve_step(run, work, INFINITY, 1e-13);
    int done = largest(work->step, N_REST) <= SETTLED && largest(work->values, N_REST) <= STILL;
    double factor = 1.0, size = norm(work->values, N_REST);
    try_step(run, work, factor);
    while (!done && factor > 1e-4 && !(norm(work->fresh, N_REST) < size)) try_step(run, work, factor /= 2.0);
    memcpy(work->z, work->trial, sizeof work->z);
    if (done) return 1;
  }
  return 0;
}

/* Implicit Euler steps that grow as the motion dies out. */
static void rest_in_time(Run *run, Work *work) {
  double h = 1e-4;
  measure_rates(run, work->z, work->values);
  for (int k = 0; k < TRANSIENT_STEPS; k++) {
    double changes[ROOM(N_REST)];
    solve_step(run, work, h, DBL_EPSILON * N_REST);
    try_step(run, work, 1.0);
    for (int i = 0; i < N_REST; i++) changes[i] = work->step[i] / (1.0 + fabs(work->z[i]));
    /* What has no rate jumps with the rest, however short the step. */
    if (!(isfinite(largest(work->fresh, N_REST)) && largest(changes, N_REST_RATES) <= 0.2)) {
      h /= 3.0;
      continue;
    }
    memcpy(work->z, work->trial, sizeof work->z);
    memcpy(work->values, work->fresh, sizeof work->values);
    h = fmin(2.0 * h, 1e9);
    if (largest(changes, N_REST) <= SETTLED && largest(work->values, N_REST) <= STILL) return;
  }
}

/* Let tasks run where the states stand until they change nothing, with the parameters as they are set; sums stay. */
static void sample(Run *run, Work *work) {
  int n = 0, written[ROOM(N_REST)];
  for (int i = N_REST_RATES + N_D; i < N_REST; i++)
    if (fabs(work->matrix[i * N_REST + i]) > SUM) written[n++] = i;
  for (int k = 0, settled = n == 0; k < SAMPLES && !settled; k++) {
    measure_rates(run, work->z, work->values);
    settled = 1;
    for (int i = 0; i < n; i++) {
      double *z = &work->z[written[i]], change = work->values[written[i]];
      *z += change;
      settled = settled && fabs(change) <= SETTLED * (1.0 + fabs(*z));
    }
  }
  put(run, work->z);
}

static void begin_at_guess(Unit *unit, Work *work) {
  guess(unit);
  for (int i = 0; i < N_REST; i++) work->z[i] = *unknown(unit->run, i) / REST_SCALE[i];
  call(unit->run, KERNEL_REST_JACOBIAN, before(unit->run), unit->run->x, work->matrix);
  sample(unit->run, work);
}

/* Whether references stand still, and what is rigid does not touch: the rest would be another one. */
static int check_conditions(Run *run, int first, int n, const char *sentence, char *complaint, size_t room) {
  double values[ROOM(N_MOVING + N_APART)] = {0.0};
  if (n > 0) call(run, KERNEL_REST_CONDITIONS, before(run), run->x, values);
  for (int k = first; k < first + n; k++)
    if (!(values[k] <= TOUCHING && (k >= N_MOVING || values[k] >= -TOUCHING))) {
      compose(complaint, room, sentence, CONDITION_NAME[k], values[k]);
      return 0;
    }
  return 1;
}

static int search_rest(Unit *unit, Work *work, char *complaint, size_t room) {
  Run *run = unit->run;
  begin_at_guess(unit, work);
  if (!check_conditions(run, 0, N_MOVING, "'%s' is %g before the start: what follows it cannot rest", complaint, room))
    return 0;
  if (!rest_by_newton(run, work)) {
    begin_at_guess(unit, work);
    rest_in_time(run, work);
  }
  measure_rates(run, work->z, work->values);
  for (int i = 0; i < N_REST; i++)
    if (!(fabs(work->values[i]) <= STILL)) {
      compose(complaint, room, "nothing at rest found near the start: '%s' still moves", REST_NAME[i]);
      return 0;
    }
  return check_conditions(run, N_MOVING, N_APART, "the rest found is inside of '%s', by %g m", complaint, room);
}

/* At rest with ideal quantisers first, by parameters of their own. */
static int find_rest(Unit *unit, Work *work, char *complaint, size_t room) {
  const double *real = unit->run->p;
  memcpy(work->ideal, real, sizeof work->ideal);
  for (int k = 0; k < N_IDEAL; k++) work->ideal[IDEAL_PLACE[k]] = IDEAL_VALUE[k];
  if (N_IDEAL > 0 && N_PRELUDE > 0) model_prelude(work->ideal, work->ideal + N_P);
  unit->run->p = work->ideal;
  int found = search_rest(unit, work, complaint, room);
  call(unit->run, KERNEL_REST_JACOBIAN, before(unit->run), unit->run->x, work->matrix);
  unit->run->p = real;
  if (found && N_IDEAL > 0) sample(unit->run, work);
  return found;
}

/* Residuals on both levels, and the gradients of the first by what may change. */
static void measure_constraints(Run *run, Work *work, int joints_only, const int *keeps) {
  call(run, KERNEL_CLOSING, run->t, run->x, work->values);
  call(run, KERNEL_CLOSING_GRADIENTS, run->t, run->x, work->matrix);
  for (int j = 0; j < N_Q; j++) {
    int stays = keeps[j] || (joints_only && !IS_JOINT[j]);
    for (int i = 0; i < N_EQUATIONS && stays; i++) work->matrix[j * N_EQUATIONS + i] = 0.0;
  }
}

/* The shortest step that meets the linearised equations; what stays, stays to the last digit. */
static void shorten(Work *work, const double *values, const int *keeps) {
  memcpy(work->right, values, N_EQUATIONS * sizeof(double));
  solve_shortest(work->matrix, work->right, N_EQUATIONS, N_Q, 1e-10, work->step);
  for (int j = 0; j < N_Q; j++)
    if (keeps[j]) work->step[j] = 0.0;
}

/* A step towards closed constraints, halved while it leads away from them; 0 when none leads there. */
static int approach(Run *run, Work *work) {
  double size = norm(work->values, N_EQUATIONS), factor;
  shorten(work, work->values, KEEPS_POSITION);
  memcpy(work->z, run->x, N_Q * sizeof(double));
  for (factor = fmin(1.0, 0.5 / fmax(largest(work->step, N_Q), 1e-300)); factor > 1e-4; factor /= 2.0) {
    for (int i = 0; i < N_Q; i++) run->x[i] = work->z[i] - factor * work->step[i];
    call(run, KERNEL_CLOSING, run->t, run->x, work->fresh);
    if (norm(work->fresh, N_EQUATIONS) < size) return 1;
  }
  memcpy(run->x, work->z, N_Q * sizeof(double));
  return 0;
}

static int close_by(Unit *unit, Work *work, int joints_only) {
  Run *run = unit->run;
  double speed;
  guess(unit);
  measure_constraints(run, work, joints_only, KEEPS_POSITION);
  for (int k = 0; k < CLOSING_STEPS && largest(work->values, N_EQUATIONS) > CLOSED / 1000.0; k++) {
    int closer = approach(run, work);
    measure_constraints(run, work, joints_only, KEEPS_POSITION);
    if (!closer) break;
  }
  measure_constraints(run, work, joints_only, KEEPS_VELOCITY);
  shorten(work, work->values + N_EQUATIONS, KEEPS_VELOCITY);
  for (int i = 0; i < N_Q; i++) run->x[N_Q + i] -= work->step[i];
  call(run, KERNEL_CLOSING, run->t, run->x, work->values);
  speed = fmax(1.0, largest(run->x + N_Q, N_Q));
  return largest(work->values, N_EQUATIONS) <= CLOSED &&
         largest(work->values + N_EQUATIONS, N_EQUATIONS) <= CLOSED * speed;
}

/* Closed by the joints alone, where that is possible, otherwise with the modes of flexible bodies. */
static int close_all(Unit *unit, Work *work, char *complaint, size_t room) {
  int modes = 0;
  for (int j = 0; j < N_Q; j++) modes |= !IS_JOINT[j];
  if (close_by(unit, work, modes) || (modes && close_by(unit, work, 0))) return 1;
  compose(complaint, room, "the constraints cannot be met beside the start values that stay: %g is left, a rate of %g",
          largest(work->values, N_EQUATIONS), largest(work->values + N_EQUATIONS, N_EQUATIONS));
  return 0;
}

/* What was found must lie within the ranges of all coordinates. */
static int check_ranges(Run *run, char *complaint, size_t room) {
  double places[ROOM(N_RANGED)] = {0.0};
  if (N_RANGED > 0) call(run, KERNEL_RANGED, run->t, run->x, places);
  for (int k = 0; k < N_RANGED; k++)
    if (!(RANGE_LOWER[k] <= places[k] && places[k] <= RANGE_UPPER[k])) {
      compose(complaint, room, "the start found at %g is out of reach: '%s'", places[k], RANGED_NAME[k]);
      return 0;
    }
  return 1;
}

/* Put x0 and m where the run starts, if that has to be found anew; 0 with a complaint where it cannot be found. */
int find_start(Unit *unit, char *complaint, size_t room) {
  Settings *set = &unit->set;
  int found = 0;
  Work *work;
  if (!set->unsettled || set->placed || !(N_REST > 0 || N_EQUATIONS > 0)) return 1;
  work = malloc(sizeof *work);
  compose(complaint, room, "there is not enough memory for the start");
  if (work != NULL) {
    found = N_REST > 0 ? find_rest(unit, work, complaint, room) : close_all(unit, work, complaint, room);
    found = found && check_ranges(unit->run, complaint, room);
  }
  free(work);
  memcpy(set->x0, unit->run->x, N_X * sizeof(double));
  if (found) set->unsettled = 0;
  return found;
}
