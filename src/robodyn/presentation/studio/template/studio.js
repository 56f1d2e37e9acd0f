// How does the studio come to life? One desk: what is described, what is changed, which runs there are.

const OVERDUE = 300;
const QUIET = 900;

function startStudio() {
  const desk = {
    store: Object.assign(makeStore([], []), { ghosts: false }),
    source: null, text: null, known: "", mark: null, schema: null,
    numbers: new Map(), opened: new Set(), values: new Map(), history: makeHistory(), gesture: 0,
    current: null, past: [], pinned: [], meshes: null, machine: null, machineNote: "",
    next: 1, asked: null, pending: false, flaws: [], rows: null, waiting: [],
    whenModel: (act) => desk.waiting.push(act),
    key: () => JSON.stringify([desk.text, [...desk.values]]),
  };
  desk.link = connect({
    opened: () => greet(desk),
    lost: () => loseServer(desk),
    received: (message) => ANSWERS[message.type]?.(desk, message),
    framed: (header, frame) => (header.type === "run" ? receiveRun(desk, header, frame) : receiveColumns(desk, header, frame)),
  });
  desk.send = (request) => desk.link.send(request);
  desk.change = (name, value, last) => changeNumber(desk, name, value, last);
  desk.take = (values) => takeNumbers(desk, new Map([...desk.values, ...Object.entries(values)]));
  desk.tree = makeNumbers(desk);
  makeActions(desk);
  desk.tabs = makeTabs((name) => openTab(desk, name));
  desk.editor = makeEditor((text) => editText(desk, text), () => desk.schema);
  fillPanes(desk);
  makeTransport(desk.store, byId("transport"));
  makePlotTools(desk.store, byId("plot-tools"));
  makePanels(desk.store, byId("panels"));
  desk.store.listen((changes) => "selected" in changes && fetchSignals(desk));
  DARK.addEventListener("change", () => desk.store.set({ theme: true }));
  desk.tabs.open("run");
}

// A server, the first or a new one: it knows nothing of this page yet.
function greet(desk) {
  byId("banner").hidden = true;
  [desk.asked, desk.fresh] = [null, true];
  desk.send({ do: "open" });
  requestRun(desk);
}

function loseServer(desk) {
  const banner = byId("banner");
  banner.textContent = "The studio's server does not answer: trying again. Where it has ended, start it again in the terminal; what is changed here is kept.";
  banner.hidden = false;
  desk.asked = null;
  desk.jobs?.forEach((job) => job.lost());
  setBusy(desk, "");
}

const ANSWERS = {
  source: receiveSource,
  busy: (desk, { doing, share }) => {
    if (!doing) desk.asked = null;
    setBusy(desk, doing, share);
  },
  flaws: receiveFlaws,
  comparison: (desk, { rows }) => showComparePane(desk.tabs.panes.get("compare"), desk, (desk.rows = rows)),
  patch: (desk, { text }) => showPatch(desk, text),
  saved: receiveSaved,
  schema: (desk, { schema }) => (desk.schema = schema),
  job: (desk, message) => desk.jobs.find(({ kind }) => kind === message.kind)?.receive(message),
};

function setBusy(desk, doing, share = null) {
  byId("busy").hidden = !doing;
  byId("timing").hidden = Boolean(doing);
  byId("doing").textContent = doing ?? "";
  if (share === null) byId("share").removeAttribute("value");
  else byId("share").value = share;
  desk.buttons.stop.disabled = !doing;
}

// One request is under way at a time; what is changed meanwhile goes with the next, or when that takes too long.
function requestRun(desk) {
  if (desk.asked !== null) {
    desk.pending = true;
    return;
  }
  const id = desk.next++;
  const signals = desk.store.selected;
  if (!desk.send({ do: "run", run: id, text: desk.text, values: Object.fromEntries(desk.values), signals })) return;
  [desk.asked, desk.pending, desk.askedGesture, desk.askedAt] = [id, false, desk.gesture, desk.movedAt ?? performance.now()];
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

// Some motion of a slider is one gesture, until it is let go.
function changeNumber(desk, name, value, last) {
  const before = desk.values.get(name) ?? desk.numbers.get(name).value;
  if (!desk.moving && value !== before) {
    desk.history.keep(desk.values);
    desk.gesture++;
  }
  desk.moving = !last;
  if (value !== before) {
    if (value === desk.numbers.get(name).value) desk.values.delete(name);
    else desk.values.set(name, value);
    desk.movedAt = performance.now();
    requestRun(desk);
  }
  updateDesk(desk);
}

function takeNumbers(desk, values, remember = true) {
  if (remember) desk.history.keep(desk.values);
  desk.values = new Map([...values].filter(([name, value]) => desk.numbers.has(name) && desk.numbers.get(name).value !== value));
  desk.gesture++;
  desk.movedAt = performance.now();
  requestRun(desk);
  updateDesk(desk);
}

function updateDesk(desk) {
  desk.tree.update();
  const { undo, redo, reset, patch } = desk.buttons;
  [undo.disabled, redo.disabled] = [!desk.history.undoable, !desk.history.redoable];
  reset.disabled = patch.disabled = desk.values.size === 0;
  desk.jobs.forEach((job) => job.age());
  clearTimeout(desk.later);
  desk.later = setTimeout(() => openTab(desk, desk.tabs.shown), QUIET);
}

function receiveSource(desk, { name, file, text, why, mark }) {
  [desk.source, desk.file, desk.mark] = [name, file, mark];
  const [edited, other] = [desk.text !== null, desk.known !== "" && text !== desk.known];
  byId("told").title = name;
  showFileHead(desk, why);
  if (text === null) return;
  desk.known = text;
  if (!edited) desk.editor.put(text);
  // Somebody else has written the file: what is edited here stays, what is not follows.
  if (other && edited) byId("file-state").textContent = "edited here, and changed on disk since";
  if (other && !edited) requestRun(desk);
  if (!desk.schema) desk.send({ do: "schema" });
}

// The text in the editor: as the file has it, or another one.
function editText(desk, text) {
  const wanted = text === desk.known ? null : text;
  if (wanted === desk.text) return;
  desk.text = wanted;
  desk.gesture++;
  desk.movedAt = performance.now();
  showFileHead(desk, "");
  requestRun(desk);
  updateDesk(desk);
}

function receiveRun(desk, header, frame) {
  setBusy(desk, "");
  desk.opened = new Set(header.opened);
  if (header.numbers) receiveNumbers(desk, header.numbers);
  if (header.model) receiveModel(desk, header.model);
  if ("machine" in header) {
    if (header.machine) giveMeshes([{ machine: header.machine }], desk.meshes);
    [desk.machine, desk.machineNote] = [header.machine, header.machine_note];
  }
  const run = makeRun(header, frame, desk.machine);
  const same = desk.current && desk.current.gesture === desk.askedGesture && !desk.pinned.includes(desk.current);
  if (desk.current && !same) desk.past = [desk.current, ...desk.past].slice(0, MOST_PAST + MOST_PINNED);
  run.gesture = desk.askedGesture;
  run.name = nameRun(run);
  desk.current = run;
  desk.flaws = [];
  showRuns(desk, Boolean(header.model));
  const drawn = performance.now() - desk.askedAt;
  Object.assign(document.documentElement.dataset, { latency: drawn.toFixed(1), run: run.id, ready: "true" });
  byId("timing").textContent = `simulated in ${(1000 * header.took).toFixed(0)} ms, shown in ${drawn.toFixed(0)} ms`;
  // The next one when this one has been seen.
  requestAnimationFrame(() => goOn(desk));
}

// Another scenario, or another text of it: its numbers as described.
function receiveNumbers(desk, described) {
  byId("heading").textContent = described.name;
  byId("told").textContent = described.title;
  document.title = `${described.name} · robodyn studio`;
  const endless = { inf: Infinity, "-inf": -Infinity, nan: NaN };
  desk.numbers = new Map(described.numbers.map((number) => [number.name, { ...number, value: endless[number.value] ?? number.value }]));
  for (const [name, value] of [...desk.values]) if (desk.numbers.get(name)?.value === value) desk.values.delete(name);
  desk.tree.show();
  desk.waiting.forEach((act) => act());
}

// Other code: signals and machine may be others.
function receiveModel(desk, model) {
  [desk.meshes, desk.meshNote] = [model.meshes, model.mesh_note];
  const { store } = desk;
  // What matters most comes first in the plots.
  const units = new Map(model.signals);
  store.units = new Map([...model.selected.map((name) => [name, units.get(name)]), ...units]);
  const kept = store.selected.filter((name) => store.units.has(name));
  store.set({ selected: [] });
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
  if (anew || drawable !== desk.drawable) {
    desk.drawing?.end();
    replaceRuns(store, runs);
    desk.drawable = drawable;
    // Curves are there at once, the machine with the next frame.
    desk.drawing = scopeOf(store, true);
    makeStage();
    Object.assign(store, { note: desk.meshNote });
    for (const run of runs) run.machine_note ??= desk.machineNote;
    makeReplay(desk.drawing);
    byId("replay-tools")?.prepend(makeToggle("pinned", store.ghosts, (ghosts) => store.set({ ghosts })));
  } else replaceRuns(store, runs);
  const state = byId("outcome");
  Object.assign(state, { hidden: false, className: `state ${current.outcome.state.replace(" ", "-")}`, textContent: current.outcome.kind, title: current.outcome.sentence });
  showOverlay(desk);
  showFlaws(desk, []);
  showRunPane(desk.tabs.panes.get("run"), current);
  if (desk.tabs.shown === "events") showEventPane(desk.tabs.panes.get("events"), desk);
  fetchSignals(desk);
}

function makeStage() {
  const title = make("h2", { id: "replay-title" }, "Machine");
  const bar = make("div", { class: "bar" }, title, make("div", { id: "replay-tools", class: "tools" }));
  byId("place").replaceChildren(make("section", { id: "replay", "aria-labelledby": "replay-title" }, bar, make("div", { id: "stage" })));
}

// Which runs are in the plots.
function showOverlay(desk) {
  const { current, pinned, past } = desk;
  const entry = (run, text, button = null) => make("li", {}, makeSample(run.dash, "currentColor"), text, button);
  const before = past.some((run) => run.faint) ? make("li", { class: "quiet" }, "fainter: before") : null;
  const kept = pinned.filter((run) => run !== current).map((run) => entry(run, run.name, makeButton("×", `Let go of ${run.name}`, () => pinRun(desk, run, false))));
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
  if (about === "run") {
    setBusy(desk, "");
    desk.askedGesture = null;
    showFlaws(desk, flaws);
    document.documentElement.dataset.ready = "true";
    return goOn(desk);
  }
  if (byId("dialog").open) byId("dialog-note").textContent = flaws.map(showFlaw).join("\n");
  else showFlaws(desk, flaws);
}

// What is wrong with the file or a number: beside the text, at the number, and in the bar above.
function showFlaws(desk, flaws) {
  desk.flaws = flaws;
  const items = flaws.map((flaw) => make("button", { type: "button", class: "flaw", onclick: () => desk.editor.goTo(flaw) }, showFlaw(flaw)));
  byId("flaws").replaceChildren(...items);
  desk.tabs.buttons.get("file").classList.toggle("marked", flaws.length > 0);
  desk.editor.mark(flaws);
  desk.tree.refuse(flaws);
  if (flaws.length === 0) return;
  const state = byId("outcome");
  const count = flaws.length === 1 ? "1 problem" : `${flaws.length} problems`;
  Object.assign(state, { hidden: false, className: "state failed", textContent: count, title: flaws.map(showFlaw).join("\n") });
  byId("timing").textContent = showFlaw(flaws[0]);
}

function makeActions(desk) {
  const undo = makeButton("↶ Undo", "Undo the last change (Ctrl-Z)", () => stepBack(desk, "undo"));
  const redo = makeButton("↷ Redo", "Do it again", () => stepBack(desk, "redo"));
  const reset = makeButton("Reset", "Put all numbers back to the file's", () => takeNumbers(desk, new Map()));
  const pin = makeButton("Pin", "Keep this run to compare others with it", () => pinRun(desk, desk.current, true));
  const patch = makeButton("Save patch …", "Save the changed numbers as a TOML patch", () => desk.send({ do: "patch", values: Object.fromEntries(desk.values) }));
  const stop = makeButton("Stop", "Stop the simulation; the run so far is shown", () => stopRun(desk));
  stop.className = "stop";
  [undo, redo, reset, pin, patch, stop].forEach((button) => (button.disabled = true));
  Object.assign(undo, { id: "undo" });
  Object.assign(redo, { id: "redo" });
  Object.assign(reset, { id: "reset" });
  Object.assign(pin, { id: "pin" });
  Object.assign(patch, { id: "patch" });
  Object.assign(stop, { id: "stop" });
  desk.buttons = { undo, redo, reset, pin, patch, stop };
  byId("actions").replaceChildren(undo, redo, reset, pin, patch, stop);
  document.addEventListener("keydown", (event) => {
    const typing = ["TEXTAREA", "INPUT"].includes(event.target.tagName) && event.target.type !== "range";
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || typing) return;
    event.preventDefault();
    stepBack(desk, event.shiftKey ? "redo" : "undo");
  });
}

function stepBack(desk, way) {
  const values = desk.history[way](desk.values);
  if (values) takeNumbers(desk, values, false);
}

function stopRun(desk) {
  desk.pending = false;
  desk.send({ do: "stop" });
}

function fillPanes(desk) {
  const { panes } = desk.tabs;
  const loops = makeJob(desk, "loops");
  const modes = makeJob(desk, "modes");
  const certify = makeJob(desk, "certify");
  const { jobs, parts } = makeForms(desk);
  desk.jobs = [loops, modes, certify, ...jobs];
  const again = (job, text) => makeButton(text, text, () => job.start());
  panes.get("loops").append(make("div", {}, again(loops, "Compute margins")), loops.element);
  panes.get("modes").append(make("div", {}, again(modes, "Compute modes")), modes.element);
  const second = again(certify, "Errors by a second solution");
  panes.get("jobs").append(...parts, make("details", {}, make("summary", {}, "Certify"), make("div", { class: "form" }, second), certify.element));
  panes.get("file").append(make("div", { id: "file-head", class: "tools" }), desk.editor.element, make("div", { id: "flaws", class: "flaws" }));
}

// What a tab shows is computed when it is looked at; what takes a moment, when the numbers rest.
function openTab(desk, name) {
  byId("middle").classList.toggle("writing", name === "file");
  if (!desk.current) return;
  const pane = desk.tabs.panes.get(name);
  if (name === "events") showEventPane(pane, desk);
  if (name === "compare") {
    showComparePane(pane, desk, desk.rows);
    const runs = [desk.current, ...desk.pinned.filter((run) => run !== desk.current)].map(({ id }) => id);
    if (runs.length > 1) desk.send({ do: "compare", runs, signals: desk.store.selected });
  }
  const job = desk.jobs.find(({ kind }) => kind === name);
  if (job && job.key !== desk.key() && desk.flaws.length === 0) job.start();
}

// What the editor holds, and how it is saved.
function showFileHead(desk, why) {
  const head = byId("file-head");
  if (why) {
    desk.editor.element.hidden = true;
    return head.replaceChildren(make("p", { class: "note" }, `There is no text to edit: ${why}`));
  }
  desk.editor.element.hidden = false;
  const edited = desk.text !== null;
  const name = desk.file || `${desk.source} (of the catalogue)`;
  const save = makeButton("Save", "Write the text to its file", () => saveText(desk));
  const back = makeButton("Discard edits", "Put the text back as the file has it", () => discardText(desk));
  [save.disabled, back.disabled] = [!edited, !edited];
  save.id = "save";
  const state = edited ? "edited, not saved" : "as in the file";
  head.replaceChildren(make("b", {}, name), make("span", { class: "quiet", id: "file-state" }, state), save, back);
}

function saveText(desk) {
  const text = desk.editor.area.value;
  if (desk.file) return desk.send({ do: "save", name: desk.file, text, replaces: desk.mark });
  showDialog(desk, "Save the scenario as a file", text, `${byId("heading").textContent}.toml`);
}

function discardText(desk) {
  desk.editor.put(desk.known);
  editText(desk, desk.known);
}

function receiveSaved(desk, { name, path, mark }) {
  byId("dialog").close();
  if (name === desk.file) {
    [desk.known, desk.mark] = [desk.editor.area.value, mark];
    editText(desk, desk.known);
    showFileHead(desk, "");
  }
  byId("timing").textContent = `saved as ${path}`;
}

function showPatch(desk, text) {
  const stem = (desk.file || `${byId("heading").textContent}.toml`).replace(/\.toml$/, "");
  showDialog(desk, "Save the changed numbers as a patch", text, `${stem}-patch.toml`);
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
