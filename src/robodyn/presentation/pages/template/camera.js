// From where is the machine seen? Perspective, turned about the middle of the motion.

const VIEW_ANGLE = 0.6;
const VIEWS = { corner: [-0.9, 0.5], front: [-Math.PI / 2, 0.08], side: [0, 0.08], top: [-Math.PI / 2, 1.5] };

// Axes: upright axes of the world; extent: half lengths of what is to be seen, along them; skeletons: where the joints
// are at some times, in these axes.
function makeCamera({ axes, centre, extent, skeletons }) {
  const [azimuth, elevation] = startView(extent, skeletons);
  const far = Math.max(1e-3, lengthOf(extent)) / Math.sin(VIEW_ANGLE / 2);
  return { axes, centre, far, shift: [0, 0], azimuth, elevation, zoom: 1 };
}

// Go as near as all the places allow, and put them into the middle of the picture below its head.
function fitCamera(camera, { centre, outline: places }, width, height, head = 0) {
  camera.zoom = 1;
  camera.centre = centre;
  camera.shift = [0, 0];
  // Perspective makes sizes grow unevenly on the way, so it is gone in a few steps.
  for (let k = 0; k < 4; k++) {
    const { project } = makeProjection(camera, width, height);
    const spots = places.map(project);
    const [xs, ys] = [spots.map((spot) => spot.x - camera.shift[0]), spots.map((spot) => spot.y - camera.shift[1])];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const fill = Math.max((right - left) / (0.84 * width), (bottom - top) / (0.8 * (height - head)));
    camera.far *= Math.max(0.4, fill);
    camera.shift = [(width - left - right) / 2 / fill, (height + head - top - bottom) / 2 / fill];
  }
}

// A flat motion is seen from its broad side; any other from where the machine itself is never seen edge-on.
function startView([x, y, z], skeletons) {
  const largest = Math.max(x, y, z);
  if (y < 0.15 * largest && z > 0.3 * largest) return [-Math.PI / 2 + 0.5, 0.22];
  if (x < 0.15 * largest && z > 0.3 * largest) return [0.5, 0.22];
  const [usual, elevation] = z < 0.3 * largest ? [-0.95, 0.62] : VIEWS.corner;
  const azimuths = Array.from({ length: 12 }, (_, k) => usual + (k * Math.PI) / 6);
  const breadths = azimuths.map((azimuth) => Math.min(...skeletons.map((places) => breadthOf(places, azimuth, elevation))));
  const best = breadths.indexOf(Math.max(...breadths));
  return [breadths[best] > 1.3 * breadths[0] ? azimuths[best] : usual, elevation];
}

// The area that places take in the picture, as their variances tell it: the root of their covariance's determinant.
function breadthOf(places, azimuth, elevation) {
  const spots = places.map(([x, y, z]) => {
    const along = x * Math.cos(azimuth) + y * Math.sin(azimuth);
    return [y * Math.cos(azimuth) - x * Math.sin(azimuth), z * Math.cos(elevation) - along * Math.sin(elevation)];
  });
  const mean = (pick) => spots.reduce((sum, spot) => sum + pick(spot), 0) / spots.length;
  const [right, up] = [mean(([a]) => a), mean(([, b]) => b)];
  const [width, height, both] = [mean(([a]) => (a - right) ** 2), mean(([, b]) => (b - up) ** 2), mean(([a, b]) => (a - right) * (b - up))];
  return Math.sqrt(Math.max(0, width * height - both * both));
}

// A function place -> {x, y, depth, size} [pixels, m, pixels/m]; depth is the distance along the line of sight. `matrix`
// is the same for the renderer, by columns; beyond: how far behind the middle is still seen [m].
function makeProjection(camera, width, height, beyond = 1) {
  const { azimuth, elevation, axes, centre } = camera;
  const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
  const combine = (a, b, c) => add(add(scale(axes[0], a), scale(axes[1], b)), scale(axes[2], c));
  const towards = combine(ca * ce, sa * ce, se);
  const right = combine(-sa, ca, 0);
  const up = combine(-ca * se, -sa * se, ce);
  const far = camera.far / camera.zoom;
  const focal = Math.min(width, height * 1.25) / 2 / Math.tan(VIEW_ANGLE / 2);
  const shift = scale([...camera.shift, 0], camera.zoom);
  const project = (place) => {
    const offset = subtract(place, centre);
    const depth = far - dot(offset, towards);
    const size = focal / Math.max(depth, 0.02 * far);
    const [x, y] = [width / 2 + shift[0], height / 2 + shift[1]];
    return { x: x + dot(offset, right) * size, y: y - dot(offset, up) * size, depth, size };
  };
  const near = 0.02 * far;
  const last = far + beyond;
  const deep = [...scale(towards, -1), far + dot(towards, centre)];
  const row = (axis, gain, slide) => [...axis, -dot(axis, centre)].map((part, k) => gain * part + slide * deep[k]);
  const rows = [
    row(right, (2 * focal) / width, (2 * shift[0]) / width),
    row(up, (2 * focal) / height, (-2 * shift[1]) / height),
    deep.map((part, k) => (part * (last + near) - (k === 3 ? 2 * last * near : 0)) / (last - near)),
    deep,
  ];
  const matrix = [0, 1, 2, 3].flatMap((column) => rows.map((line) => line[column]));
  const lifting = (-2 * last * near) / (last - near);
  return { project, towards, right, up, near, matrix, lifting, eye: add(centre, scale(towards, far)), focal, far };
}

// Drag or one finger turns; right button, shift and drag or two fingers move; wheel, two fingers, + and - enlarge; shift
// and arrows turn.
function watchCamera(canvas, camera, redraw) {
  const fingers = new Map();
  const orbit = (dx, dy) => {
    camera.azimuth -= dx;
    camera.elevation = Math.min(1.55, Math.max(-1.55, camera.elevation + dy));
    redraw();
  };
  // What was in the middle follows the pointer.
  const move = (dx, dy) => {
    const { right, up, focal, far } = makeProjection(camera, canvas.clientWidth, canvas.clientHeight);
    camera.centre = add(camera.centre, add(scale(right, (-dx * far) / focal), scale(up, (dy * far) / focal)));
    redraw();
  };
  const enlarge = (factor) => {
    camera.zoom = Math.min(20, Math.max(0.2, camera.zoom * factor));
    redraw();
  };
  const glide = makeGlide(enlarge);
  const middle = () => scale([...fingers.values()].reduce((sum, { x, y }) => add(sum, [x, y, 0]), [0, 0, 0]), 1 / fingers.size);
  const spread = () => (fingers.size === 2 ? Math.max(1, distance(...fingers.values())) : 1);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const [before, wide] = [middle(), spread()];
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const [dx, dy] = subtract(middle(), before);
    if (fingers.size === 2) enlarge(spread() / wide);
    if (fingers.size === 2 || event.shiftKey || event.buttons > 1) move(dx, dy);
    else orbit(dx * 0.008, dy * 0.008);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    glide(-event.deltaY / 800);
  }, { passive: false });
  const turns = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  canvas.addEventListener("keydown", (event) => {
    if (event.shiftKey && turns[event.key]) orbit(...turns[event.key]);
    else if (event.key === "+" || event.key === "=") glide(0.18);
    else if (event.key === "-") glide(-0.18);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

// A wheel turns in jerks; the view comes nearer by a part of what is left at every picture.
function makeGlide(enlarge) {
  let left = 0;
  const step = () => {
    const part = Math.abs(left) < 0.003 ? left : 0.35 * left;
    left -= part;
    enlarge(Math.exp(part));
    if (left !== 0) requestAnimationFrame(step);
  };
  return (amount) => {
    const resting = left === 0;
    left += amount;
    if (resting) step();
  };
}
