// What else is there to see of a run? Tabs: its signals, how it went, events, comparison, and what commands compute.

const OWN_TABS = [["play", "Play"], ["run", "Run"], ["events", "Events"], ["compare", "Compare"]];

// Tabs that stay, and one for each command.
function makeTabs(commands, opened) {
  const all = [OWN_TABS[0], ...commands.map(({ name, title }) => [name, title]), ...OWN_TABS.slice(1)];
  const panes = new Map(all.map(([name]) => [name, make("section", { id: `pane-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}` })]));
  const buttons = new Map(all.map(([name, text]) => {
    const button = make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": name === "play" ? "plots" : `pane-${name}`, onclick: () => open(name) }, text);
    return [name, button];
  }));
  const tabs = { panes, buttons, shown: "play" };
  const open = (tabs.open = (name) => {
    tabs.shown = panes.has(name) ? name : "play";
    byId("plots").hidden = tabs.shown !== "play";
    byId("panes").hidden = tabs.shown === "play";
    for (const [key, pane] of panes) pane.hidden = key !== tabs.shown;
    for (const [key, button] of buttons) {
      button.setAttribute("aria-selected", String(key === tabs.shown));
      button.tabIndex = key === tabs.shown ? 0 : -1;
    }
    opened(tabs.shown);
  });
  byId("tabs").onkeydown = (event) => {
    const names = [...buttons.keys()];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    open(names[(names.indexOf(tabs.shown) + step + names.length) % names.length]);
    buttons.get(tabs.shown).focus();
  };
  byId("tabs").replaceChildren(...buttons.values());
  byId("panes").replaceChildren(...panes.values());
  return tabs;
}

function showRunPane({ tabs, jobs }, run) {
  const certify = jobs.find(({ kind }) => kind === "certify");
  tabs.panes.get("run").replaceChildren(...(certify ? [certify.element] : []), makeCard(run, false));
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
    return pane.replaceChildren(make("p", { class: "note" }, "No run is pinned: Pin keeps the current one for comparison."));
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
