/* Time-stepping with rigid contacts: a step in which any number of contacts lands, sticks, slips and parts at once.

   Symbols: h length of the step; a accelerations under all forces tau but those of contacts; k rows of speeds K v, along
   normals and then along tangents, W = M^-1 K^T; g gaps, e restitution; f impulses of the step:

       v1 = v0 + h a + W f,    q1 = q0 + h N v1,    z1 = z0 + h z_dot
       K_n v1 + g / h >= 0  beside  f_n >= 0,    K_t v1 = 0 where |f_t| < mu f_n,  else  f_t = -mu f_n e along the slip

   Stewart and Trinkle (1996), An implicit time-stepping scheme for rigid body dynamics with inelastic collisions and Coulomb
   friction; Anitescu and Potra (1997). Of order 1. No step is cut where something lands: the gap of what lands in the step is
   zero at its end, and when it landed is found to first order by the line of its free motion. What approaches faster than its
   rest speed and would land rebounds instead, K_n v1 >= -e K_n v0.

   The model gives one function: the data of the rows (gap, e, rest speed, mu, number of the partner), K row by row, W column by
   column, a, tau and z_dot. Memory holds the mean forces f / h of the last step. */

#include "complementarity.h"

/* Of the mean mobility: how much rows give way, so that those which depend on each other share what they hold. Motion that
   counts as none, beside the fastest and at least. */
#define COMPLIANCE_PART 1e-7
#define NO_MOTION 1e-9

enum { GAP, RESTITUTION, REST_SPEED, FRICTION, PARTNER_ROW, N_COLUMNS };

typedef struct {
  int64_t k, n;
  const double *given[N_COLUMNS];
  const double *K, *W, *a, *tau, *z_dot;
  double *v;       /* velocities, free of contacts at first */
  double *b;       /* motions of the rows without impulses, in which those of landing contacts come to zero */
  double *f;       /* impulses */
  double *looked_at; /* which normals are, with the friction beside them, */
  int64_t *rows;   /* and the numbers of these rows */
  double *data;    /* the problem of these */
} Step;

int64_t contact_step_room(int64_t k, int64_t n, int64_t n_x) {
  return N_COLUMNS * k + 2 * k * n + 3 * n + n_x + 6 * k + complementarity_data(k, n) + complementarity_work(k);
}

static Step lay_out_step(Run *run) {
  const Model *model = run->model;
  Step s = {.k = model->problem_rows[0], .n = model->problem_joints[0]};
  double *place = run->problem;
  for (int64_t c = 0; c < N_COLUMNS; c++, place += s.k) s.given[c] = place;
  s.K = place;
  s.W = s.K + s.k * s.n;
  s.a = s.W + s.k * s.n;
  s.tau = s.a + s.n;
  s.z_dot = s.tau + s.n;
  s.v = place + 2 * s.k * s.n + 2 * s.n + model->n_x;
  s.b = s.v + s.n;
  s.f = s.b + s.k;
  s.looked_at = s.f + s.k;
  s.rows = (int64_t *)(void *)(s.looked_at + s.k);
  s.data = s.looked_at + 2 * s.k;
  return s;
}

static double product(const double *a, const double *b, int64_t n) {
  double total = 0.0;
  for (int64_t i = 0; i < n; i++) total += a[i] * b[i];
  return total;
}

static int64_t partner_row(const Step *s, int64_t i) { return (int64_t)s->given[PARTNER_ROW][i]; }

/* Motions at the end of the step without impulses; with what is left of a gap they may be as negative as that lets them. */
static void find_free_motion(const Run *run, Step *s) {
  const double *v0 = state(run, START) + run->model->n_q;
  double h = run->h_tried;
  for (int64_t j = 0; j < s->n; j++) s->v[j] = v0[j] + h * s->a[j];
  for (int64_t i = 0; i < s->k; i++) {
    const double *row = s->K + i * s->n;
    s->b[i] = product(row, s->v, s->n);
    if (partner_row(s, i) >= 0) continue;
    double gap = s->given[GAP][i], before = product(row, v0, s->n);
    int rebounds = s->given[RESTITUTION][i] > 0.0 && before < -s->given[REST_SPEED][i] && gap + h * s->b[i] < 0.0;
    s->b[i] += rebounds ? s->given[RESTITUTION][i] * before : gap / h;
  }
}

/* The problem of the rows that are looked at: as complementarity.c takes it. Those that pushed in the last step, or would sink
   without, push at first. */
static void pose(const Run *run, Step *s, int64_t n_rows) {
  const double *last = run->m + run->model->problem_place[0];
  double *vectors[N_VECTORS], *K = s->data + N_VECTORS * n_rows, *W = K + n_rows * s->n, fastest = 1.0;
  double own[2] = {0.0, 0.0}, count[2] = {0.0, 0.0};
  for (int64_t v = 0; v < N_VECTORS; v++) vectors[v] = s->data + v * n_rows;
  for (int64_t r = 0; r < n_rows; r++) {
    int64_t i = s->rows[r], rubs = partner_row(s, i) >= 0;
    memcpy(K + r * s->n, s->K + i * s->n, (size_t)s->n * sizeof(double));
    memcpy(W + r * s->n, s->W + i * s->n, (size_t)s->n * sizeof(double));
    own[rubs] += product(K + r * s->n, W + r * s->n, s->n);
    count[rubs] += 1.0;
    fastest = largest(fastest, fabs(s->b[i]));
  }
  for (int64_t r = 0; r < n_rows; r++) {
    int64_t i = s->rows[r], rubs = partner_row(s, i) >= 0, partner = -1;
    for (int64_t q = 0; rubs && q < n_rows; q++)
      if (s->rows[q] == partner_row(s, i)) partner = q;
    double slack = NO_MOTION * fastest, mobility = product(K + r * s->n, W + r * s->n, s->n);
    vectors[MOTION][r] = s->b[i];
    vectors[COMPLIANCE][r] = COMPLIANCE_PART * own[rubs] / count[rubs];
    vectors[LOWER][r] = rubs ? 0.0 : slack / fabs(mobility);
    vectors[UPPER][r] = rubs ? 0.0 : 1e300;
    vectors[BELOW][r] = vectors[ABOVE][r] = 0.0;
    vectors[COEFFICIENT][r] = s->given[FRICTION][i];
    vectors[PARTNER][r] = (double)partner;
    vectors[ALLOWED][r] = MAY_CHANGE;
    vectors[TOLERANCE][r] = slack;
    vectors[INITIAL][r] = rubs || s->b[i] < -slack || last[i] > 0.0 ? HELD : FORWARD;
  }
}

/* Take a contact and its friction among the rows: normals stand before all tangents, as partners must. */
static int64_t collect_rows(Step *s) {
  int64_t n_rows = 0;
  for (int64_t i = 0; i < s->k; i++) {
    int64_t partner = partner_row(s, i);
    if (s->looked_at[partner < 0 ? i : partner] > 0.0) s->rows[n_rows++] = i;
  }
  return n_rows;
}

/* Impulses of all rows. Those far from their surfaces are left out: where the others' impulses would make one sink, it is taken
   among them. 0 where none are found. */
static int find_impulses(Run *run, Step *s) {
  const double *last = run->m + run->model->problem_place[0];
  for (int64_t i = 0; i < s->k; i++) s->looked_at[i] = partner_row(s, i) < 0 && (s->b[i] < 0.0 || last[i] > 0.0);
  for (int64_t added = 1; added > 0;) {
    int64_t n_rows = collect_rows(s);
    double *work = s->data + complementarity_data(n_rows, s->n);
    for (int64_t i = 0; i < s->k; i++) s->f[i] = 0.0;
    if (n_rows > 0) {
      double *modes = work + complementarity_work(n_rows), *guess = modes + n_rows;
      pose(run, s, n_rows);
      for (int64_t r = 0; r < n_rows; r++) guess[r] = run->h_tried * last[s->rows[r]];
      if (solve_from_forces(n_rows, s->n, s->data, work, modes, guess) > 0) return 0;
      const double *forces = complementarity_forces(n_rows, work);
      for (int64_t r = 0; r < n_rows; r++) s->f[s->rows[r]] = forces[r];
    }
    for (int64_t j = 0; j < s->n; j++) {
      s->v[j] = state(run, START)[run->model->n_q + j] + run->h_tried * s->a[j];
      for (int64_t i = 0; i < s->k; i++) s->v[j] += s->W[i * s->n + j] * s->f[i];
    }
    added = 0;
    for (int64_t i = 0; i < s->k; i++) {
      if (partner_row(s, i) >= 0 || s->looked_at[i] > 0.0) continue;
      double change = 0.0;
      for (int64_t r = 0; r < s->k; r++)
        if (s->f[r] != 0.0) change += product(s->K + i * s->n, s->W + r * s->n, s->n) * s->f[r];
      if (s->b[i] + change < 0.0) s->looked_at[i] = 1.0, added++;
    }
  }
  return 1;
}

/* Keep the mean forces, and note what has landed and parted. */
static void keep_forces(Run *run, const Step *s) {
  double *forces = run->m + run->model->problem_place[0], h = run->h_tried;
  int64_t first = run->model->problem_events[0];
  const double *v0 = state(run, START) + run->model->n_q;
  for (int64_t i = 0; i < s->k; i++) {
    int touched = forces[i] > 0.0, touches = s->f[i] > 0.0;
    forces[i] = s->f[i] / h;
    if (partner_row(s, i) >= 0 || first < 0 || touched == touches) continue;
    /* g + theta h K v = 0 at the speed of the free motion. */
    double speed = product(s->K + i * s->n, v0, s->n) + h * product(s->K + i * s->n, s->a, s->n);
    double theta = touches && speed < 0.0 ? least(largest(-s->given[GAP][i] / (h * speed), 0.0), 1.0) : 0.0;
    log_event(run, first + 2 * i + !touches, least(run->t + theta * h, run->t_new));
  }
  run->m_changed = run->broken = 1;
}

int step_contacts(Run *run) {
  const Model *model = run->model;
  Step s = lay_out_step(run);
  double h = run->h_tried, *end = state(run, END), *middle = state(run, TRIAL), *rate = state(run, STAGE);
  const double *start = state(run, START), *v0 = start + model->n_q;
  int64_t n_q = model->n_q, n_moving = n_q + s.n;
  if (model->n_d > 0) read_inside(run, run->t);
  call_kernel(run, model->problem[0], run->t, start, run->problem);
  run->evaluations++;
  find_free_motion(run, &s);
  if (!find_impulses(run, &s)) return 0;

  /* q1 = q0 + h N(q) v1, N in the middle of the way there. */
  memcpy(middle, start, (size_t)model->n_x * sizeof(double));
  memcpy(middle + n_q, s.v, (size_t)s.n * sizeof(double));
  call_kernel(run, model->position_rate, run->t, middle, rate);
  for (int64_t i = 0; i < n_q; i++) middle[i] = start[i] + 0.5 * h * rate[i];
  call_kernel(run, model->position_rate, run->t, middle, rate);
  for (int64_t i = 0; i < n_q; i++) end[i] = start[i] + h * rate[i];
  memcpy(end + n_q, s.v, (size_t)s.n * sizeof(double));
  for (int64_t i = n_moving; i < model->n_x; i++) end[i] = start[i] + h * s.z_dot[i - n_moving];

  /* Work is force times the mean of the velocities at both ends: so it is what becomes of the kinetic energy. */
  if (model->work_state > 0) {
    double work = 0.0;
    for (int64_t j = 0; j < s.n; j++) {
      double impulse = h * s.tau[j];
      for (int64_t i = 0; i < s.k; i++) impulse += s.K[i * s.n + j] * s.f[i];
      work += 0.5 * impulse * (v0[j] + s.v[j]);
    }
    end[model->work_state - 1] = start[model->work_state - 1] + work;
  }
  double *change = state(run, STAGE + 1);
  for (int64_t i = 0; i < model->n_x; i++) change[i] = (end[i] - start[i]) / h;
  keep_forces(run, &s);
  forget_slope(run);
  return 1;
}
