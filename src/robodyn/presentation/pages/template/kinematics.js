// Where is every body of the machine at a time?
//
// A pose is {R, p}: R turns body axes into world axes (rows), p is the body's origin in the world [m].

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const lengthOf = (a) => Math.hypot(a[0], a[1], a[2]);
const unitOf = (a) => scale(a, 1 / (lengthOf(a) || 1));
const turn = (R, a) => [dot(R[0], a), dot(R[1], a), dot(R[2], a)];
const transpose = (R) => [0, 1, 2].map((k) => [R[0][k], R[1][k], R[2][k]]);
const product = (A, B) => {
  const columns = transpose(B);
  return A.map((row) => columns.map((column) => dot(row, column)));
};
const placed = (pose, a) => add(pose.p, turn(pose.R, a));

const NO_TURN = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const GROUND = "ground";

// Rodrigues' formula: the turn by an angle [rad] about a unit axis.
function aboutAxis([x, y, z], angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const k = 1 - c;
  return [
    [c + x * x * k, x * y * k - z * s, x * z * k + y * s],
    [y * x * k + z * s, c + y * y * k, y * z * k - x * s],
    [z * x * k - y * s, z * y * k + x * s, c + z * z * k],
  ];
}

// The rotation of a quaternion of any length.
function ofQuaternion([w, x, y, z]) {
  const s = 2 / (w * w + x * x + y * y + z * z || 1);
  return [
    [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
    [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
    [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)],
  ];
}

// The child's pose: to the joint's place on the parent, then along or about its axis, or by its quaternion.
function childPose(parent, joint, q) {
  const R = product(parent.R, joint.rotation);
  const p = placed(parent, joint.origin);
  if (joint.kind === "ball") return { R: product(R, ofQuaternion(q)), p };
  const along = { prismatic: q, screw: joint.pitch * q }[joint.kind] ?? 0;
  const turns = joint.kind === "revolute" || joint.kind === "screw";
  return { R: turns ? product(R, aboutAxis(joint.axis, q)) : R, p: add(p, turn(R, scale(joint.axis, along))) };
}

// A recorded coordinate at a time; zero where the record has no number.
function coordinateAt(run, name, t) {
  const q = heldValueAt(run, name, t);
  return Number.isFinite(q) ? q : 0;
}

// What a joint's pose depends on at a time: its position, or its quaternion.
function stateAt(run, joint, t) {
  if (joint.kind === "fixed") return 0;
  if (joint.kind !== "ball") return positionAt(run, joint.name, t);
  return ["w", "x", "y", "z"].map((part) => coordinateAt(run, `${joint.name}.orientation.${part}`, t));
}

// Where a joint stands at a time.
function positionAt(run, joint, t) {
  return coordinateAt(run, `${joint}.position`, t);
}

// A body of a machine by its name; frames between the motions of a joint are none.
function bodyOf(machine, name) {
  machine.byName ??= new Map(machine.bodies.map((body) => [body.name, body]));
  return machine.byName.get(name) ?? null;
}

// Poses of all bodies; factor: how many times too large deformations are.
function posesAt(run, t, factor = 1) {
  const poses = new Map([[GROUND, { R: NO_TURN, p: [0, 0, 0] }]]);
  for (const joint of run.machine.joints) {
    const pose = childPose(carrierOf(poses.get(joint.parent), joint), joint, stateAt(run, joint, t));
    poses.set(joint.child, bentPose(run, joint.child, pose, t, factor));
  }
  return poses;
}

function pointAt(poses, point) {
  return placed(carrierOf(poses.get(point.body), point), point.origin);
}

// The points worth showing: nodes within a beam are seen on the beam itself.
function shownPoints(machine) {
  return machine.points.filter((point) => !point.inner);
}

// What ends where on a body: joints it carries and its points, in its own frame; its centre of mass if nothing else.
function anchorsOf(machine, body) {
  const carried = machine.joints.filter((joint) => joint.parent === body).map((joint) => joint.origin);
  const points = machine.points.filter((point) => point.body === body).map((point) => point.origin);
  const ends = [...carried, ...points].filter((end) => lengthOf(end) > 1e-9);
  if (ends.length > 0) return ends;
  const com = bodyOf(machine, body)?.com ?? [0, 0, 0];
  return lengthOf(com) > 1e-9 ? [com] : [];
}

// Where a body's axes run in the world: [[from, to], ...].
function bonesOf(machine, body, pose) {
  const shape = shapeOf(machine, body);
  return shape ? bentEdges(shape, pose) : anchorsOf(machine, body).map((end) => [pose.p, placed(pose, end)]);
}

// Lowest and highest position of each slide, the zero position included: joint -> [low, high] [m].
function strokesOf(run) {
  const slides = run.machine.joints.filter((joint) => joint.kind === "prismatic" && !joint.bare);
  return new Map(slides.map(({ name }) => {
    const values = [...valuesOf(run, `${name}.position`), ...(run.ranges?.get(name) ?? [])].filter(Number.isFinite);
    return [name, [values.reduce((a, b) => Math.min(a, b), 0), values.reduce((a, b) => Math.max(a, b), 0)]];
  }));
}

// The points' ways through the world: [{name, times, places}], all places any part of the machine reaches, and the
// struts' lengths [m].
function traceMotion(run, strokes, factor) {
  const { machine, time } = run;
  const samples = time.length > 1 ? 600 : 1;
  const [start, end] = [time[0], time[time.length - 1]];
  const points = shownPoints(machine);
  const paths = points.map((point) => ({ name: point.name, times: [], places: [] }));
  const reached = [];
  const lengths = machine.struts.map(() => []);
  for (let k = 0; k <= samples; k++) {
    const t = start + ((end - start) * k) / samples;
    const poses = posesAt(run, t, factor);
    paths.forEach((path, i) => {
      path.times.push(t);
      path.places.push(pointAt(poses, points[i]));
    });
    strutsAt(run, t, poses).forEach((strut, i) => {
      lengths[i].push(strutLength(strut));
      reached.push(...strut.ends);
    });
    for (const joint of machine.joints) {
      const pose = poses.get(joint.child);
      reached.push(pose.p);
      if (k % 10 !== 0) continue;
      reached.push(...bonesOf(machine, joint.child, pose).map(([, end]) => end));
      for (const end of strokes.get(joint.name) ?? []) reached.push(placed(pose, scale(joint.axis, -end)));
    }
  }
  for (const path of paths) reached.push(...path.places);
  return { paths, reached, lengths };
}

// Axes with "up" as the third: against gravity, or the world's z where there is none.
function uprightAxes(gravity) {
  const up = lengthOf(gravity) > 1e-9 ? unitOf(scale(gravity, -1)) : [0, 0, 1];
  const reference = Math.abs(up[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
  const first = unitOf(subtract(reference, scale(up, dot(reference, up))));
  return [first, cross(up, first), up];
}

// Where a path is at an arc length: {place, tangent}; between the knots of its table a cubic.
function placeOnPath({ knots, place, tangent }, s) {
  let k = Math.max(0, Math.min(knots.length - 2, rowAt(knots, s)));
  // Where two pieces meet a knot stands twice.
  while (k > 0 && knots[k + 1] === knots[k]) k--;
  const step = knots[k + 1] - knots[k];
  const share = step > 0 ? (s - knots[k]) / step : 0;
  const blend = (axis) => hermite(share, place[k][axis], place[k + 1][axis], step * tangent[k][axis], step * tangent[k + 1][axis]);
  const direction = unitOf(add(scale(tangent[k], 1 - share), scale(tangent[k + 1], share)));
  return { place: [0, 1, 2].map(blend), tangent: direction };
}

const TRACK = 2000;

// How a point misses its path: times, places it should be at, offsets across the path and distances; null without a path.
function traceTrack(run) {
  const { path, time } = run;
  if (!path || time.length < 2) return null;
  if (run.track) return run.track;
  const track = { times: [], nominal: [], offsets: [], distances: [], largest: worstMiss(run)?.value ?? 0 };
  for (let k = 0; k <= TRACK; k++) {
    const t = time[0] + ((time[time.length - 1] - time[0]) * k) / TRACK;
    const p = ["x", "y", "z"].map((axis) => valueAt(run, `${path.point}.position.${axis}`, t));
    const distance = valueAt(run, path.distance, t);
    if (![...p, distance].every(Number.isFinite)) continue;
    const { place, tangent } = placeOnPath(path, valueAt(run, path.way, t));
    const away = subtract(p, place);
    track.times.push(t);
    track.nominal.push(place);
    track.offsets.push(subtract(away, scale(tangent, dot(away, tangent))));
    track.distances.push(distance);
  }
  return (run.track = track.times.length > 1 ? track : null);
}

// How many times too large deviations are drawn: as the reader wishes, else so that the largest is a tenth of the path.
function deviationFactor(track, store) {
  if (store.deviation) return store.deviation;
  const span = (k) => Math.max(...track.nominal.map((p) => p[k])) - Math.min(...track.nominal.map((p) => p[k]));
  const length = lengthOf([span(0), span(1), span(2)]);
  return track.largest > 0 ? Math.max(1, roundDown(length / 10 / track.largest)) : 1;
}

function roundDown(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [5, 2, 1].find((factor) => factor * power <= value * 1.001);
}
