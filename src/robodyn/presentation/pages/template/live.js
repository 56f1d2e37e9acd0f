// How does the page simulate by itself? Sliders for numbers; each change is a new run of the model it carries.

const SLOW = 120; // [ms] a run that takes longer waits until the slider rests,
const REST = 250; // for so long [ms].
const SIGNS = { positive: (value) => value > 0, "not negative": (value) => value >= 0, any: () => true };
const NOT_CHECKED = "energy, residuals and errors: this run was made in the browser, which only simulates";

// A second run beside the one that the page came with; it is drawn over it, and its machine is the one that moves.
function addLiveRun(runs) {
  const [base] = runs;
  base.dash = DASHES[1];
  runs.push({ ...base, number: 1, label: "changed here", dash: DASHES[0], causes: [], tiles: [], track: null });
}

async function makeLive(store, { module, sliders, digest }) {
  const [base] = store.runs;
  const bytes = decodeBytes(module);
  const status = make("p", { id: "live-status", role: "status" }, "Loading the model …");
  byId("live").hidden = false;
  byId("live").append(
    make("div", { class: "side-head" }, make("h2", {}, "Numbers"), make("div", { id: "number-tools", class: "tools" })), status, make("div", { id: "tree" }));
  const changes = new Map();
  const numbers = new Map(sliders.map((slider) => [slider.name, { ...slider, factor: 1, tunable: true }]));
  const live = { store, base, changes, sliders, bytes, status, digest, model: null, elapsed: 0, timer: null };
  const savedOf = (name) => numbers.get(name).value;
  const tree = makeNumbers({
    numbers, savedOf, influence: new Map(), opened: new Set(),
    valueOf: (name) => changes.get(name) ?? savedOf(name),
    problemOf: ({ name, sign }, value) => (SIGNS[sign](value) ? "" : `${name}: must be ${sign}`),
    change: (name, value) => change(live, name, value === savedOf(name) ? null : value, tree),
  });
  const reset = makeButton("Reset", "Reset all numbers", () => {
    changes.clear();
    tree.update();
    simulate(live);
  });
  reset.id = "reset";
  byId("number-tools").append(reset);
  tree.show();
  try {
    live.model = await load(bytes);
    simulate(live);
  } catch (error) {
    status.textContent = `This browser cannot run the model: ${error.message}`;
    status.classList.add("violated");
  }
}

// value: null where a number is as described again.
function change(live, name, value, tree) {
  if (value === null) live.changes.delete(name);
  else live.changes.set(name, value);
  tree.update();
  if (!live.model) return;
  clearTimeout(live.timer);
  live.status.textContent = "Simulating …";
  // The browser draws the slider first.
  live.timer = setTimeout(() => requestAnimationFrame(() => simulate(live)), live.elapsed > SLOW ? REST : 0);
}

function simulate(live) {
  const { model, store, base, changes, status } = live;
  const begun = performance.now();
  let done;
  try {
    done = model.run(Object.fromEntries([...changes].map(([name, value]) => [name.replace(/^initial\./, ""), value])));
  } catch (error) {
    status.textContent = `The run failed: ${error.message}`;
    status.classList.add("violated");
    // A trap leaves a module as it stood: a fresh one goes on.
    load(live.bytes).then((fresh) => (live.model = fresh));
    return;
  }
  live.elapsed = performance.now() - begun;
  tellStatus(live, done);
  showRun(store, [base, { ...store.runs[1], ...describeLiveRun(live, done) }], changes.size > 0);
}

// A run as the rest of the page knows it; its columns are read when they are first looked at.
function describeLiveRun({ base, model, changes, sliders, elapsed }, done) {
  const signals = new Map(model.outputs.map(({ name, unit }) => {
    const { held = false, rate = null } = base.signals.get(name) ?? {};
    let values = null;
    return [name, { name, unit, held, rate, get values() { return (values ??= done.signal(name)); } }];
  }));
  const n = done.time.length;
  const ok = done.outcome === "done";
  const kept = sliders.filter(({ name, drawn }) => drawn && changes.has(name)).map(({ name }) => name);
  const parameters = base.parameters.map(([name, value, unit]) => [name, changes.get(name) ?? value, unit]);
  return {
    signals,
    parameters,
    bytes: null,
    track: null,
    time: done.time,
    knots: Uint8Array.from(done.knots),
    thinned: false,
    rows: n,
    kept: n,
    events: done.events.slice(0, 2000).map(({ name, time }) => ({ name, time, terminal: false })),
    more_events: Math.max(0, done.events.length - 2000),
    outcome: { kind: ok ? "simulated here" : "failed", state: ok ? "ok" : "failed", sentence: done.sentence, time: done.time[n - 1] },
    warnings: kept.length ? [`not updated in the drawing: ${kept.join(", ")}`] : [],
    limits: [],
    checks: [],
    unchecked: [NOT_CHECKED],
    errors: [],
    second_solution: [],
    statistics: [["end time", `${showNumber(done.time[n - 1])} s`], ["rows", String(n)], ["computing", `${elapsed.toFixed(0)} ms, in this browser`]],
  };
}

function tellStatus(live, done) {
  const { changes, status, elapsed } = live;
  const took = `simulated in ${elapsed.toFixed(0)} ms`;
  const digest = digestRows(done.rows, live.model.outputs.length);
  status.dataset.digest = digest;
  status.classList.toggle("violated", done.outcome !== "done");
  if (changes.size) {
    const count = changes.size === 1 ? "1 number changed" : `${changes.size} numbers changed`;
    status.textContent = `${count}: ${done.sentence}; ${took}`;
    return;
  }
  const bits = digest === live.digest ? "equal to the native run to the last bit" : "not equal to the native run in every bit";
  status.textContent = `As described: ${took}, ${bits}`;
}

// Sum of all 32-bit words of time and signals, each times its odd number.
function digestRows(rows, n) {
  const words = new Uint32Array(rows.buffer, rows.byteOffset, 2 * rows.length);
  const [width, used] = [2 * (n + 2), 2 * (n + 1)];
  let [sum, weight] = [0, 1];
  for (let start = 0; start < words.length; start += width) {
    for (let k = 0; k < used; k++, weight = (weight + 2) | 0) sum = (sum + Math.imul(words[start + k], weight)) | 0;
  }
  return sum >>> 0;
}

// As described both runs are one; the one before is seen beside the other as soon as a number differs.
function showRun(store, runs, changed) {
  const [base, run] = runs;
  const whole = store.range[0] === store.span[0] && store.range[1] === store.span[1];
  const span = commonSpan(runs);
  store.runs = runs;
  run.tiles = changed ? judgeLive(base, run) : [];
  const time = Math.min(Math.max(store.time, span[0]), span[1]);
  const told = { ...store, runs: changed ? runs : [base] };
  for (const fill of [fillVerdict, fillSummary, fillEvents, fillParameters]) fill(told);
  fillTiles({ runs: [changed ? run : base] });
  store.set({ runs, span, time, range: whole ? span : store.range, shown: [changed, true] });
}
