// How does the page come to life?

function fillNavigation() {
  const names = { plots: "Signals", events: "Events", parameters: "Parameters", equations: "Equations", provenance: "Provenance" };
  byId("sections").append(...Object.entries(names).map(([id, text]) => make("a", { href: `#${id}` }, text)));
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  giveMeshes(data.runs, data.meshes);
  const options = { exaggeration: data.exaggeration, note: data.mesh_note };
  const runs = data.runs.map(prepareRun);
  if (data.live) addLiveRun(runs);
  const store = makeStore(runs, data.selected, data.live ? { ...options, machine: 1 } : options);
  fillNavigation();
  fillSummary(store);
  makePlotTools(store, byId("plot-tools"));
  makePicker(store, byId("picker"));
  makePanels(store, byId("panels"));
  fillSections(data.sections);
  fillEvents(store);
  fillParameters(store);
  fillEquations(store);
  fillProvenance(store);
  makeTransport(store, byId("transport"));
  makeReplay(store);
  DARK.addEventListener("change", () => store.set({ theme: true }));
  const ready = data.live ? makeLive(store, data.live) : Promise.resolve();
  ready.then(() => requestAnimationFrame(() => (document.documentElement.dataset.ready = "true")));
}

start();
