// How is one chart drawn: axes, lines, event marks?

const MARGIN = { left: 62, right: 12, top: 18, bottom: 22 };

// Round steps (1, 2, 5 times a power of ten) that give about the wanted number of marks.
function roundStep(length, wanted) {
  const rough = length / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
}

function ticksOf([low, high], wanted) {
  const step = roundStep(high - low, wanted);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(k * step);
  return { ticks, step };
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

// Smallest and largest value of the signals in a part of time, with a margin; [-1, 1] where there is none.
function fitHeights(runs, names, range) {
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
  const size = Math.max(Math.abs(low), Math.abs(high));
  const margin = high - low > 1e-12 * size ? 0.06 * (high - low) : 0.1 * size || 1;
  return [low - margin, high + margin];
}

function drawGrid(context, scales, range, heights, colours) {
  const across = ticksOf(range, (scales.right - scales.left) / 90);
  const upward = ticksOf(heights, (scales.bottom - scales.top) / 34);
  context.lineWidth = 1;
  context.strokeStyle = colours.line;
  context.beginPath();
  for (const t of across.ticks) {
    context.moveTo(Math.round(scales.x(t)) + 0.5, scales.top);
    context.lineTo(Math.round(scales.x(t)) + 0.5, scales.bottom);
  }
  for (const value of upward.ticks) {
    context.moveTo(scales.left, Math.round(scales.y(value)) + 0.5);
    context.lineTo(scales.right, Math.round(scales.y(value)) + 0.5);
  }
  context.stroke();
  context.fillStyle = colours.quiet;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const t of across.ticks) {
    // A mark at the very edge would be cut off.
    const x = Math.min(scales.x(t), scales.right - 4);
    context.fillText(showTick(t, across.step), x, scales.bottom + 6);
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of upward.ticks) context.fillText(showTick(value, upward.step), scales.left - 7, scales.y(value));
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
