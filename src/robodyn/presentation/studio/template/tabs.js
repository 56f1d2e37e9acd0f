// What else is there to see of a run? Tabs: how it went, events, loops, modes, comparison, the file, jobs.

const TABS = [["run", "Run"], ["events", "Events"], ["loops", "Loops"], ["modes", "Modes"], ["compare", "Compare"], ["file", "File"], ["jobs", "Jobs"]];

function makeTabs(opened) {
  const panes = new Map(TABS.map(([name]) => [name, make("section", { id: `pane-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}` })]));
  const buttons = new Map(TABS.map(([name, text]) => {
    const button = make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `pane-${name}`, onclick: () => open(name) }, text);
    return [name, button];
  }));
  const tabs = { panes, buttons, shown: "run" };
  const open = (tabs.open = (name) => {
    tabs.shown = name;
    for (const [key, pane] of panes) pane.hidden = key !== name;
    for (const [key, button] of buttons) button.setAttribute("aria-selected", String(key === name));
    opened(name);
  });
  const grow = makeButton("⤢", "Use the whole height", () => byId("middle").classList.toggle("tall"));
  grow.className = "grow";
  byId("tabs").replaceChildren(...buttons.values(), grow);
  byId("panes").replaceChildren(...panes.values());
  return tabs;
}

function showRunPane(pane, run) {
  pane.replaceChildren(makeCard(run, false));
}

function showEventPane(pane, desk) {
  const section = make("div", { id: "events" });
  pane.replaceChildren(section);
  fillEvents({ ...desk.store, runs: desk.store.runs.filter((run) => !run.faint) });
}

// The pinned runs beside the present one: what was changed, how they went, how far apart they are.
function showComparePane(pane, desk, rows) {
  const { current, pinned } = desk;
  if (!current) return;
  if (pinned.length === 0) {
    return pane.replaceChildren(make("p", { class: "note" }, "No run is pinned: Pin keeps the present one, to compare others with it."));
  }
  const runs = [current, ...pinned.filter((run) => run !== current)];
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.values)))];
  const numbers = names.map((name) => showRow([name, ...runs.map((run) => run.values[name] ?? desk.numbers.get(name)?.value ?? null), desk.numbers.get(name)?.unit ?? ""]));
  const heads = runs.map((run) => (run === current ? "now" : run.name));
  const went = [showRow(["outcome", ...runs.map((run) => run.outcome.kind), ""]), showRow(["end time", ...runs.map((run) => run.outcome.time), "s"])];
  const apart = (rows ?? []).flatMap(({ run, differences }) => {
    const other = runs.find(({ id }) => id === run);
    return other ? differences.map(({ name, unit, max_abs, at_time, rms }) => showRow([name, other.name, max_abs, rms, unit, at_time])) : [];
  });
  const differences = apart.length > 0 ? makeTable(["signal", "now against", "largest difference", "rms", "unit", "at [s]"], apart) : null;
  pane.replaceChildren(...[makeTable(["", ...heads, "unit"], [...went, ...numbers]), differences].filter(Boolean));
}
