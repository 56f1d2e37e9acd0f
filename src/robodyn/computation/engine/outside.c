/* A run whose steps another integrator takes: what is due where it stands?

   The caller writes its integrator's states and time into x[START] and t. Guards are compared with the signs they had when
   the last instant was settled; instants themselves are those of every run. */

#include "parts.h"

/* Times are the same that differ by this part of them, as integrators add them up, and of the segment before them. */
#define SAME_TIME 2e-9
#define SAME_PART 1e-3

/* Mark the guards that have crossed zero since the last instant; how many. One that was at its root then, and is still
   on the side where it was found, has crossed when it turns back: until then it is on its way out. */
static int64_t mark_crossings(Run *run) {
  const double *values = guard_row(run, G_END), *rates = guard_row(run, G_POINT);
  int64_t found = 0;
  int rates_known = 0;
  evaluate_guards(run, run->t, START, G_END);
  for (int64_t j = 0; j < run->model->n_guards; j++) {
    int64_t sign = run->sign[j];
    if (!guard_crosses(run, j, sign, values[j])) continue;
    if (run->from_rate[j] && !rates_known) {
      evaluate_guard_rates(run);
      rates_known = 1;
    }
    /* Rounding at its root is no crossing. */
    if (run->from_rate[j] && sign_of(rates[j]) != -sign) {
      run->from_rate[j] = LEAVING;
    } else {
      run->fired[j] = LOCATED;
      found++;
    }
  }
  carry_signs(run);
  return found;
}

int64_t run_watch(Run *run) {
  run->last_length = run->t - run->t_segment;
  int64_t found = mark_crossings(run);
  for (int64_t j = 0; j < run->model->n_guards; j++) run->fired[j] = NOT_FIRED;
  return found;
}

void run_arrive(Run *run, double t) {
  double near = least(SAME_TIME * fabs(run->t_stop), SAME_PART * (run->t_stop - run->t_segment));
  run->last_length = t - run->t_segment;
  mark_crossings(run);
  run->t = isfinite(run->t_stop) && run->t_stop - t <= near ? largest(t, run->t_stop) : t;
  begin_instant(run);
}
