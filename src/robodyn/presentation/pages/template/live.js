// How does the page simulate by itself? Sliders for numbers; each change is a new run of the model it carries.

const SLOW = 120; // [ms] a run that takes longer waits until the slider rests,
const REST = 250; // for so long [ms].
const SIGNS = { positive: (value) => value > 0, "not negative": (value) => value >= 0, any: () => true };
const NOT_CHECKED = "energy, residuals and errors: this run was made in the browser, which only simulates";

// A second run beside the one that the page came with; it is drawn over it, and its machine is the one that moves.
function addLiveRun(runs) {
  const [base] = runs;
  base.dash = DASHES[1];
  base.tiles = base.tiles.map((tile) => ({ ...tile }));
  runs.push({ ...base, number: 1, label: "changed here", dash: DASHES[0], causes: [], track: null });
}

async function makeLive(store, { module, sliders, digest }) {
  const [base] = store.runs;
  const bytes = decodeBytes(module);
  const status = make("p", { id: "live-status", role: "status" }, "Loading the model …");
  const section = byId("live");
  section.hidden = false;
  const numbers = new Map();
  const live = { store, base, numbers, sliders, bytes, status, digest, model: null, elapsed: 0, timer: null };
  const rows = sliders.map((slider) => makeNumber(slider, (value) => change(live, slider, value)));
  section.append(makeLiveTools(live, rows), status, make("div", { id: "numbers" }, rows.map(({ row }) => row)));
  try {
    live.model = await load(bytes);
    simulate(live);
  } catch (error) {
    status.textContent = `This browser cannot run the model: ${error.message}`;
    status.classList.add("violated");
  }
}

function makeLiveTools(live, rows) {
  const search = make("input", { type: "search", placeholder: `Search ${rows.length} numbers`, "aria-label": "Search numbers" });
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const { row, name } of rows) row.hidden = !words.every((word) => name.toLowerCase().includes(word));
  });
  const reset = makeButton("Reset", "All numbers as they were", () => {
    for (const { show, value } of rows) show(value);
    live.numbers.clear();
    simulate(live);
  });
  reset.id = "reset";
  const title = make("h2", { id: "live-title" }, "Change numbers");
  return make("div", { class: "bar" }, title, make("div", { class: "tools" }, search, reset));
}

// A slider and a field for a number; move(value) is told, and returns what was wrong with it.
function makeNumber({ name, value, unit, ends, sign }, move) {
  const label = unit ? `${name} [${unit}]` : name;
  const slider = make("input", { type: "range", min: ends[0], max: ends[1], step: "any", "aria-label": label, disabled: ends[0] === ends[1] });
  const field = make("input", { type: "number", step: "any", "aria-label": label });
  const row = make("div", { class: "slider number", "data-number": name },
    make("span", { class: "name" }, ...name.split(/(?<=\.)/).flatMap((part) => [part, make("wbr")])), slider, field, make("span", { class: "unit" }, showUnit(unit)));
  const show = (number) => {
    slider.value = number;
    field.value = Number(number.toPrecision(6));
    row.classList.toggle("changed", number !== value);
  };
  const take = (number) => {
    if (!Number.isFinite(number) || !SIGNS[sign](number)) field.setCustomValidity(sign === "any" ? "no number" : `must be ${sign}`);
    else field.setCustomValidity("");
    if (!field.reportValidity()) return;
    show(number);
    move(number);
  };
  slider.addEventListener("input", () => take(Number(slider.value)));
  field.addEventListener("change", () => take(parseFloat(field.value)));
  show(value);
  return { row, name, value, show };
}

function change(live, slider, value) {
  if (value === slider.value) live.numbers.delete(slider.name);
  else live.numbers.set(slider.name, value);
  if (!live.model) return;
  clearTimeout(live.timer);
  live.status.textContent = "Simulating …";
  // The browser draws the slider first.
  live.timer = setTimeout(() => requestAnimationFrame(() => simulate(live)), live.elapsed > SLOW ? REST : 0);
}

function simulate(live) {
  const { model, store, base, numbers, status } = live;
  const begun = performance.now();
  let done;
  try {
    done = model.run(Object.fromEntries([...numbers].map(([name, value]) => [name.replace(/^initial\./, ""), value])));
  } catch (error) {
    status.textContent = `The run broke off: ${error.message}`;
    status.classList.add("violated");
    // A trap leaves a module as it stood: a fresh one goes on.
    load(live.bytes).then((fresh) => (live.model = fresh));
    return;
  }
  live.elapsed = performance.now() - begun;
  tellStatus(live, done);
  showRun(store, [base, { ...store.runs[1], ...describeLiveRun(live, done) }]);
}

// A run as the rest of the page knows it; its columns are read when they are first looked at.
function describeLiveRun({ base, model, numbers, sliders, elapsed }, done) {
  const signals = new Map(model.outputs.map(({ name, unit }) => {
    const { held = false, rate = null } = base.signals.get(name) ?? {};
    let values = null;
    return [name, { name, unit, held, rate, get values() { return (values ??= done.signal(name)); } }];
  }));
  const n = done.time.length;
  const ok = done.outcome === "done";
  const kept = sliders.filter(({ name, drawn }) => drawn && numbers.has(name)).map(({ name }) => name);
  const parameters = base.parameters.map(([name, value, unit]) => [name, numbers.get(name) ?? value, unit]);
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
    warnings: kept.length ? [`the drawing keeps as it was: ${kept.join(", ")}`] : [],
    limits: [],
    checks: [],
    unchecked: [NOT_CHECKED],
    errors: [],
    second_solution: [],
    statistics: [["end time", `${showNumber(done.time[n - 1])} s`], ["rows", String(n)], ["computing", `${elapsed.toFixed(0)} ms, in this browser`]],
  };
}

function tellStatus(live, done) {
  const { numbers, status, elapsed } = live;
  const took = `simulated in ${elapsed.toFixed(0)} ms`;
  const digest = digestRows(done.rows, live.model.outputs.length);
  status.dataset.digest = digest;
  status.classList.toggle("violated", done.outcome !== "done");
  if (numbers.size) {
    const count = numbers.size === 1 ? "1 number changed" : `${numbers.size} numbers changed`;
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

function showRun(store, runs) {
  const whole = store.range[0] === store.span[0] && store.range[1] === store.span[1];
  const span = commonSpan(runs);
  store.runs = runs;
  runs[1].tiles = judgeLive(runs[0], runs[1]);
  const time = Math.min(Math.max(store.time, span[0]), span[1]);
  for (const fill of [fillVerdict, fillTiles, fillSummary, fillEvents, fillParameters]) fill(store);
  store.set({ runs, span, time, range: whole ? span : store.range });
}
