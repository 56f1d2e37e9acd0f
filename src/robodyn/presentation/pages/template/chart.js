// How is one chart drawn: axes, lines, event marks?

const MARGIN = { left: 66, right: 14, top: 18, bottom: 38 };
const FONT = "11px system-ui, sans-serif";

// Round steps (1, 2, 5 times a power of ten) that give about the wanted number of marks.
function roundStep(length, wanted) {
  const rough = length / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
}

// One mark alone tells no scale: then there are more than wanted.
function ticksOf([low, high], wanted) {
  const step = roundStep(high - low, wanted);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(k * step);
  return ticks.length < 2 && wanted < 20 ? ticksOf([low, high], 2 * Math.max(1, wanted)) : { ticks, step };
}

// As many digits as tell neighbouring marks apart.
function showTick(value, step) {
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e6 || step < 1e-6) return showNumber(value, Math.max(3, Math.ceil(Math.log10(size / step)) + 1));
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return (Math.abs(value) < step / 2 ? 0 : value).toFixed(decimals).replace("-", "−");
}

// Pixels <-> values of a chart of the given size.
function makeScales(width, height, range, heights) {
  const inner = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const [perSecond, perUnit] = [
    (inner.right - inner.left) / (range[1] - range[0]),
    (inner.bottom - inner.top) / (heights[1] - heights[0]),
  ];
  return {
    ...inner,
    x: (t) => inner.left + (t - range[0]) * perSecond,
    y: (value) => inner.bottom - (value - heights[0]) * perUnit,
    t: (x) => range[0] + (x - inner.left) / perSecond,
    value: (y) => heights[0] + (inner.bottom - y) / perUnit,
  };
}

// Rows of a run that matter for a part of time, one more on each side.
function rowsWithin(time, [low, high]) {
  const first = Math.max(0, rowAt(time, low));
  return [first, Math.min(time.length - 1, rowAt(time, high) + 1)];
}

// Smallest and largest value of the signals in a part of time, with a margin; [-1, 1] where there is none. Limits are
// shown where the curves come near them.
function fitHeights(runs, names, range, limits = []) {
  let [low, high] = [Infinity, -Infinity];
  for (const run of runs) {
    for (const name of names) {
      const values = valuesOf(run, name);
      if (!values) continue;
      const [first, last] = rowsWithin(run.time, range);
      for (let row = first; row <= last; row++) {
        const value = values[row];
        if (value < low && value > -Infinity) low = value;
        if (value > high && value < Infinity) high = value;
      }
    }
  }
  if (low > high) return [-1, 1];
  for (const limit of limits) {
    if (high > 0.2 * limit) high = Math.max(high, limit);
    if (low < -0.2 * limit) low = Math.min(low, -limit);
  }
  const size = Math.max(Math.abs(low), Math.abs(high));
  const margin = high - low > 1e-12 * size ? 0.06 * (high - low) : 0.1 * size || 1;
  return [low - margin, high + margin];
}

// Marks of an axis with their texts; of a logarithmic one, whose values are logarithms, the powers of ten.
function marksOf(range, wanted, { log = false, size = 1 } = {}) {
  if (log) {
    const marks = [];
    for (let power = Math.ceil(range[0] - 1e-9); power <= range[1] + 1e-9; power++) marks.push([power, showNumber(10 ** power)]);
    return marks;
  }
  const { ticks, step } = ticksOf(range.map((value) => value / size), wanted);
  return ticks.map((value) => [value * size, showTick(value, step)]);
}

// The grid and the axes with their labels. Axes are {label, size, log}: size is that of the unit shown, in SI.
function drawGrid(context, scales, range, heights, colours, across = {}, upward = {}) {
  const columns = marksOf(range, (scales.right - scales.left) / 90, across);
  const rows = marksOf(heights, (scales.bottom - scales.top) / 34, upward);
  context.lineWidth = 1;
  context.strokeStyle = colours.line;
  context.beginPath();
  for (const [value] of columns) {
    context.moveTo(Math.round(scales.x(value)) + 0.5, scales.top);
    context.lineTo(Math.round(scales.x(value)) + 0.5, scales.bottom);
  }
  for (const [value] of rows) {
    context.moveTo(scales.left, Math.round(scales.y(value)) + 0.5);
    context.lineTo(scales.right, Math.round(scales.y(value)) + 0.5);
  }
  context.stroke();
  context.fillStyle = colours.quiet;
  context.font = FONT;
  context.textAlign = "center";
  context.textBaseline = "top";
  // A mark at the very edge would be cut off.
  for (const [value, text] of columns) context.fillText(text, Math.min(scales.x(value), scales.right - 4), scales.bottom + 6);
  if (across.label) context.fillText(across.label, (scales.left + scales.right) / 2, scales.bottom + 22);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [value, text] of rows) context.fillText(text, scales.left - 7, scales.y(value));
  if (!upward.label) return;
  context.save();
  context.translate(11, (scales.top + scales.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(upward.label, 0, 0);
  context.restore();
}

function strokeLine(context, a, b) {
  context.beginPath();
  context.moveTo(a.x, a.y);
  context.lineTo(b.x, b.y);
  context.stroke();
}

// Lines at what a plot should not pass, above and below.
function drawLimits(context, scales, heights, limits, colours) {
  context.strokeStyle = colours.bad;
  context.setLineDash([6, 4]);
  context.lineWidth = 1.2;
  for (const value of limits.flatMap((limit) => [limit, -limit])) {
    if (value < heights[0] || value > heights[1]) continue;
    strokeLine(context, { x: scales.left, y: scales.y(value) }, { x: scales.right, y: scales.y(value) });
  }
  context.setLineDash([]);
}

// Curves that are not over time: measures over a number, gains over frequency.
function makeCurves({ x, y, log, curves }) {
  const canvas = make("canvas", { role: "img", "aria-label": `${y} over ${x}` });
  const legend = make("ul", { class: "legend" }, ...curves.map(({ name }, k) => make("li", {}, makeSample([], seriesColour(k)), name)));
  fitDrawing(canvas, (context, width, height) => drawCurves(context, width, height, { x, y, log, curves }));
  return make("div", {}, make("div", { class: "curves" }, canvas), curves.length > 1 ? legend : null);
}

function drawCurves(context, width, height, { x: xLabel, y: yLabel, log, curves }) {
  const across = (value) => (log ? Math.log10(value) : value);
  const finite = curves.flatMap(({ x, y }) => x.map((value, k) => [across(value), y[k]])).filter((pair) => pair.every(Number.isFinite));
  if (finite.length === 0) return;
  const range = spanOf(finite.map(([a]) => a));
  const heights = spanOf(finite.map(([, b]) => b), 0.06);
  const [colours, scales] = [readColours(), makeScales(width, height, range, heights)];
  drawGrid(context, scales, range, heights, colours, { label: xLabel, log }, { label: yLabel });
  curves.forEach(({ x, y }, k) => {
    context.strokeStyle = context.fillStyle = colours.series[k % colours.series.length];
    context.lineWidth = 1.6;
    context.beginPath();
    let open = false;
    x.forEach((value, row) => {
      const [a, b] = [scales.x(across(value)), scales.y(y[row])];
      if (!Number.isFinite(b)) return (open = false);
      if (open) context.lineTo(a, b);
      else context.moveTo(a, b);
      open = true;
      if (x.length <= 60) context.fillRect(a - 2, b - 2, 4, 4);
    });
    context.stroke();
  });
}

function spanOf(values, share = 0) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = high > low ? share * (high - low) : 0.1 * Math.abs(high) || 1;
  return [low - margin, high + margin];
}

// One signal as a line. Many rows a pixel become their lowest and highest; few are drawn as the cubics they stand for.
function drawLine(context, run, name, scales, range) {
  const values = valuesOf(run, name);
  if (!values || run.time.length === 0) return;
  const [first, last] = rowsWithin(run.time, range);
  context.beginPath();
  if (last - first > 4 * (scales.right - scales.left)) traceDense(context, run.time, values, first, last, scales);
  else if (run.signals.get(name).held) traceSteps(context, run.time, values, first, last, scales);
  else traceSmooth(context, run, name, first, last, scales);
  context.stroke();
}

function traceDense(context, time, values, first, last, scales) {
  let pixel = null;
  let [low, high, end] = [NaN, NaN, NaN];
  const leave = () => {
    if (pixel === null || Number.isNaN(low)) return;
    context.lineTo(pixel, scales.y(low));
    context.lineTo(pixel, scales.y(high));
    context.lineTo(pixel, scales.y(end));
  };
  for (let row = first; row <= last; row++) {
    const x = Math.round(scales.x(time[row]));
    if (x !== pixel) {
      leave();
      [pixel, low, high] = [x, NaN, NaN];
    }
    const value = values[row];
    if (!(value >= low)) low = Number.isFinite(value) ? value : low;
    if (!(value <= high)) high = Number.isFinite(value) ? value : high;
    if (Number.isFinite(value)) end = value;
  }
  leave();
}

function traceSteps(context, time, values, first, last, scales) {
  let open = false;
  for (let row = first; row <= last; row++) {
    if (!Number.isFinite(values[row])) {
      open = false;
      continue;
    }
    const [x, y] = [scales.x(time[row]), scales.y(values[row])];
    if (open) context.lineTo(x, scales.y(values[row - 1]));
    if (open) context.lineTo(x, y);
    else context.moveTo(x, y);
    open = true;
  }
}

function traceSmooth(context, run, name, first, last, scales) {
  const { time } = run;
  const values = valuesOf(run, name);
  const curved = run.knots !== null || ratesOf(run, name) !== null;
  let open = false;
  for (let row = first; row <= last; row++) {
    if (!Number.isFinite(values[row])) {
      open = false;
      continue;
    }
    const x = scales.x(time[row]);
    if (open) context.lineTo(x, scales.y(values[row]));
    else context.moveTo(x, scales.y(values[row]));
    open = true;
    const width = row < last ? scales.x(time[row + 1]) - x : 0;
    const pieces = curved ? Math.min(64, Math.floor(width / 4)) : 0;
    for (let k = 1; k < pieces; k++) {
      const t = time[row] + (k / pieces) * (time[row + 1] - time[row]);
      const value = between(run, name, row, t);
      if (Number.isFinite(value)) context.lineTo(scales.x(t), scales.y(value));
    }
  }
}

// A thin line at each event; names on top while they find room.
function drawEvents(context, runs, scales, range, colours, named) {
  context.font = "10.5px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  const taken = [];
  for (const run of runs) {
    context.setLineDash(run.dash.length ? run.dash : [1, 3]);
    for (const event of run.events) {
      if (event.time < range[0] || event.time > range[1]) continue;
      const x = Math.round(scales.x(event.time)) + 0.5;
      context.strokeStyle = colours.event;
      context.beginPath();
      context.moveTo(x, scales.top);
      context.lineTo(x, scales.bottom);
      context.stroke();
      if (named) nameEvent(context, event.name, x, scales, taken, colours);
    }
  }
  context.setLineDash([]);
}

function nameEvent(context, name, x, scales, taken, colours) {
  const width = context.measureText(name).width + 6;
  const places = [x - 1, x - width + 1].filter((left) => left >= scales.left - 4 && left + width <= scales.right + 8);
  const left = places.find((place) => taken.every(([from, to]) => place >= to || place + width <= from));
  if (left === undefined) return;
  taken.push([left, left + width]);
  context.fillStyle = colours.quiet;
  context.textAlign = "left";
  context.fillText(name, left + 2, scales.top - 6);
}

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
  const { store, plot, scales, brush } = panel;
  const box = brushBox(brush, scales);
  if (box.high) store.heights.set(plot, [scales.value(box.bottom), scales.value(box.top)]);
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
