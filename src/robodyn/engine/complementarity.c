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

/* Most corrections for the compliance, and the part of the tolerance that need not be corrected; times more than the
   tolerance that a contradiction must be to count in the end; passes without fewer
   contradictions after which only the first is changed, and most passes for each row; most modes that are tried one by
   one. */
enum { MOST_REFINEMENTS = 20, MARGIN = 10, PATIENCE = 10, MOST_PASSES = 20, MOST_TRIED = 20000 };
#define ROUNDING 1e-3
static void lay_out(Problem *p, int64_t k, int64_t n, const double *data, double *work, double *modes) {
  const double *K = data + N_VECTORS * k, *W = K + k * n;
  p->k = k;
  p->exact = 1;
  for (int64_t v = 0; v < N_VECTORS; v++) p->given[v] = data + v * k;
  p->A = work;
  p->matrix = p->A + k * k;
  p->f = p->matrix + k * k;
  p->w = p->f + k;
  p->change = p->w + k;
  p->b = p->change + k;
  p->axes = p->b + k;
  p->kept = p->axes + k;
  p->bound = p->kept + k;
  p->held = (int64_t *)(void *)(p->bound + k);
  p->pivots = p->held + k;
  p->mode = modes;
  for (int64_t i = 0; i < k; i++) p->b[i] = p->given[MOTION][i], p->bound[i] = UNBOUND;
  for (int64_t i = 0; i < k; i++)
    if (is_pair(p, i)) p->axes[i] = 1.0, p->axes[i + 1] = 0.0, i++;
  for (int64_t i = 0; i < k; i++)
    for (int64_t j = 0; j < k; j++) {
      double total = 0.0;
      for (int64_t a = 0; a < n; a++) total += K[i * n + a] * W[j * n + a];
      p->A[i * k + j] = total;
    }
}

/* Friction of a contact that does not push has nothing to hold or slide with. */
static int is_idle(const Problem *p, int64_t i) {
  return p->bound[i] == LOOSE || (partner_of(p, i) >= 0 && p->mode[partner_of(p, i)] != HELD);
}

static int may_change(const Problem *p, int64_t i) {
  return p->given[ALLOWED][i] == MAY_CHANGE && p->bound[i] == UNBOUND && !is_idle(p, i);
}

/* Force of a row that moves: its own level, or that of its partner's force. */
static double sliding_force(const Problem *p, int64_t i) {
  if (is_idle(p, i)) return 0.0;
  if (partner_of(p, i) >= 0) return -p->mode[i] * p->given[COEFFICIENT][i] * p->f[partner_of(p, i)];
  return p->given[p->mode[i] > 0.0 ? BELOW : ABOVE][i];
}

/* w = b + A f, or with the compliance that rows have. */
static void find_motions(Problem *p) {
  for (int64_t i = 0; i < p->k; i++) {
    p->w[i] = p->b[i] + (p->exact ? 0.0 : p->given[COMPLIANCE][i] * p->f[i]);
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
      if (partner_of(p, t) == p->held[c] && p->mode[t] != HELD && p->bound[t] != LOOSE)
        for (int64_t r = 0; r < n; r++)
          p->matrix[c * n + r] -= p->mode[t] * p->given[COEFFICIENT][t] * p->A[p->held[r] * k + t];
  }
  if (n > 0 && !factorise(p->matrix, p->pivots, n)) return 0;
  /* (A + compliance) change = -w, until nothing is left of the motion. */
  for (int64_t pass = 0; pass < MOST_REFINEMENTS; pass++) {
    double left = 0.0;
    let_slide(p);
    find_motions(p);
    for (int64_t r = 0; r < n; r++) left = largest(left, fabs(p->w[p->held[r]]) / p->given[TOLERANCE][p->held[r]]);
    if (left <= ROUNDING) break;
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
    if (partner_of(p, t) == i && p->mode[t] != HELD && p->given[ALLOWED][t] == MAY_CHANGE && p->bound[t] == UNBOUND)
      return t;
  return -1;
}

static void switch_row(Problem *p, int64_t i, double next) {
  int64_t friction = p->mode[i] == HELD ? lifting_friction(p, i) : -1;
  p->mode[friction >= 0 ? friction : i] = friction >= 0 ? HELD : next;
}

/* Change rows that contradict themselves; returns how many do. All those that would move the wrong way or pull, and without
   any the one furthest beyond its limits; or boldly all of them; or only the first. All are looked at before any is
   changed. */
enum { GENTLY, BOLDLY, SINGLY };

static int64_t switch_modes(Problem *p, int how) {
  int64_t worst = -1, count = 0, changed = 0;
  double excess = 0.0, next;
  for (int64_t i = 0; i < p->k; i++) {
    double wrong = may_change(p, i) ? contradiction(p, i, 1.0, &next) : 0.0;
    p->change[i] = wrong > 0.0 ? next : NAN;
    if (!(wrong > 0.0)) continue;
    count++;
    int slips = p->mode[i] == HELD && p->given[UPPER][i] < NO_BOUND;
    if ((how == GENTLY && slips) || (how == SINGLY && count > 1)) p->change[i] = NAN;
    if (!isnan(p->change[i])) changed = 1;
    if (slips && wrong > excess) {
      excess = wrong;
      worst = i;
      p->w[i] = next; /* not needed any more */
    }
  }
  for (int64_t i = 0; i < p->k && changed; i++)
    if (!isnan(p->change[i])) switch_row(p, i, p->change[i]);
  if (!changed && worst >= 0) p->mode[worst] = p->w[worst];
  return count;
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
int pivot_gently(Problem *p) {
  for (int64_t pass = 0; pass < 2 * p->k + 4; pass++)
    if (!find_forces(p) || switch_modes(p, GENTLY) == 0) break;
  return is_settled(p);
}

/* The same with all contradictions at once, which is fast but may go round in circles; the first alone does not (Murty,
   1974), and is changed until there are fewer contradictions than ever (Judice and Pires, 1994). */
static int pivot_boldly(Problem *p) {
  int64_t fewest = p->k + 1, patience = PATIENCE;
  p->exact = 0;
  for (int64_t pass = 0; pass < MOST_PASSES * p->k && find_forces(p); pass++) {
    int64_t count = switch_modes(p, patience > 0 ? BOLDLY : SINGLY);
    if (count == 0) break;
    patience = count < fewest ? PATIENCE : patience - 1;
    if (count < fewest) fewest = count;
  }
  /* The compliance may have changed what hardly pushes or moves. */
  p->exact = 1;
  return pivot_gently(p);
}

/* The next modes in a fixed order; 0 after the last. */
static int next_modes(Problem *p) {
  for (int64_t i = 0; i < p->k; i++) {
    if (p->given[ALLOWED][i] != MAY_CHANGE) continue;
    if (p->mode[i] == HELD) return p->mode[i] = FORWARD, 1;
    if (p->mode[i] == FORWARD && p->given[UPPER][i] < NO_BOUND) return p->mode[i] = BACKWARD, 1;
    p->mode[i] = HELD;
  }
  return 0;
}

/* All modes one by one, where there are not too many. */
static int try_all(Problem *p) {
  double count = 1.0;
  for (int64_t i = 0; i < p->k; i++)
    if (p->given[ALLOWED][i] == MAY_CHANGE) count *= p->given[UPPER][i] < NO_BOUND ? 3.0 : 2.0, p->mode[i] = HELD;
  if (count > MOST_TRIED) return 0;
  do {
    if (is_settled(p)) return 1;
  } while (next_modes(p));
  return 0;
}

static void begin(Problem *p) {
  for (int64_t i = 0; i < p->k; i++) p->mode[i] = p->given[INITIAL][i], p->bound[i] = UNBOUND;
}

static int find_solution(Problem *p) {
  begin(p);
  if (pivot_gently(p)) return 1;
  begin(p);
  if (pivot_boldly(p)) return 1;
  begin(p);
  return (find_by_lemke(p) && pivot_gently(p)) || try_all(p);
}

static int has_cones(const Problem *p) {
  for (int64_t i = 0; i < p->k; i++)
    if (is_pair(p, i)) return 1;
  return 0;
}

/* Forces that relaxation finds are put on their cones and pivoted to be exact. What may be shared in many ways has no other
   between its cones: modes are then those of these forces. Where none are found, the pyramids have to do. */
static int relax(Problem *p) {
  int found = find_by_relaxation(p), cones = has_cones(p);
  project_cones(p);
  if (pivot_gently(p) && find_cones(p)) return 1;
  if (!cones) return 0;
  return found ? find_by_relaxation(p), project_cones(p), 1 : find_solution(p);
}

/* Modes of a problem; returns how many rows found none. Those that only push are marked as UNSETTLED, which is Painleve's
   paradox. `work` has complementarity_work(k) numbers. */
int64_t solve_complementarity(int64_t k, int64_t n, const double *data, double *work, double *modes) {
  Problem problem, *p = &problem;
  int64_t unsettled = 0;
  lay_out(p, k, n, data, work, modes);
  if (!(find_solution(p) && find_cones(p)) && !relax(p)) {
    /* The modes of the first way, so that what is left is told of them. */
    begin(p);
    pivot_gently(p);
    unsettled = count_unsettled(p, 1);
  }
  write_directions(p);
  for (int64_t i = 0; i < k; i++)
    if (p->given[ALLOWED][i] == FOLLOWS) p->mode[i] = p->w[i] < 0.0 ? BACKWARD : FORWARD;
  return unsettled;
}
