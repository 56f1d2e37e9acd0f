// How are numbers moved in a notebook cell, and what follows? The rows of numbers and the plots of the pages.

// Runs as the plots read them; the one before is dashed.
function readRun({ label, time, signals }, number) {
  const columns = signals.map(({ name, unit, values }) => {
    return [name, { name, unit, held: false, rate: null, values: Float64Array.from(values, (value) => value ?? NaN) }];
  });
  return { label, number, dash: DASHES[number], time: Float64Array.from(time), knots: null, thinned: true, events: [], signals: new Map(columns) };
}

function render({ model, el }) {
  const changes = {};
  const numbers = new Map(model.get("sliders").map((slider) => [slider.name, { ...slider, factor: 1, tunable: true }]));
  const savedOf = (name) => numbers.get(name).value;
  const desk = {
    savedOf,
    opened: new Set(),
    valueOf: (name) => changes[name] ?? savedOf(name),
    change(name, value) {
      changes[name] = value;
      rows.forEach((row) => row.update());
      model.set("numbers", { ...changes });
      model.save_changes();
    },
  };
  const rows = [...numbers.values()].map((number) => makeNumberRow(desk, number));
  const [plots, told] = [make("div"), make("p", { class: "quiet", role: "status" })];
  const store = makeStore([], []);
  el.classList.add("robodyn-widget");
  el.append(make("div", { class: "rows" }, rows.map(({ element }) => element)), plots, told);
  makePanels(store, plots);
  const show = () => {
    const runs = model.get("runs").map(readRun);
    if (store.units.size === 0) {
      store.units = allSignals(runs);
      for (const name of store.units.keys()) selectSignal(store, name);
    }
    replaceRuns(store, runs);
    told.textContent = model.get("told");
  };
  model.on("change:runs", show);
  model.on("change:told", show);
  show();
}

export default { render };
