// What is written onto the picture? Axes, frames, centres of mass and names, on a flat drawing above it.

const AXES = [["x", "#d1495b"], ["y", "#3a9d5d"], ["z", "#3d7dd8"]];

function annotate(context, width, height, scene, poses, struts, view, colours, store) {
  drawTriad(context, scene, view, height);
  if (store.frames) drawFrames(context, scene, poses, view);
  if (store.axes) drawAxes(context, scene, poses, view, colours);
  if (store.masses) drawMasses(context, scene, poses, view, colours);
  if (store.names) drawNames(context, scene, poses, struts, view, colours);
}

// The step of the floor's grid [m].
function gridStep(scene) {
  return roundStep(scene.reach, 8);
}

// The world's axes, in a corner: only their directions matter.
function drawTriad(context, scene, view, height) {
  const [x, y, size] = [38, height - 34, 24];
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 2;
  const arms = AXES.map(([name, colour], k) => {
    const axis = NO_TURN[k];
    return { name, colour, across: dot(axis, view.right), up: dot(axis, view.up), near: dot(axis, view.towards) };
  });
  for (const arm of arms.sort((a, b) => a.near - b.near)) {
    const tip = { x: x + size * arm.across, y: y - size * arm.up };
    context.strokeStyle = context.fillStyle = arm.colour;
    strokeLine(context, { x, y }, tip);
    context.fillText(arm.name, x + 1.35 * size * arm.across, y - 1.35 * size * arm.up);
  }
}

function strokeLine(context, a, b) {
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.lineTo(b.x, b.y);
  context.stroke();
}

// The axes of every body's frame: x red, y green, z blue.
function drawFrames(context, scene, poses, view) {
  context.lineWidth = 2;
  const length = (isLongChain(scene.run.machine) ? 0.03 : 0.06) * scene.reach;
  for (const { name } of scene.run.machine.bodies) {
    const { R, p } = poses.get(name);
    const from = view.project(p);
    if (from.depth < view.near) continue;
    AXES.forEach(([, colour], k) => {
      context.strokeStyle = colour;
      strokeLine(context, from, view.project(add(p, scale(transpose(R)[k], length))));
    });
  }
}

// Centres of mass by the sign for them: a circle with two of its quarters filled; the larger, the heavier.
function drawMasses(context, scene, poses, view, colours) {
  const bodies = scene.run.machine.bodies.filter(({ mass }) => mass > 0);
  const heaviest = Math.max(...bodies.map(({ mass }) => mass));
  for (const { name, mass, com } of bodies) {
    const { x, y, depth } = view.project(placed(poses.get(name), com));
    if (depth > view.near) drawMassSign(context, x, y, 4 + 5 * Math.cbrt(mass / heaviest), colours);
  }
}

function drawMassSign(context, x, y, radius, colours) {
  const disc = (from, to, colour) => {
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, radius, from, to);
    context.closePath();
    context.fill();
  };
  disc(0, 2 * Math.PI, colours.card);
  disc(0, Math.PI / 2, colours.text);
  disc(Math.PI, 1.5 * Math.PI, colours.text);
  context.strokeStyle = colours.text;
  context.lineWidth = 1;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}

function jointPlaces(scene, poses) {
  return scene.run.machine.joints.filter((joint) => !["fixed", "ball"].includes(joint.kind) && !joint.bare).map((joint) => {
    const pose = poses.get(joint.child);
    return { joint, place: pose.p, axis: turn(pose.R, joint.axis) };
  });
}

// An arrow along each joint's axis, in its positive direction; dashed for a slide.
function drawAxes(context, scene, poses, view, colours) {
  // The axes of a hundred joints would hide what they turn.
  if (isLongChain(scene.run.machine)) return;
  context.strokeStyle = context.fillStyle = colours.accent;
  context.lineWidth = 1.4;
  for (const { joint, place, axis } of jointPlaces(scene, poses)) {
    const from = view.project(place);
    const to = view.project(add(place, scale(axis, 0.13 * scene.reach)));
    if (Math.min(from.depth, to.depth) < view.near) continue;
    context.setLineDash(joint.kind === "prismatic" ? [4, 3] : []);
    strokeLine(context, from, to);
    context.setLineDash([]);
    drawArrowHead(context, from, to);
  }
}

function drawArrowHead(context, from, to) {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length < 8) return;
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  context.beginPath();
  context.moveTo(to.x + 4 * ux, to.y + 4 * uy);
  context.lineTo(to.x - 4 * ux - 3.5 * uy, to.y - 4 * uy + 3.5 * ux);
  context.lineTo(to.x - 4 * ux + 3.5 * uy, to.y - 4 * uy - 3.5 * ux);
  context.fill();
}

function drawNames(context, scene, poses, struts, view, colours) {
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  const { obstacles } = scene.run.machine;
  const named = [
    ...jointPlaces(scene, poses).map(({ joint, place }) => [joint.name, place]),
    ...shownPoints(scene.run.machine).map((point) => [point.name, pointAt(poses, point)]),
    ...struts.map(({ name, ends }) => [name, scale(add(...ends), 0.5)]),
    ...obstacles.map((box) => [box.name, box.center]),
  ];
  const taken = [];
  for (const [name, place] of named) {
    const spot = view.project(place);
    let y = spot.y;
    // Names at the same place stand below each other.
    while (taken.some((other) => Math.abs(other.x - spot.x) < 60 && Math.abs(other.y - y) < 14)) y += 14;
    taken.push({ x: spot.x, y });
    context.lineWidth = 3;
    context.strokeStyle = colours.card;
    context.strokeText(name, spot.x + 12, y);
    context.fillStyle = colours.text;
    context.fillText(name, spot.x + 12, y);
  }
}
