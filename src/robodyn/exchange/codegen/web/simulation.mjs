// A simulation as WebAssembly, in browsers and in node: load it, run it whole, or step it.
//
//   const model = await load(fetch("simulation.wasm"));   // node: load(readFile("simulation.wasm"))
//   const run = model.run({ "bob.mass": 2 });             // numbers by name; run.signal("hinge.position")
//   const robot = model.start({ "push.value": 3 });       // or from one communication point to the next
//   robot.advance(0.01); robot.set("push.value", -3); robot.get("hinge.position"); robot.free();
//
// Kinds and functions are those of the C header; all quantities are in SI units.

const KINDS = ["parameters", "states", "inputs", "outputs", "events"];
const OUTCOMES = ["goes on", "done", "failed"];
const [STEPPED, RECORDED] = [0, 1];
// All that a module may import.
const { pow, hypot, atan2, sin, cos, exp, log } = Math;
const MATHEMATICS = { pow, hypot, atan2, sin, cos, exp, log, fmod: (x, y) => x % y };

// The module's functions, from a Response, an ArrayBuffer, a Buffer, or a promise of one.
export async function load(source) {
  const given = await source;
  const bytes = given.arrayBuffer instanceof Function ? await given.arrayBuffer() : given;
  const { instance } = await WebAssembly.instantiate(bytes, { env: MATHEMATICS });
  return new Model(instance.exports);
}

class Model {
  constructor(c) {
    this.c = c;
    this.scenario = this.text(c.simulation_scenario());
    this.duration = c.simulation_duration();
    KINDS.forEach((kind, k) => {
      const numbers = [...Array(c.simulation_count(k)).keys()];
      this[kind] = numbers.map((n) => ({ name: this.text(c.simulation_name(k, n)), unit: this.text(c.simulation_unit(k, n)) }));
    });
  }

  text(address) {
    const bytes = new Uint8Array(this.c.memory.buffer, address);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  numbers(address, count) {
    return count ? new Float64Array(this.c.memory.buffer, address, count).slice() : new Float64Array(0);
  }

  // [kind, number] of a name among the kinds given.
  find(name, kinds) {
    for (const kind of kinds) {
      const number = this[KINDS[kind]].findIndex((entry) => entry.name === name);
      if (number >= 0) return [kind, number];
    }
    throw new Error(`there is no '${name}' among ${kinds.map((kind) => KINDS[kind]).join(", ")}`);
  }

  // The scenario's whole run, with its record.
  run(numbers = {}) {
    const simulation = new Simulation(this, RECORDED, numbers), { c, address } = simulation;
    // A row is [time, outputs, whether lines may bend there].
    const width = 2 + this.outputs.length, n = c.simulation_n_rows(address);
    const rows = this.numbers(c.simulation_row(address, 0), n * width);
    const column = (k) => Float64Array.from({ length: n }, (_, row) => rows[row * width + k]);
    const events = [...Array(c.simulation_n_events(address)).keys()].map((k) => {
      return { time: c.simulation_event_time(address, k), name: this.events[c.simulation_event(address, k)].name };
    });
    const done = { rows, events, outcome: simulation.outcome, sentence: simulation.sentence, time: column(0), knots: column(width - 1) };
    simulation.free();
    return { ...done, signal: (name) => column(1 + this.find(name, [3])[1]) };
  }

  start(numbers = {}) {
    return new Simulation(this, STEPPED, numbers);
  }
}

class Simulation {
  constructor(model, way, numbers) {
    [this.model, this.c, this.address] = [model, model.c, model.c.simulation_new(way)];
    if (!this.address) throw new Error("there is not enough memory");
    for (const [name, value] of Object.entries(numbers)) this.set(name, value);
    if (!this.c.simulation_begin(this.address) && way === STEPPED && this.outcome === "failed") throw new Error(this.sentence);
  }

  // Parameters, states and inputs.
  set(name, value) {
    if (!this.c.simulation_set(this.address, ...this.model.find(name, [0, 1, 2]), value)) throw new Error(`${name}: ${this.sentence}`);
  }

  // Outputs, inputs, states and parameters: a signal before a number of the same name.
  get(name) {
    return this.c.simulation_get(this.address, ...this.model.find(name, [3, 2, 1, 0]));
  }

  // All outputs, in the model's order.
  read() {
    const n = this.model.outputs.length, place = this.c.malloc(8 * n);
    this.c.simulation_read(this.address, place);
    const outputs = this.model.numbers(place, n);
    this.c.free(place);
    return outputs;
  }

  // False where the run ends before this time [s].
  advance(time) {
    return this.c.simulation_advance(this.address, time) === 1;
  }

  get time() { return this.c.simulation_time(this.address); }
  get outcome() { return OUTCOMES[this.c.simulation_outcome(this.address)]; }
  get sentence() { return this.model.text(this.c.simulation_sentence(this.address)); }

  free() {
    this.c.simulation_free(this.address);
    this.address = 0;
  }
}
