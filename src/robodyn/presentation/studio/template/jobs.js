// What is computed beside the run? Loops, modes, errors, sweeps, tuning and fits: each a job that tells how far it is.

const JOBS = { loops: 1, modes: 2, certify: 3, sweep: 4, tune: 5, fit: 6 };

// A place for one kind of job: start(options) begins it, its messages come to receive().
function makeJob(desk, kind) {
  const state = make("span", { class: "quiet" });
  const bar = make("progress", { max: 1, hidden: true });
  const stop = makeButton("Stop", "Stop this job", () => desk.send({ do: "stop", job: JOBS[kind] }));
  stop.className = "stop";
  stop.disabled = true;
  const place = make("div", { class: "results" });
  const head = make("div", { class: "job-head", hidden: true }, stop, bar, state);
  const element = make("div", { class: "job", "data-job": kind }, head, place);
  const job = { element, kind, running: false, key: "" };
  const end = (text) => {
    [job.running, stop.disabled, bar.hidden, state.textContent, head.hidden] = [false, true, true, text, !text];
  };
  job.start = (options = {}) => {
    [job.key, job.running] = [desk.key(), true];
    place.classList.remove("stale");
    place.replaceChildren();
    [stop.disabled, bar.hidden, state.textContent, head.hidden] = [false, false, "starting", false];
    bar.removeAttribute("value");
    desk.send({ do: "job", job: JOBS[kind], kind, text: desk.text, values: Object.fromEntries(desk.values), options });
  };
  job.receive = (message) => {
    if (message.progress) {
      state.textContent = message.progress;
      if (message.share != null) bar.value = message.share;
    } else if (message.stopped) end("stopped");
    else if (message.flaws) {
      end("");
      place.replaceChildren(...message.flaws.map((flaw) => make("p", { class: "flaw" }, showFlaw(flaw))));
    } else {
      end("");
      place.replaceChildren(...showResult(desk, message.result));
    }
  };
  // What was computed for other numbers is not what it would be now.
  job.age = () => place.classList.toggle("stale", !job.running && job.key !== desk.key());
  job.lost = () => job.running && end("the server is gone");
  return job;
}

function showResult(desk, { tables, notes, values, picture }) {
  const parts = notes.map((sentence) => make("p", { class: "note" }, sentence));
  if (values) {
    const take = makeButton("Take these numbers over", "Move the sliders to what was found", () => desk.take(values));
    take.className = "main";
    parts.push(make("div", {}, take));
  }
  // Of many rows the picture tells more.
  const found = tables.filter(({ rows }) => rows.length > 0).map(({ heads, rows }) => makeTable(heads, rows.map(showRow)));
  const drawn = picture && picture.curves.some(({ x }) => x.length > 1) ? [makeCurves(picture)] : [];
  const many = tables.some(({ rows }) => rows.length > 8);
  return [...parts, ...(many ? [...drawn, ...found] : [...found, ...drawn])];
}

function showRow(cells) {
  return make("tr", {}, ...cells.map((cell) => {
    if (typeof cell === "boolean") return make("td", {}, cell ? "yes" : "no");
    if (typeof cell === "string" && !["nan", "inf", "-inf"].includes(cell)) return make("td", {}, ...breakable(cell));
    return make("td", { class: "number" }, showNumber(cell, 5));
  }));
}

function makeField(label, value, { list = null, wide = "", id = "" } = {}) {
  const field = make("input", { class: `field ${wide}`, value, list, id: id || null });
  return { field, element: make("label", {}, label, field) };
}

// The forms of sweep, tuning and fit.
function makeForms(desk) {
  const jobs = ["sweep", "tune", "fit"].map((kind) => makeJob(desk, kind));
  const forms = [makeSweepForm, makeTuneForm, makeFitForm].map((form, k) => form(desk, jobs[k]));
  const names = make("datalist", { id: "number-names" });
  desk.whenModel(() => names.replaceChildren(...[...desk.numbers.keys()].map((name) => make("option", { value: name }))));
  const parts = ["Sweep", "Tune", "Fit"].map((title, k) =>
    make("details", { "data-form": jobs[k].kind, open: k === 0 }, make("summary", {}, title), forms[k], jobs[k].element));
  return { jobs, parts: [names, ...parts] };
}

function makeSweepForm(desk, job) {
  const number = makeField("number", "", { list: "number-names", wide: "wide", id: "sweep-number" });
  const from = makeField("from", "", { wide: "short", id: "sweep-from" });
  const to = makeField("to", "", { wide: "short", id: "sweep-to" });
  const count = makeField("runs", "21", { wide: "short", id: "sweep-count" });
  const measure = makeField("measure, such as peak:SIGNAL", "", { wide: "wide", id: "sweep-measure" });
  let random = false;
  number.field.addEventListener("change", () => {
    const known = desk.numbers.get(number.field.value);
    if (known) [from.field.value, to.field.value] = [0.8 * known.value, 1.2 * known.value].map((value) => Number(value.toPrecision(4)));
  });
  const start = makeButton("Start", "Start the sweep", () => job.start({
    number: number.field.value, from: from.field.value, to: to.field.value, count: count.field.value, measure: measure.field.value, random,
  }));
  start.id = "sweep-start";
  const drawn = makeToggle("drawn at random", false, (on) => (random = on));
  return make("div", { class: "form" }, ...[number, from, to, count, measure].map(({ element }) => element), drawn, start);
}

function makeTuneForm(desk, job) {
  const minimise = makeField("minimise, such as rms:SIGNAL", "", { wide: "wide" });
  const free = makeField("numbers", "gains", { wide: "wide" });
  const limits = makeField("limits", "margin>=6 dB", { wide: "wide" });
  const start = makeButton("Start", "Start tuning", () => job.start({ minimise: minimise.field.value, free: free.field.value, limits: limits.field.value }));
  return make("div", { class: "form" }, ...[minimise, free, limits].map(({ element }) => element), start);
}

function makeFitForm(desk, job) {
  const data = makeField("data file, in the scenario's folder", "", { wide: "wide" });
  const free = makeField("numbers, with commas", "", { wide: "wide" });
  const start = makeButton("Start", "Start the fit", () => job.start({ data: data.field.value, free: free.field.value }));
  return make("div", { class: "form" }, data.element, free.element, start);
}
