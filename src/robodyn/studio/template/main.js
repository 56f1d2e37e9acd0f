// How does the page come to life?

function fillNavigation() {
  const names = { plots: "Signals", events: "Events", parameters: "Parameters", equations: "Equations", provenance: "Provenance" };
  byId("sections").append(...Object.entries(names).map(([id, text]) => make("a", { href: `#${id}` }, text)));
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  giveMeshes(data.runs, data.meshes);
  const options = { exaggeration: data.exaggeration, note: data.mesh_note };
  const store = makeStore(data.runs.map(prepareRun), data.selected, options);
  fillNavigation();
  fillSummary(store);
  makePlotTools(store, byId("plot-tools"));
  makePicker(store, byId("picker"));
  makePanels(store, byId("panels"));
  fillEvents(store);
  fillParameters(store);
  fillEquations(store);
  fillProvenance(store);
  makeTransport(store, byId("transport"));
  makeReplay(store);
  DARK.addEventListener("change", () => store.set({ theme: true }));
  requestAnimationFrame(() => (document.documentElement.dataset.ready = "true"));
}

start();
