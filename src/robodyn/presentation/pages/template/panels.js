// How does the reader work with the charts? One panel a unit; all share one axis of time.

// Several may stand in the page, each with its own plots: those whose signals `wanted` lets in.
function makePanels(store, place, wanted = () => true) {
  let panels = new Map();
  const rebuild = () => {
    const groups = [...plottedGroups(store)].filter(([, names]) => wanted(names));
    panels = new Map(groups.map(([plot, names]) => [plot, panels.get(plot) ?? makePanel(store, plot, store.units.get(names[0]))]));
    place.replaceChildren(...[...panels.values()].map((panel) => panel.element));
    if (store.selected.length === 0) place.append(make("p", { class: "note" }, "No signal is chosen."));
    groups.forEach(([plot, names], k) => panels.get(plot).show(names, k === 0));
  };
  store.listen((changes) => {
    if ("selected" in changes || "shown" in changes || "runs" in changes) return rebuild();
    const redrawn = "range" in changes || "heights" in changes || "theme" in changes;
    for (const panel of panels.values()) redrawn ? panel.redraw() : panel.mark();
  });
  rebuild();
}

// What several signals have in common, as one would say it: "deviation", "velocity".
function commonWord(names) {
  const parts = names.map((name) => name.split("."));
  const same = (pick) => parts.every((one) => pick(one) === pick(parts[0]));
  const [first, last] = [(one) => one[0], (one) => one.at(-1)];
  const word = same(last) ? last(parts[0]) : same(first) ? first(parts[0]) : "";
  return word.replace(/_/g, " ");
}

function makePanel(store, plot, unit) {
  const base = make("canvas", { "aria-hidden": "true" });
  const over = make("canvas", { tabindex: "0", role: "img", class: "over" });
  const legend = make("ul", { class: "legend" });
  const title = make("h3", {});
  const head = make("div", { class: "panel-head" }, title, legend);
  const element = make("section", { class: "panel", "data-unit": unit }, head, make("div", { class: "chart" }, base, over));
  const panel = { store, plot, unit, names: [], named: false, brush: null, scales: null, values: [], over, element };

  const drawBase = fitDrawing(base, (context, width, height) => drawChart(panel, context, width, height));
  const drawOver = fitDrawing(over, (context) => drawMarks(panel, context));
  panel.mark = () => {
    drawOver();
    for (const { run, name, place } of panel.values) {
      place.textContent = showBeside(valueAt(run, name, readTime(store)) / panel.shown.size, panel.largest);
    }
  };
  panel.redraw = () => {
    drawBase();
    panel.mark();
  };
  panel.show = (names, named) => {
    [panel.names, panel.named] = [names, named];
    const largest = Math.max(...fitHeights(store.runs, names, store.span).map(Math.abs));
    panel.shown = chooseUnit(unit, largest);
    panel.largest = largest / panel.shown.size;
    panel.values = fillLegend(store, legend, names);
    const word = commonWord(names);
    panel.label = `${word} [${panel.shown.name || "no unit"}]`.trimStart();
    title.textContent = panel.label;
    element.dataset.shown = panel.shown.name;
    over.setAttribute("aria-label", `${names.join(", ")} over time, in ${panel.shown.name || "no unit"}`);
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
    const colour = seriesColour(store.slots.get(name).colour);
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
  const { store, plot, names } = panel;
  const colours = readColours();
  const runs = shownRuns(store);
  const heights = store.heights.get(plot) ?? fitHeights(runs, names, store.range, limitsOf(panel));
  const scales = makeScales(width, height, store.range, heights);
  panel.scales = scales;
  drawGrid(context, scales, store.range, heights, colours, { label: "time [s]" }, { label: panel.label, size: panel.shown.size });
  drawLimits(context, scales, heights, limitsOf(panel), colours);
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
      context.strokeStyle = colours.series[store.slots.get(name).colour];
      context.setLineDash(run.dash);
      drawLine(context, run, name, scales, store.range);
    }
  }
  context.restore();
}

function limitsOf({ store, names }) {
  return [...new Set(names.map((name) => store.limits.get(name)).filter((limit) => limit > 0))];
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
    context.fillStyle = colours.series[store.slots.get(name).colour];
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

// Which signals are plotted, and of which runs?

function makePicker(store, place) {
  const groups = new Map();
  for (const [name, unit] of store.units) groups.set(unit, [...(groups.get(unit) ?? []), name]);
  const boxes = new Map();
  const fieldsets = [...groups].map(([unit, names]) => makeGroup(store, unit, names, boxes));
  const search = make("input", { type: "search", placeholder: "Search signals", "aria-label": "Search signals" });
  const nothing = make("p", { class: "note", hidden: true }, "No signal matches.");
  search.addEventListener("input", () => {
    const found = filterGroups(fieldsets, search.value);
    nothing.hidden = found > 0;
  });
  const counter = make("span", { class: "quiet" });
  const list = make("div", { class: "signal-list" }, fieldsets, nothing);
  const details = make("details", { id: "signal-picker" }, make("summary", {}, "Choose signals ", counter), search, list);
  place.append(details);
  const update = () => {
    for (const [name, box] of boxes) box.checked = store.selected.includes(name);
    counter.textContent = `${store.selected.length} of ${store.units.size}`;
  };
  store.listen((changes) => "selected" in changes && update());
  update();
}

function makeGroup(store, unit, names, boxes) {
  const labels = names.map((name) => {
    const toggle = makeToggle(name, store.selected.includes(name), (on) => {
      if (on) selectSignal(store, name);
      else unselectSignal(store, name);
    });
    toggle.dataset.name = name;
    boxes.set(name, toggle.querySelector("input"));
    return toggle;
  });
  return make("fieldset", {}, make("legend", {}, `[${showUnit(unit)}]`), labels);
}

// Show the signals that contain every word; the number of them.
function filterGroups(fieldsets, text) {
  const words = text.toLowerCase().split(/\s+/);
  let found = 0;
  for (const fieldset of fieldsets) {
    const labels = [...fieldset.querySelectorAll("label")];
    for (const label of labels) label.hidden = !words.every((word) => label.dataset.name.toLowerCase().includes(word));
    const visible = labels.filter((label) => !label.hidden).length;
    fieldset.hidden = visible === 0;
    found += visible;
  }
  return found;
}

// Buttons that work without a mouse, and which of several runs are drawn.
function makePlotTools(store, place) {
  if (store.runs.length > 1) {
    for (const run of store.runs) {
      const toggle = makeToggle(run.label, true, (on) => {
        store.set({ shown: store.shown.map((old, k) => (k === run.number ? on : old)) });
      });
      store.listen((changes) => "shown" in changes && (toggle.querySelector("input").checked = store.shown[run.number]));
      toggle.insertBefore(makeSample(run.dash, "currentColor"), toggle.lastChild);
      toggle.classList.add("run");
      place.append(toggle);
    }
  }
  place.append(
    makeButton("+", "Zoom in at the current time", () => zoomTime(store, 0.6, store.time)),
    makeButton("−", "Zoom out", () => zoomTime(store, 1 / 0.6, store.time)),
    makeButton("All", "Show all times", () => showAll(store)),
  );
}
