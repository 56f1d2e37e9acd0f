// What does the machine look like? Made up from its kinematics: tubes to what a body carries, drums on its axes.
//
// A shape is {body, vertices, faces, colour}: vertices in the body's frame, faces as rings of vertex numbers that run
// anticlockwise seen from outside.

const SIDES = 24;
// Of what has a mass and no shape [kg/m^3]: about aluminium.
const DENSITY = 2700;
// An inertia that would need a body lighter than this tells nothing of its size [kg/m^3].
const LIGHTEST = 50;

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
  return new Map([...depths].map(([body, depth]) => [body, reach * (0.034 - (0.014 * depth) / deepest)]));
}

// The rigid shapes of a machine that is about `reach` metres large; strokes: joint -> [lowest, highest] position [m].
function makeShapes(machine, reach, radii, strokes, floor, up) {
  const shapes = [...machine.obstacles.map(makeBox), ...makePayloads(machine)];
  for (const joint of machine.joints.filter(({ child }) => isMadeUp(machine, child))) {
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

// A mass fixed to the last link, without looks and carrying nothing, has the size that its inertia tells, or its mass.
function makePayloads(machine) {
  const carried = machine.bodies.filter(({ name, mass }) => {
    if (!(mass > 0) || looksOf(machine, name).length > 0 || machine.joints.some(({ parent }) => parent === name)) return false;
    const holding = machine.joints.find(({ child }) => child === name);
    return holding?.kind === "fixed" && holding.parent !== GROUND && carriesNoJoint(machine, holding.parent);
  });
  return carried.map(({ name, mass, com, ellipsoid }) => {
    const volume = ellipsoid ? (4 / 3) * Math.PI * ellipsoid.axes.reduce((sides, axis) => sides * axis, 1) : Infinity;
    const radius = Math.cbrt((3 * mass) / (4 * Math.PI * DENSITY));
    const ball = { axes: [radius, radius, radius], rotation: NO_TURN };
    return { ...ellipsoidOf({ com, ellipsoid: mass > LIGHTEST * volume ? ellipsoid : ball }, "payload"), body: name };
  });
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
