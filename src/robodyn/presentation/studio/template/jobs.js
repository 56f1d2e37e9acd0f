// What is computed beside the run? Commands of the command line: each has a form, made of its options, and a process.

const [INFLUENCE, CERTIFY, FIRST_COMMAND] = [0, 1, 2];
// Answers are kept for so many documents.
const MOST_ANSWERS = 30;

// A place for one command: start(options) begins it, its messages come to receive().
function makeJob(desk, { name, about, fields, verb = "Compute" }, number) {
  const state = make("span", { class: "quiet" });
  const bar = make("progress", { max: 1, hidden: true });
  const stop = makeButton("Stop", "Stop this job", () => desk.send({ do: "stop", job: number }));
  stop.className = "stop";
  stop.disabled = true;
  const place = make("div", { class: "results" });
  const head = make("div", { class: "job-head", hidden: true }, stop, bar, state);
  const inputs = new Map(fields.map((field) => [field.name, makeField(field, name)]));
  const form = make("form", { class: "form" });
  const element = make("div", { class: "job", "data-job": name }, make("p", { class: "note" }, about), form, head, place);
  const job = { element, kind: name, running: false, key: "", automatic: fields.every(({ required }) => !required) };
  const start = make("button", { type: "submit", class: "main", id: `${name}-start` }, verb);
  // The first options, and behind a fold all others.
  const parts = [...inputs.values()].map(({ element: field }) => field);
  const more = parts.length > 4 ? make("details", {}, make("summary", {}, "more options"), make("div", { class: "form" }, ...parts.slice(4))) : null;
  form.append(...parts.slice(0, 4), ...(more ? [more] : []), start);
  form.addEventListener("submit", (event) => (event.preventDefault(), job.start()));
  const end = (text) => {
    [job.running, stop.disabled, bar.hidden, state.textContent, head.hidden] = [false, true, true, text, !text];
  };
  job.start = () => {
    [job.key, job.running] = [desk.key(), true];
    place.classList.remove("stale");
    place.replaceChildren();
    [stop.disabled, bar.hidden, state.textContent, head.hidden] = [false, false, "starting", false];
    bar.removeAttribute("value");
    const options = Object.fromEntries([...inputs].map(([key, { read }]) => [key, read()]).filter(([, value]) => value !== undefined));
    desk.send({ do: "job", job: number, kind: name, ...desk.document(), options });
  };
  job.receive = (message) => {
    if (message.progress) {
      state.textContent = message.progress;
      if (message.share != null) bar.value = message.share;
      return;
    }
    end(message.stopped ? "stopped" : "");
    if (message.flaws) place.replaceChildren(...message.flaws.map((flaw) => make("p", { class: "flaw" }, showFlaw(flaw))));
    else if (message.result) {
      place.replaceChildren(...showResult(desk, message.result));
      keepAnswers(desk, job.key, message.result.answers);
    }
  };
  // What was computed for other numbers is not what it would be now.
  job.age = () => place.classList.toggle("stale", !job.running && job.key !== desk.key());
  job.lost = () => job.running && end("the server is gone");
  return job;
}

// What a command found out about a document belongs to the run of that document: its tiles, causes and error bars.
function keepAnswers(desk, key, answers) {
  if (Object.keys(answers).length === 0) return;
  const known = desk.answers.get(key) ?? { tiles: [] };
  desk.answers.delete(key);
  desk.answers.set(key, { ...known, ...answers, tiles: mergeTiles(known.tiles, answers.tiles) });
  if (desk.answers.size > MOST_ANSWERS) desk.answers.delete(desk.answers.keys().next().value);
  if (desk.current?.key === key) showRuns(desk);
}

// A tile replaces the one of its question; margins stand before the last tile, in place of what is asked where they are
// not known.
function mergeTiles(tiles, fresh) {
  const question = ({ heading }) => heading.split(" · ")[0];
  const merged = [...tiles];
  for (const tile of fresh) {
    const place = merged.findIndex((other) => question(other) === question(tile));
    if (place >= 0) merged[place] = tile;
    else if (merged.length === 4) merged[2] = tile;
    else merged.push(tile);
  }
  return merged;
}

function applyAnswers(desk, run) {
  const known = desk.answers.get(run.key);
  if (!known) return;
  run.tiles = mergeTiles(run.tiles, known.tiles);
  Object.assign(run, known.certificate);
  if (!known.causes || run.causes) return;
  const { time } = known;
  run.causes = known.causes.map(({ values, unit, ...cause }) => {
    const courses = run.time.map((t) => {
      const k = Math.min(Math.max(rowAt(time, t), 0), time.length - 2);
      return values[k] + ((t - time[k]) / (time[k + 1] - time[k])) * (values[k + 1] - values[k]);
    });
    run.signals.set(cause.signal, { name: cause.signal, unit, held: false, rate: null, values: courses });
    desk.store.units.set(cause.signal, unit);
    return cause;
  });
}

// An option of a command: read() is undefined where it is as it is by default.
function makeField({ name, label, about, default: value, required }, job) {
  const text = label.replaceAll("_", " ");
  if (typeof value === "boolean") {
    const box = make("input", { type: "checkbox", checked: value, id: `${job}-${name}` });
    return { element: make("label", { class: "toggle", title: about }, box, text), read: () => (box.checked === value ? undefined : box.checked) };
  }
  const field = make("input", { class: "field", value: String(value), title: about, id: `${job}-${name}`, list: "number-names", required });
  return { element: make("label", { title: about }, text, field), read: () => (field.value.trim() === String(value) ? undefined : field.value.trim()) };
}

function showResult(desk, { tables, notes, values, picture, images }) {
  const parts = notes.map((sentence) => make("p", { class: "note" }, sentence));
  if (values) {
    const take = makeButton("Use these numbers", "Set the sliders, and the file, to the result", () => desk.take(values));
    take.className = "main";
    parts.push(make("div", {}, take));
  }
  // Of many rows the picture tells more.
  const found = tables.filter(({ rows }) => rows.length > 0).map(({ heads, rows, title }) => makeTable(heads, rows.map((row) => showRow(row, heads)), title));
  const drawn = picture && picture.curves.some(({ x }) => x.length > 1) ? [makeCurves(picture)] : [];
  drawn.push(...images.map(({ title, source }) => make("img", { src: source, alt: title })));
  const many = tables.some(({ rows }) => rows.length > 8);
  return [...parts, ...(many ? [...drawn, ...found] : [...found, ...drawn])];
}

// Margins below which a loop is bad, or weak: phase [deg], and factors of its gain either way. The first are those of
// the key results.
const MARGINS = [
  [/^phase.*deg/, (margin) => margin, [30, 45]],
  [/^to$/, (factor) => factor, [2, 3]],
  [/^gain from$/, (factor) => 1 / factor, [2, 3]],
];

function showRow(cells, heads = []) {
  return make("tr", {}, ...cells.map((cell, k) => {
    if (typeof cell === "boolean") return make("td", {}, cell ? "yes" : "no");
    if (typeof cell === "string" && !["nan", "inf", "-inf"].includes(cell)) return make("td", {}, ...breakable(cell));
    const [, measure, limits] = MARGINS.find(([words]) => words.test(heads[k] ?? "")) ?? [];
    const margin = limits && typeof cell === "number" ? measure(cell) : NaN;
    const verdict = Number.isNaN(margin) ? "" : margin < limits[0] ? " bad" : margin < limits[1] ? " fair" : " good";
    return make("td", { class: `number${verdict}` }, showNumber(cell, 5));
  }));
}
