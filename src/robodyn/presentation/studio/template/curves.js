// Curves that are not over time: measures over a number, gains over frequency.

function makeCurves({ x, y, log, curves }) {
  const canvas = make("canvas", { role: "img", "aria-label": `${y} over ${x}` });
  const legend = make("ul", { class: "legend" }, ...curves.map(({ name }, k) => make("li", {}, makeSample([], seriesColour(k)), name)));
  fitDrawing(canvas, (context, width, height) => drawCurves(context, width, height, { log, curves }));
  return make("div", {}, make("p", { class: "quiet" }, `${y} over ${x}`), make("div", { class: "curves" }, canvas), curves.length > 1 ? legend : null);
}

function drawCurves(context, width, height, { log, curves }) {
  const across = (value) => (log ? Math.log10(value) : value);
  const finite = curves.flatMap(({ x, y }) => x.map((value, k) => [across(value), y[k]])).filter((pair) => pair.every(Number.isFinite));
  if (finite.length === 0) return;
  const range = spanOf(finite.map(([a]) => a));
  const heights = spanOf(finite.map(([, b]) => b), 0.06);
  const [colours, scales] = [readColours(), makeScales(width, height, range, heights)];
  if (log) drawDecades(context, scales, range, heights, colours);
  else drawGrid(context, scales, range, heights, colours);
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

// The grid over powers of ten: marks at each.
function drawDecades(context, scales, range, heights, colours) {
  const marks = [];
  for (let power = Math.ceil(range[0] - 1e-9); power <= range[1] + 1e-9; power++) marks.push(power);
  const upward = ticksOf(heights, (scales.bottom - scales.top) / 34);
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const power of marks) {
    context.moveTo(scales.x(power), scales.top);
    context.lineTo(scales.x(power), scales.bottom);
  }
  for (const value of upward.ticks) {
    context.moveTo(scales.left, scales.y(value));
    context.lineTo(scales.right, scales.y(value));
  }
  context.stroke();
  context.fillStyle = colours.quiet;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const power of marks) context.fillText(showNumber(10 ** power), scales.x(power), scales.bottom + 6);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of upward.ticks) context.fillText(showTick(value, upward.step), scales.left - 7, scales.y(value));
}
