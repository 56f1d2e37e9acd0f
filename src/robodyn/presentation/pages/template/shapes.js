// What does a machine look like of which only kinematics are known? Thin rods to what a body carries, rings on its axes.
//
// A shape is {body, vertices, faces, colour}: vertices in the body's frame, faces as rings of vertex numbers that run
// anticlockwise seen from outside.

const SIDES = 24;
// Two directions that make a right-handed frame with the third.
function frameAlong(axis) {
  const helper = Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const first = unitOf(cross(helper, axis));
  return [first, cross(axis, first)];
}

// A round bar from a to b.
function makeTube(body, a, b, radius, colour, { sides = SIDES, turned = 0 } = {}) {
  const [u, v] = frameAlong(unitOf(subtract(b, a)));
  return { body, ...joinRings([a, b].map((end) => makeRing(end, u, v, radius, sides, turned))), colour };
}

// Corners of a round section, in the plane of two directions.
function makeRing(centre, u, v, radius, sides = SIDES, turned = 0) {
  return Array.from({ length: sides }, (_, k) => {
    const angle = turned + (2 * Math.PI * k) / sides;
    return add(centre, add(scale(u, radius * Math.cos(angle)), scale(v, radius * Math.sin(angle))));
  });
}

// The skin over rings that follow each other, closed at both ends.
function joinRings(rings) {
  const [sides, pieces] = [rings[0].length, rings.length - 1];
  const ring = (i) => Array.from({ length: sides }, (_, k) => i * sides + k);
  const faces = [ring(0).reverse(), ring(pieces)];
  for (let i = 0; i < pieces; i++) {
    for (let k = 0; k < sides; k++) {
      const next = (k + 1) % sides;
      faces.push([i * sides + k, i * sides + next, (i + 1) * sides + next, (i + 1) * sides + k]);
    }
  }
  return { vertices: rings.flat(), faces };
}

function makeBox({ center, size }) {
  const vertices = [];
  for (const z of [-0.5, 0.5]) {
    for (const [x, y] of [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) {
      vertices.push([center[0] + x * size[0], center[1] + y * size[1], center[2] + z * size[2]]);
    }
  }
  const faces = [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
  return { body: GROUND, vertices, faces, colour: "obstacle", clear: true };
}

// How many joints away from the ground a body is.
function depthOf(machine, body) {
  const joint = machine.joints.find((candidate) => candidate.child === body);
  return joint ? 1 + depthOf(machine, joint.parent) : 0;
}

// A machine of very many links, such as a cable: its links are short beside the whole.
function isLongChain(machine) {
  return machine.joints.length > 30;
}

// Links grow thinner towards the tool; those of a long chain are as thin as they are short.
function makeRadii(machine, reach) {
  const depths = new Map(machine.bodies.map((body) => [body.name, depthOf(machine, body.name)]));
  const deepest = Math.max(1, ...depths.values());
  if (isLongChain(machine)) {
    const lengths = machine.bodies.flatMap((body) => anchorsOf(machine, body.name).map(lengthOf)).sort((a, b) => a - b);
    const radius = Math.min(0.01 * reach, 0.2 * (lengths[Math.floor(lengths.length / 2)] ?? reach));
    return new Map([...depths.keys()].map((body) => [body, radius]));
  }
  return new Map([...depths].map(([body, depth]) => [body, reach * (0.012 - (0.005 * depth) / deepest)]));
}

// The rigid shapes of a machine that is about `reach` metres large; strokes: joint -> [lowest, highest] position [m].
function makeShapes(machine, reach, radii, strokes, floor, up) {
  const shapes = [...machine.obstacles.map(makeBox), ...makePayloads(machine, reach)];
  for (const joint of machine.joints.filter(({ child }) => isMadeUp(machine, child))) {
    const radius = radii.get(joint.child) ?? (isLongChain(machine) ? 0.004 : 0.008) * reach;
    const ends = shapeOf(machine, joint.child) ? [] : anchorsOf(machine, joint.child);
    for (const end of ends) shapes.push(makeTube(joint.child, [0, 0, 0], end, radius, "link"));
    if (joint.bare) continue;
    if (["revolute", "screw", "ball"].includes(joint.kind)) shapes.push(makeDrum(joint, radius * 1.9, radius * 2.1));
    if (joint.kind === "prismatic") shapes.push(...makeSlide(joint, radius, strokes.get(joint.name)));
    if (joint.parent === GROUND) shapes.push(...makePedestal(joint, radius, floor, up));
  }
  return shapes;
}

// A body that has looks of its own is not made up, nor are mere frames beside bodies that have.
function isMadeUp(machine, body) {
  if (looksOf(machine, body).length > 0) return false;
  const dressed = machine.bodies.some(({ name }) => looksOf(machine, name).length > 0);
  const { mass, shape } = bodyOf(machine, body) ?? {};
  return !dressed || mass > 0 || Boolean(shape);
}

// Whether all that a body carries is fixed to it.
function carriesNoJoint(machine, body) {
  const carried = machine.joints.filter(({ parent }) => parent === body);
  return carried.every((joint) => joint.kind === "fixed" && carriesNoJoint(machine, joint.child));
}

// A mass fixed to the last link, without looks and carrying nothing, is a small ball: its size is not known.
function makePayloads(machine, reach) {
  const carried = machine.bodies.filter(({ name, mass }) => {
    if (!(mass > 0) || looksOf(machine, name).length > 0 || machine.joints.some(({ parent }) => parent === name)) return false;
    const holding = machine.joints.find(({ child }) => child === name);
    return holding?.kind === "fixed" && holding.parent !== GROUND && carriesNoJoint(machine, holding.parent);
  });
  const axes = [0.014 * reach, 0.014 * reach, 0.014 * reach];
  return carried.map(({ name, com }) => ({ ...ellipsoidOf({ com, ellipsoid: { axes, rotation: NO_TURN } }, "payload"), body: name }));
}

function makeDrum(joint, radius, half) {
  const tip = scale(joint.axis, half);
  return makeTube(joint.child, scale(tip, -1), tip, radius, "joint");
}

// A rod on the child, long enough to stay in its guide on the parent.
function makeSlide(joint, radius, [low, high]) {
  const thin = radius * 0.7;
  const rod = [-high - 2 * radius, -low + 2 * radius].map((end) => scale(joint.axis, end));
  const axis = turn(joint.rotation, joint.axis);
  const guide = [-1.8, 1.8].map((end) => add(joint.origin, scale(axis, end * radius)));
  const square = { sides: 4, turned: Math.PI / 4 };
  return [
    makeTube(joint.child, rod[0], rod[1], thin, "link"),
    { ...makeTube(joint.parent, guide[0], guide[1], 2 * radius, "joint", square), node: joint.node },
  ];
}

// A column under an upright first axis; other machines hang or stand on a small plate.
function makePedestal(joint, radius, floor, up) {
  const height = dot(joint.origin, up) - floor;
  const upright = Math.abs(dot(turn(joint.rotation, joint.axis), up)) > 0.9 && joint.kind === "revolute";
  if (!upright || height <= 2 * radius) return [];
  const top = add(joint.origin, scale(up, -1.7 * radius));
  const foot = add(joint.origin, scale(up, -height));
  const plate = add(foot, scale(up, 0.8 * radius));
  return [
    makeTube(GROUND, plate, top, 1.9 * radius, "base"),
    makeTube(GROUND, foot, plate, 3.4 * radius, "base"),
  ];
}

// How does a body that deforms move and look? In its own frame each of its nodes stands at
//
//   r = r0 + sum shift_i eta_i + 1/2 sum bend_ij eta_i eta_j,  turned by about sum turn_i eta_i
//
// where eta are its modal coordinates, as recorded times a factor of exaggeration. What it carries stands on a node.

const MOST_EXAGGERATED = 1000;
// Number of the first of two faces that are a stripe along a tube: behind its two ends, a quarter around it.
const STRIPE = 2 + SIDES / 4;

// A sum of vectors with weights, added to a first one.
function weigh(start, vectors, weights) {
  return vectors.reduce((sum, vector, i) => add(sum, scale(vector, weights[i])), start);
}

// Cayley's rotation of about theta [rad], as in the model: a rotation however large theta is made.
function cayley(theta) {
  const angle = lengthOf(theta);
  return angle < 1e-12 ? NO_TURN : aboutAxis(scale(theta, 1 / angle), 2 * Math.atan(angle / 2));
}

// The frame that carries what stands on a node: places in it are told as in the body's own frame at rest.
function nodeFrame(pose, { position, shift, turn: turns, bend }, eta) {
  const halves = eta.map((part) => 0.5 * part);
  const moves = bend ? shift.map((move, i) => weigh(move, bend[i], halves)) : shift;
  const R = product(pose.R, cayley(weigh([0, 0, 0], turns, eta)));
  return { R, p: subtract(placed(pose, weigh(position, moves, eta)), turn(R, position)) };
}

function shapeOf(machine, body) {
  return bodyOf(machine, body)?.shape ?? null;
}

function isFlexible(machine) {
  return machine.bodies.some((body) => body.shape);
}

// The pose of a body with the frames of its nodes, where it has any.
function bentPose(run, body, pose, t, factor) {
  const shape = shapeOf(run.machine, body);
  if (!shape) return pose;
  const eta = shape.modes.map((mode) => factor * coordinateAt(run, mode, t));
  return { ...pose, nodes: shape.nodes.map((node) => nodeFrame(pose, node, eta)) };
}

// The frame a joint, point or shape stands on: of its body, or of the node that carries it.
function carrierOf(pose, { node }) {
  return node == null ? pose : pose.nodes[node];
}

// The lines of a deformed body in the world: [[from, to], ...].
function bentEdges(shape, pose) {
  const places = shape.nodes.map((node, k) => placed(pose.nodes[k], node.position));
  return shape.edges.map(([a, b]) => [places[a], places[b]]);
}

// A tube along every edge, each of its ends turned with its node, so that neighbours meet without a gap; a stripe on it
// tells how it twists.
function makeBentTubes(shape, pose, radius) {
  return shape.edges.flatMap((edge) => {
    const [a, b] = edge.map((k) => shape.nodes[k].position);
    const [u, v] = frameAlong(unitOf(subtract(b, a)));
    const rings = edge.map((k) => makeRing(shape.nodes[k].position, u, v, radius).map((spot) => placed(pose.nodes[k], spot)));
    const { vertices, faces } = joinRings(rings);
    const stripe = faces.splice(STRIPE, 2);
    return [{ body: GROUND, vertices, faces, colour: "link" }, { body: GROUND, vertices, faces: stripe, colour: "joint" }];
  });
}

// What do the surfaces look like that touch and are touched? Boxes and balls as they are, of planes a clear square.

// The shapes of a machine that is about `reach` metres large, each on the body of its point.
function makeSurfaces(machine, reach) {
  return machine.surfaces.map((surface) => {
    const { body, node, origin } = machine.points.find((point) => point.name === surface.point);
    const { vertices, faces } = SURFACES[surface.kind](surface, reach);
    const clear = surface.kind === "plane" || body === GROUND;
    const look = { colour: clear ? "obstacle" : "link", clear };
    return { body, node, vertices: vertices.map((vertex) => add(origin, vertex)), faces, ...look };
  });
}

const SURFACES = {
  plane: ({ normal }, reach) => {
    const [u, v] = frameAlong(normal).map((side) => scale(side, 0.22 * reach));
    const vertices = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => add(scale(u, a), scale(v, b)));
    return { vertices, faces: [[0, 1, 2, 3]] };
  },
  box: ({ size, rotation }) => {
    const { vertices, faces } = makeBox({ center: [0, 0, 0], size });
    return { vertices: vertices.map((vertex) => turn(rotation, vertex)), faces };
  },
  ball: ({ radius }) => makeRound(radius, 0),
};

// All places that surfaces of a size of their own and other shapes reach, at the ends and in the middle of a run.
function touchedPlaces(run, others, factor) {
  const [start, end] = [run.time[0], run.time[run.time.length - 1]];
  const shapes = [...makeSurfaces(run.machine, 0), ...others].map((shape) => ({ ...shape, ends: outermost(shape) }));
  return [start, (start + end) / 2, end].flatMap((t) => {
    const poses = posesAt(run, t, factor);
    return shapes.flatMap(({ body, node, ends }) => ends.map((end) => placed(carrierOf(poses.get(body), { node }), end)));
  });
}

// Which triangles and normals are drawn for a shape? Smooth over round parts, sharp at edges.
//
// A shape is {vertices, faces} with faces as rings of vertex numbers, or {corners, triangles} with flat typed arrays.

const CREASE = Math.cos((40 * Math.PI) / 180);
// Cosine between normals that are drawn as one.
const SAME = 0.9998;

function flatten({ vertices, faces, corners, triangles }) {
  if (corners) return { corners, triangles };
  const fans = faces.flatMap((face) => face.slice(2).flatMap((corner, k) => [face[0], face[k + 1], corner]));
  return { corners: Float32Array.from(vertices.flat()), triangles: Uint32Array.from(fans) };
}

// Normal of each triangle, as long as twice its area.
function faceNormals(corners, triangles) {
  const normals = new Float32Array(triangles.length);
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [3 * triangles[k], 3 * triangles[k + 1], 3 * triangles[k + 2]];
    const [ux, uy, uz] = [corners[b] - corners[a], corners[b + 1] - corners[a + 1], corners[b + 2] - corners[a + 2]];
    const [vx, vy, vz] = [corners[c] - corners[a], corners[c + 1] - corners[a + 1], corners[c + 2] - corners[a + 2]];
    normals[k] = uy * vz - uz * vy;
    normals[k + 1] = uz * vx - ux * vz;
    normals[k + 2] = ux * vy - uy * vx;
  }
  return normals;
}

// The triangles around each corner: `list` from `start[corner]` to `start[corner + 1]`.
function facesAround(triangles, count) {
  const start = new Uint32Array(count + 1);
  for (const corner of triangles) start[corner + 1]++;
  for (let k = 0; k < count; k++) start[k + 1] += start[k];
  const [next, list] = [start.slice(), new Uint32Array(triangles.length)];
  triangles.forEach((corner, k) => (list[next[corner]++] = k - (k % 3)));
  return { start, list };
}

// Corners with their normals, six numbers each, and the triangles by their numbers: {numbers, triangles}. A corner on an
// edge is there once for each side of it.
function makeSkin(shape) {
  const { corners, triangles } = flatten(shape);
  const normals = faceNormals(corners, triangles);
  const around = facesAround(triangles, corners.length / 3);
  const lengths = Float32Array.from({ length: triangles.length / 3 }, (_, k) => lengthOf(normals.subarray(3 * k, 3 * k + 3)));
  const [numbers, numbered, made] = [[], new Uint32Array(triangles.length), Array.from({ length: corners.length / 3 }, () => [])];
  for (let k = 0; k < triangles.length; k++) {
    const corner = triangles[k];
    const normal = smoothNormal(normals, lengths, around, corner, k - (k % 3));
    let known = made[corner].find((number) => dot(normal, numbers.slice(6 * number + 3, 6 * number + 6)) > SAME);
    if (known === undefined) {
      made[corner].push((known = numbers.length / 6));
      numbers.push(corners[3 * corner], corners[3 * corner + 1], corners[3 * corner + 2], ...normal);
    }
    numbered[k] = known;
  }
  return { numbers: Float32Array.from(numbers), triangles: numbered };
}

// The mean normal of the triangles around a corner that are nearly level with one of them.
function smoothNormal(normals, lengths, { start, list }, corner, own) {
  const [nx, ny, nz] = [normals[own], normals[own + 1], normals[own + 2]];
  const least = CREASE * lengths[own / 3];
  let [x, y, z] = [0, 0, 0];
  for (let i = start[corner]; i < start[corner + 1]; i++) {
    const f = list[i];
    if (nx * normals[f] + ny * normals[f + 1] + nz * normals[f + 2] < least * lengths[f / 3]) continue;
    x += normals[f];
    y += normals[f + 1];
    z += normals[f + 2];
  }
  return unitOf([x, y, z]);
}

const COMPASS = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((z) => [x, y, z]))).filter(lengthOf);

// The outermost corners of a shape, a few that stand for all when a view is fitted.
function outermost(shape) {
  const { corners } = flatten(shape);
  const found = new Set();
  for (const [x, y, z] of corners.length ? COMPASS : []) {
    let [best, far] = [0, -Infinity];
    for (let k = 0; k < corners.length; k += 3) {
      const reach = x * corners[k] + y * corners[k + 1] + z * corners[k + 2];
      if (reach > far) [best, far] = [k, reach];
    }
    found.add(best);
  }
  return [...found].map((k) => [corners[k], corners[k + 1], corners[k + 2]]);
}

// What do bodies look like that say so? Boxes, cylinders, capsules, spheres and meshes in the frames of their bodies.

const BANDS = 12;
const LOOKS = {
  box: ({ size }) => [makeBox({ center: [0, 0, 0], size })],
  cylinder: ({ radius, length }) => [makeTube("", [0, 0, -length / 2], [0, 0, length / 2], radius, null, { sides: 32 })],
  sphere: ({ radius }) => [makeRound(radius, 0)],
  capsule: ({ radius, length }) => [makeRound(radius, length)],
  mesh: ({ meshes }) => meshes,
};

// A ball whose halves are a length apart along z.
function makeRound(radius, length, sides = 28) {
  const rings = [];
  const ringAt = (angle, shift) => makeRing(
    [0, 0, shift - radius * Math.cos(angle)], [1, 0, 0], [0, 1, 0], radius * Math.sin(angle), sides);
  for (let k = 1; k <= BANDS; k++) rings.push(ringAt((Math.PI * k) / (2 * BANDS), -length / 2));
  for (let k = BANDS; k < 2 * BANDS; k++) rings.push(ringAt((Math.PI * k) / (2 * BANDS), length / 2));
  return joinRings(rings);
}

// A mesh of the page's data: corners count in steps from the low end of the box around them.
function readMesh({ low, step, corners, faces, wide, colour }) {
  const steps = new Uint16Array(decodeBytes(corners).buffer);
  const bytes = decodeBytes(faces).buffer;
  const triangles = wide ? new Uint32Array(bytes) : Uint32Array.from(new Uint16Array(bytes));
  return { corners: Float32Array.from(steps, (count, k) => low[k % 3] + step[k % 3] * count), triangles, colour };
}

// Looks that are meshes get them instead of their numbers; each is decoded once.
function giveMeshes(runs, meshes) {
  const read = meshes.map(readMesh);
  for (const look of runs.flatMap((run) => run.machine?.bodies ?? []).flatMap((body) => body.looks ?? [])) {
    if (look.kind === "mesh") look.meshes = look.meshes.map((number) => read[number]);
  }
}

// What is drawn for a body: its looks but for those that are for contacts.
function looksOf(machine, body) {
  return (bodyOf(machine, body)?.looks ?? []).filter((look) => !look.collision);
}

// The shapes of all looks of a machine, for the eye or for contacts.
function makeLooks(machine, collision = false) {
  return machine.bodies.flatMap((body) => (body.looks ?? []).flatMap((look) => {
    if (Boolean(look.collision) !== collision) return [];
    return LOOKS[look.kind](look).map((shape) => {
      const colour = collision ? "barrel" : look.colour ?? shape.colour ?? "link";
      return { ...placeShape(shape, look), body: body.name, colour, clear: false };
    });
  }));
}

// A shape put where a look stands on its body.
function placeShape({ vertices, faces, corners, triangles }, { origin, rotation }) {
  if (vertices) return { vertices: vertices.map((vertex) => add(origin, turn(rotation, vertex))), faces };
  const moved = new Float32Array(corners.length);
  for (let k = 0; k < corners.length; k += 3) {
    moved.set(add(origin, turn(rotation, [corners[k], corners[k + 1], corners[k + 2]])), k);
  }
  return { corners: moved, triangles };
}

// A homogeneous ellipsoid of the same mass and inertia for each body that has one.
function makeEllipsoids(machine) {
  return machine.bodies.filter(({ ellipsoid }) => ellipsoid).map((body) => ({ ...ellipsoidOf(body), body: body.name }));
}

function ellipsoidOf({ com, ellipsoid: { axes, rotation } }, colour = "inertia") {
  const { vertices, faces } = makeRound(1, 0);
  const stretched = vertices.map((vertex) => add(com, turn(rotation, vertex.map((part, k) => part * axes[k]))));
  return { vertices: stretched, faces, colour };
}

// What do the machine's cylinders and springs look like? A thick barrel at one end, a thin rod from the other.
//
// A strut of the machine runs between two points (start, end), or closes a triangle beside a hinge (at): side b lies
// along a fixed arm, side a along the same arm turned about the hinge's axis by the joints. A placed strut is
// {name, ends, hinge}: both ends in the world, and the hinge its two arms start from, or null.

const BARREL_SHARE = 0.55;
const AT_REST = { R: NO_TURN, p: [0, 0, 0] };

function strutsAt(run, t, poses) {
  return run.machine.struts.map((strut) => (strut.at ? triangleAt(run, strut, t, poses) : distanceAt(run, strut, poses)));
}

function namedPoint(run, name) {
  return run.machine.points.find((point) => point.name === name);
}

function distanceAt(run, { name, start, end }, poses) {
  return { name, hinge: null, ends: [start, end].map((point) => pointAt(poses, namedPoint(run, point))) };
}

// The arm is laid at right angles to the axis, so that the angle between the sides is phi.
function triangleAt(run, { name, at, of, sides, offset, arm, axis }, t, poses) {
  const point = namedPoint(run, at);
  const pose = carrierOf(poses.get(point.body), point);
  const hingeAxis = unitOf(axis);
  const direction = unitOf(subtract(arm, scale(hingeAxis, dot(arm, hingeAxis))));
  const phi = Object.entries(of).reduce((sum, [joint, weight]) => sum + weight * positionAt(run, joint, t), offset);
  const turned = turn(aboutAxis(hingeAxis, phi), direction);
  const tips = [scale(direction, sides[1]), scale(turned, sides[0])];
  return { name, hinge: pointAt(poses, point), ends: tips.map((tip) => placed(pose, add(point.origin, tip))) };
}

function strutLength({ ends }) {
  return lengthOf(subtract(ends[1], ends[0]));
}

// Lengths of the barrels [m], the same all through the replay: the rod of a strut that is never shorter is always seen.
function barrelsOf(machine, lengths) {
  return machine.struts.map(({ range }, k) => {
    const [shortest, longest] = [Math.min(...lengths[k]), range ? range[1] : Math.max(...lengths[k])];
    return Math.min(BARREL_SHARE * longest, 0.9 * shortest);
  });
}

// The shapes of a placed strut in a machine that is about `reach` metres large.
function makeStrut({ ends, hinge }, barrel, reach) {
  const [foot, head] = ends;
  const thick = Math.min(0.017 * reach, 0.16 * barrel);
  const along = unitOf(subtract(head, foot));
  const collar = add(foot, scale(along, barrel));
  const arms = hinge ? ends.map((end) => makeTube(GROUND, hinge, end, 0.55 * thick, "link")) : [];
  return [
    ...arms,
    makeTube(GROUND, foot, collar, thick, "barrel"),
    makeTube(GROUND, collar, head, 0.42 * thick, "rod"),
    ...ends.map((end) => makePin(end, along, thick)),
  ];
}

// What a strut hangs on: a pin across its end, level where it can be.
function makePin(place, along, radius) {
  const half = scale(frameAlong(along)[0], 1.3 * radius);
  return makeTube(GROUND, subtract(place, half), add(place, half), 1.15 * radius, "joint");
}
