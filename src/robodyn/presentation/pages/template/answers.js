// What is the answer? Tiles with the key results, and the causes of a miss as bars that follow the time.

// act: {text, label, click} of a button that finds what the tile does not know yet.
function makeTile({ heading, answer, detail, verdict, act }) {
  const label = { good: "met", fair: "close", bad: "not met" }[verdict];
  const told = label ? make("span", { class: "spoken" }, `(${label})`) : null;
  const button = act ? makeButton(act.text, act.label, act.click) : null;
  return make("article", { class: "tile", "data-verdict": verdict, title: detail }, button,
    make("h2", {}, heading),
    make("p", {}, make("strong", {}, answer.replace(/ (?=\S+$)/, "\u00a0")), make("span", { class: "detail" }, detail), told));
}

// Four tiles for each run; of several runs each row says whose it is.
function fillTiles(store) {
  const runs = store.runs.filter((run) => !run.faint && run.tiles?.length);
  const rows = runs.map((run) => {
    const name = runs.length > 1 ? make("h2", { class: "whose" }, makeSample(run.dash, "currentColor"), run.label) : null;
    return make("div", { class: "tiles" }, name, run.tiles.map(makeTile));
  });
  byId("tiles").replaceChildren(...rows);
}

// Where the largest miss is: the row of the run, and its time.
function worstMiss(run) {
  const distances = run.path ? valuesOf(run, run.path.distance) : null;
  if (!distances?.length) return null;
  let worst = 0;
  distances.forEach((value, row) => value > distances[worst] && (worst = row));
  return { time: run.time[worst], value: distances[worst] };
}

const NO_CAUSES = "The causes of the deviation were not computed for this page: robodyn report computes them for a scenario, but not for a saved run or with --fast.";

// The bars show the largest miss until the reader chooses a time. `missing` is what stands there as long as no causes are
// known, of a run that has a path.
function makeCauses(store, place, missing = () => NO_CAUSES) {
  let shown = null;
  const rebuild = () => {
    const run = store.runs.find(({ causes }) => causes?.length);
    place.hidden = !store.runs.some(({ path }) => path);
    shown = run ? makeBars(store, run) : null;
    place.replaceChildren(...(shown?.parts ?? [make("h2", { id: "causes-title" }, "Causes"), make("p", { class: "note" }, ...[missing()].flat())]));
    shown?.show();
  };
  place.setAttribute("aria-labelledby", "causes-title");
  store.listen((changes) => {
    if ("runs" in changes) rebuild();
    else if (["time", "hover", "touched", "selected"].some((key) => key in changes)) shown?.show();
  });
  rebuild();
}

function makeBars(store, run) {
  const worst = worstMiss(run);
  const at = (name, t) => heldValueAt(run, name, t);
  const causes = run.causes.map((cause) => ({ ...cause, most: at(cause.signal, worst.time) }));
  causes.sort((a, b) => Math.abs(b.most) - Math.abs(a.most));
  const scale = Math.max(...causes.map(({ most }) => Math.abs(most)));
  const title = make("h2", { id: "causes-title" });
  const told = make("p", { class: "quiet" });
  const rows = causes.map(({ name, signal, members }, k) => {
    const bar = make("i", { class: "bar-fill" });
    bar.style.background = seriesColour(k);
    const value = make("span", { class: "value" });
    const what = members.length > 1 || members[0] !== name.toLowerCase() ? members.join(", ") : "";
    const row = make("button", { type: "button", class: "cause", title: what || name, "aria-pressed": "false" },
      make("span", { class: "name" }, name), make("span", { class: "bar-track" }, bar), value);
    row.addEventListener("click", () => (store.selected.includes(signal) ? unselectSignal : selectSignal)(store, signal));
    return { row, bar, value, signal };
  });
  const show = () => {
    const time = store.hover ?? (store.touched ? store.time : worst.time);
    const total = at(run.path.distance, time);
    const unit = chooseUnit("m", worst.value);
    const decimals = Math.max(0, 3 - Math.floor(Math.log10(worst.value / unit.size)));
    const text = (metres) => `${showNumber(Math.abs(metres) < 5e-4 * worst.value ? 0 : Number((metres / unit.size).toFixed(decimals)), 3)} ${unit.name}`;
    let sum = 0;
    for (const { row, bar, value, signal } of rows) {
      const part = at(signal, time);
      sum += part;
      bar.style.width = `${Math.min(100, (100 * Math.abs(part)) / (scale || 1))}%`;
      bar.classList.toggle("against", part < 0);
      value.textContent = text(part);
      row.setAttribute("aria-pressed", String(store.selected.includes(signal)));
    }
    title.textContent = `Where the ${text(total)} come from`;
    told.textContent = `at ${showQuantity(time, "s")} · sum ${text(sum)}, remainder ${text(total - sum)}`;
  };
  const help = "Click a cause to plot it; the bars follow the time. Hatched causes reduce the deviation.";
  const parts = [make("div", { class: "bar" }, title, told), make("div", { class: "causes" }, rows.map(({ row }) => row)), make("p", { class: "quiet" }, help)];
  return { parts, show };
}

// What a path is missed by is plotted above the causes, all other signals below.
function makePlots(store, missing) {
  const onPath = () => store.runs.some(({ path }) => path);
  const misses = (names) => onPath() && names.every((name) => name.startsWith("deviation"));
  for (const { limit, path } of store.runs) if (limit && path) limitMiss(store, limit);
  makePanels(store, byId("deviation-panels"), misses);
  makeCauses(store, byId("causes"), missing);
  makePanels(store, byId("panels"), (names) => !misses(names));
  const update = () => (byId("misses").hidden = !onPath());
  store.listen((changes) => "runs" in changes && update());
  update();
}

// Lines in the plots at what the miss may be at most.
function limitMiss(store, limit) {
  for (const side of ["distance", "horizontal", "vertical"]) store.limits.set(`deviation.${side}`, limit);
}

// How a value stands to that of another run: "▲ +2.2 mm against the original".
function showChange(value, before, unit, against) {
  const change = value - before;
  const sign = change > 0 ? "▲ +" : "▼ ";
  return Math.abs(change) < 1e-6 * Math.abs(before) ? `as ${against}` : `${sign}${showQuantity(change, unit)} against ${against}`;
}

// Of a run that was made here only the miss is known; the other answers are those before the change.
function judgeLive(base, run) {
  const [miss, before] = [worstMiss(run), worstMiss(base)];
  return base.tiles.map((tile, k) => {
    if (k > 0 || !miss) return { ...tile, detail: "as described; not recomputed for changed numbers", verdict: "none" };
    const verdict = !base.limit ? "none" : miss.value > base.limit ? "bad" : miss.value > 0.9 * base.limit ? "fair" : "good";
    const detail = `at ${showQuantity(miss.time, "s")} · ${showChange(miss.value, before.value, "m", "the original")}`;
    return { ...tile, answer: showQuantity(miss.value, "m"), detail, verdict };
  });
}
