/* Event log: which events have happened, and do they follow each other without time passing? */

#include "parts.h"

/* Chattering: CHATTER_EVENTS actions of one guard within this part of the run, and no less than this time [s]; and
   STORM_EVENTS within this part: it would take a hundred million events to its end. */
#define CHATTER_SPAN 1e-9
#define CHATTER_TIME 1e-12
#define STORM_SPAN 1e-5

/* Whether a guard's crossing has no consequence but to be noted. */
int only_watches(const Run *run, int64_t j) {
  const Model *model = run->model;
  return j < model->n_guards && !model->guard_action[j] && !model->guard_terminal[j];
}

/* Whether guard j has fired this often, now included, in less than a time. */
static int has_fired(const Run *run, int64_t j, int64_t count, double t, double time) {
  int64_t n = run->n_fired[j];
  return n >= count && t - run->fired_at[j * STORM_EVENTS + (n - count) % STORM_EVENTS] < time;
}

/* Where the end of the run is not known, only the shorter span counts, for a run of 1 s. */
static int is_chattering(Run *run, int64_t j, double t) {
  int known = isfinite(run->t_last);
  double span = known ? run->t_last - run->t0 : 1.0, shortest = largest(CHATTER_SPAN * span, CHATTER_TIME);
  double storm = known ? largest(STORM_SPAN * span, shortest) : shortest;
  run->fired_at[j * STORM_EVENTS + run->n_fired[j]++ % STORM_EVENTS] = t;
  return has_fired(run, j, CHATTER_EVENTS, t, shortest) || has_fired(run, j, STORM_EVENTS, t, storm);
}

/* Note an event of guard j; actions that follow each other without time passing end the run. */
void log_event(Run *run, int64_t j, double t) {
  if (run->recording->kind != RECORD_NOTHING) {
    double *entry = append_row(run, &run->log, &run->n_log, &run->log_capacity, 2, NULL);
    if (entry == NULL) return;
    entry[0] = t;
    entry[1] = (double)j;
  }
  if (run->model->guard_terminal[j] && run->terminal < 0) run->terminal = j;
  if (run->model->guard_action[j] && is_chattering(run, j, t)) {
    run->status = CHATTERING;
    run->offender = j;
  }
}

/* Note the crossings of guards that only watch, in order of time, before a place of the step. Their roots are infinite for
   none, and once they are noted. */
void log_watchers(Run *run, double end) {
  double *roots = guard_row(run, G_ROOT);
  for (;;) {
    int64_t first = -1;
    double place = end;
    for (int64_t j = 0; j < run->model->n_guards; j++)
      if (roots[j] < place) {
        first = j;
        place = roots[j];
      }
    if (first < 0) return;
    log_event(run, first, least(run->t + place * run->h_tried, run->t_new));
    roots[first] = INFINITY;
  }
}
