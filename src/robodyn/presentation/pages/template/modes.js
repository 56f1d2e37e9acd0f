// How does the page of modes come to life? A table of all of them; the machine swings in the chosen one.

function fillModes(store, data) {
  const heads = ["frequency [Hz]", "damping", "time constant [s]", "dominant states"];
  const rows = data.modes.map((mode) => {
    const [first, ...others] = [mode.frequency, mode.damping, mode.constant].map(showMode);
    const choose = () => store.set({ machine: mode.run });
    const name = mode.run == null ? first : makeButton(first, `Show the mode of ${first} Hz`, choose);
    const cells = [name, ...others].map((cell) => make("td", { class: "number" }, cell));
    return make("tr", { "data-run": mode.run }, ...cells, make("td", {}, mode.states));
  });
  byId("modes").append(...data.notes.map((note) => make("p", { class: "note" }, note)), makeTable(heads, rows));
  const mark = () => rows.forEach((row) => row.classList.toggle("differs", row.dataset.run === String(store.machine)));
  store.listen((changes) => "machine" in changes && mark());
  mark();
}

// What rounding leaves of zero is zero.
function showMode(value) {
  if (typeof value === "number" && Math.abs(value) < 1e-12) return "0";
  return typeof value === "number" && Math.abs(value) > 1e12 ? "∞" : showNumber(value, 5);
}

async function startModes() {
  const data = JSON.parse(byId("data").textContent);
  giveMeshes(data.runs, data.meshes);
  const store = makeStore(await prepareRuns(data), [], { looping: true, note: data.mesh_note });
  // Behind the mode that is replayed only the rest position is seen.
  store.shown = store.runs.map((run) => Boolean(run.backdrop));
  fillModes(store, data);
  makeTransport(store, byId("transport"));
  makeReplay(store);
  DARK.addEventListener("change", () => store.set({ theme: true }));
  playOnOpening(store);
  requestAnimationFrame(() => (document.documentElement.dataset.ready = "true"));
}

startModes();
