/* Macro steps: how are subsystems simulated together that meet only at communication points?

   From a time t to t + H:

   1. Exchange. Reduced models are taken from their units as they are at t and attached to the others; inputs are written
      as polynomials through the last values.
   2. Advance. Every unit goes to t + H with its own steps. In sequence, a unit gets what those before it arrived at, and
      its inputs interpolate; reduced models are still those of t.
   3. Look. Where a unit had an event on the way, all go back to t, if they can, and take a macro step that ends there: the
      others learn of it at the event, not up to H later. What signals and models were expected to be is compared with
      what they are; where the step is adapted and the error is too large, all units go back to t and try a shorter one.
   4. What was found becomes what is known, and a row is written down.

   A unit that is a run of this engine is read, written and advanced here. For any other the routines below return what they
   ask of the caller, and go on behind that line when they are called again: ASK keeps the line, BEGIN jumps there. So all that
   they still need then stands in the Coupling, not in local variables. */

#include "coupled.h"

#define BEGIN(at) int64_t *line = &coupling->at; switch (*line) { case 0:
#define ASK(what) do { *line = __LINE__; return (what); case __LINE__:; } while (0)
/* Carry out another routine, passing on what it asks. */
#define CALL(routine) while ((coupling->asked = routine(coupling)) != DONE) ASK(coupling->asked)
#define END } *line = 0; return DONE
#define EACH(index, count) for (coupling->index = 0; coupling->index < coupling->count; coupling->index++)
#define UNIT (&coupling->units[coupling->unit])
#define READ do { if (UNIT->run) unit_read(UNIT); else ASK(READ_UNIT); } while (0)

/* Part of a macro step by which an event is away from its end that does not cut it. */
#define CLOSE 1e-9
/* Next step by the last: h error^(-1 / order) times the first, within the others. */
#define SAFETY 0.9
#define LEAST_FACTOR 0.2
#define LARGEST_FACTOR 2.0

/* ---- A unit that is a run ------------------------------------------------------------------------------------------ */

void unit_read(CoupledUnit *unit) {
  Run *run = unit->run;
  double *out = unit->outputs, *means = out + unit->n_read, passed = run->t - unit->since;
  unit->read(&run->t, run->x, run->d, run->m, unit->port_p, out);
  for (int64_t i = 0; i < unit->n_means; i++)
    means[i] = passed > 0.0 ? (out[unit->impulses[i]] - unit->impulse[i]) / passed : out[unit->forces[i]];
}

static void copy_outputs(const CoupledUnit *unit, const double *from, double *to) {
  memcpy(to, from, sizeof *to * (size_t)(unit->n_read + unit->n_means));
}

static void fill_parameters(const CoupledUnit *unit, Prelude prelude, double *p) {
  if (!p) return;
  memcpy(p, unit->values, sizeof *p * (size_t)unit->n_values);
  if (prelude) prelude(p, p + unit->n_values);
}

void unit_prepare(const CoupledUnit *unit) {
  fill_parameters(unit, unit->run_prelude, unit->run_p);
  fill_parameters(unit, unit->jacobian_prelude, unit->jacobian_p);
  fill_parameters(unit, unit->port_prelude, unit->port_p);
}

void unit_write(CoupledUnit *unit, const double *course, int64_t n, int64_t size, const int64_t *places, double begin) {
  for (int64_t i = 0; i < 3 * size; i++) unit->values[places[i]] = i < n * size ? course[i] : 0.0;
  unit->values[unit->clock] = begin;
}

void evaluate_terms(const CoupledUnit *unit, const Port *port) {
  const Run *run = unit->run;
  port->terms(&run->t, run->x, run->d, run->m, unit->port_p, port->term_values);
}

void unit_reduce(const CoupledUnit *unit, const Port *port) {
  evaluate_terms(unit, port);
  interface_reduce(port);
}

/* The states that stand for the far side behind a stiffness: where it is, and no rotation since this exchange. */
static void set_far_states(const Port *port, CoupledUnit *unit) {
  int64_t k = port->rows, n = k < 3 ? k : 3;
  const double *motion = port->wanted;
  for (int64_t i = 0; i < n + k; i++) unit->run->x[port->states[i]] = motion[i];
  for (int64_t i = n + k; port->rotates && i < n + k + 3; i++) unit->run->x[port->states[i]] = 0.0;
  for (int64_t i = 0; port->turned && i < 9; i++) unit->values[port->turned[i]] = motion[n + k + i];
  unit->moved = 1;
}

void unit_attach(CoupledUnit *unit, const Port *port, const Port *sender, double time, int64_t closing_steps) {
  int64_t k = port->rows, rigid = port->takes == TAKES_RIGID;
  const double *matrix = sender->model + (rigid ? 0 : k * k), *inertia = sender->model;
  double *values = unit->values, course[18];
  for (int64_t i = 0, place = 0; i < k; i++)
    for (int64_t j = 0; j <= i; j++) values[port->matrix[place++]] = matrix[j * k + i];
  memcpy(course, sender->sent, sizeof *course * (size_t)(sender->n_sent * k));
  if (rigid) {
    /* The force that stands for the acceleration: the first one as the model gives it. */
    const double *effective = sender->model + 2 * k * k, *inertial = effective + k;
    for (int64_t i = 0; i < k; i++) course[i] = effective[i] - inertial[i];
    for (int64_t power = 1; power < sender->n_sent; power++)
      for (int64_t i = 0; i < k; i++) {
        double force = 0.0;
        for (int64_t j = 0; j < k; j++) force += sender->sent[power * k + j] * inertia[i * k + j];
        course[power * k + i] = force;
      }
  } else {
    memcpy(course, sender->model + 2 * k * k + 2 * k, sizeof *course * (size_t)k);
    set_far_states(port, unit);
  }
  unit_write(unit, course, sender->n_sent, k, port->course, time);
  unit_prepare(unit);
  if (!rigid || !port->moves) return;
  /* What was attached changed none of the terms that are needed. */
  if (!port->gives) evaluate_terms(unit, port);
  move_interface(port, unit, inertia, closing_steps);
}

/* The length of the macro step, for models that know how their forces go on. */
static void set_span(CoupledUnit *unit, double step) {
  if (!unit->run || unit->span < 0 || unit->values[unit->span] == step) return;
  unit->values[unit->span] = step;
  unit_prepare(unit);
}

/* ---- Reduced models ------------------------------------------------------------------------------------------------ */

static Port *port_of(const Coupling *coupling, int64_t side) {
  const Pair *pair = &coupling->pairs[coupling->pair];
  return side ? pair->second : pair->first;
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

/* Both models have been taken: how far the sides are apart, on which motion they go on, and what is sent. */
static void prepare_sending(Coupling *coupling, Pair *pair) {
  Port *ports[2] = {pair->first, pair->second};
  int merged = ports[0]->takes == TAKES_RIGID && ports[1]->takes == TAKES_RIGID;
  pair->gap = pair->condition = 0.0;
  for (int64_t s = 0; s < 2; s++) {
    if (!ports[s]->gives) continue;
    pair->gap = largest(pair->gap, gap_of(coupling, ports[s], ports[1 - s]));
    pair->condition = largest(pair->condition, condition_of(ports[s]));
  }
  /* Where both sides are rigid neither leads: they go on with one motion that both models agree on, or each with its own. */
  for (int64_t s = 0; s < 2; s++) {
    if (!ports[s]->gives) continue;
    Port *sender = ports[s], *receiver = ports[1 - s];
    int64_t k = sender->rows, size = (k < 3 ? k : 3) + k + (sender->rotates ? 9 : 0);
    receiver->moves = !merged || pair->join != JOIN_NONE;
    if (!merged) memcpy(receiver->wanted, port_motion(sender), sizeof(double) * (size_t)size);
    else if (receiver->moves) interface_join(pair, receiver->wanted);
    trend_add(sender->trend, coupling->time, coupling->time, sender->model + 2 * k * k + 2 * k, 0, 1.0);
    sender->n_sent = trend_fit(sender->trend, coupling->time, sender->sent);
  }
}

/* ---- Signals ------------------------------------------------------------------------------------------------------- */

static void sample(const Channel *channel, Trend *trend, const double *outputs, double time, double step) {
  trend_add(trend, channel->mean ? time - step : time, time, outputs, channel->outputs, channel->gain);
}

/* What all signals are at a time, or were in the macro step that ended there. */
static void sample_all(Coupling *coupling, double time, double step, int late_alone) {
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    Channel *channel = &coupling->channels[c];
    const double *outputs = coupling->units[channel->source].outputs;
    if (late_alone && !channel->late) continue;
    sample(channel, channel->trend, outputs, time, step);
    for (int64_t i = 0; i < channel->trend->size; i++)
      channel->largest = largest(channel->largest, fabs(channel->gain * outputs[channel->outputs[i]]));
  }
}

enum { SEND_KNOWN, SEND_LATE, SEND_ARRIVED };

/* Polynomials of a unit's inputs for the macro step: of what is known, of what depends on that, or in sequence of all, where
   inputs interpolate whose sources have arrived already. Gives whether the caller must write them. */
static int send_signals(Coupling *coupling, int64_t which) {
  CoupledUnit *unit = UNIT;
  int written = 0;
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    Channel *channel = &coupling->channels[c];
    Trend *trend = channel->trend;
    if (channel->target != coupling->unit) continue;
    channel->n_course = 0;
    if (which != SEND_ARRIVED && channel->late != which) continue;
    if (which == SEND_ARRIVED && channel->source < coupling->unit) {
      trend_copy(trend, channel->scratch);
      trend = channel->scratch;
      sample(channel, trend, coupling->units[channel->source].arrived, coupling->end, coupling->end - coupling->time);
    }
    channel->n_course = trend_fit(trend, coupling->time, channel->course);
    if (unit->run) unit_write(unit, channel->course, channel->n_course, trend->size, channel->inputs, coupling->time);
    written = 1;
  }
  if (written && unit->run) unit_prepare(unit);
  return written && !unit->run;
}

static int is_late_source(const Coupling *coupling, int64_t unit) {
  for (int64_t c = 0; c < coupling->n_channels; c++)
    if (coupling->channels[c].late && coupling->channels[c].source == unit) return 1;
  return 0;
}

/* ---- Exchange, advance, rollback ----------------------------------------------------------------------------------- */

/* Send everything at the beginning of a macro step: first what is known, then what depends on that. */
int64_t coupling_exchange(Coupling *coupling) {
  BEGIN(exchange_at)
  EACH(unit, n_units) set_span(UNIT, coupling->end - coupling->time);
  EACH(pair, n_pairs) {
    /* All models are taken first, as the states were: joining strains what is stiff behind an interface, and a model taken
       after that would hold the force of that strain over the macro step. */
    for (coupling->side = 0; coupling->side < 2; coupling->side++) {
      if (!port_of(coupling, coupling->side)->gives) continue;
      coupling->unit = port_of(coupling, coupling->side)->unit;
      if (UNIT->run) unit_reduce(UNIT, port_of(coupling, coupling->side));
      else ASK(GIVE_MODEL);
      if (!check_model(coupling, port_of(coupling, coupling->side), port_of(coupling, 1 - coupling->side))) ASK(NO_MODEL);
    }
    if (!coupling->pairs[coupling->pair].first->gives && !coupling->pairs[coupling->pair].second->gives) continue;
    prepare_sending(coupling, &coupling->pairs[coupling->pair]);
    for (coupling->side = 1; coupling->side >= 0; coupling->side--) {
      const Port *port = port_of(coupling, coupling->side), *sender = port_of(coupling, 1 - coupling->side);
      if (!sender->gives) continue;
      coupling->unit = port->unit;
      if (UNIT->run) unit_attach(UNIT, port, sender, coupling->time, coupling->closing_steps);
      else ASK(TAKE_MODEL);
    }
  }
  EACH(unit, n_units) if (send_signals(coupling, SEND_KNOWN)) ASK(WRITE_UNIT);
  EACH(unit, n_units) if (is_late_source(coupling, coupling->unit)) READ;
  sample_all(coupling, coupling->time, 0.0, 1);
  EACH(unit, n_units) if (send_signals(coupling, SEND_LATE)) ASK(WRITE_UNIT);
  END;
}

/* Read what all units give right after an exchange; this is what is written down. */
static int64_t look(Coupling *coupling) {
  BEGIN(look_at)
  coupling->looking = 1;
  EACH(unit, n_units) {
    READ;
    copy_outputs(UNIT, UNIT->outputs, UNIT->noted);
    copy_outputs(UNIT, UNIT->outputs, UNIT->begun);
  }
  coupling->looking = 0;
  coupling->noted_at = coupling->time;
  END;
}

/* A run begins its macro step. */
static void enter(const Coupling *coupling, CoupledUnit *unit) {
  unit->since = coupling->time;
  for (int64_t i = 0; i < unit->n_means; i++) unit->impulse[i] = unit->outputs[unit->impulses[i]];
  run_extend(unit->run, coupling->end);
  run_reopen(unit->run, unit->moved, 0, 1);
  unit->run->budget = coupling->budget;
  unit->moved = 0;
}

/* All units to the end of the macro step, or until one cannot get there. */
static int64_t move_units(Coupling *coupling) {
  BEGIN(move_at)
  CALL(look);
  coupling->ended = GOES_ON;
  EACH(unit, n_units) {
    UNIT->event = INFINITY;
    UNIT->jumped = UNIT->early = 0;
  }
  EACH(unit, n_units) {
    if (coupling->sequential && coupling->unit > 0) {
      if (send_signals(coupling, SEND_ARRIVED)) ASK(WRITE_UNIT);
      if (UNIT->run || coupling->n_pairs > 0) READ;
      copy_outputs(UNIT, UNIT->outputs, UNIT->begun);
    }
    coupling->answer = GOES_ON;
    if (UNIT->run) {
      enter(coupling, UNIT);
      while (coupling->answer == GOES_ON && (coupling->reason = run_advance(UNIT->run)) != ENDED) ASK(SERVE_UNIT);
      if (coupling->answer == GOES_ON && UNIT->run->status != FINISHED) ASK(END_UNIT);
    } else {
      ASK(MOVE_UNIT);
    }
    if (coupling->ended == GOES_ON) coupling->ended = coupling->answer;
    if (coupling->answer != GOES_ON && coupling->ended == STOPPED_BEFORE) break;
    READ;
    if (!UNIT->early) copy_outputs(UNIT, UNIT->outputs, UNIT->arrived);
  }
  END;
}

int64_t coupling_save(Coupling *coupling) {
  BEGIN(save_at)
  EACH(unit, n_units) {
    ASK(SAVE_UNIT);
    copy_outputs(UNIT, UNIT->outputs, UNIT->saved);
  }
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    Channel *channel = &coupling->channels[c];
    trend_copy(channel->trend, channel->saved);
    channel->largest_saved = channel->largest;
  }
  EACH(pair, n_pairs)
    for (int64_t s = 0; s < 2; s++)
      if (port_of(coupling, s)->gives) trend_copy(port_of(coupling, s)->trend, port_of(coupling, s)->saved);
  END;
}

int64_t coupling_restore(Coupling *coupling) {
  BEGIN(restore_at)
  EACH(unit, n_units) {
    ASK(RESTORE_UNIT);
    copy_outputs(UNIT, UNIT->saved, UNIT->outputs);
  }
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    Channel *channel = &coupling->channels[c];
    trend_copy(channel->saved, channel->trend);
    channel->largest = channel->largest_saved;
  }
  EACH(pair, n_pairs)
    for (int64_t s = 0; s < 2; s++)
      if (port_of(coupling, s)->gives) trend_copy(port_of(coupling, s)->saved, port_of(coupling, s)->trend);
  END;
}

/* ---- The macro step ------------------------------------------------------------------------------------------------ */

static double *keep_places(const Coupling *coupling, const int64_t *places, int64_t n, int which, double *row) {
  for (int64_t i = 0; i < n; i++) {
    const CoupledUnit *unit = &coupling->units[places[2 * i]];
    const double *outputs = which == 0 ? unit->noted : which == 1 ? unit->begun : unit->outputs;
    *row++ = outputs[places[2 * i + 1]];
  }
  return row;
}

/* A row; what is booked is no number where there is no macro step. */
static void write_row(Coupling *coupling, double step, int begun, int ended) {
  int64_t width = 2 + 2 * coupling->n_pairs + coupling->n_kept + 2 * coupling->n_booked;
  double *row = coupling->rows + width * coupling->n_rows++;
  for (int64_t i = 0; i < width; i++) row[i] = NAN;
  *row++ = coupling->time;
  *row++ = step;
  for (int64_t i = 0; i < coupling->n_pairs; i++) {
    *row++ = coupling->pairs[i].gap;
    *row++ = coupling->pairs[i].condition;
  }
  row = keep_places(coupling, coupling->kept, coupling->n_kept, 0, row);
  if (begun) keep_places(coupling, coupling->booked, coupling->n_booked, 1, row);
  if (ended) keep_places(coupling, coupling->booked, coupling->n_booked, 2, row + coupling->n_booked);
}

void coupling_note(Coupling *coupling) {
  for (int64_t u = 0; coupling->noted_at != coupling->time && u < coupling->n_units; u++)
    copy_outputs(&coupling->units[u], coupling->units[u].outputs, coupling->units[u].noted);
  write_row(coupling, 0.0, 0, 0);
}

/* End of the next macro step: a fixed one is a whole multiple, the last ends with the run. */
static double next_end(const Coupling *coupling) {
  double end = coupling->time + coupling->step;
  if (coupling->tolerance == 0.0) end = (double)(coupling->passed + 1) * coupling->first_step;
  return coupling->duration - end < 1e-9 * coupling->step ? coupling->duration : end;
}

/* Where the macro step should have ended, for an event inside it; one at its very end is no reason. One at its beginning,
   where a unit found by rounding that it was not there yet, makes it as short as can be. */
static double find_cut(const Coupling *coupling) {
  double first = coupling->end;
  for (int64_t u = 0; u < coupling->n_units; u++) first = least(first, coupling->units[u].event);
  first = largest(first, nextafter(coupling->time, INFINITY));
  return coupling->cuts && first < coupling->end - CLOSE * (coupling->end - coupling->time) ? first : INFINITY;
}

/* The largest, or what is no number. */
static double worse(double error, double other) { return isnan(error) || other <= error ? error : other; }

/* Largest error of what was expected at the end of the macro step, in units of the largest values so far. */
static double coupling_error(Coupling *coupling) {
  double H = coupling->end - coupling->time, error = 0.0;
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    const Channel *channel = &coupling->channels[c];
    int64_t size = channel->trend->size;
    double coefficients[3 * MOST_SIGNALS], scale = largest(channel->largest, coupling->least_scale), miss = 0.0;
    int64_t n = trend_fit(channel->trend, coupling->time, coefficients);
    for (int64_t i = 0; i < size; i++) {
      double fresh = channel->gain * coupling->units[channel->source].arrived[channel->outputs[i]], expected = 0.0;
      for (int64_t k = 0; k < n; k++) expected += mean_power(channel->mean ? 0.0 : H, H, k) * coefficients[k * size + i];
      scale = largest(scale, fabs(fresh));
      miss = worse(miss, fabs(fresh - expected));
    }
    error = worse(error, miss / scale);
  }
  /* Of a model, the velocity that its receiver takes the sender's for. */
  EACH(pair, n_pairs)
    for (int64_t s = 1; s >= 0; s--) {
      const Port *sender = port_of(coupling, s), *receiver = port_of(coupling, 1 - s);
      int64_t k = sender->rows, n = k < 3 ? k : 3;
      double miss = 0.0, *speed = &coupling->pairs[coupling->pair].speed;
      if (!sender->gives) continue;
      for (int64_t i = 0; i < k; i++) {
        double velocity = coupling->units[sender->unit].outputs[sender->velocity[i]];
        *speed = largest(*speed, fabs(velocity));
        miss = worse(miss, fabs(velocity - coupling->units[receiver->unit].outputs[receiver->expected[n + i]]));
      }
      error = worse(error, miss / *speed);
    }
  return error;
}

/* Length of the next macro step by the error of the last one. */
static void adapt(Coupling *coupling, double length) {
  double factor = LEAST_FACTOR;
  if (isfinite(coupling->error))
    factor = coupling->error <= 0.0 ? LARGEST_FACTOR : SAFETY * pow(coupling->error, -1.0 / (double)coupling->order);
  factor = least(largest(factor, LEAST_FACTOR), LARGEST_FACTOR);
  coupling->step = least(largest(length * factor, coupling->smallest_step), coupling->largest_step);
}

/* What was found becomes what is known, and is written down. */
static void accept(Coupling *coupling) {
  double H = coupling->end - coupling->time;
  write_row(coupling, H, 1, 1);
  if (coupling->error > 1.0 && isnan(coupling->missed_at)) {
    coupling->missed = coupling->error;
    coupling->missed_at = coupling->time;
  }
  for (int64_t c = 0; c < coupling->n_channels; c++) {
    const Channel *channel = &coupling->channels[c];
    /* What was before a jump says nothing about what comes after it. */
    if (coupling->units[channel->source].jumped) channel->trend->count = 0;
  }
  sample_all(coupling, coupling->end, H, 0);
  coupling->passed += coupling->end == next_end(coupling);
  coupling->steps++;
  coupling->time = coupling->end;
}

/* Whether a signal is beyond all bounds, or no number. */
static int diverged(const Coupling *coupling) {
  for (int64_t i = 0; i < coupling->n_kept; i++) {
    const CoupledUnit *unit = &coupling->units[coupling->kept[2 * i]];
    if (!(fabs(unit->outputs[coupling->kept[2 * i + 1]]) <= coupling->largest_value)) return 1;
  }
  return 0;
}

int64_t coupling_advance(Coupling *coupling) {
  BEGIN(advance_at)

  /* Start: a first exchange, the start of all units, and what they give then. */
  sample_all(coupling, coupling->time, 0.0, 0);
  coupling->end = coupling->time + coupling->first_step;
  CALL(coupling_exchange);
  EACH(unit, n_units) {
    ASK(START_UNIT);
    READ;
  }
  sample_all(coupling, coupling->time, 0.0, 0);
  coupling->closing_steps = 1;
  ASK(STARTED);

  for (;;) {
    if (diverged(coupling)) ASK(SIGNAL_DIVERGED);
    if (coupling->n_rows >= coupling->row_capacity) ASK(ROWS_FULL);
    if (coupling->time >= coupling->duration) break;

    /* A macro step, tried until it ends where the first event is and its error is small enough. */
    if (coupling->restores) CALL(coupling_save);
    coupling->planned = coupling->step;
    coupling->cut = INFINITY;
    for (;;) {
      coupling->end = least(next_end(coupling), coupling->cut);
      CALL(coupling_exchange);
      CALL(move_units);
      coupling->cut = find_cut(coupling);
      if (isfinite(coupling->cut)) {
        coupling->n_cut++;
        CALL(coupling_restore);
        continue;
      }
      if (coupling->ended == STOPPED_BEFORE) ASK(UNIT_STOPPED);
      coupling->error = 0.0;
      if (coupling->tolerance == 0.0 || coupling->ended != GOES_ON) break;
      coupling->error = coupling_error(coupling) / coupling->tolerance;
      /* An event makes one macro step short, not those after it. */
      double length = coupling->end - coupling->time, longest = coupling->end < next_end(coupling) ? coupling->planned : 0.0;
      adapt(coupling, length);
      if (coupling->error <= 1.0 || length <= coupling->smallest_step * (1.0 + 1e-9)) {
        coupling->step = largest(coupling->step, longest);
        break;
      }
      coupling->rejected++;
      CALL(coupling_restore);
    }
    EACH(unit, n_units) if (!UNIT->run) ASK(RECORD_UNIT);
    accept(coupling);
    if (coupling->ended != GOES_ON) ASK(UNIT_STOPPED);
  }

  /* A last exchange, so that the record ends as it began. */
  coupling->end = coupling->time + coupling->first_step;
  CALL(coupling_exchange);
  CALL(look);
  write_row(coupling, 0.0, 1, 0);
  ASK(COUPLING_ENDED);
  END;
}

void coupling_sizes(int64_t *sizes) {
  const size_t found[] = {sizeof(Trend), sizeof(CoupledUnit), sizeof(Channel), sizeof(Port), sizeof(Pair), sizeof(Coupling)};
  for (size_t i = 0; i < sizeof found / sizeof *found; i++) sizes[i] = (int64_t)found[i];
}
