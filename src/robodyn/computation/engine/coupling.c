/* Macro steps: how do runs go on together that meet only at communication points?

   From a time t to t + H:

   1. Exchange. Reduced models are taken from their runs as they are at t and attached to the others; inputs are written
      as polynomials through the last values.
   2. Advance. Every run goes to t + H with its own steps. In sequence, a run gets what those before it arrived at, and
      its inputs interpolate; reduced models are still those of t.
   3. What was found becomes what is known, and a row is written down. */

#include "coupled.h"

static void read_outputs(CoupledRun *unit) {
  Run *run = unit->run;
  double *out = unit->outputs, *means = out + unit->n_read, passed = run->t - unit->since;
  unit->read(&run->t, run->x, run->d, run->m, unit->port_p, out);
  for (int64_t i = 0; i < unit->n_means; i++)
    means[i] = passed > 0.0 ? (out[unit->impulses[i]] - unit->impulse[i]) / passed : out[unit->forces[i]];
}

static void keep_outputs(const CoupledRun *unit, double *kept) {
  memcpy(kept, unit->outputs, sizeof *kept * (size_t)(unit->n_read + unit->n_means));
}

static void fill_parameters(const CoupledRun *unit, Prelude prelude, double *p) {
  if (!p) return;
  memcpy(p, unit->values, sizeof *p * (size_t)unit->n_values);
  if (prelude) prelude(p, p + unit->n_values);
}

/* What depends on the numbers alone, anew. */
static void prepare_parameters(const CoupledRun *unit) {
  fill_parameters(unit, unit->run_prelude, unit->run_p);
  fill_parameters(unit, unit->jacobian_prelude, unit->jacobian_p);
  fill_parameters(unit, unit->port_prelude, unit->port_p);
}

/* Polynomials of some inputs from a time on; coefficients beyond those given are 0. */
static void write_course(CoupledRun *unit, const Trend *trend, const int64_t *inputs, double begin) {
  double coefficients[3 * MOST_SIGNALS];
  int64_t n = trend->size, given = trend_fit(trend, begin, coefficients);
  for (int64_t i = 0; i < 3 * n; i++) unit->values[inputs[i]] = i < given * n ? coefficients[i] : 0.0;
  unit->values[unit->clock] = begin;
}

static void evaluate_terms(const Coupling *coupling, const Port *port) {
  const CoupledRun *unit = &coupling->units[port->unit];
  const Run *run = unit->run;
  port->terms(&run->t, run->x, run->d, run->m, unit->port_p, port->term_values);
}

static double condition_of(const Port *port) { return port->model[MODEL_SIZE(port->rows) - 1]; }

/* 0 where a model does not exist that is needed: a receiver behind a stiffness needs the mobility alone, which always
   exists; a rigid one needs its inverse. */
static int check_model(const Coupling *coupling, Port *port, const Port *receiver) {
  double condition = condition_of(port);
  if (receiver->takes == TAKES_ELASTIC) return 1;
  if (!(condition <= coupling->condition_limit)) return 0;
  if (condition > coupling->condition_warning && isnan(port->warned_at)) {
    port->warned_at = coupling->time;
    port->warned = condition;
  }
  return 1;
}

/* How far a receiver's idea of the sender's motion is from the truth. */
static double gap_of(const Coupling *coupling, const Port *sender, const Port *receiver) {
  const double *outputs = coupling->units[receiver->unit].outputs;
  double expected[18];
  int64_t k = receiver->rows, n = (k < 3 ? k : 3) + k + (receiver->rotates ? 9 : 0);
  for (int64_t i = 0; i < n; i++) expected[i] = outputs[receiver->expected[i]];
  return motion_gap(sender, port_motion(sender), expected);
}

/* The states that stand for the far side behind a stiffness: where it is, and no rotation since this exchange. */
static void set_far_states(const Port *port, CoupledRun *unit, const double *motion) {
  int64_t k = port->rows, n = k < 3 ? k : 3;
  for (int64_t i = 0; i < n + k; i++) unit->run->x[port->states[i]] = motion[i];
  for (int64_t i = n + k; port->rotates && i < n + k + 3; i++) unit->run->x[port->states[i]] = 0.0;
  for (int64_t i = 0; port->turned && i < 9; i++) unit->values[port->turned[i]] = motion[n + k + i];
  unit->moved = 1;
}

/* Put the model of one side at the other; motion: common, of the sender where there is none, null: each keeps its own. */
static void attach_model(Coupling *coupling, const Port *sender, const Port *port, const double *motion) {
  CoupledRun *unit = &coupling->units[port->unit];
  int64_t k = port->rows, rigid = port->takes == TAKES_RIGID, given;
  const double *matrix = sender->model + (rigid ? 0 : k * k), *inertia = sender->model;
  double course[18], *values = unit->values;
  for (int64_t i = 0, place = 0; i < k; i++)
    for (int64_t j = 0; j <= i; j++) values[port->matrix[place++]] = matrix[j * k + i];
  given = trend_fit(sender->trend, coupling->time, course);
  if (rigid) {
    /* The force that stands for the acceleration: the first one as the model gives it. */
    const double *effective = sender->model + 2 * k * k, *inertial = effective + k;
    for (int64_t i = 0; i < k; i++) values[port->course[i]] = effective[i] - inertial[i];
    for (int64_t power = 1; power < 3; power++)
      for (int64_t i = 0; i < k; i++) {
        double force = 0.0;
        for (int64_t j = 0; power < given && j < k; j++) force += course[power * k + j] * inertia[i * k + j];
        values[port->course[power * k + i]] = force;
      }
  } else {
    const double *acceleration = sender->model + 2 * k * k + 2 * k;
    for (int64_t i = 0; i < 3 * k; i++)
      values[port->course[i]] = i < k ? acceleration[i] : i < given * k ? course[i] : 0.0;
  }
  values[unit->clock] = coupling->time;
  if (!rigid) set_far_states(port, unit, motion);
  prepare_parameters(unit);
  if (!rigid || !motion) return;
  /* What was attached changed none of the terms that are needed. */
  if (!port->gives) evaluate_terms(coupling, port);
  move_interface(port, unit, inertia, motion);
}

/* Take both models as the states are, then attach them; 0 where one does not exist. */
static int exchange_models(Coupling *coupling, Pair *pair) {
  Port *ports[2] = {pair->first, pair->second};
  double common[18];
  int merged = ports[0]->takes == TAKES_RIGID && ports[1]->takes == TAKES_RIGID;
  if (!ports[0]->gives && !ports[1]->gives) return 1;
  for (int64_t s = 0; s < 2; s++) {
    if (!ports[s]->gives) continue;
    coupling->side = s;
    evaluate_terms(coupling, ports[s]);
    interface_reduce(ports[s]);
    if (!check_model(coupling, ports[s], ports[1 - s])) return 0;
  }
  pair->gap = pair->condition = 0.0;
  for (int64_t s = 0; s < 2; s++) {
    if (!ports[s]->gives) continue;
    pair->gap = largest(pair->gap, gap_of(coupling, ports[s], ports[1 - s]));
    pair->condition = largest(pair->condition, condition_of(ports[s]));
  }
  /* Where both sides are rigid neither leads: they go on with one motion that both models agree on. */
  if (merged && pair->join != JOIN_NONE) interface_join(pair, common);
  for (int64_t s = 0; s < 2; s++) {
    if (!ports[s]->gives) continue;
    int64_t k = ports[s]->rows;
    const double *motion = merged ? common : port_motion(ports[s]);
    if (merged && pair->join == JOIN_NONE) motion = 0;
    trend_add(ports[s]->trend, coupling->time, coupling->time, ports[s]->model + 2 * k * k + 2 * k, 0, 1.0);
    attach_model(coupling, ports[s], ports[1 - s], motion);
  }
  return 1;
}

static void sample(const Coupling *coupling, Channel *channel, Trend *trend, double time, double step) {
  const double *outputs = coupling->units[channel->source].outputs;
  trend_add(trend, channel->mean ? time - step : time, time, outputs, channel->outputs, channel->gain);
}

/* Inputs of all units that are known, or that depend on these. */
static void send_signals(Coupling *coupling, int64_t late) {
  for (int64_t u = 0; u < coupling->n_units; u++) {
    int64_t written = 0;
    for (int64_t c = 0; c < coupling->n_channels; c++) {
      Channel *channel = &coupling->channels[c];
      if (channel->target != u || channel->late != late) continue;
      write_course(&coupling->units[u], channel->trend, channel->inputs, coupling->time);
      written = 1;
    }
    if (written) prepare_parameters(&coupling->units[u]);
  }
}

/* The length of the macro step, for models that know how their forces go on. */
static void set_span(CoupledRun *unit, double step) {
  if (unit->span < 0 || unit->values[unit->span] == step) return;
  unit->values[unit->span] = step;
  prepare_parameters(unit);
}

/* Send everything at the beginning of a macro step: first what is known, then what depends on that. */
static int exchange(Coupling *coupling) {
  for (int64_t u = 0; u < coupling->n_units; u++) set_span(&coupling->units[u], coupling->end - coupling->time);
  for (coupling->pair = 0; coupling->pair < coupling->n_pairs; coupling->pair++)
    if (!exchange_models(coupling, &coupling->pairs[coupling->pair])) return 0;
  send_signals(coupling, 0);
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    Channel *channel = &coupling->channels[c];
    if (!channel->late) continue;
    read_outputs(&coupling->units[channel->source]);
    sample(coupling, channel, channel->trend, coupling->time, 0.0);
  }
  send_signals(coupling, 1);
  for (int64_t u = 0; u < coupling->n_units; u++) {
    CoupledRun *unit = &coupling->units[u];
    read_outputs(unit);
    keep_outputs(unit, unit->noted);
    keep_outputs(unit, unit->begun);
  }
  return 1;
}

/* Inputs of a unit whose sources have arrived already interpolate. */
static void send_after(Coupling *coupling, int64_t u) {
  CoupledRun *unit = &coupling->units[u];
  int64_t written = 0;
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    Channel *channel = &coupling->channels[c];
    if (channel->target != u) continue;
    trend_copy(channel->trend, channel->scratch);
    if (channel->source < u) sample(coupling, channel, channel->scratch, coupling->end, coupling->end - coupling->time);
    write_course(unit, channel->scratch, channel->inputs, coupling->time);
    written = 1;
  }
  if (written) prepare_parameters(unit);
  read_outputs(unit);
  keep_outputs(unit, unit->begun);
}

/* A unit begins its macro step. */
static void enter(Coupling *coupling, CoupledRun *unit) {
  if (coupling->sequential && coupling->next > 0) send_after(coupling, coupling->next);
  unit->since = coupling->time;
  for (int64_t i = 0; i < unit->n_means; i++) unit->impulse[i] = unit->outputs[unit->impulses[i]];
  run_extend(unit->run, coupling->end);
  run_reopen(unit->run, unit->moved, 0, 1);
  unit->run->budget = coupling->budget;
  unit->moved = 0;
  coupling->entered = 1;
}

/* All units to the end of the macro step; 0 where one needs the caller. */
static int advance_units(Coupling *coupling) {
  for (; coupling->next < coupling->n_units; coupling->next++, coupling->entered = 0) {
    CoupledRun *unit = &coupling->units[coupling->next];
    if (!coupling->entered) enter(coupling, unit);
    coupling->unit = coupling->next;
    coupling->reason = run_advance(unit->run);
    if (coupling->reason != ENDED) return 0;
    read_outputs(unit);
    if (unit->run->status != FINISHED) {
      /* The caller decides; where the run goes on, this unit has arrived. */
      coupling->next++;
      coupling->entered = 0;
      return 0;
    }
  }
  return 1;
}

static double *keep_places(const Coupling *coupling, const int64_t *places, int64_t n, int which, double *row) {
  for (int64_t i = 0; i < n; i++) {
    const CoupledRun *unit = &coupling->units[places[2 * i]];
    const double *outputs = which == 0 ? unit->noted : which == 1 ? unit->begun : unit->outputs;
    *row++ = outputs[places[2 * i + 1]];
  }
  return row;
}

/* What was found becomes what is known, and is written down. */
static void accept(Coupling *coupling) {
  int64_t width = 2 + 2 * coupling->n_pairs + coupling->n_kept + 2 * coupling->n_booked;
  double *row = coupling->rows + width * coupling->n_rows++;
  *row++ = coupling->time;
  *row++ = coupling->end - coupling->time;
  for (int64_t i = 0; i < coupling->n_pairs; i++) {
    *row++ = coupling->pairs[i].gap;
    *row++ = coupling->pairs[i].condition;
  }
  row = keep_places(coupling, coupling->kept, coupling->n_kept, 0, row);
  row = keep_places(coupling, coupling->booked, coupling->n_booked, 1, row);
  keep_places(coupling, coupling->booked, coupling->n_booked, 2, row);
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    Channel *channel = &coupling->channels[c];
    sample(coupling, channel, channel->trend, coupling->end, coupling->end - coupling->time);
  }
  coupling->time = coupling->end;
  coupling->passed++;
  coupling->under_way = 0;
}

/* Whether a signal is beyond all bounds, or no number. */
static int diverged(const Coupling *coupling) {
  for (int64_t i = 0; i < coupling->n_kept; i++) {
    const CoupledRun *unit = &coupling->units[coupling->kept[2 * i]];
    if (!(fabs(unit->outputs[coupling->kept[2 * i + 1]]) <= coupling->largest_value)) return 1;
  }
  return 0;
}

/* End of the next macro step: a whole multiple, the last ends with the run. */
static double next_end(const Coupling *coupling) {
  double end = (double)(coupling->passed + 1) * coupling->step;
  return coupling->duration - end < 1e-9 * coupling->step ? coupling->duration : end;
}

int64_t coupling_advance(Coupling *coupling) {
  for (;;) {
    if (!coupling->under_way) {
      if (diverged(coupling)) return SIGNAL_DIVERGED;
      if (coupling->time >= coupling->duration) return COUPLING_ENDED;
      if (coupling->n_rows >= coupling->row_capacity) return ROWS_FULL;
      coupling->end = next_end(coupling);
      if (!exchange(coupling)) return NO_MODEL;
      coupling->next = coupling->entered = 0;
      coupling->under_way = 1;
    }
    if (!advance_units(coupling)) return UNIT_RETURNED;
    accept(coupling);
  }
}

void coupling_sizes(int64_t *sizes) {
  const size_t found[] = {sizeof(Trend), sizeof(CoupledRun), sizeof(Channel), sizeof(Port), sizeof(Pair), sizeof(Coupling)};
  for (size_t i = 0; i < sizeof found / sizeof *found; i++) sizes[i] = (int64_t)found[i];
}
