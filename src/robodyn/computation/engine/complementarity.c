/* Mixed linear complementarity problem (MLCP): which rows do forces hold, and which move?

   Symbols: k rows of accelerations, or of speeds at an impact, of n joints; forces f along them, motions w of them:

       w = b + K W f,    K: rows (k, n),    W = M^-1 D^T: what a force in each row makes the joints do (n, k)

   Each row is in one of three modes, and the solution is the modes in which nothing contradicts itself:

       HELD      w_i = 0,          lower_i <= f_i <= upper_i
       FORWARD   f_i = below_i,    w_i >= 0: it moves although all that its force can do is done
       BACKWARD  f_i = above_i,    w_i <= 0

   A contact has lower = below = 0 and no upper bound; friction that sticks has levels for holding and for sliding. The
   friction of a contact has a partner: its levels are -+mu times the force of that row, and nothing where that is zero.
   A small compliance makes dependent rows share what they hold; it is taken back by refinement. Forces are found only to
   find the modes: the model computes them again where it uses them, so that they have exact derivatives. */

#include "complementarity.h"

/* Most corrections for the compliance, the part of the tolerance that need not be corrected, and by how much a correction
   must help to be repeated: a wedge takes many. Times more than the tolerance that a contradiction must be to count in the
   end; most modes that are tried one by one. */
enum { MOST_REFINEMENTS = 400, MARGIN = 10, MOST_TRIED = 20000 };
#define ROUNDING 1e-3
#define HELPS 0.99

static void lay_out(Problem *p, int64_t k, int64_t n, const double *data, double *work, double *modes) {
  const double *K = data + N_VECTORS * k, *W = K + k * n;
  p->k = k;
  p->cones = 0;
  for (int64_t v = 0; v < N_VECTORS; v++) p->given[v] = data + v * k;
  p->b = p->given[MOTION];
  double **room[] = {&p->f, &p->w, &p->change, &p->shift, &p->x, &p->mobility, &p->left, &p->kept, &p->good, &p->tried};
  p->A = work;
  p->matrix = p->A + k * k;
  work += 2 * k * k;
  for (size_t v = 0; v < sizeof room / sizeof *room; v++, work += k) *room[v] = work;
  p->held = (int64_t *)(void *)work;
  p->pivots = p->held + k;
  p->mode = modes;
  for (int64_t i = 0; i < k; i++)
    for (int64_t j = 0; j < k; j++) {
      double total = 0.0;
      for (int64_t a = 0; a < n; a++) total += K[i * n + a] * W[j * n + a];
      p->A[i * k + j] = total;
    }
}

/* Friction of a contact that does not push has nothing to hold or slide with. */
static int is_idle(const Problem *p, int64_t i) {
  return partner_of(p, i) >= 0 && p->mode[partner_of(p, i)] != HELD;
}

static int may_change(const Problem *p, int64_t i) {
  return p->given[ALLOWED][i] == MAY_CHANGE && !is_idle(p, i);
}

/* Force of a row that moves: its own level, or that of its partner's force. */
static double sliding_force(const Problem *p, int64_t i) {
  if (is_idle(p, i)) return 0.0;
  if (partner_of(p, i) >= 0) return -p->mode[i] * p->given[COEFFICIENT][i] * p->f[partner_of(p, i)];
  return p->given[p->mode[i] > 0.0 ? BELOW : ABOVE][i];
}

/* w = b + A f. */
static void find_motions(Problem *p) {
  for (int64_t i = 0; i < p->k; i++) {
    p->w[i] = p->b[i];
    for (int64_t j = 0; j < p->k; j++) p->w[i] += p->A[i * p->k + j] * p->f[j];
  }
}

/* What sliding follows from the forces that hold. */
static void let_slide(Problem *p) {
  for (int64_t i = 0; i < p->k; i++)
    if (p->mode[i] != HELD || is_idle(p, i)) p->f[i] = sliding_force(p, i);
}

/* Forces and motions of the present modes; 0 where the rows that are held do not determine them. */
static int find_forces(Problem *p) {
  int64_t k = p->k, n = 0;
  for (int64_t i = 0; i < k; i++) {
    p->f[i] = 0.0;
    if (p->mode[i] == HELD && !is_idle(p, i)) p->held[n++] = i;
  }
  /* What slides beside a force that holds is a part of its column. */
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < n; r++) p->matrix[c * n + r] = p->A[p->held[r] * k + p->held[c]];
    p->matrix[c * n + c] += p->given[COMPLIANCE][p->held[c]];
    for (int64_t t = 0; t < k; t++)
      if (partner_of(p, t) == p->held[c] && p->mode[t] != HELD)
        for (int64_t r = 0; r < n; r++)
          p->matrix[c * n + r] -= p->mode[t] * p->given[COEFFICIENT][t] * p->A[p->held[r] * k + t];
  }
  if (n > 0 && !factorise(p->matrix, p->pivots, n)) return 0;
  /* (A + compliance) change = -w, until nothing is left of the motion. */
  double before = INFINITY, left = 0.0;
  for (int64_t pass = 0; pass < MOST_REFINEMENTS; pass++, before = left, left = 0.0) {
    let_slide(p);
    find_motions(p);
    for (int64_t r = 0; r < n; r++) left = largest(left, fabs(p->w[p->held[r]]) / p->given[TOLERANCE][p->held[r]]);
    if (left <= ROUNDING || left > HELPS * before) break;
    for (int64_t r = 0; r < n; r++) p->change[r] = -p->w[p->held[r]];
    solve_factorised(p->matrix, p->pivots, n, p->change);
    for (int64_t r = 0; r < n; r++) p->f[p->held[r]] += p->change[r];
  }
  return 1;
}

/* How far a row contradicts its mode, as a motion: one that moves against its direction, or one beyond its bounds; `next`
   is the mode it should have. A margin of so many tolerances is left to it, one of which LOWER and UPPER hold already. */
static double contradiction(const Problem *p, int64_t i, double margin, double *next) {
  double f = p->f[i], slack = margin * p->given[TOLERANCE][i], below = p->given[LOWER][i], above = p->given[UPPER][i];
  *next = HELD;
  if (p->mode[i] != HELD) return -p->mode[i] * p->w[i] - slack;
  if (partner_of(p, i) >= 0)
    above = p->given[COEFFICIENT][i] * p->f[partner_of(p, i)], below = -above;
  else
    slack -= p->given[TOLERANCE][i];
  *next = below - f > f - above ? FORWARD : BACKWARD;
  return largest(below - f, f - above) * own_mobility(p, i) - slack;
}

/* Friction may lift what slides so that no push is left: it sticks before it is let go. */
static int64_t lifting_friction(const Problem *p, int64_t i) {
  for (int64_t t = 0; t < p->k; t++)
    if (partner_of(p, t) == i && p->mode[t] != HELD && p->given[ALLOWED][t] == MAY_CHANGE) return t;
  return -1;
}

static void switch_row(Problem *p, int64_t i, double next) {
  int64_t friction = p->mode[i] == HELD ? lifting_friction(p, i) : -1;
  p->mode[friction >= 0 ? friction : i] = friction >= 0 ? HELD : next;
}

/* Change rows that contradict themselves: all those that would move the wrong way or pull, and without any the one furthest
   beyond its limits. All are looked at before any is changed. 0 where none does. */
static int switch_modes(Problem *p) {
  int64_t worst = -1, changed = 0;
  double excess = 0.0, slip = 0.0, next;
  for (int64_t i = 0; i < p->k; i++) {
    double wrong = may_change(p, i) ? contradiction(p, i, 1.0, &next) : 0.0;
    int slips = p->mode[i] == HELD && p->given[UPPER][i] < NO_BOUND;
    p->change[i] = wrong > 0.0 && !slips ? next : NAN;
    changed |= wrong > 0.0 && !slips;
    if (slips && wrong > excess) excess = wrong, worst = i, slip = next;
  }
  for (int64_t i = 0; i < p->k && changed; i++)
    if (!isnan(p->change[i])) switch_row(p, i, p->change[i]);
  if (!changed && worst >= 0) p->mode[worst] = slip;
  return changed || worst >= 0;
}

/* How many rows contradict themselves by more than rounding; those that only push are marked where that is asked for. */
static int64_t count_unsettled(Problem *p, int mark) {
  int64_t count = 0;
  double next;
  for (int64_t i = 0; i < p->k; i++) {
    p->change[i] = p->mode[i];
    int moves = p->mode[i] == HELD && !is_idle(p, i) && fabs(p->w[i]) > LEFT * p->given[TOLERANCE][i];
    if (!moves && (!may_change(p, i) || contradiction(p, i, MARGIN, &next) <= 0.0)) continue;
    if (p->given[UPPER][i] >= NO_BOUND) p->change[i] = UNSETTLED;
    count++;
  }
  for (int64_t i = 0; i < p->k && mark; i++) p->mode[i] = p->change[i];
  return count;
}

static int is_settled(Problem *p) { return find_forces(p) && count_unsettled(p, 0) == 0; }

/* Principal pivoting from the present modes, one slip after the other: what holds more than it slides with may have several
   solutions, and this finds the one in which most holds. 1 where no contradiction is left. */
static int pivot(Problem *p) {
  for (int64_t pass = 0; pass < 2 * p->k + 4; pass++)
    if (!find_forces(p) || !switch_modes(p)) break;
  return is_settled(p);
}

/* Whether rows i and i + 1 are tangents of a contact point in space that may begin to slip. */
static int has_cone(const Problem *p, int64_t i) {
  return is_pair(p, i) && p->given[ALLOWED][i] == MAY_CHANGE && p->given[ALLOWED][partner_of(p, i)] == MAY_CHANGE;
}

/* Pivoting knows a pyramid around each cone; Newton's method goes on from there. */
static int find_cones(Problem *p) { return !p->cones || follow_by_newton(p); }

/* How many modes a row may have of those that are tried: Newton's method finds those of tangents in space. */
static int choices(const Problem *p, int64_t i) {
  int in_space = is_pair(p, i) || (i > 0 && is_pair(p, i - 1));
  return p->given[ALLOWED][i] != MAY_CHANGE || in_space ? 1 : p->given[UPPER][i] < NO_BOUND ? 3 : 2;
}

/* The next modes in a fixed order; 0 after the last. */
static int next_modes(Problem *p, double *tried) {
  for (int64_t i = 0; i < p->k; i++) {
    if (choices(p, i) == 1) continue;
    tried[i] = tried[i] == HELD ? FORWARD : tried[i] == FORWARD && choices(p, i) == 3 ? BACKWARD : HELD;
    if (tried[i] != HELD) return 1;
  }
  return 0;
}

static void begin(Problem *p, const double *modes) {
  for (int64_t i = 0; i < p->k; i++) p->mode[i] = modes[i];
}

/* All modes one by one, where there are not too many. */
static int try_all(Problem *p) {
  double count = 1.0, *tried = p->tried;
  for (int64_t i = 0; i < p->k; i++)
    count *= choices(p, i), tried[i] = p->given[ALLOWED][i] == MAY_CHANGE ? HELD : p->given[INITIAL][i];
  if (count > MOST_TRIED) return 0;
  do {
    begin(p, tried);
    if (p->cones ? find_forces(p) && find_cones(p) : is_settled(p)) return 1;
  } while (next_modes(p, tried));
  return 0;
}

/* Four ways, until one leaves no contradiction. Cones may have several solutions: one near the present modes, in which what
   begins to slip does so gently, is found from the forces of these. */
static int find_solution(Problem *p) {
  begin(p, p->given[INITIAL]);
  if (pivot(p) && find_cones(p)) return 1;
  begin(p, p->given[INITIAL]);
  if (p->cones && ((find_forces(p) && find_cones(p)) || find_by_newton(p))) return 1;
  begin(p, p->given[INITIAL]);
  if (find_by_lemke(p) && pivot(p) && find_cones(p)) return 1;
  return (!p->cones && find_by_newton(p) && pivot(p)) || try_all(p);
}

/* Say of which rows no modes have been found, by those of the first way: of what only pushes and contradicts itself, and
   without any of contact points in space, whose friction may have no direction. */
static int64_t mark_unsettled(Problem *p) {
  begin(p, p->given[INITIAL]);
  pivot(p);
  int64_t count = count_unsettled(p, 1);
  for (int64_t i = 0, all = count == 0; i < p->k && all; i++)
    if (has_cone(p, i)) p->mode[partner_of(p, i)] = UNSETTLED, count++;
  return count;
}

/* Forces of a problem that is much like one whose forces are known: mostly Newton's method needs one step from these. Returns
   how many rows found none. The forces stand in `work` afterwards, see complementarity_forces. */
int64_t solve_from_forces(int64_t k, int64_t n, const double *data, double *work, double *modes, const double *forces) {
  Problem problem, *p = &problem;
  lay_out(p, k, n, data, work, modes);
  begin(p, p->given[INITIAL]);
  for (int64_t i = 0; i < k; i++) p->f[i] = forces[i];
  return follow_by_newton(p) ? 0 : solve_complementarity(k, n, data, work, modes);
}

/* Modes of a problem; returns how many rows found none. Those that only push are marked as UNSETTLED, which is Painleve's
   paradox. `work` has complementarity_work(k) numbers. */
int64_t solve_complementarity(int64_t k, int64_t n, const double *data, double *work, double *modes) {
  Problem problem, *p = &problem;
  lay_out(p, k, n, data, work, modes);
  for (int64_t i = 0; i < k; i++) p->cones |= has_cone(p, i);
  int64_t unsettled = find_solution(p) ? 0 : mark_unsettled(p);
  for (int64_t i = 0; i < k; i++)
    if (p->given[ALLOWED][i] == FOLLOWS) p->mode[i] = p->w[i] < 0.0 ? BACKWARD : FORWARD;
  return unsettled;
}
