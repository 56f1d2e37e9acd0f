// What is the reader looking at now? One place for it; whoever draws is told what changed.
//
//   time, hover   where the page stands and where the pointer is [s]; hover is null when it points nowhere
//   range         the part of time the plots show [s]
//   heights       unit -> [low, high] where a plot was enlarged upwards, absent where it fits itself
//   selected      names of the plotted signals; slots: name -> {plot, colour}: the plot of its unit, a number, and its colour
//   touched       whether the reader has chosen a time; limits: signal -> magnitude that it should not pass
//   shown         which runs are drawn; a run that is `faint` is a shadow of the past: lines of less strength, no machine
//   exaggeration  how many times too large deformations are drawn
//   looping       whether time starts again at its end
//   note          what is to be said of the meshes
//   playing, speed, machine (number of the run whose machine is replayed)
//   ghosts, axes, names, solids, frames, masses, inertia, collisions: whether they are drawn

function makeStore(runs, selected, { exaggeration = 1, looping = false, note = "", machine = null } = {}) {
  const span = commonSpan(runs);
  const listeners = [];
  const store = {
    runs,
    span,
    units: allSignals(runs),
    time: span[0],
    hover: null,
    range: span,
    heights: new Map(),
    selected: [],
    slots: new Map(),
    limits: new Map(),
    touched: false,
    shown: runs.map(() => true),
    playing: false,
    speed: 1,
    machine: machine ?? Math.max(0, runs.findIndex((run) => run.machine && !run.backdrop)),
    exaggeration,
    looping,
    note,
    ghosts: true,
    axes: false,
    names: false,
    solids: true,
    frames: false,
    masses: false,
    inertia: false,
    collisions: false,
    listen: (listener) => listeners.push(listener),
    forget: (known) => listeners.splice(0, listeners.length, ...listeners.filter((listener) => !known.includes(listener))),
    set(changes) {
      Object.assign(store, changes);
      for (const listener of [...listeners]) listener(changes);
    },
  };
  for (const name of selected) selectSignal(store, name);
  return store;
}

// Other runs in place of those there are; whoever looks at a part of time goes on looking at it. The machine of the
// first one is replayed.
function replaceRuns(store, runs) {
  runs.forEach((run, number) => (run.number = number));
  const [before, span] = [store.span, commonSpan(runs.filter((run) => !run.faint))];
  const whole = store.range[0] === before[0] && store.range[1] === before[1];
  const inside = store.range[1] <= span[1] && store.range[0] >= span[0];
  const range = whole || !inside ? span : store.range;
  const time = Math.min(Math.max(store.time, span[0]), span[1]);
  store.set({ runs, span, range, time, shown: runs.map(() => true), machine: 0 });
}

// The moment that read-outs tell: under the pointer, else where the page stands.
function readTime(store) {
  return store.hover ?? store.time;
}

// Go to a time, as the reader wishes.
function moveTo(store, t) {
  const [start, end] = store.span;
  store.set({ time: Math.min(Math.max(t, start), end), touched: true });
}

const MOST_CURVES = 4;

// A signal keeps its plot and colour as long as it is plotted: the first plot of its unit with room, and there the lowest
// colour that no other has.
function selectSignal(store, name) {
  const unit = store.units.get(name);
  const rivals = store.selected.filter((other) => store.units.get(other) === unit).map((other) => store.slots.get(other));
  let plot = 0;
  while (rivals.filter((slot) => slot.plot === plot).length >= MOST_CURVES) plot++;
  const taken = new Set(rivals.filter((slot) => slot.plot === plot).map((slot) => slot.colour));
  let colour = 0;
  while (taken.has(colour)) colour++;
  store.slots.set(name, { plot, colour });
  const order = [...store.units.keys()];
  const selected = [...store.selected, name].sort((a, b) => order.indexOf(a) - order.indexOf(b));
  store.set({ selected });
}

function unselectSignal(store, name) {
  store.set({ selected: store.selected.filter((other) => other !== name) });
}

// The plots, each with its signals, in the order of recording: "unit number" -> names. What is left of measured signals
// is far smaller than these, and has plots of its own.
function plottedGroups(store) {
  const groups = new Map();
  for (const name of store.selected) {
    const left = name.endsWith(".residual") ? " residual" : "";
    const plot = `${store.units.get(name)} ${store.slots.get(name).plot}${left}`;
    groups.set(plot, [...(groups.get(plot) ?? []), name]);
  }
  return groups;
}

function shownRuns(store) {
  return store.runs.filter((run) => store.shown[run.number]);
}

// Show a part of time; it stays inside the record and at least a millionth of it long.
function showRange(store, low, high) {
  const [start, end] = store.span;
  const length = Math.min(Math.max(high - low, (end - start) * 1e-6), end - start);
  const from = Math.min(Math.max(low, start), end - length);
  store.set({ range: [from, from + length] });
}

function zoomTime(store, factor, around) {
  const [low, high] = store.range;
  showRange(store, around - (around - low) * factor, around + (high - around) * factor);
}
