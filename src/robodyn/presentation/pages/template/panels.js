// How does the reader work with the charts? One panel a unit; all share one axis of time.

function makePanels(store, place) {
  let panels = new Map();
  const rebuild = () => {
    const groups = plottedGroups(store);
    const kept = new Map();
    for (const [unit, names] of groups) kept.set(unit, panels.get(unit) ?? makePanel(store, unit));
    panels = kept;
    place.replaceChildren(...[...panels.values()].map((panel) => panel.element));
    if (panels.size === 0) place.append(make("p", { class: "note" }, "No signal is chosen."));
    let first = true;
    for (const [unit, names] of groups) {
      panels.get(unit).show(names, first);
      first = false;
    }
  };
  store.listen((changes) => {
    if ("selected" in changes || "shown" in changes || "runs" in changes) return rebuild();
    const redrawn = "range" in changes || "heights" in changes || "theme" in changes;
    for (const panel of panels.values()) redrawn ? panel.redraw() : panel.mark();
  });
  rebuild();
}

function makePanel(store, unit) {
  const base = make("canvas", { "aria-hidden": "true" });
  const over = make("canvas", { tabindex: "0", role: "img", class: "over" });
  const legend = make("ul", { class: "legend" });
  const head = make("div", { class: "panel-head" }, make("h3", {}, `[${showUnit(unit)}]`), legend);
  const element = make("section", { class: "panel" }, head, make("div", { class: "chart" }, base, over));
  const panel = { store, unit, names: [], named: false, brush: null, scales: null, values: [], over, element };

  const drawBase = fitDrawing(base, (context, width, height) => drawChart(panel, context, width, height));
  const drawOver = fitDrawing(over, (context) => drawMarks(panel, context));
  panel.mark = () => {
    drawOver();
    for (const { run, name, place } of panel.values) place.textContent = showNumber(valueAt(run, name, readTime(store)));
  };
  panel.redraw = () => {
    drawBase();
    panel.mark();
  };
  panel.show = (names, named) => {
    [panel.names, panel.named] = [names, named];
    panel.values = fillLegend(store, legend, names);
    over.setAttribute("aria-label", `${names.join(", ")} over time, in ${showUnit(unit)}`);
    panel.redraw();
  };
  watchPointer(panel);
  watchKeys(panel);
  return panel;
}

// A colour's sample in a run's line style.
function makeSample(dash, colour) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  const set = (element, values) => Object.entries(values).forEach(([key, value]) => element.setAttribute(key, value));
  set(svg, { width: 26, height: 8, "aria-hidden": "true", class: "sample" });
  set(line, { x1: 1, y1: 4, x2: 25, y2: 4, "stroke-width": 2.2, "stroke-dasharray": dash.join(" ") || "none" });
  line.style.stroke = colour;
  svg.append(line);
  return svg;
}

function seriesColour(number) {
  return `var(--series-${(number % 8) + 1})`;
}

function fillLegend(store, legend, names) {
  const values = [];
  const runs = shownRuns(store).filter((run) => !run.faint);
  const entries = names.map((name) => {
    const colour = seriesColour(store.colours.get(name));
    const parts = runs.filter((run) => run.signals.has(name)).flatMap((run) => {
      const place = make("span", { class: "value", title: run.label }, "–");
      values.push({ run, name, place });
      return [makeSample(run.dash, colour), place];
    });
    // Of a single run the sample stands before the name, as in any legend.
    const before = parts.length === 2 ? parts.splice(0, 1) : [];
    const remove = makeButton("×", `Remove ${name}`, () => unselectSignal(store, name));
    return make("li", {}, before, make("span", { class: "name" }, name), parts, remove);
  });
  legend.replaceChildren(...entries);
  return values;
}

function drawChart(panel, context, width, height) {
  const { store, unit, names } = panel;
  const colours = readColours();
  const runs = shownRuns(store);
  const heights = store.heights.get(unit) ?? fitHeights(runs, names, store.range);
  const scales = makeScales(width, height, store.range, heights);
  panel.scales = scales;
  drawGrid(context, scales, store.range, heights, colours);
  drawEvents(context, runs.filter((run) => !run.faint), scales, store.range, colours, panel.named);
  context.save();
  context.beginPath();
  context.rect(scales.left, scales.top - 2, scales.right - scales.left, scales.bottom - scales.top + 4);
  context.clip();
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  // The first run is drawn last, above the others.
  for (const run of [...runs].reverse()) {
    context.globalAlpha = run.faint ?? 1;
    for (const name of names) {
      context.strokeStyle = colours.series[store.colours.get(name) % colours.series.length];
      context.setLineDash(run.dash);
      drawLine(context, run, name, scales, store.range);
    }
  }
  context.restore();
}

// The line where the page stands, the pointer's line with dots on the curves, and the part that is being marked.
function drawMarks(panel, context) {
  const { store, scales, brush } = panel;
  if (!scales) return;
  const colours = readColours();
  const line = (t, width) => {
    const x = scales.x(t);
    if (x < scales.left - 1 || x > scales.right + 1) return;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x, scales.top);
    context.lineTo(x, scales.bottom);
    context.stroke();
  };
  context.strokeStyle = colours.accent;
  line(store.time, 1.5);
  context.strokeStyle = colours.quiet;
  if (store.hover !== null) line(store.hover, 1);
  for (const { run, name } of panel.values) {
    const [x, y] = [scales.x(readTime(store)), scales.y(valueAt(run, name, readTime(store)))];
    if (!(x >= scales.left && x <= scales.right && y >= scales.top - 2 && y <= scales.bottom + 2)) continue;
    context.fillStyle = colours.series[store.colours.get(name) % colours.series.length];
    context.beginPath();
    context.arc(x, y, 3.2, 0, 2 * Math.PI);
    context.fill();
  }
  if (store.hover !== null && panel.named) {
    context.fillStyle = colours.text;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = scales.x(store.hover) > (scales.left + scales.right) / 2 ? "right" : "left";
    const offset = context.textAlign === "right" ? -6 : 6;
    context.fillText(showTime(store.hover), scales.x(store.hover) + offset, scales.bottom - 6);
  }
  if (brush) drawBrush(context, brush, scales, colours);
}

function drawBrush(context, brush, scales, colours) {
  const box = brushBox(brush, scales);
  context.globalAlpha = 0.16;
  context.fillStyle = colours.accent;
  context.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.globalAlpha = 1;
}
