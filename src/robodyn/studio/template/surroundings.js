// What is drawn around the machine? Floor, shadow, axes and names.

// A grid of round steps under all that moves; returns its step [m].
function gridStep(scene) {
  return roundStep(scene.reach, 8);
}

function drawFloor(context, scene, view, colours) {
  const step = gridStep(scene);
  const reach = 0.35 * scene.reach;
  const limits = [0, 1].map((k) => [
    Math.floor((scene.low[k] - reach) / step),
    Math.ceil((scene.high[k] + reach) / step),
  ]);
  const place = (i, j) => turn(transpose(scene.axes), [i * step, j * step, scene.floor]);
  context.strokeStyle = colours.floor;
  context.lineWidth = 1;
  const piece = (a, b) => {
    const [from, to] = [view.project(a), view.project(b)];
    if (Math.min(from.depth, to.depth) > view.near) strokeLine(context, from, to);
  };
  for (let i = limits[0][0]; i <= limits[0][1]; i++) {
    for (let j = limits[1][0]; j <= limits[1][1]; j++) {
      context.globalAlpha = i === 0 || j === 0 ? 0.9 : 0.5;
      if (i < limits[0][1]) piece(place(i, j), place(i + 1, j));
      if (j < limits[1][1]) piece(place(i, j), place(i, j + 1));
    }
  }
  context.globalAlpha = 1;
}

// What stands straight above a place of the floor: the machine's shadow and the obstacles' outlines.
function drawShadow(context, scene, poses, struts, view, colours) {
  const up = scene.axes[2];
  const dropped = (place) => view.project(subtract(place, scale(up, dot(place, up) - scene.floor)));
  const near = view.project(scene.centre).size;
  context.beginPath();
  for (const [from, to] of [...skeletonOf(scene.run.machine, poses), ...struts.map(({ ends }) => ends)]) {
    const [a, b] = [dropped(from), dropped(to)];
    if (Math.min(a.depth, b.depth) < view.near) continue;
    context.moveTo(a.x, a.y);
    context.lineTo(b.x, b.y);
  }
  for (const box of scene.run.machine.obstacles) {
    const spots = makeBox(box).vertices.slice(0, 4).map(dropped);
    if (spots.some((spot) => spot.depth < view.near)) continue;
    spots.forEach(({ x, y }, k) => (k === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.closePath();
  }
  // One stroke for all: where shadows meet they are no darker.
  context.strokeStyle = colours.shadow;
  context.lineCap = context.lineJoin = "round";
  context.lineWidth = Math.max(2, 0.045 * scene.reach * near);
  context.stroke();
}

// The world's axes, in a corner: only their directions matter.
function drawTriad(context, scene, view, height) {
  const [x, y, size] = [38, height - 34, 24];
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 2;
  const arms = [["x", "#d1495b"], ["y", "#3a9d5d"], ["z", "#3d7dd8"]].map(([name, colour], k) => {
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
