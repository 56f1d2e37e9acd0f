// What does the machine look like? Made up from its kinematics: tubes to what a body carries, drums on its axes.
//
// A shape is {body, vertices, faces, colour}: vertices in the body's frame, faces as rings of vertex numbers that run
// anticlockwise seen from outside.

const SIDES = 14;

// Two directions that make a right-handed frame with the third.
function frameAlong(axis) {
  const helper = Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const first = unitOf(cross(helper, axis));
  return [first, cross(axis, first)];
}

// A round bar from a to b, cut into short pieces so that it can be sorted by depth among others.
function makeTube(body, a, b, radius, colour, { sides = SIDES, piece = 3 * radius, turned = 0 } = {}) {
  const length = lengthOf(subtract(b, a));
  const axis = unitOf(subtract(b, a));
  const [u, v] = frameAlong(axis);
  const pieces = Math.max(1, Math.min(24, Math.round(length / piece)));
  const rings = Array.from({ length: pieces + 1 }, (_, i) => {
    return makeRing(add(a, scale(axis, (length * i) / pieces)), u, v, radius, sides, turned);
  });
  return { body, ...joinRings(rings), colour };
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
  return new Map([...depths].map(([body, depth]) => [body, reach * (0.034 - (0.014 * depth) / deepest)]));
}

// The rigid shapes of a machine that is about `reach` metres large; strokes: joint -> [lowest, highest] position [m].
function makeShapes(machine, reach, radii, strokes, floor, up) {
  const shapes = machine.obstacles.map(makeBox);
  // A body that has looks of its own is not made up.
  for (const joint of machine.joints.filter(({ child }) => looksOf(machine, child).length === 0)) {
    const radius = radii.get(joint.child) ?? (isLongChain(machine) ? 0.004 : 0.02) * reach;
    const ends = shapeOf(machine, joint.child) ? [] : anchorsOf(machine, joint.child);
    for (const end of ends) shapes.push(makeTube(joint.child, [0, 0, 0], end, radius, "link"));
    if (joint.bare) continue;
    if (["revolute", "screw", "ball"].includes(joint.kind)) shapes.push(makeDrum(joint, radius * 1.45, radius * 1.7));
    if (joint.kind === "prismatic") shapes.push(...makeSlide(joint, radius, strokes.get(joint.name)));
    if (joint.parent === GROUND) shapes.push(...makePedestal(joint, radius, floor, up));
  }
  return shapes;
}

function makeDrum(joint, radius, half) {
  const tip = scale(joint.axis, half);
  // What enters the drum is hidden by it: it counts as nearer than it is.
  return { ...makeTube(joint.child, scale(tip, -1), tip, radius, "joint", { piece: 2 * half }), bias: half };
}

// A rod on the child, long enough to stay in its guide on the parent.
function makeSlide(joint, radius, [low, high]) {
  const thin = radius * 0.7;
  const rod = [-high - 2 * radius, -low + 2 * radius].map((end) => scale(joint.axis, end));
  const axis = turn(joint.rotation, joint.axis);
  const guide = [-1.8, 1.8].map((end) => add(joint.origin, scale(axis, end * radius)));
  const square = { sides: 4, piece: 4 * radius, turned: Math.PI / 4 };
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
    makeTube(GROUND, plate, top, 1.9 * radius, "base", { piece: 4 * radius }),
    makeTube(GROUND, foot, plate, 3.4 * radius, "base"),
  ];
}
