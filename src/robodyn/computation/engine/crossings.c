/* Event location: which guard crosses zero first in a step, also where it comes to zero and goes back unseen?

   Symbols: theta = 0..1 the place in the step. */

#include "parts.h"

/* Roots nearer than this part of a step are one instant. */
#define COINCIDENCE 1e-12

/* Whether the proof has found all crossings of guard j in this step. */
static int is_decided(const Run *run, int64_t j) { return run->only_aside && run->level[j] != ASIDE; }

/* Where guard j, seen in the middle and at the end of the step, is about to cross; or infinity. */
static double guess_crossing(const Run *run, int64_t j) {
  double first = guard_row(run, G_FIRST)[j], middle = guard_row(run, G_MIDDLE)[j], end = guard_row(run, G_END)[j];
  int64_t sign = run->sign[j];
  /* Most guards stay on their side. */
  if (is_decided(run, j) || (sign_of(middle) == sign && sign_of(end) == sign)) return INFINITY;
  if (guard_crosses(run, j, sign, middle)) return 0.5 * first / (first - middle);
  int crosses = sign != 0 && guard_crosses(run, j, sign_of(middle), end);
  return crosses ? 0.5 + 0.5 * middle / (middle - end) : INFINITY;
}

/* Place of the first crossing of guard j in the step, or infinity; an adaptive step is also looked at in its middle. */
static double find_crossing(Run *run, int64_t j, double before) {
  double left = 0.0, end = guard_row(run, G_END)[j];
  int64_t sign = run->sign[j];
  if (is_decided(run, j)) return guard_row(run, G_ROOT)[j];
  if (sign == 0) return INFINITY;
  /* In the first half; else the sign in the middle is that of the second half. */
  if (run->method->adaptive) {
    double middle = guard_row(run, G_MIDDLE)[j];
    if (guard_crosses(run, j, sign, middle)) {
      double place = locate_root(run, j, sign, 0.0, 0.5, middle, before);
      if (place < INFINITY) return place;
    } else {
      sign = sign_of(middle);
      left = 0.5;
    }
  }
  return guard_crosses(run, j, sign, end) ? locate_root(run, j, sign, left, 1.0, end, before) : INFINITY;
}

/* Crossing before a place of the step of the first guard of which none is known until then; or infinity. */
static double cross_before(Run *run, double place, double known) {
  double *roots = guard_row(run, G_ROOT);
  const double *values = guard_row(run, G_POINT);
  guards_at(run, place, G_POINT);
  for (int64_t j = 0; j < run->n_active; j++) {
    if (!(roots[j] > known) || only_watches(run, j) || is_decided(run, j)) continue;
    if (run->sign[j] == 0 || !guard_crosses(run, j, run->sign[j], values[j])) continue;
    double found = locate_root(run, j, run->sign[j], 0.0, place, values[j], INFINITY);
    if (found < INFINITY) return roots[j] = found;
    guards_at(run, place, G_POINT);
  }
  return INFINITY;
}

/* Place of the first crossing: guards seen apart in the middle and at the end may have crossed before the first root
   found, and returned after it. They are looked for there and halfway to it. */
static double look_before(Run *run, double earliest, double width) {
  for (int64_t k = 0; k < 2 * run->n_active; k++) {
    double found = cross_before(run, 0.5 * earliest, earliest + width);
    if (found == INFINITY) found = cross_before(run, earliest, earliest + width);
    if (!(found < earliest)) break;
    earliest = found;
  }
  return earliest;
}

/* Note the crossings of watching guards before a place of the step; there may be one in each half of an adaptive step. */
static void note_crossings(Run *run, double end) {
  double *roots = guard_row(run, G_ROOT);
  if (!run->method->adaptive) {
    log_watchers(run, end);
    return;
  }
  log_watchers(run, least(0.5, end));
  if (end <= 0.5) return;
  for (int64_t j = 0; j < run->model->n_guards; j++) {
    if (roots[j] < INFINITY || !only_watches(run, j) || run->fired[j] == LOCATED || is_decided(run, j)) continue;
    double value = guard_row(run, G_END)[j];
    int64_t sign = sign_of(guard_row(run, G_MIDDLE)[j]);
    if (guard_crosses(run, j, sign, value)) roots[j] = locate_root(run, j, sign, 0.5, 1.0, value, INFINITY);
  }
  log_watchers(run, end);
}

/* End the step at a place within it, but later than its start by at least a unit in the last place of time. */
static void truncate_step(Run *run, double theta) {
  theta = largest(theta, (nextafter(run->t, INFINITY) - run->t) / run->h_tried);
  if (theta >= 1.0) return;
  /* The state there is that of the polynomial, put back on the constraints. */
  evaluate_dense(run, theta, END);
  run->t_new = least(run->t + theta * run->h_tried, run->t_new);
  run->theta_end = theta;
  run->end_known = -1;
  project_end(run);
  /* Where nothing is delayed, the guards there are those of the place. */
  guards_at(run, run->model->n_d > 0 ? 1.0 : theta, G_END);
}

/* Part of its distance from zero by which a guard may bend between three points before it is looked at more closely. */
#define BEND 0.25

/* Part of its range by which a guard may miss the parabola through three points of a step before this is too long for it:
   a step that has grown, or that no event will cut; and any other, which must not halve its way to a kink without end: that
   misses by 0.25. */
#define MISS 0.03
#define COARSE_MISS 0.3
#define GROWTH 1.5

/* Halvings of a step that a guard may ask for: one that jumps without crossing zero is not resolved by any. Nor must a
   jump be approached by ever shorter steps: what happens within this part of the longest one is a jump. */
enum { MOST_TURNS = 8 };
#define JUMP_WIDTH 1e-6

/* Whether the parabola through three equally spaced values may come near zero between them. */
static int bends_to_zero(double a, double m, double b) {
  double distance = least(fabs(a), least(fabs(m), fabs(b)));
  return fabs(m - 0.5 * (a + b)) > BEND * distance;
}

static int has_grown(const Run *run) { return run->h_tried > GROWTH * run->last_length; }

/* Whether five equally spaced values are no parabola: the guard moves faster than the step sees. */
static int is_unresolved(const double g[5], double miss) {
  double low = g[0], high = g[0];
  for (int k = 1; k < 5; k++) {
    low = least(low, g[k]);
    high = largest(high, g[k]);
  }
  return parabola_miss(g[0], g[1], g[2], g[3], g[4]) > miss * (high - low);
}

/* A point of a guard's course. */
typedef struct {
  double place, value;
} Look;

/* Turning point of the parabola through three points. */
static double turn_of(Look a, Look m, Look b) {
  double left = (m.place - a.place) * (m.value - b.value), right = (m.place - b.place) * (m.value - a.value);
  return m.place - 0.5 * ((m.place - a.place) * left - (m.place - b.place) * right) / (left - right);
}

/* Place of a crossing where a guard bends towards zero between three points: at its turning point, which is approached by
   parabolas through the three points around it. */
static double cross_at_turn(Run *run, int64_t j, int64_t sign, Look a, Look m, Look b, double before) {
  Look end = b;
  double start = a.place, near = 1e-3 * (b.place - a.place);
  if (!bends_to_zero(a.value, m.value, b.value)) return INFINITY;
  for (int k = 0; k < MOST_TURNS; k++) {
    Look turn = {turn_of(a, m, b), 0.0};
    if (!(turn.place > a.place && turn.place < b.place) || fabs(turn.place - m.place) < near) return INFINITY;
    turn.value = guard_value_at(run, turn.place, j);
    if (guard_crosses(run, j, sign, turn.value)) return locate_root(run, j, sign, start, turn.place, turn.value, before);
    /* It has crossed the other way, and comes back. */
    if (sign_of(turn.value) == -sign) return locate_root(run, j, -sign, turn.place, end.place, end.value, before);
    Look first = turn.place < m.place ? turn : m, second = turn.place < m.place ? m : turn;
    /* The one nearer to zero stays in the middle. */
    if (fabs(first.value) < fabs(second.value)) {
      m = first;
      b = second;
    } else {
      a = first;
      m = second;
    }
  }
  return INFINITY;
}

/* First crossing of guard j in one half of the step, by its three points and where it turns; its sign on the way. */
static double cross_in_half(Run *run, int64_t j, int64_t *sign, Look a, Look m, Look b, double before) {
  int same = sign_of(a.value) == sign_of(m.value) && sign_of(m.value) == sign_of(b.value);
  double place = same ? cross_at_turn(run, j, *sign, a, m, b, before) : INFINITY;
  if (place < INFINITY) return place;
  const Look looks[3] = {a, m, b};
  for (int k = 1; k < 3; k++) {
    if (guard_crosses(run, j, *sign, looks[k].value)) {
      place = locate_root(run, j, *sign, looks[k - 1].place, looks[k].place, looks[k].value, before);
      if (place < INFINITY) return place;
    } else if (looks[k].value != 0.0) {
      *sign = sign_of(looks[k].value);
    }
  }
  return INFINITY;
}

/* Values of guard j at the start, the quarters and the end of the step. */
static void read_looks(const Run *run, int64_t j, double g[5]) {
  static const int64_t rows[5] = {G_FIRST, G_QUARTER, G_MIDDLE, G_LAST_QUARTER, G_END};
  for (int k = 0; k < 5; k++) g[k] = guard_row(run, rows[k])[j];
}

/* Whether guard j may have come to zero and gone back between the points seen. Three points of a step that has grown may
   lie on a line by chance, many periods of a guard apart. */
static int is_suspect(const Run *run, int64_t j, int grown) {
  const double *first = guard_row(run, G_FIRST), *middle = guard_row(run, G_MIDDLE), *end = guard_row(run, G_END);
  if (run->sign[j] == 0 || is_decided(run, j)) return 0;
  return grown || guess_crossing(run, j) < INFINITY || bends_to_zero(first[j], middle[j], end[j]);
}

/* Whether a guard moves faster than the step sees: near zero, it is no parabola through its points, and nothing that lies
   between them is known. */
static int is_too_long(Run *run, int64_t j, int grown) {
  double g[5];
  read_looks(run, j, g);
  int near = guess_crossing(run, j) < INFINITY || bends_to_zero(g[0], g[1], g[2]) || bends_to_zero(g[2], g[3], g[4]);
  return near && is_unresolved(g, grown || only_watches(run, j) ? MISS : COARSE_MISS);
}

/* The first guard that is suspect, or as many as there are. */
static int64_t find_suspect(const Run *run, int grown) {
  int64_t j = 0;
  while (j < run->n_active && !is_suspect(run, j, grown)) j++;
  return j;
}

/* Look at the guards at the quarters of the step; 1 when it is too long for one of them, of which this is the first. */
static int look_at_quarters(Run *run, int64_t suspect, int grown) {
  guards_at(run, 0.25, G_QUARTER);
  guards_at(run, 0.75, G_LAST_QUARTER);
  for (int64_t j = suspect; j < run->n_active; j++)
    if (is_suspect(run, j, grown) && is_too_long(run, j, grown)) return 1;
  return 0;
}

/* Look at guard j again, at the quarters of the step and where it turns: it may cross before it was seen to. 1 when the step
   is too long for it. What comes later than a place is of no interest. */
static int look_again(Run *run, int64_t j, double before) {
  double g[5];
  read_looks(run, j, g);
  double *root = &guard_row(run, G_ROOT)[j], place = INFINITY;
  int64_t sign = run->sign[j];
  /* Each half has three looks, at its ends and in its middle. */
  for (int k = 0; k < 2 && place == INFINITY; k++) {
    Look a = {0.5 * k, g[2 * k]}, m = {0.5 * k + 0.25, g[2 * k + 1]}, b = {0.5 * k + 0.5, g[2 * k + 2]};
    place = cross_in_half(run, j, &sign, a, m, b, before);
  }
  if (!(place < least(*root, before))) return 0;
  /* A guard that only watches cuts no step: its crossings are seen by shorter steps. */
  if (only_watches(run, j)) return 1;
  *root = place;
  return 0;
}

/* Look again at all guards that may have come to zero and gone back between the points seen; 1 when the step is too long
   for one of them. */
static int look_closer(Run *run, double before) {
  int too_long = 0, grown = has_grown(run);
  for (int64_t j = 0; j < run->n_active; j++)
    if (is_suspect(run, j, grown)) too_long |= look_again(run, j, before);
  return too_long;
}

/* First crossing, of guards with consequences, between the looks at the middle and the end of the step; each guard's
   root, of those that cross later only that they do; infinity for none. */
static double find_crossings(Run *run) {
  double *roots = guard_row(run, G_ROOT), earliest = INFINITY, nearest = INFINITY;
  int64_t first = -1;
  /* The one that seems to be first goes first: what it finds spares the search for most others. */
  for (int64_t j = 0; run->method->adaptive && j < run->n_active; j++) {
    double guess = only_watches(run, j) ? INFINITY : guess_crossing(run, j);
    if (!(guess < nearest)) continue;
    first = j;
    nearest = guess;
  }
  if (first >= 0) earliest = roots[first] = find_crossing(run, first, INFINITY);
  for (int64_t j = 0; j < run->n_active; j++) {
    if (j != first) roots[j] = find_crossing(run, j, earliest);
    if (!only_watches(run, j)) earliest = least(earliest, roots[j]);
  }
  return earliest;
}

/* Parts of the step by which roots may differ that are one instant. */
static double coincidence(const Run *run) { return largest(COINCIDENCE, ROOT_ULPS * spacing(run->t_new) / run->h_tried); }

/* Roots that rounding cannot tell apart fire together, at the last of them, where all have crossed: the step ends there, and
   what comes later is found again. Its place. */
static double fire_together(Run *run, double earliest) {
  double *roots = guard_row(run, G_ROOT), last = earliest, width = coincidence(run);
  for (int64_t j = 0; j < run->n_active; j++)
    if (fabs(roots[j] - earliest) <= width) {
      run->fired[j] = LOCATED;
      last = largest(last, roots[j]);
      roots[j] = INFINITY;
    }
  truncate_step(run, last);
  return last;
}

/* Find the crossings of the step just made; 1 when the step was truncated at the first that has consequences, -1 when it
   was too long for what the guards do and must be made again.

   An adaptive step is also looked at in its middle, and again at the first root and halfway to it. The instant is the
   right end of the last root's bracket among those that coincide with the first; later roots are dropped, the next step
   finds them again. Guards without action that end nothing only watch: their crossings are noted and the step stays
   whole. */
static int look_for_events(Run *run, double place) {
  double *roots = guard_row(run, G_ROOT), earliest;
  int adaptive = run->method->adaptive != 0;
  int may_halve = run->n_too_long < MOST_TOO_LONG && run->h_tried > JUMP_WIDTH * run->largest_step;
  if (!run->guards_known || run->model->projection) guards_at(run, 1.0, G_END);
  if (adaptive) {
    /* In the middle a guard may be that has crossed twice, and at the quarters. */
    need_dense(run);
    guards_at(run, 0.5, G_MIDDLE);
    int grown = has_grown(run);
    int64_t suspect = find_suspect(run, grown);
    if (suspect == run->n_active && place == INFINITY) {
      run->n_too_long = 0;
      return 0;
    }
    if (look_at_quarters(run, suspect, grown) && may_halve) return -1;
  }
  earliest = find_crossings(run);
  /* And between them, where a guard bends towards zero. */
  if (adaptive && look_closer(run, earliest) && may_halve) return -1;
  for (int64_t j = 0; j < run->n_active; j++)
    if (!only_watches(run, j)) earliest = least(earliest, roots[j]);
  run->n_too_long = 0;
  if (earliest == INFINITY) {
    note_crossings(run, INFINITY);
    return 0;
  }
  note_crossings(run, fire_together(run, look_before(run, earliest, coincidence(run))));
  return 1;
}

/* The same of a step whose guards are decided but for some that are set aside: only these are looked at. Of what the proof noted
   since the log had n entries, crossings behind an event are found again in the next step, those at it are part of it. */
static int look_at_aside(Run *run, double place, int64_t n) {
  int64_t noted = run->n_log, kept = n;
  double *roots = guard_row(run, G_ROOT);
  for (int64_t j = 0; j < run->n_active && place == INFINITY; j++) roots[j] = INFINITY;
  run->only_aside = 1;
  int fired = look_for_events(run, place);
  double near = coincidence(run) * run->h_tried;
  for (int64_t k = n; k < run->n_log && fired >= 0; k++) {
    double t = run->log[2 * k], guard = run->log[2 * k + 1];
    int64_t j = (int64_t)guard, to = kept;
    /* One that was set aside on the way has been looked at from the start of the step. */
    if (k < noted && run->level[j] == ASIDE) continue;
    if (fired > 0 && t > run->t_new - near) {
      if (t <= run->t_new + near) run->fired[j] = LOCATED;
      continue;
    }
    for (; to > n && run->log[2 * to - 2] > t; to--) memcpy(run->log + 2 * to, run->log + 2 * to - 2, 2 * sizeof(double));
    run->log[2 * to] = t;
    run->log[2 * to + 1] = guard;
    kept++;
  }
  if (fired >= 0) run->n_log = kept;
  return fired;
}

/* What happens in the step just made, and is it certain that it is the first? 1 when the step was truncated at the crossings
   of guards with consequences, -1 when it was too long for what they do, or ends where a condition changes, and must be
   made again. */
int locate_events(Run *run) {
  if (run->model->enclosures == NULL) return run->n_active > 0 ? look_for_events(run, INFINITY) : 0;
  if (run->on_line && run->n_curved == 0) {
    run->n_proven++;
    return 0;
  }
  /* Steps that lanes take in a convoy depend on no state: nothing is proven of them. */
  if (run->compute && run->method->family == FUSED_STEP && run->n_active == 0) return 0;
  if (run->n_active > 0 && (!run->guards_known || run->model->projection)) guards_at(run, 1.0, G_END);
  double work = run->proof_work;
  run->only_aside = 0;
  int64_t n_log = run->n_log, n_unproven = run->n_unproven, n_missed = run->n_missed;
  int safe = stays_safe(run), fired = 0;
  if (!safe && may_leave_open(run)) {
    fired = changes_between(run, 1) ? -1 : run->n_active > 0 ? look_for_events(run, INFINITY) : 0;
  } else {
    double place = INFINITY;
    if (!safe && run->on_line)
      take_line(run);
    else if (!safe)
      need_dense(run);
    if (!safe) place = scan_step(run);
    if (run->on_line) run->dense_known = 0;
    fired = place < 0.0 ? -1 : place < INFINITY;
    if (fired >= 0 && run->guards_aside)
      fired = look_at_aside(run, place, n_log);
    else if (fired > 0)
      fire_together(run, place);
  }
  if (fired < 0) {
    /* What was noted of this step is found again. */
    run->n_log = n_log;
    run->n_unproven = n_unproven;
    return -1;
  }
  run->n_too_long = 0;
  int proven = !safe && run->n_unproven == n_unproven && run->n_missed == n_missed;
  run->n_proven += proven;
  if (!safe && !proven) regret_proof(run, work);
  return fired;
}
