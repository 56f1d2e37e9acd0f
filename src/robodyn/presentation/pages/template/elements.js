// How are elements and texts made? Text always goes in as text, never as markup.

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

// A check box with its label.
function makeToggle(text, checked, change) {
  const box = make("input", { type: "checkbox", checked });
  box.addEventListener("change", () => change(box.checked));
  return make("label", { class: "toggle" }, box, text);
}

// A drop-down list; options are [value, text].
function makeChoice(label, options, chosen, change) {
  const list = make("select", { "aria-label": label });
  for (const [value, text] of options) {
    list.append(make("option", { value, selected: String(value) === String(chosen) }, text));
  }
  list.addEventListener("change", () => change(list.value));
  return list;
}

// A button with an icon that opens what is behind it; a click elsewhere or Escape closes it.
function makeMenu(icon, label, ...contents) {
  const summary = make("summary", { "aria-label": label, title: label }, icon);
  const menu = make("details", { class: "menu" }, summary, make("div", { class: "sheet" }, ...contents));
  document.addEventListener("pointerdown", (event) => menu.contains(event.target) || (menu.open = false));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    summary.focus();
  });
  return menu;
}

// Hand a file to the reader.
function saveFile(blob, name) {
  const href = URL.createObjectURL(blob);
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

// A word on a button is its name, and the title says more; an icon is named by the title.
function makeButton(text, title, click) {
  return make("button", { type: "button", "aria-label": /\w/.test(text) ? null : title, title, onclick: click }, text);
}

const DARK = matchMedia("(prefers-color-scheme: dark)");
let knownColours = null;
DARK.addEventListener("change", () => (knownColours = null));

// The colours of the page as canvases need them, read from the style sheet; within a notebook from that of the widget.
function readColours() {
  if (knownColours) return knownColours;
  const style = getComputedStyle(document.querySelector(".robodyn-widget") ?? document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = [
    "text", "quiet", "line", "card", "accent", "floor", "link", "joint", "barrel", "rod", "payload", "inertia", "point", "obstacle", "event", "shadow",
    "good", "fair", "bad",
  ];
  const colours = Object.fromEntries(names.map((name) => [name, colour(name)]));
  colours.series = [1, 2, 3, 4, 5, 6, 7, 8].map((k) => colour(`series-${k}`));
  return (knownColours = colours);
}

// A canvas as large as its place, sharp on any screen; `draw(width, height, pixels)` is called when either changes,
// pixels: how many there are to a length of 1.
function fitCanvas(canvas, draw) {
  const redraw = () => {
    const pixels = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0 || height === 0) return;
    const wanted = [Math.round(width * pixels), Math.round(height * pixels)];
    if (canvas.width !== wanted[0] || canvas.height !== wanted[1]) [canvas.width, canvas.height] = wanted;
    draw(width, height, pixels);
  };
  new ResizeObserver(redraw).observe(canvas);
  return redraw;
}

// The same with a flat, empty drawing: `draw(context, width, height)`.
function fitDrawing(canvas, draw) {
  const context = canvas.getContext("2d");
  return fitCanvas(canvas, (width, height, pixels) => {
    context.setTransform(pixels, 0, 0, pixels, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  });
}
