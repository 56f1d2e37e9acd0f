// How does the page come to life? The answer first: tiles, the machine, its deviation and the causes; all else folded below.

// What is folded below, each under its name in the navigation: [id, name, contents].
function fillFolds(store, sections) {
  const place = byId("folds");
  const names = { events: "Events", parameters: "Numbers", equations: "Equations", summary: "Checks", provenance: "Provenance" };
  const own = Object.entries(names).map(([id, name]) => [id, name, make("section", { id })]);
  const notes = sections.filter(({ prose }) => prose).map(({ prose }, k) => [`note-${k}`, prose.find(({ kind }) => kind === "heading")?.text ?? "Notes", makeProse(prose)]);
  const findings = sections.filter(({ prose }) => !prose).map((section, k) => [`finding-${k}`, section.name ?? section.title, makeFinding(section)]);
  const folds = [...notes, ...findings, ...own].map(([id, name, contents]) => {
    const fold = make("details", { id: `fold-${id}`, class: "fold" }, make("summary", {}, name), contents);
    const link = make("a", { href: `#fold-${id}` }, name);
    link.addEventListener("click", () => (fold.open = true));
    return { fold, link };
  });
  place.append(...folds.map(({ fold }) => fold));
  byId("sections").append(
    make("a", { href: "#tiles", "aria-current": "true" }, "Overview"), make("a", { href: "#plots" }, "Signals"), ...folds.map(({ link }) => link));
}

// On paper everything is open; afterwards as it was.
function watchPrinting() {
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.fold:not([open])")];
    closed.forEach((fold) => (fold.open = true));
  });
  addEventListener("afterprint", () => closed.forEach((fold) => (fold.open = false)));
}

// What is plotted, as a table of SI units; of several runs one file each.
function saveData(store) {
  for (const run of shownRuns(store)) {
    const names = store.selected.filter((name) => run.signals.has(name));
    const columns = names.map((name) => valuesOf(run, name));
    const quoted = (text) => `"${text.replace(/"/g, '""')}"`;
    const lines = [["time [s]", ...names.map((name) => `${name} [${run.signals.get(name).unit}]`)].map(quoted).join(",")];
    run.time.forEach((t, row) => lines.push([t, ...columns.map((column) => column[row])].join(",")));
    saveFile(new Blob([lines.join("\r\n")], { type: "text/csv" }), `${run.label}.csv`);
  }
}

function makeExports(store) {
  byId("exports").append(
    makeButton("Data ⤓", "Save the plotted signals as CSV", () => saveData(store)),
    makeButton("PDF", "Print everything, or save it as PDF", () => print()),
  );
}

async function start() {
  const data = JSON.parse(byId("data").textContent);
  giveMeshes(data.runs, data.meshes);
  const options = { exaggeration: data.exaggeration, note: data.mesh_note };
  const runs = await prepareRuns(data);
  if (data.live) addLiveRun(runs);
  const store = makeStore(runs, data.selected, data.live ? { ...options, machine: 1 } : options);
  const [first] = runs;
  if (data.runs.length === 1 && first.title) byId("heading").textContent = first.title;
  fillFolds(store, data.sections);
  fillVerdict(store);
  fillTiles(store);
  fillSummary(store);
  makeExports(store);
  makePlotTools(store, byId("plot-tools"));
  makePicker(store, byId("picker"));
  makePlots(store, () => data.no_causes || NO_CAUSES);
  fillEvents(store);
  fillParameters(store);
  fillEquations(store);
  fillProvenance(store);
  makeTransport(store, byId("transport"));
  makeReplay(store);
  watchPrinting();
  DARK.addEventListener("change", () => store.set({ theme: true }));
  if (data.live) await makeLive(store, data.live);
  playOnOpening(store);
  requestAnimationFrame(() => (document.documentElement.dataset.ready = "true"));
}

start();
