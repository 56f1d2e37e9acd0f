// From where is the machine seen? Perspective, turned about the middle of the motion.

const VIEW_ANGLE = 0.6;
const VIEWS = { corner: [-0.9, 0.5], front: [-Math.PI / 2, 0.08], side: [0, 0.08], top: [-Math.PI / 2, 1.5] };

// Axes: upright axes of the world; extent: half lengths of what is to be seen, along them.
function makeCamera(axes, centre, extent) {
  const [azimuth, elevation] = startView(extent);
  const far = Math.max(1e-3, lengthOf(extent)) / Math.sin(VIEW_ANGLE / 2);
  return { axes, centre, far, shift: [0, 0], azimuth, elevation, zoom: 1 };
}

// Go as near as all the places allow, and put them into the middle of the picture.
function fitCamera(camera, places, width, height) {
  camera.zoom = 1;
  camera.shift = [0, 0];
  // Perspective makes sizes grow unevenly on the way, so it is gone in a few steps.
  for (let k = 0; k < 4; k++) {
    const { project } = makeProjection(camera, width, height);
    const spots = places.map(project);
    const [xs, ys] = [spots.map((spot) => spot.x - camera.shift[0]), spots.map((spot) => spot.y - camera.shift[1])];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const fill = Math.max((right - left) / (0.84 * width), (bottom - top) / (0.8 * height));
    camera.far *= Math.max(0.4, fill);
    camera.shift = [(width - left - right) / 2 / fill, (height - top - bottom) / 2 / fill];
  }
}

// A flat motion is seen from its broad side.
function startView([x, y, z]) {
  const largest = Math.max(x, y, z);
  if (y < 0.15 * largest && z > 0.3 * largest) return [-Math.PI / 2 + 0.5, 0.22];
  if (x < 0.15 * largest && z > 0.3 * largest) return [0.5, 0.22];
  return z < 0.3 * largest ? [-0.95, 0.62] : VIEWS.corner;
}

// A function place -> {x, y, depth} [pixels, m]; depth is the distance along the line of sight.
function makeProjection(camera, width, height) {
  const { azimuth, elevation, axes, centre } = camera;
  const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
  const combine = (a, b, c) => add(add(scale(axes[0], a), scale(axes[1], b)), scale(axes[2], c));
  const towards = combine(ca * ce, sa * ce, se);
  const right = combine(-sa, ca, 0);
  const up = combine(-ca * se, -sa * se, ce);
  const far = camera.far / camera.zoom;
  const focal = Math.min(width, height * 1.25) / 2 / Math.tan(VIEW_ANGLE / 2);
  const project = (place) => {
    const offset = subtract(place, centre);
    const depth = far - dot(offset, towards);
    const size = focal / Math.max(depth, 0.02 * far);
    const [x, y] = [width / 2 + camera.shift[0] * camera.zoom, height / 2 + camera.shift[1] * camera.zoom];
    return { x: x + dot(offset, right) * size, y: y - dot(offset, up) * size, depth, size };
  };
  return { project, towards, right, up, near: 0.05 * far, eye: add(centre, scale(towards, far)) };
}

// Drag or one finger turns, wheel or two fingers enlarge, shift and arrows turn, + and - enlarge.
function watchCamera(canvas, camera, redraw) {
  const fingers = new Map();
  const orbit = (dx, dy) => {
    camera.azimuth -= dx;
    camera.elevation = Math.min(1.55, Math.max(-1.55, camera.elevation + dy));
    redraw();
  };
  const enlarge = (factor) => {
    camera.zoom = Math.min(8, Math.max(0.3, camera.zoom * factor));
    redraw();
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const spread = () => distance(...fingers.values());
    const old = fingers.size === 2 ? spread() : 0;
    const now = { x: event.clientX, y: event.clientY };
    fingers.set(event.pointerId, now);
    if (fingers.size === 2) enlarge(spread() / Math.max(1, old));
    else orbit((now.x - before.x) * 0.008, (now.y - before.y) * 0.008);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    enlarge(Math.exp(-event.deltaY / 800));
  }, { passive: false });
  const turns = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  canvas.addEventListener("keydown", (event) => {
    if (event.shiftKey && turns[event.key]) orbit(...turns[event.key]);
    else if (event.key === "+" || event.key === "=") enlarge(1.2);
    else if (event.key === "-") enlarge(1 / 1.2);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
