// Sliders beside curves in a notebook cell; text goes in as text, never as markup.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#b8578f", "#3a9fd6", "#c98a00"];

function make(tag, style, text = "") {
  const element = document.createElement(tag);
  Object.assign(element.style, style);
  element.textContent = text;
  return element;
}

const PANEL = 220;

// A panel a unit, one below the other.
function drawCurves(canvas, curves) {
  const coloured = curves.map((curve, k) => ({ ...curve, colour: COLOURS[k % COLOURS.length] }));
  const units = [...new Set(curves.map(({ unit }) => unit))];
  canvas.height = PANEL * units.length;
  const pen = canvas.getContext("2d");
  units.forEach((unit, k) => {
    pen.setTransform(1, 0, 0, 1, 0, PANEL * k);
    drawPanel(pen, canvas.width, PANEL, unit, coloured.filter((curve) => curve.unit === unit));
  });
}

function drawPanel(pen, width, height, unit, curves) {
  const all = (pick) => curves.flatMap(({ before, now }) => [...pick(before), ...pick(now)]).filter(Number.isFinite);
  const reach = (numbers) => numbers.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
  const [start, end] = reach(all(([time]) => time));
  const [low, high] = reach(all(([, values]) => values));
  const x = (t) => 50 + ((t - start) / (end - start || 1)) * (width - 60);
  const y = (v) => height - 24 - ((v - low) / (high - low || 1)) * (height - 40);
  pen.font = "12px sans-serif";
  pen.fillStyle = pen.strokeStyle = "#888";
  pen.strokeRect(50, 16, width - 60, height - 40);
  [[high, 20], [low, height - 22]].forEach(([value, place]) => pen.fillText(value.toPrecision(3), 4, place + 4));
  pen.fillText(unit ? `[${unit}]` : "", 4, 12);
  pen.fillText(`${start.toPrecision(3)} s`, 50, height - 6);
  pen.fillText("time", width / 2, height - 6);
  pen.fillText(`${end.toPrecision(3)} s`, width - 50, height - 6);
  curves.forEach(({ before, now, colour }) => {
    for (const [[time, values], dash] of [[before, [5, 4]], [now, []]]) {
      pen.strokeStyle = colour;
      pen.setLineDash(dash);
      pen.beginPath();
      time.forEach((t, row) => Number.isFinite(values[row]) && pen.lineTo(x(t), y(values[row])));
      pen.stroke();
    }
  });
  pen.setLineDash([]);
}

function render({ model, el }) {
  const numbers = {};
  const rows = model.get("sliders").map(({ name, value, unit, low, high }) => {
    const row = make("label", { display: "grid", gridTemplateColumns: "16em 1fr 9em", gap: "0.6em", alignItems: "center" });
    const slider = make("input", {});
    Object.assign(slider, { type: "range", min: low, max: high, step: "any", value });
    const shown = make("output", {}, `${value.toPrecision(4)} ${unit}`);
    slider.addEventListener("input", () => {
      numbers[name] = Number(slider.value);
      shown.textContent = `${numbers[name].toPrecision(4)} ${unit}`;
      model.set("numbers", { ...numbers });
      model.save_changes();
    });
    row.append(make("span", {}, name), slider, shown);
    return row;
  });
  const canvas = make("canvas", { width: "100%", maxWidth: "900px" });
  Object.assign(canvas, { width: 900, height: PANEL });
  const legend = make("div", { fontSize: "90%" });
  const told = make("div", { fontSize: "90%", opacity: 0.75 });
  const show = () => {
    drawCurves(canvas, model.get("curves"));
    legend.replaceChildren(...model.get("curves").map(({ name, unit }, k) => make("span", { color: COLOURS[k % COLOURS.length], marginRight: "1em" }, `${name} [${unit}]`)));
    told.textContent = model.get("told");
  };
  model.on("change:curves", show);
  model.on("change:told", show);
  el.append(...rows, canvas, legend, told);
  show();
}

export default { render };
