// How is the machine drawn? Faces, lines and dots are sorted by depth and painted from far to near.

const LIGHT = unitOf([0.35, 0.55, 0.75]);

function readShade(colour) {
  const number = parseInt(colour.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

function mix(rgb, light) {
  return `rgb(${rgb.map((part) => Math.round(Math.min(255, part * light))).join(",")})`;
}

// Everything that stays the same while a machine is replayed; factor: how many times too large deformations are.
function prepareScene(run, factor) {
  const { machine } = run;
  const axes = uprightAxes(machine.gravity);
  const strokes = strokesOf(run);
  const motion = traceMotion(run, strokes, factor);
  const boxes = [...machine.obstacles.flatMap((box) => makeBox(box).vertices), ...touchedPlaces(run, factor)];
  const places = [...motion.reached, [0, 0, 0], ...boxes].map((place) => turn(axes, place));
  const low = places.reduce((least, place) => least.map((part, k) => Math.min(part, place[k])));
  const high = places.reduce((most, place) => most.map((part, k) => Math.max(part, place[k])));
  const reach = Math.max(1e-3, lengthOf(subtract(high, low)));
  const floor = chooseFloor(machine, axes, low[2], reach);
  const radii = makeRadii(machine, reach);
  const surfaces = makeSurfaces(machine, reach);
  const shapes = [...makeShapes(machine, reach, radii, strokes, floor, axes[2]), ...surfaces, ...makeLooks(machine)];
  const barrels = barrelsOf(machine, motion.lengths);
  low[2] = floor;
  const back = (place) => turn(transpose(axes), place);
  const outline = places.filter((_, k) => k % 7 === 0 || k >= places.length - boxes.length - 1).map(back);
  outline.push(...machine.joints.filter((joint) => joint.parent === GROUND).map((joint) => {
    const [x, y] = turn(axes, joint.origin);
    return back([x, y, floor]);
  }));
  outline.push(...surfaces.filter(({ body }) => body === GROUND).flatMap(({ vertices }) => vertices));
  const centre = back(scale(add(low, high), 0.5));
  const extent = scale(subtract(high, low), 0.5);
  return { run, factor, axes, strokes, motion, floor, reach, radii, shapes, barrels, outline, centre, extent, low, high };
}

// Points take other ways where deformations are made larger; what stands around them stays.
function retrace(scene, factor) {
  if (scene.factor !== factor) scene.motion = traceMotion(scene.run, scene.strokes, factor);
  scene.factor = factor;
}

// A floor under everything; a machine on an upright axis gets room for a column under it.
function chooseFloor(machine, axes, lowest, reach) {
  const upright = ({ rotation, axis }) => Math.abs(dot(turn(rotation, axis), axes[2])) > 0.9;
  const standing = machine.joints.filter((joint) => joint.parent === GROUND && joint.kind === "revolute" && upright(joint));
  const feet = standing.map((joint) => dot(joint.origin, axes[2]) - 0.2 * reach);
  return Math.min(lowest - 0.05 * reach, ...feet);
}

function drawScene(context, width, height, scene, camera, store, ghosts) {
  const colours = readColours();
  const view = makeProjection(camera, width, height);
  const poses = posesAt(scene.run, store.time, scene.factor);
  drawFloor(context, scene, view, colours);
  const struts = strutsAt(scene.run, store.time, poses);
  drawShadow(context, scene, poses, struts, view, colours);
  const items = [...pathItems(scene, store.time, view, colours), ...strutItems(struts, scene, view, colours)];
  for (const shape of scene.shapes) {
    items.push(...shapeItems(shape, carrierOf(poses.get(shape.body), shape), view, colours));
  }
  items.push(...bentItems(scene, poses, view, colours));
  for (const point of shownPoints(scene.run.machine)) items.push(dotItem(pointAt(poses, point), scene, view, colours));
  for (const ghost of ghosts) items.push(...ghostItems(ghost, store.time, scene, view, colours));
  items.sort((a, b) => b.depth - a.depth);
  for (const item of items) item.paint(context);
  drawTriad(context, scene, view, height);
  if (store.axes) drawAxes(context, scene, poses, view, colours);
  if (store.names) drawNames(context, scene, poses, struts, view, colours);
}

function shapeItems(shape, pose, view, colours) {
  const rgb = readShade(colours[shape.colour === "base" ? "floor" : shape.colour] ?? shape.colour);
  const places = shape.vertices.map((vertex) => placed(pose, vertex));
  const spots = places.map(view.project);
  const items = [];
  for (const face of shape.faces) {
    const [a, b, c] = [places[face[0]], places[face[1]], places[face[2]]];
    const normal = unitOf(cross(subtract(b, a), subtract(c, b)));
    if (!shape.clear && dot(normal, subtract(view.eye, a)) <= 0) continue;
    if (face.some((k) => spots[k].depth < view.near)) continue;
    const seen = [dot(normal, view.right), dot(normal, view.up), dot(normal, view.towards)];
    const colour = mix(rgb, 0.62 + 0.42 * Math.max(0, dot(seen, LIGHT)));
    const depth = face.reduce((sum, k) => sum + spots[k].depth, 0) / face.length - (shape.bias ?? 0);
    items.push({ depth, paint: (context) => paintFace(context, face.map((k) => spots[k]), colour, shape.clear) });
  }
  return items;
}

function paintFace(context, spots, colour, clear) {
  context.beginPath();
  spots.forEach(({ x, y }, k) => (k === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.fillStyle = context.strokeStyle = colour;
  context.lineWidth = clear ? 1.2 : 0.7;
  context.globalAlpha = clear ? 0.3 : 1;
  context.fill();
  context.globalAlpha = clear ? 0.8 : 1;
  // The edge in the face's own colour closes the hair lines between neighbours.
  context.stroke();
  context.globalAlpha = 1;
}

function lineItem(from, to, view, colour, width, alpha = 1) {
  const [a, b] = [view.project(from), view.project(to)];
  if (Math.min(a.depth, b.depth) < view.near) return [];
  const paint = (context) => {
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineCap = "round";
    strokeLine(context, a, b);
    context.globalAlpha = 1;
  };
  return [{ depth: (a.depth + b.depth) / 2, paint }];
}

function strokeLine(context, a, b) {
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.lineTo(b.x, b.y);
  context.stroke();
}

function dotItem(place, { reach, run }, view, colours) {
  const spot = view.project(place);
  const slim = isLongChain(run.machine);
  const paint = (context) => {
    context.fillStyle = colours.point;
    context.beginPath();
    context.arc(spot.x, spot.y, Math.max(slim ? 1.5 : 3, (slim ? 0.002 : 0.016) * reach * spot.size), 0, 2 * Math.PI);
    context.fill();
  };
  // In front of the link it sits on.
  return { depth: spot.depth - 0.04 * reach, paint };
}

// The way of each point: strong where it has been, faint where it will go.
function pathItems(scene, time, view, colours) {
  const items = [];
  for (const { times, places } of scene.motion.paths) {
    for (let k = 0; k + 1 < places.length; k++) {
      const past = times[k + 1] <= time;
      items.push(...lineItem(places[k], places[k + 1], view, colours.point, past ? 2 : 1.2, past ? 0.95 : 0.3));
    }
  }
  return items;
}

function strutItems(struts, scene, view, colours) {
  const shapes = struts.flatMap((strut, k) => makeStrut(strut, scene.barrels[k], scene.reach));
  return shapes.flatMap((shape) => shapeItems(shape, AT_REST, view, colours));
}

function bentItems(scene, poses, view, colours) {
  const bodies = scene.run.machine.bodies.filter((body) => body.shape && poses.has(body.name));
  const tubes = bodies.flatMap(({ name, shape }) => makeBentTubes(shape, poses.get(name), 0.7 * scene.radii.get(name)));
  return tubes.flatMap((tube) => shapeItems(tube, AT_REST, view, colours));
}

// Where all bodies' axes run: [[from, to], ...] in the world.
function skeletonOf(machine, poses) {
  return machine.joints.flatMap((joint) => bonesOf(machine, joint.child, poses.get(joint.child)));
}

// Another run's machine at the same time, as a thin skeleton.
function ghostItems(ghost, time, scene, view, colours) {
  const poses = posesAt(ghost, time, scene.factor);
  const bones = skeletonOf(ghost.machine, poses);
  const joints = ghost.machine.joints.filter((joint) => joint.kind === "prismatic" && !joint.bare);
  for (const joint of joints) {
    bones.push([placed(carrierOf(poses.get(joint.parent), joint), joint.origin), poses.get(joint.child).p]);
  }
  bones.push(...strutsAt(ghost, time, poses).map(({ ends }) => ends));
  return bones.flatMap(([from, to]) => dashItems(from, to, scene.reach, view, colours));
}

// A bone in pieces, so that what is in front hides it and it can be told from the machine.
function dashItems(from, to, reach, view, colours) {
  const at = (share) => add(scale(from, 1 - share), scale(to, share));
  const count = Math.max(1, Math.min(12, Math.round(lengthOf(subtract(to, from)) / (0.03 * reach))));
  const pieces = Array.from({ length: count }, (_, k) => [at(k / count), at((k + 0.7) / count)]);
  return pieces.flatMap(([a, b]) => lineItem(a, b, view, colours.accent, 5, 0.6));
}
