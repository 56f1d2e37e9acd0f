/* Proof that nothing is stepped over: does any guard, limit or condition change within a step?

   The polynomial of a step keeps time, states, delayed signals and memory within a box. The model bounds all its guards,
   limits and conditions for all points of a box, and their rates (robodyn.computation.native.conditions). With g(theta) in [low, high]
   and |dg/dtheta| <= D on a part [a, b] of the step, a level does not change there if one of these holds:

       low > 0 or high < 0                          what the box allows has one sign; it is as wide as the step's error
       g(a), g(b) of one sign, no zero in dg/dtheta  it rises or falls all the way
       |g(a)| + |g(b)| > D (b - a), of one sign       it cannot come to zero and back

   A part for which none holds is halved, until a change is seen at its end, which is then located, or it is too short.
   Parts are looked at from left to right: what is found first is first.

   Most steps are spared all that: a box larger than the step, ahead of the motion, is bounded once, and serves as long as
   steps stay in it.

   Of fixed steps that nothing can end, the straight line between their ends is looked at: conditions that are affine in time and
   states change along it at most once, and need no look.

   Symbols: theta = 0..1 the place in the step; K numbers of the box; a level is the sign of a guard, or for a condition what
   its kind says. */

#include "parts.h"

#include <float.h>

/* Rounding: by this part of its size every number of the box is wider than the motion. */
#define WIDER (64.0 * DBL_EPSILON)
/* Shortest part of a step that is looked at, and how many parts. What changes so many times the resolution of time after the
   start of a step belongs to that instant: states there are known no better. */
#define SHORTEST_PART 0x1p-32
#define INSTANT 1000.0
enum { MOST_PARTS = 100 };
/* What proofs may cost: so many operations in any run, some milliseconds, and this part of those of its steps. What is open when
   that is used up stays open. A floor of 0.1 ms was tried: a box on a slope was then proven on 0 of 185 steps instead of 84 of
   194, and a proof is worth a few milliseconds once. What finds a change costs nothing. A step takes as long as so many
   operations beside those of its equations, an entry of a box as so many. */
#define FIRST_WORK 1e7
#define SHARE 0.1
#define STEP_WORK 500.0
/* What decides nothing counts so many times more: while feet land and slip nothing is proven, and what rests later is. */
#define IN_VAIN 7.0
#define ENTRY_WORK 30.0
/* An operation on bounds takes as long as so many others: they round both ways, and branch. */
#define BOUND_WORK 4.0
/* Part at the start of a step in which a guard that has just fired has the sign of its rate there. */
#define LEAVING_PART 0x1p-12
/* The part up to a change, and a little more; and what is tried of a part that was too long: a ball that comes back turns in
   its middle. */
#define NEARLY 1.001
#define PORTION 0.6
/* Steps that are this part of the longest one are not halved any more. */
#define LEAST_HALVED 1e-6
enum { MOST_HALVINGS = 2 };
/* How far ahead of the motion a safe box reaches, in steps; after how many steps it is tried again where it failed. */
#define FARTHEST 64.0
enum { FIRST_PAUSE = 2, LONGEST_PAUSE = 64 };
/* How near to a change a step may end, as part of the longest one and of the relative tolerance. */
#define BESIDE 4e-5
/* Error that kinks may make in a step, as part of the allowed one. */
#define KINK_ERROR 0.1
/* Part of a step, and of the relative tolerance, in which something may bend at its start: of a bend at theta Runge-Kutta steps
   are off by b_1 theta. */
#define BEND_AT_START 0.1
/* Error that may be made by what holds between two jumps, as part of the allowed one. */
#define BETWEEN_ERROR 0.5
/* How far beyond the root that it finds a line leads, as part of the way there: to the other side. */
#define BEYOND 1e-3
/* Steps in a row that may end at changes within this part of a step: then the rest is left to the error control. */
#define SLIDING 1e-3
enum { MOST_QUICK = 8 };

/* Steps in which what was left open to the last is not looked at, the first time and at most: each time twice as many. Its level
   there. */
enum { REST = 1, LONGEST_REST = 2048 };

/* Rows of condition_values. */
enum { V_LEFT, V_RIGHT, V_POINT };

static int64_t count_all(const Run *run) {
  return run->model->n_guards + 2 * run->model->n_limited + run->model->n_conditions;
}
static int64_t first_condition(const Run *run) { return run->model->n_guards + 2 * run->model->n_limited; }
static int64_t box_size(const Run *run) { return 1 + run->model->n_x + run->model->n_d + run->model->n_m; }
/* Times of the step that are closer than this are the same; unlike the resolution of the run, it does not depend on its end. */
static double time_resolution(const Run *run) { return 16.0 * DBL_EPSILON * largest(fabs(run->t), fabs(run->t_new)); }
static int may_spend(const Run *run) {
  double step_work = STEP_WORK + count_work(run, run->method);
  return run->proof_work <= FIRST_WORK + SHARE * (double)run->steps * step_work;
}
/* What a look at the step just made has cost since the work was `before`, and decided nothing, counts again and again. */
void regret_proof(Run *run, double before) { run->proof_work += IN_VAIN * (run->proof_work - before); }
static double *values_row(const Run *run, int64_t row) { return run->condition_values + row * run->model->n_conditions; }

/* [middle, radius, middle of the rate, its radius] of c0 + c1 s + .. + c4 s^4 for a <= s <= b: by the Taylor series about the
   middle, whose even powers have one sign. */
void bound_quartic(const double c[5], double a, double b, double bounds[4]) {
  double m = 0.5 * (a + b), r = 0.5 * (b - a);
  double value = c[0] + m * (c[1] + m * (c[2] + m * (c[3] + m * c[4])));
  double first = c[1] + m * (2.0 * c[2] + m * (3.0 * c[3] + m * 4.0 * c[4])), second = c[2] + m * (3.0 * c[3] + m * 6.0 * c[4]);
  double third = c[3] + m * 4.0 * c[4], even = r * r * second, last = r * r * r * r * c[4];
  bounds[0] = value + 0.5 * (even + last);
  bounds[1] = r * fabs(first) + r * r * r * fabs(third) + 0.5 * (fabs(even) + fabs(last));
  bounds[2] = first;
  bounds[3] = r * (2.0 * fabs(second) + r * (3.0 * fabs(third) + r * 4.0 * fabs(c[4])));
}

/* By how much a state may be off what its polynomial says: the error of the step, and what constraints and limits changed. */
static double deviation(const Run *run, int64_t i) {
  double off = run->method->adaptive ? fabs(state(run, ERROR)[i]) : 0.0;
  if (!run->dense_known || (!run->model->projection && run->model->n_limited == 0)) return off;
  double end = 0.0;
  for (int64_t k = 0; k < 5; k++) end += state(run, DENSE + k)[i];
  return off + fabs(state(run, END)[i] - end);
}

/* The part [a, b] of the step as a box: the entries that matter. */
static void fill_box(Run *run, double a, double b) {
  const Model *model = run->model;
  int64_t K = box_size(run), n = model->n_x;
  double h = run->h_tried, *box = run->box;
  run->proof_work += ENTRY_WORK * (double)model->n_entries;
  for (int64_t k = 0; k < model->n_entries; k++) {
    int64_t place = model->entries[k];
    double bounds[4] = {0.0, 0.0, 0.0, 0.0};
    if (place == 0) {
      bounds[0] = least(run->t + 0.5 * (a + b) * h, run->t_left);
      bounds[1] = 0.5 * (b - a) * h + WIDER * fabs(bounds[0]);
      bounds[2] = h;
    } else if (place <= n) {
      int64_t i = place - 1;
      double c[5] = {state(run, START)[i], state(run, END)[i] - state(run, START)[i], 0.0, 0.0, 0.0};
      for (int64_t j = 1; run->dense_known && j < 5; j++) c[j] = state(run, DENSE + j)[i];
      bound_quartic(c, a, b, bounds);
      bounds[1] += deviation(run, i) + WIDER * fabs(bounds[0]) * (bounds[1] > 0.0);
    } else if (place <= n + model->n_d) {
      bound_delayed(run, place - 1 - n, run->t + a * h, run->t + b * h, bounds);
    } else {
      bounds[0] = run->m[place - 1 - n - model->n_d];
    }
    for (int64_t j = 0; j < 4; j++) box[j * K + place] = bounds[j];
  }
}

/* The level of a condition at a value. */
static int64_t level_of(int64_t kind, double value) {
  if (kind <= KINK) return sign_of(value);
  return (int64_t)least(largest(floor(value), -9e18), 9e18);
}

/* Whether two levels differ; zero is of either side. */
static int differs(int64_t kind, int64_t a, int64_t b) { return kind <= KINK ? a * b < 0 : a != b; }

static int64_t kind_of(const Run *run, int64_t j) { return run->model->condition_kind[j] & (STRAIGHT - 1); }

/* Whether something jumps where condition j changes: curves through tables bend. */
static int jumps_at(const Run *run, int64_t j) { return kind_of(run, j) == JUMP || kind_of(run, j) == STAIR; }

/* Whether bounds leave a level as it is. */
static int is_certain(const Run *run, int64_t j, double middle, double radius) {
  int64_t kind = kind_of(run, j), level = run->level[j];
  double low = middle - radius, high = middle + radius;
  if (level == ASIDE) return 1;
  if (j < first_condition(run)) {
    /* A guard that touches zero may fire; one without a sign cannot, in this step. */
    return level == 0 || (level > 0 ? low > 0.0 : high < 0.0);
  }
  if (kind <= KINK) return (level >= 0 && low >= 0.0) || (level <= 0 && high <= 0.0);
  return level_of(kind, low) == level && level_of(kind, high) == level;
}

/* Look at guard, limit or condition j no more in this step. */
static void set_aside(Run *run, int64_t j) {
  run->level[j] = ASIDE;
  run->set_aside += kind_of(run, j) != UNBOUNDED;
  run->guards_aside += j < run->n_active;
}

/* Levels at the start of the step. */
static void begin_levels(Run *run) {
  const Model *model = run->model;
  int64_t first = first_condition(run);
  run->guards_aside = run->set_aside = 0;
  for (int64_t j = 0; j < first; j++) {
    run->level[j] = j < run->n_active ? run->sign[j] : 0;
    if (j < run->n_active && (kind_of(run, j) == UNBOUNDED || run->tired[j] > 0)) set_aside(run, j);
  }
  if (model->n_conditions == 0) return;
  if (model->n_d > 0) read_inside(run, run->t);
  call_kernel(run, model->conditions, run->t, state(run, START), values_row(run, V_LEFT));
  for (int64_t j = 0; j < model->n_conditions; j++)
    if (run->on_line && run->model->condition_kind[first + j] & STRAIGHT)
      run->level[first + j] = ASIDE;
    else if (run->tired[first + j] > 0)
      set_aside(run, first + j);
    else
      run->level[first + j] = level_of(kind_of(run, first + j), values_row(run, V_LEFT)[j]);
}

/* Bounds of all for the present box; how many of them are not certain, which are marked in `open`. */
static int64_t enclose(Run *run) {
  int64_t n = count_all(run), count = 0;
  const double *middle = run->bounds_found, *radius = middle + n;
  call_kernel(run, run->model->enclosures, run->t, run->box, run->bounds_found);
  run->proof_work += 0.5 * BOUND_WORK * (double)run->model->bounds_work;
  for (int64_t j = 0; j < n; j++) {
    count += run->open[j] = !is_certain(run, j, middle[j], radius[j]);
    /* What begins at zero is on the side that it goes to. */
    if (run->level[j] == 0 && j >= first_condition(run) && kind_of(run, j) <= KINK && !run->open[j]) run->level[j] = sign_of(middle[j]);
  }
  return count;
}

/* The conditions at a place of the step. */
static const double *conditions_at(Run *run, double theta, int64_t row) {
  if (run->model->n_conditions == 0) return NULL;
  double t = point_at(run, theta);
  call_kernel(run, run->model->conditions, t, state(run, POINT), values_row(run, row));
  return values_row(run, row);
}

/* Whether the box that is safe holds the whole step: for 0 <= s <= 1 each term of c0 + c1 s + .. + c4 s^4 lies between 0 and its
   coefficient, which is a little wider than the box of the step and found in a fraction of the time. */
static int holds_step(Run *run) {
  const Model *model = run->model;
  int64_t n = model->n_x;
  const double *low = run->safe, *high = low + model->n_entries;
  for (int64_t k = 0; k < model->n_entries; k++) {
    int64_t place = model->entries[k], i = place - 1;
    double least_value, most;
    if (place == 0) {
      least_value = run->t;
      most = run->t_new;
    } else if (place <= n) {
      double start = state(run, START)[i], below = 0.0, above = 0.0;
      for (int64_t j = 1; j < 5; j++) {
        double c = run->dense_known ? state(run, DENSE + j)[i] : j == 1 ? state(run, END)[i] - start : 0.0;
        below += least(c, 0.0);
        above += largest(c, 0.0);
      }
      double off = deviation(run, i) + WIDER * fabs(start) * (above > below);
      least_value = start + below - off;
      most = start + above + off;
    } else if (place <= n + model->n_d) {
      double bounds[4];
      bound_delayed(run, i - n, run->t, run->t_new, bounds);
      least_value = bounds[0] - bounds[1];
      most = bounds[0] + bounds[1];
    } else {
      least_value = most = run->m[i - n - model->n_d];
    }
    if (!(least_value >= low[k] && most <= high[k])) return 0;
  }
  return 1;
}

/* Whether the box that is safe holds the whole step, and if not, whether one ahead of it can be made so. */
static int is_safe(Run *run) {
  const Model *model = run->model;
  int64_t n = model->n_entries, K = box_size(run);
  double *low = run->safe, *high = low + n;
  int serves = run->safe_known;
  /* The step's polynomial is made only where something looks at it. */
  int may_try = run->pause == 0 && may_spend(run);
  if (run->method->adaptive && (serves || may_try)) need_dense(run);
  if (serves && holds_step(run)) return 1;
  run->safe_known = 0;
  if (!may_try) {
    run->pause -= run->pause > 0;
    return 0;
  }
  fill_box(run, 0.0, 1.0);
  /* As far ahead as the motion goes in some steps, and a step's width to all sides. */
  double ahead = run->reach = largest(run->reach, 1.0);
  for (int64_t k = 0; k < n; k++) {
    int64_t place = model->entries[k];
    double middle = run->box[place], radius = run->box[K + place], rate = run->box[2 * K + place];
    low[k] = middle - 2.0 * radius + least(0.0, ahead * rate);
    high[k] = middle + 2.0 * radius + largest(0.0, ahead * rate);
    run->box[place] = 0.5 * (low[k] + high[k]);
    run->box[K + place] = 0.5 * (high[k] - low[k]);
  }
  begin_levels(run);
  run->safe_known = enclose(run) == 0;
  if (run->safe_known) {
    run->reach = least(2.0 * ahead, FARTHEST);
    run->patch = 0;
    return 1;
  }
  /* Where even a small one fails, the next steps are looked at by themselves. */
  run->reach = 0.25 * ahead;
  if (ahead <= 1.0) {
    run->patch = run->patch ? (2 * run->patch < LONGEST_PAUSE ? 2 * run->patch : LONGEST_PAUSE) : FIRST_PAUSE;
    run->pause = run->patch;
  }
  return 0;
}

/* Whether what the bounds of values leave open over [a, b] does not change there: by its rates, and its values g_a and g_b. */
static int moves_one_way(const Run *run, int64_t j, double g_a, double g_b, double length) {
  int64_t n = count_all(run), kind = kind_of(run, j);
  double middle = run->bounds_found[j], radius = run->bounds_found[n + j];
  if (fabs(middle) > radius) return 1;
  double most = (fabs(middle) + radius) * length;
  if (kind == TABLE) return 0;
  if (kind != STAIR) return fabs(g_a) + fabs(g_b) > most;
  double level = (double)run->level[j];
  return g_a + g_b - 2.0 * level > most && 2.0 * (level + 1.0) - g_a - g_b > most;
}

static double condition_at(Run *run, double theta, int64_t j) {
  return conditions_at(run, theta, V_POINT)[j - first_condition(run)];
}

/* Right end of a bracket of the place where the value of condition j passes a whole number, and bends: what rows of a table
   say of the other side is of no use. Each side has a line through its last two points, and the nearer one leads a little
   beyond the root. */
static double locate_bend(Run *run, int64_t j, double target, Bracket b) {
  double width = root_width(run), place[2] = {b.left, b.right}, value[2] = {b.value_left, b.value_right}, slope[2] = {0.0, 0.0};
  int rises = value[1] > value[0], slow = 0;
  while (place[1] - place[0] > width) {
    double length = place[1] - place[0], middle = 0.5 * (place[0] + place[1]), nearest = length;
    for (int side = 0; side < 2 && slow < 2; side++) {
      double way = -value[side] / slope[side];
      if (!(fabs(way) < nearest)) continue;
      nearest = fabs(way);
      double next = place[side] + (1.0 + BEYOND) * way + (side ? -0.25 : 0.25) * width;
      if (next > place[0] && next < place[1]) middle = next;
    }
    if (!(place[0] < middle && middle < place[1])) break;
    double now = condition_at(run, middle, j) - target;
    int side = rises ? now >= 0.0 : now < 0.0;
    slope[side] = (now - value[side]) / (middle - place[side]);
    place[side] = middle;
    value[side] = now;
    /* Lines that lead nowhere give way to halves. */
    slow = slow < 2 && place[1] - place[0] > 0.5 * length ? slow + 1 : 0;
  }
  return place[1];
}

/* Place in (a, b] from which on condition j has another level than on its left, to the resolution of time: where its value is
   zero, or the whole number that it passes. */
static double locate_change(Run *run, int64_t j, double a, double b) {
  int64_t kind = kind_of(run, j), sign = run->level[j];
  double value_a = condition_at(run, a, j), value_b = condition_at(run, b, j), target = 0.0;
  if (kind > KINK) {
    int rises = value_b > value_a;
    target = (double)(run->level[j] + rises);
    sign = rises ? -1 : 1;
  }
  Bracket bracket = {a, b, value_a - target, value_b - target};
  if (kind == TABLE) return locate_bend(run, j, target, bracket);
  return close_bracket(run, bracket, root_width(run), j, sign, kind > KINK && sign < 0, condition_at, target).right;
}

/* Values of guards and conditions at one end of a part. */
static void look_at_end(Run *run, double theta, int right) {
  int64_t row = right ? G_RIGHT : G_LEFT;
  if (run->n_active > 0 && theta >= 1.0)
    memcpy(guard_row(run, row), guard_row(run, G_END), (size_t)run->n_active * sizeof(double));
  else if (run->n_active > 0)
    guards_at(run, theta, row);
  conditions_at(run, theta, right ? V_RIGHT : V_LEFT);
}

static double value_in(const Run *run, int64_t j, int right) {
  int64_t first = first_condition(run);
  return j < first ? guard_row(run, right ? G_RIGHT : G_LEFT)[j] : values_row(run, right ? V_RIGHT : V_LEFT)[j - first];
}

/* Note that a step could not be proven, or that something was passed over for certain. */
static void note_unproven(Run *run, int64_t j, double theta, int certain) {
  if (certain && run->n_missed++ == 0) {
    run->missed = j;
    run->missed_at = run->t + theta * run->h_tried;
  } else if (!certain && run->n_unproven++ == 0) {
    run->unproven = j;
    run->unproven_at = run->t + theta * run->h_tried;
  }
}

/* What the look at a part has found: the first change in it and whose, and whether it is certain that none is before. */
typedef struct {
  double place;
  int64_t j;
  int certain;
} Change;

/* Look at a part more closely: with values at its ends and bounds of rates. Guards' roots stand in G_ROOT. */
static Change find_change(Run *run, double a, double b) {
  Change found = {INFINITY, -1, 1};
  int64_t n = count_all(run), first = first_condition(run);
  double *roots = guard_row(run, G_ROOT);
  look_at_end(run, b, 1);
  call_kernel(run, run->model->drifts, run->t, run->box, run->bounds_found);
  run->proof_work += 0.5 * BOUND_WORK * (double)run->model->bounds_work;
  for (int64_t j = 0; j < n; j++) {
    if (j < first) roots[j] = INFINITY;
    if (!run->open[j]) continue;
    double g_a = value_in(run, j, 0), g_b = value_in(run, j, 1), place;
    int64_t level = run->level[j];
    int one_way = moves_one_way(run, j, g_a, g_b, b - a);
    /* A guard that touches zero within the step by no more than rounding turns there, and does not cross. */
    double touch = j < first && b < 1.0 ? WIDER * fabs(guard_row(run, G_FIRST)[j]) : 0.0;
    int changed = j < first ? (level < 0 ? g_b >= touch : g_b <= -touch) : differs(kind_of(run, j), level, level_of(kind_of(run, j), g_b));
    if (!one_way) found.certain = 0;
    if (!changed) continue;
    /* A fixed step does not end at it: where it is does not matter if it stays so to the end. */
    if (one_way && b >= 1.0 && j >= first && !run->method->adaptive) continue;
    place = j < first ? roots[j] = locate_root(run, j, level, a, b, g_b, INFINITY) : locate_change(run, j, a, b);
    /* Of two at one place, the one that jumps: so the order of conditions does not matter. */
    int sooner = place < found.place || (place == found.place && jumps_at(run, j) && !jumps_at(run, found.j));
    if (sooner) {
      found.place = place;
      found.j = j;
    }
  }
  return found;
}

/* Whether a crossing of guard j, which comes from a level, is in a direction that counts. */
static int counts(const Run *run, int64_t j) { return guard_crosses(run, j, run->level[j], 0.0); }

/* Error that a kink at a place of an explicit step makes, by its size in the estimate. Where the rates k bend by 1 per step at
   theta, stages see (c_i - theta)+, and the step is off by sum_i b_i (c_i - theta)+ - (1 - theta)^2 / 2: for dopri5 mostly 10
   to 60 times what its estimate says, and any number of times at 0.41 of it. */
static double kink_error(const Run *run, double theta) {
  const Method *method = run->method;
  double made = -0.5 * (1.0 - theta) * (1.0 - theta), seen = 0.0;
  for (int64_t i = 0; i < method->stages; i++) {
    double behind = largest(method->c[i] - theta, 0.0);
    made += method->b[i] * behind;
    seen += method->e[i] * behind;
  }
  return fabs(made / seen);
}

/* Level of what delays keep where condition j changes: it jumps or bends itself. 0: where its rates alone do, which is left to the
   error control where that arrives. */
static int64_t level_of_change(const Run *run, int64_t j) {
  return run->model->condition_kind[j] & LATE ? 1 + !jumps_at(run, j) : 0;
}

/* Whether steps end where condition j changes, at a place of this one. The error estimate of an explicit method sees a jump
   badly, and not at all where it lies at some place in the step (at 0.42 of it for dopri5); none sees that of a signal which is
   delayed. At a kink steps end where it has made an error that counts. Other steps end where a condition changes that is back
   at their end, and at the first of several changes and then at the next: what holds only between two, no stage may have seen. */
static int must_end(const Run *run, int64_t j, double theta) {
  if (run->model->condition_kind[j] & LATE) return 1;
  if (!takes_rates_alone(run->method)) return 0;
  return jumps_at(run, j) || (run->method->family == EXPLICIT && kink_error(run, theta) * run->error_before > KINK_ERROR);
}

/* Time by which a step may end beside a change: as good as at it. */
static double beside(const Run *run) { 
  return BESIDE * run->solver->rtol * largest(run->largest_step, run->h_tried) + 8.0 * INSTANT * time_resolution(run);
}

/* Whether what holds only between two jumps in a step, at places a before b, may matter: rates there that are off the mean
   of those around it by df move the states by about df (b - a) h, which stages that see nothing of it do not know. */
static int matters_between(Run *run, double a, double b) {
  double *around = state(run, TRIAL), *rates = run->changed, length = (b - a) * run->h_tried;
  const double *start = state(run, START), width = time_resolution(run) / run->h_tried;
  const double places[3] = {largest(a - width, 0.0), least(b + width, 1.0), 0.5 * (a + b)};
  for (int k = 0; k < 3; k++) {
    double t = point_at(run, places[k]);
    call_kernel(run, run->model->rhs, t, state(run, POINT), k ? rates : around);
    for (int64_t i = 0; k == 1 && i < run->model->n_x; i++) around[i] = 0.5 * (around[i] + rates[i]);
  }
  run->evaluations += 3;
  for (int64_t i = 0; i < run->model->n_x; i++)
    if (!(fabs(rates[i] - around[i]) * length <= BETWEEN_ERROR * allowed_error(run, i, fabs(start[i])))) return 1;
  return 0;
}

/* Whether changes follow one another so closely that they will not end; the last is at a time. One that several steps aim at, as
   errors make them shorter, is one. */
static int follows_quickly(Run *run, double at) {
  if (fabs(at - run->changed_at) > beside(run)) run->quick = at - run->changed_at < SLIDING * run->h_tried ? run->quick + 1 : 0;
  run->changed_at = at;
  return run->quick > MOST_QUICK;
}

/* Whether the step is to be made again up to a place of it where condition j changes: not where that is its end, where it is
   as near to its start as makes no difference, or changes follow one another so closely that they will not end.

   A kink is at the end of the step. A jump is not seen by any stage of the step that ends just before it; the next step is
   as short as may be and ends behind it. */
static int ends_at_change(Run *run, int64_t j, double place) {
  double margin = beside(run), length = place * run->h_tried;
  if (!((1.0 - place) * run->h_tried > margin) || run->n_cuts >= MOST_CUTS || length <= INSTANT * time_resolution(run)) return 0;
  if (!jumps_at(run, j))
    length += 2.0 * time_resolution(run);
  else if (length > 0.5 * margin)
    length -= 0.25 * margin;
  else
    run->across = length += 0.25 * margin;
  double at = run->t + length;
  if (length <= run->min_step || at >= run->t_stop) return 0;
  if (run->n_cuts == 0 && follows_quickly(run, at)) return 0;
  run->n_cuts++;
  run->changed_at = at;
  run->cut = length;
  run->cut_level = level_of_change(run, j);
  return 1;
}

/* Pass the guards that cross at a place of the step: 1 where one has consequences. Those that only watch are noted, as the others
   are that pass the other way, which is no event. */
static int pass_guards(Run *run, double place, double width) {
  double *roots = guard_row(run, G_ROOT);
  int64_t acting = -1;
  for (int64_t j = 0; j < run->n_active; j++)
    if (roots[j] <= place + width && counts(run, j) && !only_watches(run, j)) acting = j;
  run->crossed = acting;
  if (acting >= 0) {
    /* Those that pass the other way do not fire with it. */
    for (int64_t j = 0; j < run->n_active; j++)
      if (!counts(run, j)) roots[j] = INFINITY;
    return 1;
  }
  for (int64_t j = 0; j < run->n_active; j++) {
    if (!(roots[j] <= place + width)) continue;
    if (counts(run, j)) log_event(run, j, least(run->t + roots[j] * run->h_tried, run->t_new));
    run->level[j] = -run->level[j];
  }
  return 0;
}

/* The first of those that are open. */
static int64_t first_open(const Run *run) {
  int64_t j = 0;
  while (j < count_all(run) - 1 && !run->open[j]) j++;
  return j;
}

/* What is open is not looked at for some steps. */
static void rest_open(Run *run) {
  for (int64_t j = 0; j < count_all(run); j++)
    if (run->open[j]) {
      run->rest[j] = at_most(run->rest[j] ? 2 * run->rest[j] : REST, LONGEST_REST);
      run->tired[j] = run->rest[j];
      set_aside(run, j);
    }
}

/* One step less to rest. A box that is safe says nothing of what rested when it was made. */
static void count_rests(Run *run) {
  for (int64_t j = 0; j < count_all(run); j++)
    if (run->tired[j] > 0 && --run->tired[j] == 0) run->safe_known = 0;
}

/* Rest those of the open that the error of the step alone leaves open, with a radius beyond what they are at the ends of the part:
   no part of the step is short enough for them. How many. */
static int64_t rest_hopeless(Run *run, double theta) {
  int64_t n = count_all(run), count = 0;
  fill_box(run, theta, theta);
  enclose(run);
  for (int64_t j = 0; j < n; j++) {
    double size = run->open[j] ? largest(fabs(value_in(run, j, 0)), fabs(value_in(run, j, 1))) : 0.0;
    run->open[j] = run->open[j] && !(run->bounds_found[n + j] < size);
    count += run->open[j];
  }
  if (count) rest_open(run);
  return count;
}

/* Whether a guard has just fired, so that its rate tells its sign. */
static int any_leaving(const Run *run) {
  for (int64_t j = 0; j < run->n_active; j++)
    if (run->from_rate[j]) return 1;
  return 0;
}

/* The first that is not looked at for the time being. */
static int64_t first_tired(const Run *run) {
  int64_t j = 0;
  while (j < count_all(run) - 1 && run->level[j] != ASIDE) j++;
  return j;
}

/* Whether all that is open are guards whose sign at the start is that of their rate. */
static int only_leaving(const Run *run) {
  for (int64_t j = 0; j < count_all(run); j++)
    if (run->open[j] && !(j < run->n_active && run->from_rate[j])) return 0;
  return 1;
}

/* The first place of the step at which a guard with consequences crosses (G_ROOT tells which ones with it), or infinity; CUT:
   the step is to be made again up to a change of a condition; TOO_LONG: it is too long to tell. */
double scan_step(Run *run) {
  int64_t first = first_condition(run), parts = 0;
  double left = 0.0, width = 1.0, resolution = ROOT_ULPS * spacing(run->t_new) / run->h_tried;
  double shortest = largest(SHORTEST_PART, resolution), instant = INSTANT * time_resolution(run) / run->h_tried, begin = 0.0;
  int unproven = 0, left_known = 0, hopeless_known = 0, adaptive = run->method->adaptive != 0;
  double spent = run->proof_work, last = -INFINITY;
  Change before = {INFINITY, -1, 1};
  /* A step that begins at a change, or at an instant that may be one, ends at the next: no stage may fall between them. */
  int begins = run->k == 0 || fabs(run->t - run->changed_at) <= beside(run);
  run->crossed = -1;
  begin_levels(run);
  if (run->set_aside && !unproven++) note_unproven(run, first_tired(run), 0.0, 0);
  count_rests(run);
  /* A step across a change is as short as may be: all of it is one instant. Conditions begin with the levels that they have once the
     instant is over; guards have signs. */
  if (run->h_tried <= run->across) {
    for (int64_t j = first; j < count_all(run); j++) run->level[j] = ASIDE;
  } else if (run->model->n_conditions > 0 && instant < LEAVING_PART) {
    const double *values = conditions_at(run, instant, V_POINT);
    int jumps = 0, late = 0;
    for (int64_t j = first; j < count_all(run); j++) {
      int64_t level = level_of(kind_of(run, j), values[j - first]);
      if (run->level[j] == ASIDE) continue;
      int changes = jumps_at(run, j) && differs(kind_of(run, j), run->level[j], level);
      jumps |= changes;
      late |= changes && level_of_change(run, j) > 0;
      run->level[j] = level;
    }
    /* The slope at the start of the step is that of the other side: a very short one leads there. */
    if (jumps && adaptive && run->n_cuts < MOST_CUTS && 4.0 * instant < 1.0) {
      run->n_cuts = MOST_CUTS;
      run->across = run->cut = 2.0 * instant * run->h_tried;
      run->cut_level = late;
      if (follows_quickly(run, run->t + run->cut)) run->cut = 0.0;
      if (run->cut > 0.0) return CUT;
    }
    begin = instant;
  }
  while (left < 1.0) {
    double right = left + width < 1.0 - 0.5 * shortest ? left + width : 1.0;
    /* What belongs to the instant is not looked at, but for guards that have just fired. */
    fill_box(run, left == 0.0 && !any_leaving(run) ? least(begin, 0.5 * right) : left, right);
    Change change = {INFINITY, -1, 1};
    parts++;
    if (enclose(run) > 0) {
      if (!left_known) look_at_end(run, left, 0);
      left_known = 1;
      change = find_change(run, left, right);
    }
    if (change.place == INFINITY && change.certain) {
      /* Nothing: on to the next part, which may be longer again. */
      left = right;
      left_known = 0;
      width *= 4.0;
      continue;
    }
    if (parts > MOST_PARTS) {
      int may_halve = run->n_too_long < MOST_HALVINGS && may_spend(run) && run->h_tried > LEAST_HALVED * run->largest_step;
      if (adaptive && may_halve) {
        run->proof_work += count_work(run, run->method);
        return TOO_LONG;
      }
      /* What is open after so many looks is not looked at for some steps. */
      if (!unproven++) note_unproven(run, first_open(run), left, 0);
      rest_open(run);
      parts = 0;
      continue;
    }
    /* A guard that has just fired is near zero for a while: the rate that it left with tells its sign. */
    if (left == 0.0 && change.place == INFINITY && only_leaving(run)) {
      if (right <= LEAVING_PART) {
        left = right;
        left_known = 0;
        width = 3.0 * right;
      } else {
        width = LEAVING_PART;
      }
      continue;
    }
    /* Before the first change seen, or anywhere in the part, there may be another: a shorter part tells. */
    double end = least(change.place, right);
    if (!hopeless_known && change.place == INFINITY) {
      hopeless_known = 1;
      if (rest_hopeless(run, 0.5 * (left + right))) {
        if (!unproven++) note_unproven(run, first_tired(run), left, 0);
        continue;
      }
    }
    if (!change.certain && end - left > 1.5 * shortest) {
      /* Up to the change first, behind which bounds may be much wider. */
      double seen = NEARLY * (end - left);
      width = largest(right - left > seen ? least(seen, PORTION * (right - left)) : PORTION * (end - left), shortest);
      continue;
    }
    if (change.place == INFINITY) {
      /* Too short to be halved, and still open. */
      int at_ends = left <= instant || (1.0 - left) * run->h_tried <= beside(run);
      if (!at_ends && !unproven++) note_unproven(run, first_open(run), left, 0);
      if (!at_ends) rest_open(run);
      left = right;
      left_known = 0;
      continue;
    }
    run->proof_work = spent;
    if (change.j >= first) {
      int64_t kind = kind_of(run, change.j), k = change.j - first, level = run->level[change.j];
      double value = conditions_at(run, change.place, V_POINT)[k];
      /* A step made again up to a bend may end just before it: the next begins there, so near that no stage is off. */
      int at_start = change.place <= (jumps_at(run, change.j) ? instant : largest(instant, BEND_AT_START * run->solver->rtol));
      int goes_back = change.place < 1.0 && !differs(kind, level, level_of(kind, conditions_at(run, 1.0, V_POINT)[k]));
      int follows = (change.place - before.place) * run->h_tried > beside(run);
      int since = before.j < 0 && begins && change.place * run->h_tried > beside(run);
      int ends = adaptive && !at_start && must_end(run, change.j, change.place);
      /* Between two jumps, of which the second may undo the first; from one bend to the next rates may go anywhere. */
      int judged = (change.place - last) * run->h_tried <= beside(run);
      if (adaptive && !at_start && !ends && (follows || since) && !judged) {
        int bends = !jumps_at(run, change.j) || (follows && !jumps_at(run, before.j));
        ends = bends || matters_between(run, follows ? before.place : 0.0, change.place);
      }
      Change end_at = follows ? before : change;
      if (ends && ends_at_change(run, end_at.j, end_at.place)) return CUT;
      if (!at_start && before.j < 0) before = change;
      last = change.place;
      /* At the end of a step it is where it belongs; elsewhere it is left to the error control. */
      if (adaptive && (1.0 - change.place) * run->h_tried <= beside(run))
        run->bent = level_of_change(run, change.j);
      else if (ends && !unproven++)
        note_unproven(run, change.j, change.place, 0);
      run->level[change.j] = level_of(kind, value);
      /* Fixed steps go on: what changes back before their end is passed over. */
      if (!adaptive && goes_back) {
        note_unproven(run, change.j, change.place, 1);
        return INFINITY;
      }
    } else if (pass_guards(run, change.place, resolution)) {
      return change.place;
    }
    /* On from there. */
    parts = 0;
    left = least(change.place + (change.j < first ? 0.0 : resolution), 1.0);
    left_known = 0;
    width = largest(right - left, shortest);
  }
  /* What is decided again may rest shorter. */
  for (int64_t j = 0; j < count_all(run); j++)
    if (run->level[j] != ASIDE) run->rest[j] /= 2;
  return INFINITY;
}

/* Whether the ends of a step tell that a condition changes up to which it is to be made again: of one that its error forbids, any
   does; of one that it allows, and of which nothing is proven, a stair: signals that are quantised have many. */
int changes_between(Run *run, int allowed) {
  int64_t n = run->model->n_conditions, first = first_condition(run);
  double place = INFINITY;
  int64_t changed = -1, looked_at = !allowed;
  for (int64_t k = 0; k < n && !looked_at; k++) looked_at = kind_of(run, first + k) == STAIR;
  if (!looked_at || n == 0 || (!takes_rates_alone(run->method) && run->model->n_d == 0)) return 0;
  begin_levels(run);
  /* Where some rest undecided, changes of a step that its error forbids are many. */
  for (int64_t k = 0; k < n && !allowed; k++)
    if (run->level[first + k] == ASIDE) return 0;
  /* At the end, then at the first place found so far. */
  const double *values = conditions_at(run, 1.0, V_RIGHT);
  for (int64_t k = 0; k < n; k++) {
    int64_t kind = kind_of(run, first + k), level = run->level[first + k];
    if (level == ASIDE || (allowed && kind != STAIR) || !differs(kind, level, level_of(kind, values[k]))) continue;
    /* Of order 2 a kink costs a stabilised step little, and many contacts have many kinks. */
    if (run->method->family == STABILISED && !jumps_at(run, first + k)) continue;
    need_dense(run);
    changed = first + k;
    place = locate_change(run, changed, 0.0, least(place, 1.0));
    values = conditions_at(run, place, V_POINT);
  }
  /* A bend so near to its start, in a step whose error is forbidden, may be nothing but that error. */
  return changed >= 0 && (jumps_at(run, changed) || place >= LEAVING_PART) && ends_at_change(run, changed, place);
}

/* Whether nothing is proven of the step just made because that would cost too much: it is noted. */
int may_leave_open(Run *run) {
  if (may_spend(run)) return 0;
  note_unproven(run, run->n_active > 0 ? 0 : first_condition(run), 0.0, 0);
  count_rests(run);
  return 1;
}

/* Whether nothing happens in the step just made, by a box that is known to be safe. */
int stays_safe(Run *run) {
  for (int64_t j = 0; j < run->n_active; j++)
    if (run->sign[j] * sign_of(guard_row(run, G_END)[j]) < 0) return 0;
  if (!is_safe(run)) return 0;
  if (run->set_aside) {
    note_unproven(run, first_tired(run), 0.0, 0);
    count_rests(run);
  } else {
    run->n_proven++;
  }
  return 1;
}
