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
  if (drawable().length > 1) makeRunChoice(store, drawable());
  const draw = makePicture(store, shown, () => ghosts().map(sceneOf), drawable());
  byId("stage").append(caption, ...(store.note ? [make("p", { class: "caption" }, store.note)] : []));
  const tell = () => {
    caption.textContent = describeScene(shown(), store);
  };
  store.listen((changes) => {
    if ("hover" in changes && Object.keys(changes).length === 1) return;
    draw();
    tell();
  });
  tell();
}

// The picture of the scene that `shown` gives, with those of `ghosts` clear in it; returns how it is drawn anew. Without
// WebGL a sentence stands in its place.
function makePicture(store, shown, ghosts, drawable) {
  const label = "The machine in space; drag or shift and arrows turn it, plus and minus enlarge";
  const canvas = make("canvas", { id: "machine", tabindex: "0", role: "img", "aria-label": label });
  const marks = make("canvas", { id: "marks", "aria-hidden": "true" });
  let renderer = makeRenderer(canvas);
  if (!renderer) {
    byId("stage").append(make("p", { class: "note", id: "no-picture" }, NO_WEBGL));
    return () => {};
  }
  byId("stage").append(make("div", { id: "picture" }, canvas, marks));
  const first = shown();
  const camera = makeCamera(first.axes, first.centre, first.extent);
  let fitted = "";
  const flat = marks.getContext("2d");
  const draw = fitCanvas(canvas, (width, height, pixels) => {
    const scene = shown();
    if (fitted !== `${width} ${height} ${camera.view}`) fitCamera(camera, scene, width, height);
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
  const choice = makeChoice("Run that is replayed", options, store.machine, (value) => store.set({ machine: Number(value) }));
  const others = drawable.some((run) => run.backdrop) ? "at rest" : "others";
  store.listen((changes) => "machine" in changes && (choice.value = store.machine));
  byId("replay-tools").append(choice, makeToggle(others, store.ghosts, (ghosts) => store.set({ ghosts })));
}

function makeReplayTools(store, drawable, camera, draw) {
  const tools = byId("replay-tools");
  const look = (view) => {
    [camera.azimuth, camera.elevation] = VIEWS[view];
    // Another number each time: the same view again is fitted again.
    camera.view = (camera.view ?? 0) + 1;
    draw();
  };
  if (drawable.some((run) => isFlexible(run.machine)) && !store.looping) tools.append(makeExaggeration(store));
  const layers = LAYERS.filter(([, , has]) => drawable.some((run) => has(run.machine)));
  tools.append(
    ...layers.map(([text, name]) => makeToggle(text, store[name], (shown) => store.set({ [name]: shown }))),
    ...Object.keys(VIEWS).map((view) => makeButton(view, `See it from: ${view}`, () => look(view))),
  );
  const moving = drawable.some((run) => run.time.length > 1);
  if (!moving) return;
  const save = makeButton("GIF", "Save the replay, as it is seen, as an animated GIF", () => saveGif(store, save));
  tools.append(save);
}

// How many times too large deformations are drawn: a slider over powers of ten.
function makeExaggeration(store) {
  const told = make("output", { id: "exaggeration-told" });
  const label = "How many times too large deformations are drawn";
  const range = { min: 0, max: Math.log10(MOST_EXAGGERATED), step: "any", value: Math.log10(store.exaggeration) };
  const slider = make("input", { type: "range", id: "exaggeration", title: label, "aria-label": label, ...range });
  const show = () => {
    told.textContent = `×${showNumber(store.exaggeration, 3)}`;
    slider.setAttribute("aria-valuetext", told.textContent);
  };
  slider.addEventListener("input", () => {
    store.set({ exaggeration: Number((10 ** Number(slider.value)).toPrecision(2)) });
    show();
  });
  show();
  return make("label", { class: "toggle" }, "flexibility", slider, told);
}
