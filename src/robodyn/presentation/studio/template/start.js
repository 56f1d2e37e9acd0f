// What could be opened? The catalogue with pictures, files that were opened before, a new file, a file that is dropped.

function showStart(desk, { scenarios, recent, kinds, folder }) {
  const place = byId("start");
  const open = (name) => desk.open(name);
  const files = recent.map((path) => make("li", {}, makeButton(path.split(/[\\/]/).pop(), path, () => open(path)), make("span", { class: "quiet" }, path)));
  const name = make("input", { class: "field", id: "new-name", value: "machine.toml", "aria-label": "Name of the new file" });
  const fresh = kinds.map(({ kind, title }) => make("li", {}, makeButton(kind, title, () => desk.send({ do: "new", kind, name: name.value })), make("span", { class: "quiet" }, title)));
  const path = make("input", { class: "field", id: "open-path", placeholder: "path of a TOML or robot file", "aria-label": "Path of a file" });
  const form = make("form", { class: "form" }, path, make("button", { type: "submit" }, "Open"));
  form.addEventListener("submit", (event) => (event.preventDefault(), path.value.trim() && open(path.value.trim())));
  const cards = scenarios.map((scenario) => makeScenarioCard(desk, scenario, open));
  const search = make("input", { type: "search", class: "field", placeholder: `Search ${scenarios.length} scenarios`, "aria-label": "Search scenarios" });
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    cards.forEach((card) => (card.hidden = !words.every((word) => card.textContent.toLowerCase().includes(word))));
  });
  const columns = make("div", { class: "start-files" },
    make("h2", {}, "Open"), form, make("p", { class: "note", id: "drop" }, "Drop a robot file (URDF, SDF, MJCF) or a scenario (TOML) anywhere on this page."),
    ...(files.length > 0 ? [make("h2", {}, "Recent"), make("ul", { id: "recent" }, ...files)] : []),
    make("h2", {}, "New"), make("p", { class: "note" }, `in ${folder}`), name, make("ul", { id: "kinds" }, ...fresh));
  const catalogue = make("div", { class: "start-catalogue" }, make("div", { class: "bar" }, make("h2", {}, "Catalogue"), search), make("div", { id: "catalogue" }, ...cards));
  place.replaceChildren(columns, catalogue, make("p", { class: "flaw", id: "start-flaw", hidden: true }));
  showPlace(true);
}

function showPlace(start) {
  byId("start").hidden = !start;
  byId("desk").hidden = start;
  document.querySelector(".below").hidden = start;
  document.documentElement.dataset.place = start ? "start" : "desk";
}

// A card asks for its picture when it comes into sight.
function makeScenarioCard(desk, { name, title }, open) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const card = make("button", { type: "button", class: "scenario", "data-scenario": name, onclick: () => open(name) }, canvas, make("b", {}, name), make("span", { class: "quiet" }, title));
  const sight = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    sight.disconnect();
    desk.send({ do: "picture", name });
  });
  sight.observe(card);
  return card;
}

function showPicture({ name, run }) {
  const canvas = byId("start").querySelector(`[data-scenario="${CSS.escape(name)}"] canvas`);
  if (canvas && run) fitDrawing(canvas, (context, width, height) => drawSkeleton(context, width, height, stillRun(run)))();
}

// A run of one instant, as the server describes it.
function stillRun({ machine, signals }) {
  const columns = new Map(signals.map((signal) => [signal.name, { ...signal, values: Float64Array.of(signal.data) }]));
  return { machine, signals: columns, time: Float64Array.of(0), knots: null, events: [] };
}

// Links as lines and joints as dots, seen from the side and a little from above.
function drawSkeleton(context, width, height, run) {
  const axes = uprightAxes(run.machine.gravity ?? [0, 0, -9.81]);
  const see = (place) => {
    const [a, b, c] = axes.map((axis) => dot(axis, place));
    return [0.86 * a + 0.5 * b, 0.94 * c + 0.34 * (0.86 * b - 0.5 * a)];
  };
  const poses = posesAt(run, 0);
  const bones = run.machine.joints.flatMap(({ child }) => bonesOf(run.machine, child, poses.get(child)).map((ends) => ends.map(see)));
  const dots = run.machine.joints.map(({ child }) => see(poses.get(child).p));
  const all = [...bones.flat(), ...dots];
  if (all.length === 0) return;
  const [low, high] = [Math.min, Math.max].map((most) => [0, 1].map((k) => all.reduce((found, point) => most(found, point[k]), all[0][k])));
  const zoom = Math.min((width - 24) / (high[0] - low[0] || 1), (height - 24) / (high[1] - low[1] || 1), 4000);
  const at = ([a, b]) => [width / 2 + zoom * (a - (low[0] + high[0]) / 2), height / 2 - zoom * (b - (low[1] + high[1]) / 2)];
  const colours = readColours();
  [context.lineCap, context.lineWidth, context.strokeStyle, context.fillStyle] = ["round", 5, colours.link, colours.accent];
  for (const bone of bones) {
    context.beginPath();
    bone.forEach((end) => context.lineTo(...at(end)));
    context.stroke();
  }
  for (const place of dots) {
    context.beginPath();
    context.arc(...at(place), 3.5, 0, 2 * Math.PI);
    context.fill();
  }
}

// Files that are dropped anywhere on the page are opened.
function watchDrops(desk) {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) desk.send({ do: "drop", name: file.name, text: await file.text() });
  });
}
