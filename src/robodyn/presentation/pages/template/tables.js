// What else is there to know: summary, events, parameters, equations, provenance?

const MOST_PARAMETERS = 400;

// How each run went: outcome, warnings, certificate, errors, statistics.
function fillSummary(store) {
  byId("summary").replaceChildren(make("h2", {}, "Checks and statistics"), ...store.runs.map((run) => makeCard(run, store.runs.length > 1)));
  const notes = store.runs.flatMap((run) => [
    ...run.warnings.map((sentence) => make("p", { class: "warning", role: "note" }, `Warning: ${sentence}`)),
    ...run.limits.map((sentence) => make("p", { class: "warning", role: "note" }, `Limit: ${sentence}`)),
    ...(run.outcome.state === "ok" ? [] : [make("p", { class: "warning", role: "note" }, run.outcome.sentence)]),
    ...(run.time.length === 0 ? [make("p", { class: "note" }, "The run recorded no samples.")] : []),
  ]);
  byId("notes").replaceChildren(...notes);
  byId("notes").hidden = notes.length === 0;
}

// How the runs ended, beside the title.
function fillVerdict(store) {
  const runs = store.runs.filter((run) => !run.faint);
  const signs = runs.map(({ outcome, label }) => make("span", { class: `state ${outcome.state.replace(" ", "-")}`, title: label }, outcome.kind));
  byId("verdict").replaceChildren(...signs);
}

function makeFacts(rows) {
  return make("dl", { class: "facts" }, rows.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text))));
}

function makeCard(run, several) {
  const { outcome } = run;
  const state = make("span", { class: `state ${outcome.state.replace(" ", "-")}` }, outcome.kind);
  const title = several ? make("h3", {}, makeSample(run.dash, "currentColor"), run.label) : null;
  const notes = [];
  if (run.thinned) {
    const rows = `${run.rows.toLocaleString("en")} rows were thinned to ${run.kept.toLocaleString("en")}`;
    notes.push(make("p", { class: "note" }, `${rows} for this page; smallest and largest values are kept.`));
  }
  if (run.bytes) notes.push(make("p", { class: "note" }, "Numbers on this page are rounded to a millionth of each signal's usual range; the run file has all digits."));
  const sentence = make("p", { class: "outcome" }, state, outcome.sentence);
  return make("article", { class: "card" }, title, sentence, makeFacts(run.statistics), ...notes, makeChecks(run), makeErrors(run));
}

// What the run checked of itself.
function makeChecks(run) {
  const broken = run.checks.filter(([, , , ok]) => !ok).length;
  if (run.checks.length + run.unchecked.length === 0) return null;
  const sorted = [...run.checks].sort((a, b) => a[3] - b[3]);
  const rows = sorted.map(([name, value, limit, ok]) =>
    make("tr", { class: ok ? null : "violated" }, make("td", {}, name), make("td", { class: "number" }, value),
      make("td", { class: "number" }, limit), make("td", {}, ok ? "passed" : "violated")));
  const left = run.unchecked.map((sentence) => make("p", { class: "note" }, `Not checked: ${sentence}.`));
  const said = `Certificate: ${run.checks.length - broken} of ${run.checks.length} checks passed`;
  return make("div", { class: "certificate" }, make("h3", {}, said), makeTable(["check", "value", "limit", ""], rows), ...left);
}

// How far the signals are off, by a second solution.
function makeErrors(run) {
  if (run.errors.length === 0) return null;
  const rows = run.errors.map(([name, text]) => make("tr", {}, make("td", {}, name), make("td", { class: "number" }, text)));
  const said = run.second_solution.map((line) => make("p", { class: "note" }, `${line}.`));
  return make("div", { class: "errors" }, make("h3", {}, "Errors of all signals"), ...said, makeTable(["signal", "error"], rows));
}

function fillEvents(store) {
  const section = byId("events");
  section.replaceChildren(make("h2", {}, "Events"));
  const rows = store.runs.flatMap((run) => run.events.map((event) => ({ run, event })));
  rows.sort((a, b) => a.event.time - b.event.time);
  if (rows.length === 0) return section.append(make("p", { class: "note" }, "No events."));
  const several = store.runs.length > 1;
  const heads = ["time [s]", "event", ...(several ? ["run"] : [])];
  const body = rows.map(({ run, event }) => {
    const jump = makeButton(event.time.toFixed(6), `Go to ${event.name}`, () => moveTo(store, event.time));
    const name = event.terminal ? [event.name, make("span", { class: "tag" }, "ends the run")] : [event.name];
    return make("tr", {}, make("td", { class: "number" }, jump), make("td", {}, ...name), several ? make("td", {}, run.label) : null);
  });
  section.append(makeTable(heads, body));
  for (const run of store.runs.filter((run) => run.more_events > 0)) {
    section.append(make("p", { class: "note" }, `${run.label}: ${run.more_events} more events are not listed.`));
  }
}

function makeTable(heads, rows, title) {
  const head = make("tr", {}, heads.map((text) => (text ? make("th", { scope: "col" }, text) : make("td"))));
  return make("div", { class: "table", tabindex: "0", role: "group", "aria-label": heads.filter(Boolean).join(", ") }, make("table", {}, title ? make("caption", {}, title) : null, make("thead", {}, head), make("tbody", {}, rows)));
}

// Parameters of all runs side by side; what differs between them is marked.
function fillParameters(store) {
  const section = byId("parameters");
  section.replaceChildren(make("h2", {}, "Parameters"));
  const rows = new Map();
  store.runs.forEach((run, k) => {
    for (const [name, value, unit] of run.parameters) {
      if (!rows.has(name)) rows.set(name, { name, unit, values: store.runs.map(() => undefined) });
      rows.get(name).values[k] = value;
    }
  });
  if (rows.size === 0) return section.append(make("p", { class: "note" }, "The run has no parameters."));
  const several = store.runs.length > 1;
  const all = [...rows.values()].map((row) => ({ ...row, differs: new Set(row.values).size > 1 }));
  const search = make("input", { type: "search", placeholder: "Search parameters", "aria-label": "Search parameters" });
  const place = make("div");
  let differing = false;
  const show = () => place.replaceChildren(...makeParameterTable(store, all, search.value, differing, several));
  search.addEventListener("input", show);
  const toggle = makeToggle("only differences", false, (on) => ((differing = on), show()));
  section.append(make("div", { class: "tools" }, search, several ? toggle : null), place);
  show();
}

function makeParameterTable(store, all, text, differing, several) {
  const words = text.toLowerCase().split(/\s+/);
  const found = all.filter((row) => (!differing || row.differs) && words.every((word) => row.name.toLowerCase().includes(word)));
  const body = found.slice(0, MOST_PARAMETERS).map((row) => {
    const values = row.values.map((value) => make("td", { class: "number" }, value === undefined ? "" : showNumber(value)));
    return make("tr", { class: several && row.differs ? "differs" : null }, make("td", {}, row.name), values, make("td", {}, writeUnit(row.unit)));
  });
  const heads = ["parameter", ...store.runs.map((run) => (several ? run.label : "value")), "unit"];
  const count = found.length > MOST_PARAMETERS ? `The first ${MOST_PARAMETERS} of ${found.length}: search to see others.` : `${found.length} of ${all.length}`;
  return [makeTable(heads, body), make("p", { class: "quiet" }, count)];
}

// Equal equations of several runs are shown once.
function fillEquations(store) {
  const section = byId("equations");
  section.append(make("h2", {}, "Equations"));
  const groups = new Map();
  for (const run of store.runs.filter((run) => run.equations)) {
    const text = run.equations.join("\n");
    groups.set(text, [...(groups.get(text) ?? []), run.label]);
  }
  if (groups.size === 0) return section.append(make("p", { class: "note" }, "The run has no equations."));
  for (const [text, labels] of groups) {
    const count = text.split("\n").length;
    const title = `${count} ${count === 1 ? "line" : "lines"}${groups.size > 1 ? `: ${labels.join(", ")}` : ""}`;
    section.append(make("p", { class: "quiet" }, title), make("pre", { tabindex: "0" }, text));
  }
}

function fillProvenance(store) {
  const section = byId("provenance");
  section.append(make("h2", {}, "Provenance"));
  for (const run of store.runs) {
    const title = store.runs.length > 1 ? make("h3", {}, run.label) : null;
    section.append(make("div", {}, title, makeFacts(run.provenance)));
  }
}

// Notes and analyses that came with the page: sentences, tables and pictures.

const PROSE = { heading: "h2", subheading: "h3", paragraph: "p", code: "pre" };

function makeProse(blocks) {
  const made = blocks.map(({ kind, text, items }) =>
    kind === "list" ? make("ul", {}, items.map((item) => make("li", {}, item))) : make(PROSE[kind], kind === "code" ? { tabindex: "0" } : {}, text));
  return make("section", { class: "prose" }, made);
}

function makeFinding({ title, sentences, tables, images }) {
  const shown = tables.map(({ heads, rows, title, more }) => [
    makeTable(heads, rows.map((row) => make("tr", {}, row.map((cell) => make("td", {}, cell)))), title),
    more ? make("p", { class: "quiet" }, `and ${more} more`) : null,
  ]);
  const pictures = images.map((src) => make("img", { src, alt: title }));
  return make("section", {}, make("h2", {}, title), sentences.map((text) => make("p", { class: "note" }, text)), shown.flat(), pictures);
}
