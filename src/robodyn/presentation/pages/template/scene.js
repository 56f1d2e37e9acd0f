// What is there to be drawn? Everything of a machine that stays while it is replayed, and its picture at a time.

const CLEAR = 0.3;
// Directions of the lamp in the upright axes of the world.
const LAMP = unitOf([0.35, -0.45, 1]);
const AGES_AGO = -1e30;

function readShade(colour) {
  const number = parseInt(colour.slice(1), 16);
  return [(number >> 16) / 255, ((number >> 8) & 255) / 255, (number & 255) / 255];
}

// Factor: how many times too large deformations are.
function prepareScene(run, factor) {
  const { machine } = run;
  const axes = uprightAxes(machine.gravity);
  const strokes = strokesOf(run);
  const motion = traceMotion(run, strokes, factor);
  const looks = makeLooks(machine);
  const boxes = [...machine.obstacles.flatMap((box) => makeBox(box).vertices), ...touchedPlaces(run, looks, factor)];
  const places = [...motion.reached, ...(looks.length ? [] : [[0, 0, 0]]), ...boxes].map((place) => turn(axes, place));
  const low = places.reduce((least, place) => least.map((part, k) => Math.min(part, place[k])));
  const high = places.reduce((most, place) => most.map((part, k) => Math.max(part, place[k])));
  const reach = Math.max(1e-3, lengthOf(subtract(high, low)));
  const floor = chooseFloor(machine, axes, low[2], reach, looks.length > 0);
  const radii = makeRadii(machine, reach);
  const surfaces = makeSurfaces(machine, reach);
  const shapes = [...makeShapes(machine, reach, radii, strokes, floor, axes[2]), ...surfaces, ...looks];
  low[2] = floor;
  const back = (place) => turn(transpose(axes), place);
  const outline = places.filter((_, k) => k % 7 === 0 || k >= places.length - boxes.length - 1).map(back);
  outline.push(...touchedPlaces(run, shapes.filter((shape) => !looks.includes(shape)), factor));
  outline.push(...machine.joints.filter((joint) => joint.parent === GROUND && !looks.length).map((joint) => {
    const [x, y] = turn(axes, joint.origin);
    return back([x, y, floor]);
  }));
  outline.push(...surfaces.filter(({ body }) => body === GROUND).flatMap(({ vertices }) => vertices));
  const track = traceTrack(run);
  // Where the joints of an arm are at the start, halfway and at the end.
  const isArm = machine.joints.filter(({ kind }) => kind === "revolute").length > 2;
  const skeletons = (isArm ? [0, 0.5, 1] : []).map((share) => {
    const poses = posesAt(run, run.time[0] + share * (run.time[run.time.length - 1] - run.time[0]), factor);
    return [[0, 0, 0], ...machine.joints.map((joint) => poses.get(joint.child).p)].map((place) => turn(axes, place));
  });
  return {
    run, track, skeletons, factor, axes, strokes, motion, floor, reach, radii, shapes, outline, low, high,
    barrels: barrelsOf(machine, motion.lengths),
    collisions: makeLooks(machine, true),
    ellipsoids: makeEllipsoids(machine),
    knob: makeRound(1, 0),
    edges: shapes.filter(({ clear, faces }) => clear && faces.length <= 6).flatMap(edgeLines),
    paths: motion.paths.map(pathLine),
    centre: back(scale(add(low, high), 0.5)),
    extent: scale(subtract(high, low), 0.5),
  };
}

// Points take other ways where deformations are made larger; what stands around them stays.
function retrace(scene, factor) {
  if (scene.factor === factor) return;
  scene.motion = traceMotion(scene.run, scene.strokes, factor);
  scene.paths = scene.motion.paths.map(pathLine);
  scene.factor = factor;
}

function pathLine({ times, places }) {
  return { points: places.flatMap((place, k) => [...place, times[k]]) };
}

// The rings around a clear shape's faces, on the body that carries it.
function edgeLines({ body, node, vertices, faces, colour }) {
  return faces.map((face) => {
    const points = [...face, face[0]].flatMap((k) => [...vertices[k], AGES_AGO]);
    return { body, node, colour, line: { points } };
  });
}

// A floor under everything; a machine on an upright axis gets room for a column under it, one with looks stands on it.
function chooseFloor(machine, axes, lowest, reach, looks) {
  if (looks) return lowest;
  const upright = ({ rotation, axis }) => Math.abs(dot(turn(rotation, axis), axes[2])) > 0.9;
  const standing = machine.joints.filter((joint) => joint.parent === GROUND && joint.kind === "revolute" && upright(joint));
  const feet = standing.map((joint) => dot(joint.origin, axes[2]) - 0.2 * reach);
  return Math.min(lowest - 0.05 * reach, ...feet);
}

// The picture at a time: `renderer` draws what is in space, `marks` is a canvas above it for axes and names.
function drawScene(renderer, marks, width, height, pixels, scene, camera, store, ghosts) {
  const colours = readColours();
  const view = makeProjection(camera, width, height, 3 * scene.reach);
  const poses = posesAt(scene.run, store.time, scene.factor);
  const struts = strutsAt(scene.run, store.time, poses);
  const up = scene.axes[2];
  const key = turn(transpose(scene.axes), LAMP);
  const solids = solidItems(scene, poses, struts, colours);
  renderer.clear(width * pixels, height * pixels);
  renderer.drawFloor(view, floorOf(scene, colours));
  if (dot(view.eye, up) > scene.floor) {
    renderer.drawShadows(view, solids, { up, key, ground: scene.floor, shade: readShadow(colours.shadow) });
  }
  const inside = store.inertia || store.masses;
  const shown = store.solids ? solids.map((item) => (inside ? { ...item, alpha: CLEAR } : item)) : [];
  const light = { eye: view.eye, up, key };
  const dots = shownPoints(scene.run.machine).map((point) => dotItem(pointAt(poses, point), scene, view, colours));
  if (scene.track) dots.push(dotItem(trackPlace(scene, store), scene, view, colours));
  renderer.drawShapes(view, [...dots, ...shown], light);
  renderer.drawLines(view, pathItems(scene, store, colours, pixels), [width * pixels, height * pixels]);
  renderer.drawShapes(view, clearItems(scene, poses, store, ghosts, colours), light);
  renderer.drawLines(view, edgeItems(scene, poses, colours, pixels), [width * pixels, height * pixels]);
  annotate(marks, width, height, scene, poses, struts, view, colours, store);
}

function readShadow(colour) {
  const [red, green, blue, alpha] = colour.match(/[\d.]+/g).map(Number);
  return [red / 255, green / 255, blue / 255, alpha];
}

function floorOf(scene, colours) {
  const [across, along, up] = scene.axes;
  const level = subtract(scene.centre, scale(up, dot(scene.centre, up) - scene.floor));
  return { middle: level, across, along, size: 1.6 * scene.reach, step: gridStep(scene), colour: readShade(colours.floor) };
}

// A shape where it stands; alpha: how much of it hides what is behind.
function shapeItem(shape, pose, colours, more = {}) {
  return { shape, pose, colour: readShade(colours[shape.colour === "base" ? "floor" : shape.colour] ?? shape.colour), ...more };
}

function placedShapes(shapes, poses, colours, more) {
  return shapes.map((shape) => shapeItem(shape, carrierOf(poses.get(shape.body), shape), colours, more));
}

function solidItems(scene, poses, struts, colours) {
  const made = [
    ...struts.flatMap((strut, k) => makeStrut(strut, scene.barrels[k], scene.reach)),
    ...bentTubes(scene, poses),
  ].map((shape) => shapeItem({ ...shape, fleeting: true }, AT_REST, colours));
  return [...placedShapes(scene.shapes.filter(({ clear }) => !clear), poses, colours), ...made];
}

function bentTubes(scene, poses) {
  const bodies = scene.run.machine.bodies.filter((body) => body.shape && poses.has(body.name));
  return bodies.flatMap(({ name, shape }) => makeBentTubes(shape, poses.get(name), 0.7 * scene.radii.get(name)));
}

// Machines of other runs at the same time, ellipsoids and collision shapes on wish, obstacles and planes.
function clearItems(scene, poses, store, ghosts, colours) {
  const others = ghosts.flatMap((ghost, k) => {
    const [at, layer] = [posesAt(ghost.run, store.time, scene.factor), 2 + k];
    const items = solidItems(ghost, at, strutsAt(ghost.run, store.time, at), colours);
    return items.map((item) => ({ ...item, colour: readShade(colours.accent), alpha: CLEAR, layer }));
  });
  // In front of shapes that they agree with.
  const lift = 0.004 * scene.reach;
  return [
    ...others,
    ...(store.inertia ? placedShapes(scene.ellipsoids, poses, colours, { alpha: 0.5, layer: 80, lift }) : []),
    ...(store.collisions ? placedShapes(scene.collisions, poses, colours, { alpha: 0.45, layer: 90, lift }) : []),
    ...placedShapes(scene.shapes.filter(({ clear }) => clear), poses, colours, { alpha: 0.5, layer: 91 }),
  ];
}

// In front of the link it sits on, and never too small to be seen.
function dotItem(place, { reach, run, knob }, view, colours) {
  const slim = isLongChain(run.machine);
  const size = Math.max((slim ? 1.5 : 3) / view.project(place).size, (slim ? 0.002 : 0.006) * reach);
  const pose = { R: NO_TURN.map((row) => scale(row, size)), p: place };
  return { shape: knob, pose, colour: readShade(colours.point), lift: 0.04 * reach };
}

// The way of each point: strong where it has been, faint where it will go. Of a point with a path: the path, and beside it
// the way it takes, its deviation exaggerated and coloured by its distance.
function pathItems(scene, store, colours, pixels) {
  const look = { widths: [2 * pixels, 1.2 * pixels], alphas: [0.95, 0.3], time: store.time, lift: 0.01 * scene.reach };
  if (!scene.track) return scene.paths.map((line) => ({ line, ...look, colour: readShade(colours.point) }));
  const factor = deviationFactor(scene.track, store);
  if (scene.drawn?.factor !== factor || scene.drawn.colours !== colours) scene.drawn = drawTrack(scene, factor, colours);
  const { nominal, actual } = scene.drawn;
  return [
    { line: nominal, ...look, colour: readShade(colours.quiet), widths: [1.5 * pixels, 1.5 * pixels], alphas: [0.9, 0.9] },
    { line: actual, ...look, colour: readShade(colours.point), widths: [3 * pixels, 2 * pixels], alphas: [1, 0.45] },
  ];
}

function drawTrack({ run, track }, factor, colours) {
  const { times, nominal, offsets, distances, largest } = track;
  const points = nominal.flatMap((place, k) => [...add(place, scale(offsets[k], factor)), times[k]]);
  const tints = distances.map((distance) => shadeOf(distance / (largest || 1), colours));
  return { factor, colours, nominal: { points: run.path.place.flatMap((place) => [...place, AGES_AGO]) }, actual: { points, tints } };
}

// From good over fair to bad.
function shadeOf(share, colours) {
  const [good, fair, bad] = [colours.series[2], colours.series[5], colours.series[1]].map(readShade);
  const mix = (a, b, part) => a.map((value, k) => value + part * (b[k] - value));
  return share < 0.5 ? mix(good, fair, 2 * share) : mix(fair, bad, 2 * share - 1);
}

// Where the point with a path is drawn at the time.
function trackPlace({ track }, store) {
  const { times, nominal, offsets } = track;
  const k = Math.max(0, Math.min(times.length - 2, rowAt(times, store.time)));
  const share = Math.min(1, Math.max(0, (store.time - times[k]) / (times[k + 1] - times[k])));
  const between = (rows) => add(scale(rows[k], 1 - share), scale(rows[k + 1], share));
  return add(between(nominal), scale(between(offsets), deviationFactor(track, store)));
}

function edgeItems(scene, poses, colours, pixels) {
  const look = { widths: [1.2 * pixels, 1.2 * pixels], alphas: [0.8, 0.8], time: 0 };
  return scene.edges.map(({ body, node, colour, line }) => {
    return { line, pose: carrierOf(poses.get(body), { node }), colour: readShade(colours[colour] ?? colour), ...look };
  });
}

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
