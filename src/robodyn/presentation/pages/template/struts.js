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
