// What is the answer? Tiles with the key results, and the causes of a miss as bars that follow the time.

const NOT_HERE = "not known here: this run was made in the browser, which only simulates";

function makeTile({ heading, answer, detail, verdict }) {
  const label = { good: "kept", fair: "close", bad: "not kept" }[verdict];
  return make("article", { class: "tile", "data-verdict": verdict },
    make("h2", {}, heading),
    make("p", {}, make("strong", {}, answer.replace(/ (?=\S+$)/, "\u00a0")), make("span", { class: "detail" }, detail), label ? make("span", { class: "spoken" }, `(${label})`) : null));
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

// The bars show the largest miss until the reader chooses a time.
function makeCauses(store, place) {
  const run = store.runs.find(({ causes }) => causes?.length);
  if (!run) {
    if (!store.runs.some(({ path }) => path)) return;
    place.hidden = false;
    const remedy = "Name the scenario instead of a run file: robodyn report SCENARIO.";
    place.append(make("h2", {}, "Causes"), make("p", { class: "note" }, `The causes of the miss were not computed for this page. ${remedy}`));
    return;
  }
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
    const text = (metres) => `${showNumber(Math.abs(metres) < 1e-4 * worst.value ? 0 : metres / unit.size, 3)} ${unit.name}`;
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
  place.append(
    make("div", { class: "bar" }, title, told), make("div", { class: "causes" }, rows.map(({ row }) => row)),
    make("p", { class: "quiet" }, "Click a cause to plot it; the bars follow the time. Hatched ones make the miss smaller."));
  place.hidden = false;
  place.setAttribute("aria-labelledby", "causes-title");
  store.listen((changes) => ["time", "hover", "touched", "selected"].some((key) => key in changes) && show());
  show();
}

// Of a run that was made here only the miss is known.
function judgeLive(base, run) {
  const miss = worstMiss(run);
  return base.tiles.map((tile, k) => {
    if (k > 0 || !miss) return { ...tile, detail: `as described; ${NOT_HERE}`, verdict: "none" };
    const verdict = !base.limit ? "none" : miss.value > base.limit ? "bad" : miss.value > 0.9 * base.limit ? "fair" : "good";
    return { ...tile, answer: showQuantity(miss.value, "m"), detail: `at ${showQuantity(miss.time, "s")}`, verdict };
  });
}
