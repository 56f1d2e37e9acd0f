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
  return {
    run, factor, axes, strokes, motion, floor, reach, radii, shapes, outline, low, high,
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
  renderer.drawShapes(view, [...dots, ...shown], light);
  renderer.drawLines(view, pathItems(scene, store.time, colours, pixels), [width * pixels, height * pixels]);
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
    ...placedShapes(scene.shapes.filter(({ clear }) => clear), poses, colours, { alpha: CLEAR, layer: 91 }),
  ];
}

// In front of the link it sits on, and never too small to be seen.
function dotItem(place, { reach, run, knob }, view, colours) {
  const slim = isLongChain(run.machine);
  const size = Math.max((slim ? 1.5 : 3) / view.project(place).size, (slim ? 0.002 : 0.01) * reach);
  const pose = { R: NO_TURN.map((row) => scale(row, size)), p: place };
  return { shape: knob, pose, colour: readShade(colours.point), lift: 0.04 * reach };
}

// The way of each point: strong where it has been, faint where it will go.
function pathItems(scene, time, colours, pixels) {
  const look = { colour: readShade(colours.point), widths: [2 * pixels, 1.2 * pixels], alphas: [0.95, 0.3], time };
  return scene.paths.map((line) => ({ line, ...look, lift: 0.01 * scene.reach }));
}

function edgeItems(scene, poses, colours, pixels) {
  const look = { widths: [1.2 * pixels, 1.2 * pixels], alphas: [0.8, 0.8], time: 0 };
  return scene.edges.map(({ body, node, colour, line }) => {
    return { line, pose: carrierOf(poses.get(body), { node }), colour: readShade(colours[colour] ?? colour), ...look };
  });
}
