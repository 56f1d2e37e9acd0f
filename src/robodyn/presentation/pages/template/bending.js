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
