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
