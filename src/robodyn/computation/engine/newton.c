/* Semismooth Newton method: the forces of a complementarity problem with friction cones, all at once.

   Each force is what stops its row, or the nearest that it can be (Alart and Curnier, 1991):

       f_i = P(x_i),    x_i = f_i - w_i / s_i,    w = b + A f + c (f - f_0),    s_i: mobility of the row

   P: a normal force N is at least zero, friction is within its levels, that of a contact point in space within the disc of
   the radius mu N. Newton's steps are halved until they help. Where they do not from the forces at hand, rows are made so
   compliant that they hardly feel each other, and then stiffer and stiffer (continuation): of rows that depend on each other
   it follows the one solution that compliant ones have. In the end f_0 follows f: nothing is left of the compliance. */

#include "complementarity.h"

/* Most steps, halvings of each, stages of continuation and corrections for the compliance. */
enum { MOST_STEPS = 40, MOST_HALVINGS = 6, MOST_STAGES = 300, MOST_CORRECTIONS = 20 };
/* How much more compliant rows are at first and in the end, how much stiffer they become at once at most and at least. */
#define SOFTEST 1e8
#define STIFFEST 1e-3
#define STIFFENING 10.0
#define LEAST_STIFFENING 1.001
/* How much softer still rows without and with a partner are meanwhile: another way where one turns back. */
static const double ways[][2] = {{0.0, 0.0}, {0.0, 100.0}, {100.0, 0.0}, {0.0, 10.0}, {10.0, 0.0}, {0.0, 1e4}, {1e4, 0.0}};
/* Tolerances of motion that are none. */
#define NONE 1.0
#define ON_CONE (1.0 + 1e-9)

/* Levels between which a row without a partner holds: what is known to hold does so up to its limits. */
static void find_levels(const Problem *p, int64_t i, double *below, double *above) {
  int pushes = p->given[UPPER][i] >= NO_BOUND, holds = !pushes && p->mode[i] == HELD;
  *below = p->given[holds ? LOWER : BELOW][i];
  *above = pushes ? INFINITY : p->given[holds ? UPPER : ABOVE][i];
}

/* Of a row as soft as it is at present: rows with a partner or those without may be softer than the others. */
static double compliance_of(const Problem *p, int64_t i) {
  return p->given[COMPLIANCE][i] * (p->soft + largest(p->soft - 1.0, 0.0) * p->bias[partner_of(p, i) >= 0]);
}

/* Of x_i by f_j. */
static double slope(const Problem *p, int64_t i, int64_t j) {
  return (i == j) - (p->A[i * p->k + j] + (i == j ? compliance_of(p, i) : 0.0)) / p->mobility[i];
}

/* Row i of the Jacobian, less a part of the slopes of x_j. */
static void subtract_slopes(Problem *p, int64_t i, double part, int64_t j) {
  for (int64_t c = 0; c < p->k; c++) p->matrix[c * p->k + i] -= part * slope(p, j, c);
}

/* Whether a row pushes nothing for certain, and has no friction. */
static int is_parted(const Problem *p, int64_t n) {
  return p->given[ALLOWED][n] != MAY_CHANGE && p->given[INITIAL][n] != HELD;
}

/* The normal force by which friction is limited. */
static double pressure(const Problem *p, int64_t n) { return is_parted(p, n) ? 0.0 : largest(p->x[n], 0.0); }

/* f_i - level, or f_i - factor N of what slides beside row n. */
static void put_level(Problem *p, int64_t i, double level) { p->left[i] = p->f[i] - level; }

static void put_share(Problem *p, int64_t i, double factor, int64_t n) {
  p->left[i] = p->f[i] - factor * pressure(p, n);
  if (pressure(p, n) > 0.0) subtract_slopes(p, i, factor, n);
}

static void put_held(Problem *p, int64_t i) {
  p->left[i] = p->f[i] - p->x[i];
  subtract_slopes(p, i, 1.0, i);
}

/* The two tangents of a contact point in space: x within the disc, or f = mu N e with e = x / |x|. */
static void put_pair(Problem *p, int64_t i) {
  int64_t n = partner_of(p, i);
  double size = hypot(p->x[i], p->x[i + 1]), limit = p->given[COEFFICIENT][i] * pressure(p, n);
  if (size <= limit) return put_held(p, i), put_held(p, i + 1);
  double e[2] = {p->x[i] / size, p->x[i + 1] / size};
  for (int a = 0; a < 2; a++) {
    put_share(p, i + a, p->given[COEFFICIENT][i] * e[a], n);
    for (int b = 0; b < 2; b++) subtract_slopes(p, i + a, limit / size * ((a == b) - e[a] * e[b]), i + b);
  }
}

static void put_row(Problem *p, int64_t i) {
  int64_t n = partner_of(p, i);
  int moves = p->given[ALLOWED][i] != MAY_CHANGE;
  double mode = p->given[INITIAL][i], mu = p->given[COEFFICIENT][i], below, above;
  if (n >= 0 && is_parted(p, n)) return put_level(p, i, 0.0);
  if (moves && mode == HELD) return put_held(p, i);
  if (moves) return n >= 0 ? put_share(p, i, -mode * mu, n) : put_level(p, i, p->given[mode > 0.0 ? BELOW : ABOVE][i]);
  find_levels(p, i, &below, &above);
  if (n >= 0) above = mu * pressure(p, n), below = -above;
  if (p->x[i] > below && p->x[i] < above) return put_held(p, i);
  double side = p->x[i] <= below ? -1.0 : 1.0;
  if (n >= 0) return put_share(p, i, side * mu, n);
  put_level(p, i, side < 0.0 ? below : above);
}

/* What is left of the equations, and their Jacobian; the size of what is left, as motions in tolerances. */
static double find_left(Problem *p) {
  int64_t k = p->k;
  double total = 0.0;
  for (int64_t i = 0; i < k; i++) {
    p->w[i] = p->b[i] + compliance_of(p, i) * (p->f[i] - p->shift[i]);
    for (int64_t j = 0; j < k; j++) p->w[i] += p->A[i * k + j] * p->f[j], p->matrix[j * k + i] = i == j;
    p->mobility[i] = compliance_of(p, i) + fabs(p->A[i * (k + 1)]);
  }
  for (int64_t i = 0; i < k; i++)
    if (is_pair(p, i)) p->mobility[i] = p->mobility[i + 1] = largest_mobility(p, i) + compliance_of(p, i), i++;
  for (int64_t i = 0; i < k; i++) p->x[i] = p->f[i] - p->w[i] / p->mobility[i];
  for (int64_t i = 0; i < k; i++) {
    if (is_pair(p, i) && p->given[ALLOWED][i] == MAY_CHANGE) put_pair(p, i), i++;
    else put_row(p, i);
  }
  for (int64_t i = 0; i < k; i++) {
    double motion = p->left[i] * p->mobility[i] / p->given[TOLERANCE][i];
    total += motion * motion;
  }
  return sqrt(total);
}

static double step_by(Problem *p, double part) {
  for (int64_t i = 0; i < p->k; i++) p->f[i] = p->kept[i] + part * p->change[i];
  return find_left(p);
}

/* Newton's method from the forces at hand; 1 where nothing is left. */
static int iterate(Problem *p) {
  double left = find_left(p);
  for (int64_t step = 0; step < MOST_STEPS && left > NONE; step++) {
    if (!isfinite(left) || !factorise(p->matrix, p->pivots, p->k)) return 0;
    for (int64_t i = 0; i < p->k; i++) p->change[i] = -p->left[i], p->kept[i] = p->f[i];
    solve_factorised(p->matrix, p->pivots, p->k, p->change);
    double before = left, part = 1.0, best = 1.0, least_left = INFINITY;
    for (int halving = 0; halving < MOST_HALVINGS && least_left >= before; halving++, part *= 0.5) {
      left = step_by(p, part);
      if (left < least_left) best = part, least_left = left;
    }
    if (least_left >= before) best = 1.0;
    if (left > least_left || least_left >= before) left = step_by(p, best);
  }
  return left <= NONE;
}

static int soften_and_stiffen(Problem *p) {
  double last = INFINITY, stiffening = STIFFENING;
  p->soft = SOFTEST;
  for (int64_t i = 0; i < p->k; i++) p->f[i] = p->good[i] = p->shift[i] = 0.0;
  for (int64_t stage = 0; stage < MOST_STAGES && stiffening > LEAST_STIFFENING; stage++) {
    if (iterate(p)) {
      if (p->soft == STIFFEST) return 1;
      for (int64_t i = 0; i < p->k; i++) p->good[i] = p->f[i];
      last = p->soft;
      stiffening = least(stiffening * stiffening, STIFFENING);
    } else {
      if (isinf(last)) return 0;
      for (int64_t i = 0; i < p->k; i++) p->f[i] = p->good[i];
      stiffening = sqrt(stiffening);
    }
    p->soft = largest(STIFFEST, last / stiffening);
  }
  return 0;
}

/* The largest motion that compliance allows, in tolerances. */
static double given_way(const Problem *p) {
  double most = 0.0;
  for (int64_t i = 0; i < p->k; i++)
    most = largest(most, fabs(compliance_of(p, i) * (p->f[i] - p->shift[i])) / p->given[TOLERANCE][i]);
  return most;
}

/* Take back what the compliance has done to the motion, as far as that goes; 1 where hardly any of that is left. */
static int correct(Problem *p) {
  for (int64_t pass = 0; pass < MOST_CORRECTIONS && given_way(p) > NONE; pass++) {
    for (int64_t i = 0; i < p->k; i++) p->good[i] = p->shift[i], p->shift[i] = p->f[i];
    if (iterate(p)) continue;
    for (int64_t i = 0; i < p->k; i++) p->f[i] = p->shift[i], p->shift[i] = p->good[i];
    find_left(p);
    break;
  }
  return given_way(p) <= LEFT;
}

/* What each row does under these forces, tangents in space as the direction of their slip; 1 where a row that held beyond
   its level of sliding holds no more. */
static int read_modes(Problem *p) {
  int slipped = 0;
  for (int64_t i = 0; i < p->k; i++) {
    int64_t n = partner_of(p, i);
    double below, above;
    if (p->given[ALLOWED][i] != MAY_CHANGE) continue;
    find_levels(p, i, &below, &above);
    if (n >= 0) above = p->given[COEFFICIENT][i] * pressure(p, n), below = -above;
    if (is_pair(p, i)) {
      double size = hypot(p->x[i], p->x[i + 1]);
      int slides = size > ON_CONE * above && above > 0.0;
      for (int a = 0; a < 2; a++) p->mode[i + a] = slides ? -p->x[i + a] / size : HELD;
      i++;
      continue;
    }
    double mode = p->x[i] <= below ? FORWARD : p->x[i] >= above ? BACKWARD : HELD;
    slipped |= p->mode[i] == HELD && mode != HELD && below < p->given[BELOW][i];
    p->mode[i] = mode;
  }
  return slipped;
}

static int follow(Problem *p) {
  for (int64_t slips = 0; slips <= p->k; slips++) {
    if (!iterate(p) || !correct(p)) return 0;
    if (!read_modes(p)) return 1;
  }
  return 0;
}

int follow_by_newton(Problem *p) {
  p->soft = 1.0;
  p->bias = ways[0];
  /* From no shift on, as the model has it: what dependent rows share is then the same here and there. */
  for (int64_t i = 0; i < p->k; i++) p->shift[i] = 0.0;
  return follow(p);
}

int find_by_newton(Problem *p) {
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
    p->bias = ways[way];
    for (int64_t i = 0; i < p->k; i++) p->mode[i] = p->given[ALLOWED][i] == MAY_CHANGE ? FORWARD : p->given[INITIAL][i];
    if (soften_and_stiffen(p) && follow(p)) return 1;
  }
  return 0;
}
