// How does the page of a machine come to life? A slider for every joint; who follows another one moves with it.
//
// The positions are the samples of a run of one instant: sliders write them, and all else reads them as it reads a run.

const QUATERNION = ["w", "x", "y", "z"];
const TILTS = ["roll", "pitch", "yaw"];

const sampleOf = (run, name) => valuesOf(run, name)[0];
const writeSample = (run, name, value) => (valuesOf(run, name)[0] = value);
const showAngle = (value) => `${((value * 180) / Math.PI).toFixed(1)}°`.replace("-", "−");

// A row with a slider, a field for its number, and what else there is to say; move(value) puts the joint there.
function makeSlider({ name, unit, range, limits = [null, null], follows = null }, value, move) {
  const label = `${name} [${unit}]`;
  const shared = { "aria-label": label, disabled: Boolean(follows) };
  const slider = make("input", { type: "range", min: range[0], max: range[1], step: "any", ...shared });
  const field = make("input", { type: "number", step: "any", ...shared });
  const said = make("output", { class: "quiet" });
  const outside = (position) => (limits[0] ?? -Infinity) > position || (limits[1] ?? Infinity) < position;
  const show = (position) => {
    slider.value = position;
    field.value = Number(position.toFixed(6));
    said.textContent = unit === "rad" ? showAngle(position) : "";
    row.classList.toggle("violated", outside(position));
  };
  slider.addEventListener("input", () => move(Number(slider.value)));
  field.addEventListener("change", () => Number.isFinite(parseFloat(field.value)) && move(parseFloat(field.value)));
  const ends = limits.map((limit) => (limit === null ? "no limit" : showNumber(limit, 4)));
  const note = follows ? `follows ${follows.joint}` : ends[0] === ends[1] ? ends[0] : `${ends[0]} … ${ends[1]}`;
  const row = make("div", { class: "slider", "data-joint": name },
    make("span", { class: "name" }, name), slider, field, make("span", { class: "unit" }, unit), said,
    make("span", { class: "quiet ends" }, note));
  show(value);
  return { row, show };
}

// Roll, pitch and yaw about fixed axes as a quaternion: q = q_z q_y q_x.
function tilted([roll, pitch, yaw]) {
  const [a, b, c] = [roll, pitch, yaw].map((angle) => [Math.cos(angle / 2), Math.sin(angle / 2)]);
  return [
    c[0] * b[0] * a[0] + c[1] * b[1] * a[1],
    c[0] * b[0] * a[1] - c[1] * b[1] * a[0],
    c[0] * b[1] * a[0] + c[1] * b[0] * a[1],
    c[1] * b[0] * a[0] - c[0] * b[1] * a[1],
  ];
}

function tiltOf(quaternion) {
  const R = ofQuaternion(quaternion);
  return [Math.atan2(R[2][1], R[2][2]), Math.asin(Math.min(1, Math.max(-1, -R[2][0]))), Math.atan2(R[1][0], R[0][0])];
}

// Three sliders for a ball; its quaternion is written. Moves: whether others may move it.
function makeBall({ name }, run, changed, moves) {
  const parts = QUATERNION.map((part) => `${name}.orientation.${part}`);
  const read = () => tiltOf(parts.map((part) => sampleOf(run, part)));
  let tilts = read();
  const rows = TILTS.map((tilt, k) => {
    const half = tilt === "pitch" ? Math.PI / 2 : Math.PI;
    return makeSlider({ name: `${name} ${tilt}`, unit: "rad", range: [-half, half] }, tilts[k], (value) => {
      tilts[k] = value;
      tilted(tilts).forEach((part, i) => writeSample(run, parts[i], part));
      changed(parts);
    });
  });
  const show = () => {
    if (moves) tilts = read();
    rows.forEach(({ show: place }, k) => place(tilts[k]));
  };
  const reset = (values) => {
    parts.forEach((part, i) => writeSample(run, part, values.get(part)));
    tilts = read();
  };
  return { rows: rows.map(({ row }) => row), show, reset, names: parts };
}

function makeSingle(slider, run, changed) {
  const name = `${slider.name}.position`;
  const { row, show } = makeSlider(slider, sampleOf(run, name), (value) => {
    writeSample(run, name, value);
    changed([name]);
  });
  return { rows: [row], show: () => show(sampleOf(run, name)), reset: (values) => writeSample(run, name, values.get(name)), names: [name] };
}

// Who follows stands where its leader says; leaders may follow others.
function follow(sliders, run) {
  const byName = new Map(sliders.map((slider) => [slider.name, slider]));
  const placeOf = (name) => {
    const follows = byName.get(name)?.follows;
    if (!follows) return sampleOf(run, `${name}.position`);
    return follows.ratio * placeOf(follows.joint) + follows.offset;
  };
  for (const { name, follows } of sliders) if (follows) writeSample(run, `${name}.position`, placeOf(name));
}

// Where loops cannot be closed, all joints go back to where they were.
function makeSliders(store, sliders, closures) {
  const [run] = store.runs;
  const settle = () => follow(sliders, run);
  const changed = (held) => {
    settle();
    const others = names.filter((name) => !held.includes(name) && !following.has(name));
    const closed = closures.length === 0 || closeLoops(run, closures, others, settle);
    if (!closed) names.forEach((name) => writeSample(run, name, good.get(name)));
    torn.hidden = closed;
    good = new Map(names.map((name) => [name, sampleOf(run, name)]));
    parts.forEach((part) => part.show());
    store.set({ moved: true });
  };
  const parts = sliders.map((slider) => {
    return (slider.kind === "ball" ? makeBall : makeSingle)(slider, run, changed, closures.length > 0);
  });
  const names = parts.flatMap((part) => part.names);
  const following = new Set(sliders.filter(({ follows }) => follows).map(({ name }) => `${name}.position`));
  let good = new Map(names.map((name) => [name, sampleOf(run, name)]));
  const torn = make("p", { class: "warning", role: "note", hidden: true }, "The loops cannot be closed there.");
  const start = new Map(names.map((name) => [name, sampleOf(run, name)]));
  const origin = new Map(names.map((name) => [name, Number(name.endsWith(".orientation.w"))]));
  const put = (values) => {
    parts.forEach((part) => part.reset(values));
    changed([]);
  };
  if (parts.length === 0) byId("sliders").append(make("p", { class: "note" }, "Nothing of this machine moves."));
  byId("sliders").append(torn, ...parts.flatMap((part) => part.rows));
  byId("joint-tools").append(
    makeButton("start", "Put all joints where a run would start", () => put(start)),
    makeButton("zero", "Put all joints to zero", () => put(origin)),
  );
}

function fillBodies({ machine }) {
  const place = (vector) => vector.map((part) => showNumber(part, 4)).join(", ");
  const rows = machine.bodies.map(({ name, mass = 0, com, ellipsoid, looks = [] }) => {
    const size = ellipsoid ? ellipsoid.axes.map((axis) => showNumber(2 * axis, 3)).join(" × ") : "–";
    const cells = [showNumber(mass, 5), place(com), size, String(looks.filter((look) => !look.collision).length)];
    return make("tr", {}, make("td", {}, name), ...cells.map((cell) => make("td", { class: "number" }, cell)));
  });
  const total = machine.bodies.reduce((sum, { mass = 0 }) => sum + mass, 0);
  const heads = ["body", "mass [kg]", "centre of mass [m]", "ellipsoid of its inertia [m]", "looks"];
  byId("bodies").append(make("p", { class: "quiet" }, `${machine.bodies.length} bodies, ${showNumber(total, 5)} kg`), makeTable(heads, rows));
}

function startMachine() {
  const data = JSON.parse(byId("data").textContent);
  giveMeshes(data.runs, data.meshes);
  const store = makeStore(data.runs.map(prepareRun), [], { note: data.mesh_note });
  byId("notes").append(...data.notes.map((note) => make("p", { class: "warning", role: "note" }, note)));
  byId("notes").hidden = data.notes.length === 0;
  const ranges = data.sliders.filter(({ kind, limits }) => kind === "prismatic" && !limits.includes(null));
  store.runs[0].ranges = new Map(ranges.map(({ name, range }) => [name, range]));
  makeSliders(store, data.sliders, data.closures);
  makeReplay(store);
  fillBodies(store.runs[0]);
  DARK.addEventListener("change", () => store.set({ theme: true }));
  requestAnimationFrame(() => (document.documentElement.dataset.ready = "true"));
}

startMachine();
