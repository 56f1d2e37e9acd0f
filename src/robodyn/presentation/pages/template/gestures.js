// What do pointer, wheel, fingers and keys do in a chart?
//
//   drag: enlarge the marked part (across, upward or both); shift or middle button and drag: move
//   wheel: enlarge around the pointer; click: go to that time; double click: all of it again
//   one finger: the read-out follows; two fingers: enlarge and move

const LEAST_DRAG = 6;

// The marked part: a narrow or a low one takes the whole of the other direction.
function brushBox({ from, to }, scales) {
  const clip = (value, low, high) => Math.min(Math.max(value, low), high);
  const xs = [from.x, to.x].map((x) => clip(x, scales.left, scales.right)).sort((a, b) => a - b);
  const ys = [from.y, to.y].map((y) => clip(y, scales.top, scales.bottom)).sort((a, b) => a - b);
  const wide = Math.abs(to.x - from.x) >= LEAST_DRAG * 2;
  const high = Math.abs(to.y - from.y) >= LEAST_DRAG * 5;
  const across = wide || !high;
  return {
    left: across ? xs[0] : scales.left,
    right: across ? xs[1] : scales.right,
    top: high ? ys[0] : scales.top,
    bottom: high ? ys[1] : scales.bottom,
    high,
  };
}

function enlargeBrush(panel) {
  const { store, unit, scales, brush } = panel;
  const box = brushBox(brush, scales);
  if (box.high) store.heights.set(unit, [scales.value(box.bottom), scales.value(box.top)]);
  showRange(store, scales.t(box.left), scales.t(box.right));
}

function showAll(store) {
  store.heights.clear();
  store.set({ range: store.span });
}

function pointOf(panel, event) {
  const box = panel.over.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function clippedTime(panel, x) {
  const { scales } = panel;
  return scales.t(Math.min(Math.max(x, scales.left), scales.right));
}

function watchPointer(panel) {
  const { over, store } = panel;
  const fingers = new Map();
  let drag = null;
  over.addEventListener("pointerdown", (event) => {
    if (event.button === 2 || !panel.scales) return;
    over.setPointerCapture(event.pointerId);
    const point = pointOf(panel, event);
    if (event.pointerType === "touch") fingers.set(event.pointerId, point);
    const moving = event.shiftKey || event.button === 1;
    drag = { from: point, range: store.range, moving, touch: event.pointerType === "touch" };
    if (moving) event.preventDefault();
    if (fingers.size === 1) store.set({ hover: clippedTime(panel, point.x) });
  });
  over.addEventListener("pointermove", (event) => {
    if (!panel.scales) return;
    const point = pointOf(panel, event);
    if (fingers.has(event.pointerId) && fingers.size === 2) return pinch(panel, fingers, event.pointerId, point);
    if (drag?.moving) return slide(panel, drag, point.x);
    if (drag && !drag.touch && distance(drag.from, point) > LEAST_DRAG) panel.brush = { from: drag.from, to: point };
    store.set({ hover: clippedTime(panel, point.x) });
  });
  const finish = (event) => {
    fingers.delete(event.pointerId);
    if (!drag) return;
    const { moving, touch } = drag;
    drag = null;
    if (panel.brush) {
      enlargeBrush(panel);
      panel.brush = null;
      panel.mark();
    } else if (!moving && fingers.size === 0 && event.type === "pointerup") {
      moveTo(store, clippedTime(panel, pointOf(panel, event).x));
    }
    if (touch) store.set({ hover: null });
  };
  over.addEventListener("pointerup", finish);
  over.addEventListener("pointercancel", finish);
  over.addEventListener("pointerleave", () => store.set({ hover: null }));
  over.addEventListener("dblclick", () => showAll(store));
  over.addEventListener("wheel", (event) => turnWheel(panel, event), { passive: false });
}

function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function slide(panel, drag, x) {
  const shift = ((drag.from.x - x) / (panel.scales.right - panel.scales.left)) * (drag.range[1] - drag.range[0]);
  showRange(panel.store, drag.range[0] + shift, drag.range[1] + shift);
}

function turnWheel(panel, event) {
  event.preventDefault();
  if (!panel.scales) return;
  const { store } = panel;
  const [low, high] = store.range;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const shift = (event.deltaX / panel.over.clientWidth) * (high - low);
    return showRange(store, low + shift, high + shift);
  }
  zoomTime(store, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 400))), clippedTime(panel, pointOf(panel, event).x));
}

// Two fingers keep the moments under them.
function pinch(panel, fingers, id, point) {
  const { store, scales } = panel;
  const times = [...fingers.values()].map((finger) => scales.t(finger.x));
  fingers.set(id, point);
  const [a, b] = [...fingers.values()].map((finger) => finger.x);
  if (Math.abs(b - a) < 20) return;
  const perPixel = (times[1] - times[0]) / (b - a);
  const low = times[0] - (a - scales.left) * perPixel;
  showRange(store, low, low + (scales.right - scales.left) * perPixel);
}

function watchKeys(panel) {
  const { over, store } = panel;
  over.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "=") zoomTime(store, 0.7, store.time);
    else if (event.key === "-") zoomTime(store, 1 / 0.7, store.time);
    else if (event.key === "0") showAll(store);
  });
}
