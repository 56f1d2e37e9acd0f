// How do loops stay closed while a joint is moved by hand? The others follow, by Newton's method with the least motion:
//
//   x <- x - J^T (J J^T + g)^-1 h,   h(x): residuals of the loops, J: their derivatives by differences

const CLOSED = 1e-8;
const NUDGE = 1e-6;
const LARGEST_STEP = 0.3;

// How far a rotation is from none, about each axis.
const twist = (R) => [(R[2][1] - R[1][2]) / 2, (R[0][2] - R[2][0]) / 2, (R[1][0] - R[0][1]) / 2];

// Residuals of the kinds of closures, as the model has them, of points and rotations of their two ends.
const CLOSURES = {
  spherical: ({ apart }) => apart,
  universal: ({ apart, axes }) => [...apart, dot(...axes)],
  revolute: ({ apart, axes }) => [...apart, ...cross(...axes)],
  fixed: ({ apart, turned }) => [...apart, ...twist(turned)],
  prismatic: ({ apart, axes, turned }) => [...frameAlong(axes[0]).map((square) => dot(apart, square)), ...twist(turned)],
  rod: ({ apart, length }) => [lengthOf(apart) - length],
};

function residualsOf(run, closures) {
  const poses = posesAt(run, 0);
  return closures.flatMap((closure) => {
    if (closure.kind === "linear") {
      const sum = Object.entries(closure.of).reduce((total, [joint, weight]) => total + weight * positionAt(run, joint, 0), 0);
      return [sum - closure.offset];
    }
    const ends = closure.ends.map((name) => namedPoint(run, name));
    const frames = ends.map((point) => carrierOf(poses.get(point.body), point));
    const apart = subtract(...ends.map((point) => pointAt(poses, point)));
    if (closure.kind === "rod") return CLOSURES.rod({ apart, length: closure.length });
    const axes = closure.axes.map((axis, k) => turn(frames[k].R, axis));
    const turned = product(closure.rotation, product(transpose(frames[1].R), frames[0].R));
    return CLOSURES[closure.kind]({ apart, axes, turned });
  });
}

// The solution of A x = b for a symmetric positive A, by elimination.
function solvePositive(A, b) {
  const rows = A.map((row, i) => [...row, b[i]]);
  rows.forEach((pivot, i) => {
    for (const row of rows.slice(i + 1)) {
      const factor = row[i] / pivot[i];
      for (let k = i; k < row.length; k++) row[k] -= factor * pivot[k];
    }
  });
  const x = b.map(() => 0);
  for (let i = b.length - 1; i >= 0; i--) {
    const known = x.reduce((sum, value, k) => sum + (k > i ? rows[i][k] * value : 0), 0);
    x[i] = (rows[i][b.length] - known) / rows[i][i];
  }
  return x;
}

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

// Move the samples of these names until all closures hold; `settle` puts what follows them in its place. Whether they do.
function closeLoops(run, closures, names, settle) {
  for (let tries = 0; tries < 60; tries++) {
    const h = residualsOf(run, closures);
    if (largest(h) < CLOSED) return true;
    const columns = names.map((name) => {
      const value = sampleOf(run, name);
      writeSample(run, name, value + NUDGE);
      settle();
      const moved = residualsOf(run, closures);
      writeSample(run, name, value);
      return moved.map((part, i) => (part - h[i]) / NUDGE);
    });
    const A = h.map((_, i) => h.map((__, j) => columns.reduce((sum, column) => sum + column[i] * column[j], 0)));
    // Residuals that depend on each other share the motion.
    const give = 1e-9 * Math.max(1e-12, A.reduce((sum, row, i) => sum + row[i], 0));
    A.forEach((row, i) => (row[i] += give));
    const forces = solvePositive(A, h);
    const step = columns.map((column) => -column.reduce((sum, part, i) => sum + part * forces[i], 0));
    const share = Math.min(1, LARGEST_STEP / (largest(step) || 1));
    if (!Number.isFinite(share)) return false;
    names.forEach((name, k) => writeSample(run, name, sampleOf(run, name) + share * step[k]));
    settle();
  }
  return false;
}

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
  const torn = make("p", { class: "warning", role: "note", hidden: true }, "The loops do not close there.");
  const start = new Map(names.map((name) => [name, sampleOf(run, name)]));
  const origin = new Map(names.map((name) => [name, Number(name.endsWith(".orientation.w"))]));
  const put = (values) => {
    parts.forEach((part) => part.reset(values));
    changed([]);
  };
  if (parts.length === 0) byId("sliders").append(make("p", { class: "note" }, "Nothing of this machine moves."));
  byId("sliders").append(torn, ...parts.flatMap((part) => part.rows));
  byId("joint-tools").append(
    makeButton("start", "Move all joints to the start of a run", () => put(start)),
    makeButton("zero", "Move all joints to zero", () => put(origin)),
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

async function startMachine() {
  const data = JSON.parse(byId("data").textContent);
  giveMeshes(data.runs, data.meshes);
  const store = makeStore(await prepareRuns(data), [], { note: data.mesh_note });
  store.axes = true;
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
