// How is the machine replayed, and which run's machine is it?

function makeReplay(store) {
  const drawable = () => store.runs.filter((run) => run.machine);
  const section = byId("replay");
  if (drawable().length === 0) {
    byId("workspace").classList.add("flat");
    const reasons = [...new Set(store.runs.map((run) => run.machine_note))];
    section.replaceChildren(make("p", { class: "note" }, reasons.join(" ")));
    section.classList.add("empty");
    return;
  }
  const scenes = new WeakMap();
  const sceneOf = (run) => {
    const scene = scenes.get(run) ?? scenes.set(run, prepareScene(run, store.exaggeration)).get(run);
    retrace(scene, store.exaggeration);
    return scene;
  };
  const shown = () => sceneOf(store.runs[store.machine]);
  const ghosts = () => drawable().filter((run) => run !== store.runs[store.machine] && !run.faint && store.ghosts && store.shown[run.number]);
  const caption = make("p", { class: "caption" });
  const badge = make("p", { id: "deviation-badge", class: "badge", hidden: true });
  const draw = makePicture(store, shown, () => ghosts().map(sceneOf), drawable(), badge);
  if (drawable().length > 1) makeRunChoice(store, drawable());
  // Where everything is stands behind an icon, unless it is what a page is about.
  const about = [caption, ...(store.note ? [make("p", { class: "caption" }, store.note)] : [])];
  const aside = byId("replay-tools") && ["report", "live", "studio"].includes(document.body.dataset.mode);
  if (aside) byId("replay-tools").append(makeMenu("i", "Where the points are", ...about));
  else byId("stage").append(...about);
  const tell = () => {
    caption.textContent = describeScene(shown(), store);
    tellDeviation(badge, shown(), store);
  };
  store.listen((changes) => {
    if ("hover" in changes && Object.keys(changes).length === 1) return;
    draw();
    tell();
  });
  tell();
}

// What the colours of the path mean, and how many times too large its deviation is drawn.
function tellDeviation(badge, { track, factor: larger }, store) {
  badge.hidden = !track && larger === 1;
  if (badge.hidden) return;
  if (!track) {
    badge.textContent = `deformations drawn ×${showNumber(larger, 3)}`;
    return;
  }
  const unit = chooseUnit("m", track.largest);
  const factor = deviationFactor(track, store);
  const key = `${factor} ${track.largest}`;
  if (badge.dataset.key === key) return;
  badge.dataset.key = key;
  badge.replaceChildren("deviation drawn ", make("strong", {}, `×${showNumber(factor, 3)}`), " · distance 0 ", make("i", { class: "scale" }),
    ` ${showNumber(track.largest / unit.size, 3)}\u00a0${unit.name}`);
}

// The picture of the scene that `shown` gives, with those of `ghosts` clear in it; returns how it is drawn anew. Without
// WebGL a sentence stands in its place.
function makePicture(store, shown, ghosts, drawable, badge) {
  const label = "The machine in 3-D; drag or use Shift and arrow keys to rotate, plus and minus to zoom";
  const canvas = make("canvas", { id: "machine", tabindex: "0", role: "img", "aria-label": label });
  const marks = make("canvas", { id: "marks", "aria-hidden": "true" });
  let renderer = makeRenderer(canvas);
  if (!renderer) {
    byId("stage").append(make("p", { class: "note", id: "no-picture" }, NO_WEBGL));
    return () => {};
  }
  const tools = byId("replay-tools") ? null : make("div", { id: "replay-tools" });
  byId("stage").append(make("div", { id: "picture" }, canvas, marks, badge, ...(tools ? [tools] : [])));
  const first = shown();
  const camera = makeCamera(first);
  let fitted = "";
  const flat = marks.getContext("2d");
  const draw = fitCanvas(canvas, (width, height, pixels) => {
    const scene = shown();
    if (fitted !== `${width} ${height} ${camera.view}`) fitCamera(camera, scene, width, height, badge.hidden ? 0 : badge.offsetTop + badge.offsetHeight);
    fitted = `${width} ${height} ${camera.view}`;
    [marks.width, marks.height] = [canvas.width, canvas.height];
    flat.setTransform(pixels, 0, 0, pixels, 0, 0);
    drawScene(renderer, flat, width, height, pixels, scene, camera, store, ghosts());
  });
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => {
    renderer = makeRenderer(canvas);
    draw();
  });
  watchCamera(canvas, camera, draw);
  makeReplayTools(store, drawable, camera, draw);
  return draw;
}

const MOST_TOLD = 8;

// Where the points are and how long the struts, in words: never exaggerated.
function describeScene(scene, store) {
  if (scene.run.caption) return scene.run.caption;
  const poses = posesAt(scene.run, store.time);
  const points = shownPoints(scene.run.machine);
  const told = points.slice(0, MOST_TOLD).map((point) => {
    const place = pointAt(poses, point).map((part) => part.toFixed(3).replace("-0.000", "0.000").replace("-", "−"));
    return `${point.name} at (${place.join(", ")}) m`;
  });
  if (points.length > MOST_TOLD) told.push(`and ${points.length - MOST_TOLD} more points`);
  const lengths = strutsAt(scene.run, store.time, poses).map(
    (strut) => `${strut.name} ${strutLength(strut).toFixed(4)} m long`,
  );
  const larger = scene.factor === 1 ? [] : [`deformations drawn ${showNumber(scene.factor, 3)} times as large`];
  return [...told, ...lengths, `grid ${showNumber(gridStep(scene))} m`, ...larger].join(" · ");
}

// What can be shown or hidden: name, what the store calls it, and whether a machine has any of it.
const LAYERS = [
  ["axes", "axes", () => true],
  ["names", "names", () => true],
  ["shapes", "solids", () => true],
  ["frames", "frames", () => true],
  ["centres of mass", "masses", ({ bodies }) => bodies.some(({ mass }) => mass > 0)],
  ["inertia", "inertia", ({ bodies }) => bodies.some(({ ellipsoid }) => ellipsoid)],
  ["collision", "collisions", ({ bodies }) => bodies.some(({ looks = [] }) => looks.some(({ collision }) => collision))],
];

function makeRunChoice(store, drawable) {
  const options = drawable.filter((run) => !run.backdrop).map((run) => [run.number, run.label]);
  const choice = makeChoice("Run shown", options, store.machine, (value) => store.set({ machine: Number(value) }));
  const others = drawable.some((run) => run.backdrop) ? "at rest" : "others";
  store.listen((changes) => "machine" in changes && (choice.value = store.machine));
  (byId("picture") ?? byId("stage")).append(make("div", { class: "run-choice" }, choice, makeToggle(others, store.ghosts, (ghosts) => store.set({ ghosts }))));
}

// Icons at the edge of the picture: home, views, and what else can be shown.
function makeReplayTools(store, drawable, camera, draw) {
  const home = [camera.azimuth, camera.elevation];
  const look = ([azimuth, elevation]) => {
    [camera.azimuth, camera.elevation] = [azimuth, elevation];
    // Another number each time: the same view again is fitted again.
    camera.view = (camera.view ?? 0) + 1;
    draw();
  };
  const views = Object.entries(VIEWS).map(([view, angles]) => makeButton(view, `See it from: ${view}`, () => look(angles)));
  const layers = LAYERS.filter(([, , has]) => drawable.some((run) => has(run.machine)));
  const options = layers.map(([text, name]) => makeToggle(text, store[name], (shown) => store.set({ [name]: shown })));
  if (drawable.some((run) => run.path)) options.unshift(makeFactor("deviation", "deviation", 1e5, store));
  if (drawable.some((run) => isFlexible(run.machine)) && !store.looping) options.unshift(makeFactor("flexibility", "exaggeration", MOST_EXAGGERATED, store));
  if (drawable.some((run) => run.time.length > 1)) {
    const save = makeButton("Save as GIF", "Save the replay, as it is seen, as an animated GIF", () => saveGif(store, save));
    save.id = "gif";
    options.push(save);
  }
  byId("replay-tools").append(
    makeButton("⌂", "The whole motion", () => look(home)),
    makeMenu("◫", "Views", ...views),
    makeMenu("⋯", "What is shown", ...options),
  );
}

// How many times too large something is drawn: a slider over powers of ten.
function makeFactor(text, key, most, store) {
  const told = make("output", { id: `${key}-told` });
  const label = `Magnified: ${text}`;
  const value = () => store[key] ?? deviationFactor(traceTrack(store.runs[store.machine]), store);
  const range = { min: 0, max: Math.log10(most), step: "any", value: Math.log10(value()) };
  const slider = make("input", { type: "range", id: key, title: label, "aria-label": label, ...range });
  const show = () => {
    told.textContent = `×${showNumber(value(), 3)}`;
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  slider.addEventListener("input", () => {
    store.set({ [key]: Number((10 ** Number(slider.value)).toPrecision(2)) });
    show();
  });
  show();
  return make("label", { class: "toggle" }, text, slider, told);
}
