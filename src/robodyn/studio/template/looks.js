// What do bodies look like that say so? Boxes, cylinders, capsules, spheres and meshes in the frames of their bodies.

const LOOKS = {
  box: ({ size }) => makeBox({ center: [0, 0, 0], size }),
  cylinder: ({ radius, length }) => makeTube("", [0, 0, -length / 2], [0, 0, length / 2], radius, "link", { sides: 20 }),
  sphere: ({ radius }) => makeRound(radius, 0),
  capsule: ({ radius, length }) => makeRound(radius, length),
  mesh: ({ vertices, faces }) => ({ vertices, faces }),
};

// A ball whose halves are a length apart along z.
function makeRound(radius, length) {
  const rings = [];
  const ringAt = (angle, shift) => makeRing(
    [0, 0, shift - radius * Math.cos(angle)], [1, 0, 0], [0, 1, 0], radius * Math.sin(angle));
  for (let k = 1; k <= BANDS; k++) rings.push(ringAt((Math.PI * k) / (2 * BANDS), -length / 2));
  for (let k = BANDS; k < 2 * BANDS; k++) rings.push(ringAt((Math.PI * k) / (2 * BANDS), length / 2));
  return joinRings(rings);
}

function looksOf(machine, body) {
  return machine.bodies.find((other) => other.name === body)?.looks ?? [];
}

function makeLooks(machine) {
  return machine.bodies.flatMap((body) => (body.looks ?? []).map((look) => {
    const { vertices, faces } = LOOKS[look.kind](look);
    const placedVertices = vertices.map((vertex) => add(look.origin, turn(look.rotation, vertex)));
    return { body: body.name, vertices: placedVertices, faces, colour: look.colour ?? "link" };
  }));
}
