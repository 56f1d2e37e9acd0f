// How does the page come to life?

function fillNavigation() {
  const names = { plots: "Signals", events: "Events", parameters: "Parameters", equations: "Equations", provenance: "Provenance" };
  byId("sections").append(...Object.entries(names).map(([id, text]) => make("a", { href: `#${id}` }, text)));
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  const store = makeStore(data.runs.map(prepareRun), data.selected, { exaggeration: data.exaggeration });
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
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => store.set({ theme: true }));
  requestAnimationFrame(() => (document.documentElement.dataset.ready = "true"));
}

start();
