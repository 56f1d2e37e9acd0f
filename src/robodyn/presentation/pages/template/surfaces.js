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
