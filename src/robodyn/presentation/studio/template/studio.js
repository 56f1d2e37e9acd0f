// How does the studio come to life? One desk: the document, which runs there are, what is shown of them.
//
// The document is the text of the scenario's file. A slider changes a number: the run comes from the model that is there
// already (anchor: the text it was made of, values: the numbers by which the document differs), and when the slider is
// let go the server writes the number into the text. A number that is typed into the text moves its slider.

const OVERDUE = 300;
const QUIET = 900;
const SETTLED = 2500;

function startStudio() {
  const kept = recallState();
  const desk = {
    store: Object.assign(makeStore([], []), { ghosts: false }),
    source: null, file: "", doc: { text: null, anchor: null, values: {}, written: true }, known: null, mark: null, schema: null,
    numbers: new Map(), saved: new Map(), influence: new Map(), opened: new Set(), gesture: 0, serial: 0, kept,
    history: makeHistory(), current: null, past: [], pinned: [], meshes: null, machine: null, machineNote: "",
    next: 1, asked: null, pending: false, flaws: [], rows: null, jobs: [], answers: new Map(), certify: null,
    key: () => JSON.stringify([desk.doc.anchor, desk.doc.values]),
    valueOf: (name) => desk.doc.values[name] ?? desk.numbers.get(name).value,
    savedOf: (name) => desk.saved.get(name) ?? desk.numbers.get(name).value,
    // What a command works on: the text where there is one, with its numbers in it; else the numbers that are changed.
    document: () => (desk.doc.text === null || !desk.doc.written ? { text: desk.doc.anchor, values: desk.doc.values } : { text: desk.doc.text, values: {} }),
  };
  desk.link = connect({
    opened: () => greet(desk),
    lost: () => loseServer(desk),
    received: (message) => ANSWERS[message.type]?.(desk, message),
    framed: (header, frame) => (header.type === "run" ? receiveRun(desk, header, frame) : receiveColumns(desk, header, frame)),
  });
  desk.send = (request) => desk.link.send(request);
  desk.change = (name, value, last) => changeNumber(desk, name, value, last);
  desk.take = (values) => changeDocument(desk, { ...desk.doc, values: tidied(desk, { ...desk.doc.values, ...values }), written: false });
  desk.open = (name) => openScenario(desk, name);
  desk.tree = makeNumbers(desk);
  makeActions(desk);
  desk.tabs = makeTabs([], (name) => openTab(desk, name));
  desk.editor = makeEditor((text) => editText(desk, text), () => desk.schema);
  byId("file-head").after(desk.editor.element);
  makeTransport(desk.store, byId("transport"));
  makePlotTools(desk.store, byId("plot-tools"));
  makePlots(desk.store, () => [makeButton("Compute the causes", "Split the deviation into its causes", () => startJob(desk, "budget")), " of the deviation for these numbers."]);
  desk.store.listen((changes) => "selected" in changes && fetchSignals(desk));
  DARK.addEventListener("change", () => desk.store.set({ theme: true }));
  addEventListener("pagehide", () => keepDesk(desk));
  watchDrops(desk);
  desk.tabs.open("play");
}

// A server, the first or a new one: it knows nothing of this page yet.
function greet(desk) {
  byId("banner").hidden = true;
  [desk.asked, desk.fresh] = [null, true];
  desk.send({ do: "open", name: desk.source ?? desk.kept?.source });
}

function openScenario(desk, name) {
  [desk.source, desk.kept, desk.fresh] = [null, null, true];
  Object.assign(desk, { current: null, past: [], pinned: [], asked: null, numbers: new Map(), saved: new Map(), influence: new Map(), known: null });
  Object.assign(desk, { history: makeHistory(), machine: null, flaws: [], ranking: false });
  desk.doc = { text: null, anchor: null, values: {}, written: true };
  desk.serial++;
  desk.store.set({ selected: [] });
  desk.send({ do: "open", name });
}

function loseServer(desk) {
  const banner = byId("banner");
  banner.textContent = "The studio's server does not answer; trying again. If it has stopped, restart it in the terminal: changes here are kept.";
  banner.hidden = false;
  desk.asked = null;
  desk.jobs.forEach((job) => job.lost());
  setBusy(desk, "");
}

function keepDesk(desk) {
  if (!desk.source) return;
  const { source, doc, history, tabs, store } = desk;
  const [before, after] = [history.before, history.after];
  keepState({ source, doc, before, after, tab: tabs.shown, selected: store.selected, search: desk.tree.search.value, time: store.time });
}

const ANSWERS = {
  start: showStart,
  source: receiveSource,
  commands: receiveCommands,
  preview: receivePreview,
  picture: (desk, message) => showPicture(message),
  busy: (desk, { doing, share }) => {
    if (!doing) desk.asked = null;
    setBusy(desk, doing, share);
  },
  flaws: receiveFlaws,
  comparison: (desk, { rows }) => showComparePane(desk.tabs.panes.get("compare"), desk, (desk.rows = rows)),
  written: receiveWritten,
  saved: receiveSaved,
  report: (desk, { page, name }) => saveFile(new Blob([page], { type: "text/html" }), name),
  schema: (desk, { schema }) => (desk.schema = schema),
  job: (desk, message) => (message.job === INFLUENCE ? receiveInfluence(desk, message) : desk.jobs.find(({ kind }) => kind === message.kind)?.receive(message)),
};

function setBusy(desk, doing, share = null) {
  byId("busy").hidden = !doing;
  byId("timing").hidden = Boolean(doing);
  byId("doing").textContent = doing ?? "";
  if (share === null) byId("share").removeAttribute("value");
  else byId("share").value = share;
  [desk.buttons.stop.disabled, desk.buttons.stop.hidden] = [!doing, !doing];
}

// One request is under way at a time; what is changed meanwhile goes with the next, or when that takes too long.
function requestRun(desk) {
  if (desk.asked !== null) {
    desk.pending = true;
    return;
  }
  const id = desk.next++;
  const { anchor, values, written } = desk.doc;
  const write = !written && !desk.moving;
  if (!desk.send({ do: "run", run: id, text: anchor, values, signals: desk.store.selected, write })) return;
  Object.assign(desk, { asked: id, pending: false, askedKey: desk.key(), askedGesture: desk.gesture, askedSerial: desk.serial, askedAt: desk.movedAt ?? performance.now() });
  setTimeout(() => {
    if (desk.asked !== id || desk.current?.id === id) return;
    if (byId("busy").hidden) setBusy(desk, "waiting for the run");
    if (desk.pending) goOn(desk);
  }, OVERDUE);
}

// Ask for what was changed meanwhile.
function goOn(desk) {
  desk.asked = null;
  if (desk.pending) requestRun(desk);
}

// Numbers that differ from those of the text that the model was made of.
function tidied(desk, values) {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => desk.numbers.has(name) && desk.numbers.get(name).value !== value));
}

// Some motion of a slider is one gesture, until it is let go.
function changeNumber(desk, name, value, last) {
  const before = desk.valueOf(name);
  const begins = !desk.moving && value !== before;
  if (begins) {
    desk.history.keep(desk.doc);
    desk.gesture++;
  }
  const moved = desk.moving || begins;
  desk.moving = !last && moved;
  if (value !== before || (last && moved)) {
    setDocument(desk, { ...desk.doc, values: tidied(desk, { ...desk.doc.values, [name]: value }), written: desk.doc.anchor === null });
  }
  updateDesk(desk);
}

function changeDocument(desk, doc) {
  desk.history.keep(desk.doc);
  desk.gesture++;
  setDocument(desk, doc);
  updateDesk(desk);
}

// The document is another one from now on: it is simulated, and written where its numbers are not in its text yet.
function setDocument(desk, doc) {
  desk.doc = doc;
  desk.serial++;
  desk.movedAt = performance.now();
  desk.editor.area.readOnly = !doc.written;
  requestRun(desk);
}

function updateDesk(desk) {
  desk.tree.update();
  desk.jobs.forEach((job) => job.age());
  showFileHead(desk);
  clearTimeout(desk.later);
  desk.later = setTimeout(() => openTab(desk, desk.tabs.shown), QUIET);
}

function receiveSource(desk, { name, file, text, why, mark }) {
  showPlace(false);
  const [first, edited, other] = [desk.source !== name, desk.doc.text !== desk.known, desk.known !== null && text !== desk.known];
  Object.assign(desk, { source: name, file, mark, why, known: text });
  byId("heading").title = name;
  if (first) {
    // What was left behind by a reload goes on.
    const kept = desk.kept?.source === name ? desk.kept : null;
    desk.kept = null;
    desk.doc = kept?.doc ?? { text, anchor: text, values: {}, written: true };
    desk.history = makeHistory(kept?.before ?? [], kept?.after ?? []);
    desk.restored = kept;
    if (kept) [desk.tree.search.value, desk.wantedTab] = [kept.search, kept.tab];
    desk.editor.put(desk.doc.text ?? "", desk.known);
    requestRun(desk);
  } else if (other && !edited) {
    // Somebody else has written the file: what is not edited here follows.
    desk.doc = { text, anchor: text, values: {}, written: true };
    desk.serial++;
    desk.editor.put(text, desk.known);
    requestRun(desk);
  } else if (desk.fresh) requestRun(desk);
  desk.fresh = false;
  desk.changedElsewhere = !first && other && edited;
  showFileHead(desk);
  if (!desk.schema) desk.send({ do: "schema" });
}

function receiveCommands(desk, { commands }) {
  if (desk.jobs.length > 0) return;
  const shown = desk.wantedTab ?? desk.tabs.shown;
  desk.tabs = makeTabs(commands, (name) => openTab(desk, name));
  desk.jobs = commands.map((command, k) => makeJob(desk, command, FIRST_COMMAND + k));
  desk.jobs.forEach((job) => desk.tabs.panes.get(job.kind).append(job.element));
  byId("panes").append(make("datalist", { id: "number-names" }));
  const about = "Simulate again by another method with tighter tolerances: error bars of all signals";
  desk.jobs.push(makeJob(desk, { name: "certify", about, fields: [], verb: "Certify" }, CERTIFY));
  if (desk.current) showRunPane(desk, desk.current);
  desk.tabs.open(shown);
}

// The machine where it starts, while its model is still being made.
function receivePreview(desk, { name, title, run, meshes, mesh_note: note }) {
  if (desk.current) return;
  byId("heading").textContent = title || name;
  giveMeshes([{ machine: run.machine }], meshes);
  const outcome = { kind: "compiling", state: "", sentence: "" };
  const still = { ...stillRun(run), id: 0, number: 0, label: "start", dash: [], outcome, machine_note: "" };
  Object.assign(desk, { machine: run.machine, meshes, meshNote: note });
  replaceRuns(desk.store, [still]);
  drawMachine(desk, [still]);
}

// The writer of the text rests.
function editText(desk, text) {
  if (text !== desk.doc.text) changeDocument(desk, { text, anchor: text, values: {}, written: true });
}

// The numbers of the sliders are in the text.
function receiveWritten(desk, { text }) {
  if (desk.askedSerial !== desk.serial || text === null) return;
  desk.doc = { ...desk.doc, text, written: true };
  desk.editor.area.readOnly = false;
  desk.editor.put(text, desk.known);
  showFileHead(desk);
  document.documentElement.dataset.written = desk.serial;
}

function receiveRun(desk, header, frame) {
  const { store } = desk;
  setBusy(desk, "");
  desk.opened = new Set(header.opened);
  // A text that differs in numbers alone is answered by the model of another one.
  if ("anchor" in header && desk.askedSerial === desk.serial) desk.doc = { ...desk.doc, anchor: header.anchor, values: header.values };
  if (header.numbers) receiveNumbers(desk, header.numbers);
  if (header.model) receiveModel(desk, header.model);
  if ("machine" in header) {
    if (header.machine) giveMeshes([{ machine: header.machine }], desk.meshes);
    [desk.machine, desk.machineNote] = [header.machine, header.machine_note];
  }
  const run = makeRun(header, frame, desk.machine);
  store.limits.clear();
  if (run.limit && run.path) limitMiss(store, run.limit);
  const opening = !desk.current && !desk.restored;
  const same = desk.current && desk.current.gesture === desk.askedGesture && !desk.pinned.includes(desk.current);
  if (desk.current && !same) desk.past = [desk.current, ...desk.past].slice(0, MOST_PAST + MOST_PINNED);
  [run.gesture, run.key] = [desk.askedGesture, desk.askedKey];
  run.name = nameRun(run);
  desk.current = run;
  desk.flaws = [];
  showRuns(desk, Boolean(header.model));
  desk.tree.update();
  showFileHead(desk);
  if (desk.influence.size === 0 && !desk.ranking) rankNumbers(desk);
  const drawn = performance.now() - desk.askedAt;
  Object.assign(document.documentElement.dataset, { latency: drawn.toFixed(1), run: run.id, ready: "true" });
  byId("timing").textContent = `simulated in ${(1000 * header.took).toFixed(0)} ms, shown in ${drawn.toFixed(0)} ms`;
  if (opening) playOnOpening(store);
  // The next one when this one has been seen.
  requestAnimationFrame(() => goOn(desk));
}

// Another scenario, or another text of it: its numbers as described.
function receiveNumbers(desk, described) {
  byId("heading").textContent = described.title || described.name;
  document.title = `${described.name} · robodyn studio`;
  const endless = { inf: Infinity, "-inf": -Infinity, nan: NaN };
  desk.numbers = new Map(described.numbers.map((number) => [number.name, { ...number, value: endless[number.value] ?? number.value }]));
  desk.name = described.name;
  // As long as the text is that of the file, its numbers are the saved ones.
  for (const name of desk.numbers.keys()) if (desk.doc.text === desk.known || !desk.saved.has(name)) desk.saved.set(name, desk.valueOf(name));
  if (desk.restored && desk.doc.text !== desk.known) desk.doc.anchor === desk.known && desk.numbers.forEach(({ value }, name) => desk.saved.set(name, value));
  desk.tree.show();
  byId("number-names")?.replaceChildren(...[...desk.numbers.keys()].map((name) => make("option", { value: name })));
}

// Which numbers matter most to the result that is shown? Once for a scenario, when the first run is there and all is calm.
function rankNumbers(desk) {
  clearTimeout(desk.soon);
  byId("order").textContent = "";
  desk.soon = setTimeout(() => {
    desk.ranking = true;
    byId("order").textContent = "ranking …";
    desk.send({ do: "job", job: INFLUENCE, kind: "influence", ...desk.document(), options: {} });
  }, SETTLED);
}

function receiveInfluence(desk, { progress, result, flaws }) {
  if (progress) return void (byId("order").textContent = /\d/.test(progress) ? `ranking: ${progress}` : "ranking …");
  const known = result ? Object.entries(result.effects).filter(([, effect]) => Number.isFinite(effect)) : [];
  desk.influence = new Map(known);
  byId("order").textContent = result ? "most influential first" : "";
  byId("order").title = result ? `by the change of the ${result.kind} of ${result.of} for a number 1 % larger` : (flaws ?? []).map(showFlaw).join("\n");
  desk.tree.sort();
}

// Other code: signals and machine may be others.
function receiveModel(desk, model) {
  [desk.meshes, desk.meshNote] = [model.meshes, model.mesh_note];
  const { store } = desk;
  // What matters most comes first in the plots.
  const units = new Map(model.signals);
  store.units = new Map([...model.selected.map((name) => [name, units.get(name)]), ...units]);
  const kept = (desk.restored?.selected ?? store.selected).filter((name) => store.units.has(name));
  const time = desk.restored?.time;
  desk.restored = null;
  store.set({ selected: [] });
  if (time !== undefined) requestAnimationFrame(() => moveTo(store, time));
  for (const name of kept.length > 0 ? kept : model.selected) selectSignal(store, name);
  desk.pickers?.end();
  desk.pickers = scopeOf(store);
  byId("picker").replaceChildren();
  makePicker(desk.pickers, byId("picker"));
}

// A store whose listeners can be sent away together; later: they are called once for all changes before a frame.
function scopeOf(store, later = false) {
  const own = [];
  return Object.assign(Object.create(store), {
    listen(listener) {
      own.push(later ? gatherChanges(listener) : listener);
      store.listen(own[own.length - 1]);
    },
    end: () => store.forget(own),
  });
}

function gatherChanges(listener) {
  let gathered = null;
  return (changes) => {
    if (gathered) return Object.assign(gathered, changes);
    gathered = { ...changes };
    requestAnimationFrame(() => {
      const all = gathered;
      gathered = null;
      listener(all);
    });
  };
}

function showRuns(desk, anew = false) {
  const { current, store } = desk;
  const runs = runsOnDesk(desk);
  const drawable = Boolean(current.machine);
  applyAnswers(desk, current);
  replaceRuns(store, runs);
  if (anew || drawable !== desk.drawable) drawMachine(desk, runs);
  desk.drawable = drawable;
  const state = byId("outcome");
  Object.assign(state, { hidden: false, className: `state ${current.outcome.state.replace(" ", "-")}`, textContent: current.outcome.kind, title: current.outcome.sentence });
  fillTiles({ runs: [{ tiles: current.tiles.map((tile) => ({ ...tile, ...actOf(desk, tile) })) }] });
  showOverlay(desk);
  showFlaws(desk, []);
  showRunPane(desk, current);
  if (desk.tabs.shown === "events") showEventPane(desk.tabs.panes.get("events"), desk);
  fetchSignals(desk);
}

// Begin what answers a question, and show where it goes on.
function startJob(desk, kind) {
  desk.tabs.open(kind === "certify" ? "run" : kind);
  const job = desk.jobs.find((one) => one.kind === kind);
  if (!job.running) job.start();
}

// The button of a tile that does not know its answer yet.
function actOf(desk, { heading, answer, detail }) {
  const act = (text, label, kind) => ({ text, label, click: () => startJob(desk, kind) });
  if (heading === "Main cause" && answer === "Unknown") return { detail: "", act: act("Compute", "Split the deviation into its causes", "budget") };
  return detail.includes("no error bar") ? { act: act("Certify", "Estimate the errors of the results", "certify") } : {};
}

// Curves are there at once, the machine with the next frame.
function drawMachine(desk, runs) {
  const { store } = desk;
  desk.drawing?.end();
  desk.drawing = scopeOf(store, true);
  makeStage();
  Object.assign(store, { note: desk.meshNote });
  for (const run of runs) run.machine_note ??= desk.machineNote;
  makeReplay(desk.drawing);
  const ghosts = makeButton("◉", "Show the machines of pinned runs as well", () => {
    store.set({ ghosts: !store.ghosts });
    ghosts.setAttribute("aria-pressed", String(store.ghosts));
  });
  ghosts.setAttribute("aria-pressed", String(store.ghosts));
  byId("replay-tools")?.append(ghosts);
}

function makeStage() {
  byId("place").replaceChildren(make("section", { id: "replay", "aria-label": "Machine" }, make("div", { id: "stage" })));
}

// Which runs are in the plots.
function showOverlay(desk) {
  const { current, pinned, past } = desk;
  const entry = (run, text, button = null) => make("li", {}, makeSample(run.dash, "currentColor"), text, button);
  const before = past.some((run) => run.faint) ? make("li", { class: "quiet" }, "fainter: before") : null;
  const kept = pinned.filter((run) => run !== current).map((run) => entry(run, run.name, makeButton("×", `Unpin ${run.name}`, () => pinRun(desk, run, false))));
  byId("overlay").replaceChildren(...[entry(current, `now: ${current.name}`), ...kept, before].filter(Boolean));
  desk.buttons.pin.disabled = pinned.includes(current) || pinned.length >= MOST_PINNED;
}

function pinRun(desk, run, on) {
  desk.pinned = on ? [...desk.pinned, run] : desk.pinned.filter((other) => other !== run);
  desk.send({ do: "pin", runs: desk.pinned.map(({ id }) => id) });
  showRuns(desk);
  openTab(desk, desk.tabs.shown);
}

// Plotted signals that a run has not brought along.
function fetchSignals(desk) {
  for (const run of desk.store.runs) {
    run.wanted ??= new Set();
    const missing = desk.store.selected.filter((name) => !run.signals.has(name) && !run.wanted.has(name));
    if (missing.length === 0) continue;
    missing.forEach((name) => run.wanted.add(name));
    desk.send({ do: "fetch", run: run.id, signals: missing });
  }
}

function receiveColumns(desk, header, frame) {
  const run = desk.store.runs.find(({ id }) => id === header.run);
  if (!run) return;
  addColumns(run, header, frame);
  desk.store.set({ runs: desk.store.runs });
}

function receiveFlaws(desk, { about, flaws }) {
  setBusy(desk, "");
  desk.editor.area.readOnly = false;
  if (about === "run") {
    desk.askedGesture = null;
    showFlaws(desk, flaws);
    document.documentElement.dataset.ready = "true";
    return goOn(desk);
  }
  // What cannot be written into the text is not changed.
  if (about === "write" && desk.askedSerial === desk.serial) stepBack(desk, "undo");
  if (!byId("start").hidden) Object.assign(byId("start-flaw"), { hidden: false, textContent: flaws.map(showFlaw).join("\n") });
  else if (byId("dialog").open) byId("dialog-note").textContent = flaws.map(showFlaw).join("\n");
  else showFlaws(desk, flaws);
}

// What is wrong with the file or a number: beside the text, at the number, and in the bar above.
function showFlaws(desk, flaws) {
  desk.flaws = flaws;
  const items = flaws.map((flaw) => make("button", { type: "button", class: "flaw", onclick: () => desk.editor.goTo(flaw) }, showFlaw(flaw)));
  byId("flaws").replaceChildren(...items);
  desk.editor.mark(flaws);
  desk.tree.refuse(flaws);
  if (flaws.length === 0) return;
  const state = byId("outcome");
  const count = flaws.length === 1 ? "1 problem" : `${flaws.length} problems`;
  Object.assign(state, { hidden: false, className: "state failed", textContent: count, title: flaws.map(showFlaw).join("\n") });
  byId("timing").textContent = showFlaw(flaws[0]);
}

function makeActions(desk) {
  const act = (id, text, label, click) => Object.assign(makeButton(text, label, click), { id, disabled: true });
  const buttons = {
    open: act("open", "Open …", "Open another scenario, or a new one", () => desk.send({ do: "start" })),
    undo: act("undo", "↶", "Undo the last change (Ctrl-Z)", () => stepBack(desk, "undo")),
    redo: act("redo", "↷", "Redo (Ctrl-Shift-Z)", () => stepBack(desk, "redo")),
    compare: act("compare", "Compare", "Compare with the pinned runs; if there are none, this one is pinned", () => compareRuns(desk)),
    pin: act("pin", "◉ Pin", "Keep this run for comparison", () => pinRun(desk, desk.current, true)),
    stop: act("stop", "Stop", "Stop the simulation; the run so far is shown", () => stopRun(desk)),
    save: act("save", "Save", "Write the file (Ctrl-S)", () => saveText(desk)),
    report: act("report", "Report ⤓", "Write this page as a report: one file, to be opened by any browser", () => sendReport(desk)),
  };
  buttons.stop.className = "stop";
  buttons.save.className = "main";
  buttons.open.disabled = false;
  buttons.stop.hidden = true;
  desk.buttons = buttons;
  byId("actions").replaceChildren(...Object.values(buttons));
  // Before the browser's own undo of a text field: there is one history.
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || byId("dialog").open || !byId("start").hidden) return;
    const key = event.key.toLowerCase();
    const does = { z: () => stepBack(desk, event.shiftKey ? "redo" : "undo"), y: () => stepBack(desk, "redo"), s: () => saveText(desk) }[key];
    if (!does) return;
    event.preventDefault();
    event.stopPropagation();
    // What was typed last is a step too.
    desk.editor.rest();
    if (document.activeElement?.closest?.(".number")) document.activeElement.blur();
    does();
  }, true);
}

function compareRuns(desk) {
  if (desk.pinned.length === 0) pinRun(desk, desk.current, true);
  desk.tabs.open("compare");
}

function stepBack(desk, way) {
  const doc = desk.history[way](desk.doc);
  if (!doc) return;
  desk.gesture++;
  [desk.moving, desk.flaws] = [false, []];
  desk.editor.put(doc.text ?? "", desk.known);
  setDocument(desk, doc);
  updateDesk(desk);
}

function stopRun(desk) {
  desk.pending = false;
  desk.send({ do: "stop" });
}

function sendReport(desk) {
  const runs = [desk.current, ...desk.pinned.filter((run) => run !== desk.current)].map(({ id }) => id);
  desk.send({ do: "report", runs, signals: desk.store.selected });
}

// What a tab shows is computed when it is looked at; what takes a moment, when the numbers rest.
function openTab(desk, name) {
  if (!desk.current) return;
  const pane = desk.tabs.panes.get(name);
  if (name === "events") showEventPane(pane, desk);
  if (name === "compare") {
    showComparePane(pane, desk, desk.rows);
    const runs = [desk.current, ...desk.pinned.filter((run) => run !== desk.current)].map(({ id }) => id);
    if (runs.length > 1) desk.send({ do: "compare", runs, signals: desk.store.selected });
  }
  const job = desk.jobs.find(({ kind }) => kind === name);
  if (job && ["loops", "modes"].includes(name) && job.key !== desk.key() && desk.flaws.length === 0) job.start();
}

// What the editor holds, and whether it is saved.
function showFileHead(desk) {
  const { doc, known, file, why, buttons } = desk;
  desk.editor.element.hidden = doc.text === null;
  const edited = doc.text !== known || !doc.written;
  const name = file || (desk.source ? `${desk.source.split(/[\\/]/).pop()}: no file yet` : "");
  const about = desk.changedElsewhere && edited ? "edited here, and changed on disk since" : edited ? "edited, not saved" : file ? "as in the file" : "";
  const parts = [make("b", {}, name), make("span", { class: "quiet", id: "file-state" }, about)];
  if (doc.text === null && desk.source) parts.push(make("span", { class: "note" }, `There is no text to edit: ${why}`));
  if (edited && known !== null) parts.push(makeButton("Discard", "Discard the changes", () => changeText(desk, known)));
  byId("file-head").replaceChildren(...parts);
  buttons.save.textContent = file ? "Save" : "Save as …";
  buttons.save.title = file ? `Write ${file} (Ctrl-S)` : "Write a file (Ctrl-S)";
  buttons.save.disabled = doc.text === null || !doc.written || (Boolean(file) && !edited);
  buttons.report.disabled = buttons.compare.disabled = !desk.current;
  [buttons.undo.disabled, buttons.redo.disabled] = [desk.history.before.length === 0, desk.history.after.length === 0];
}

function changeText(desk, text) {
  desk.editor.put(text, desk.known);
  editText(desk, text);
}

function saveText(desk) {
  if (desk.buttons.save.disabled) return;
  const { text } = desk.doc;
  if (desk.file) return desk.send({ do: "save", name: desk.file, text, replaces: desk.mark });
  showDialog(desk, "Save the scenario as a file", text, `${desk.name ?? "scenario"}.toml`);
}

function receiveSaved(desk, { name, path, mark }) {
  byId("dialog").close();
  Object.assign(desk, { source: path, file: name, mark, known: desk.doc.text, changedElsewhere: false });
  for (const number of desk.numbers.keys()) desk.saved.set(number, desk.valueOf(number));
  desk.editor.put(desk.doc.text, desk.known);
  updateDesk(desk);
  byId("timing").textContent = `saved as ${path}`;
}

function showDialog(desk, title, text, name) {
  const dialog = byId("dialog");
  const field = make("input", { class: "field", id: "dialog-name", value: name, "aria-label": "Name of the file" });
  const note = make("p", { class: "violated", id: "dialog-note" });
  const save = makeButton("Save", "Write the file beside the scenario", () => desk.send({ do: "save", name: field.value, text, replaces: null }));
  save.className = "main";
  const close = makeButton("Close", "Close without saving", () => dialog.close());
  const form = make("form", { method: "dialog" }, make("h2", { id: "dialog-title" }, title), make("pre", { tabindex: "0" }, text), field, note, make("div", { class: "tools" }, close, save));
  form.addEventListener("submit", (event) => (event.preventDefault(), save.click()));
  dialog.replaceChildren(form);
  dialog.showModal();
}

startStudio();
