// How is the machine replayed, and which run's machine is it?

function makeReplay(store) {
  const drawable = store.runs.filter((run) => run.machine);
  const section = byId("replay");
  if (drawable.length === 0) {
    byId("workspace").classList.add("flat");
    const reasons = [...new Set(store.runs.map((run) => run.machine_note))];
    section.replaceChildren(make("p", { class: "note" }, reasons.join(" ")));
    section.classList.add("empty");
    return;
  }
  const scenes = new Map();
  const sceneOf = (run) => {
    const scene = scenes.get(run) ?? scenes.set(run, prepareScene(run, store.exaggeration)).get(run);
    retrace(scene, store.exaggeration);
    return scene;
  };
  const label = "The machine in space; drag or shift and arrows turn it, plus and minus enlarge";
  const canvas = make("canvas", { id: "machine", tabindex: "0", role: "img", "aria-label": label });
  const caption = make("p", { class: "caption" });
  byId("stage").append(canvas, caption);
  const first = sceneOf(store.runs[store.machine]);
  const camera = makeCamera(first.axes, first.centre, first.extent);
  let fitted = "";
  const draw = fitCanvas(canvas, (context, width, height) => {
    const scene = sceneOf(store.runs[store.machine]);
    if (fitted !== `${width} ${height} ${camera.view}`) fitCamera(camera, scene.outline, width, height);
    fitted = `${width} ${height} ${camera.view}`;
    const others = drawable.filter((run) => run !== scene.run && store.ghosts && store.shown[run.number]);
    drawScene(context, width, height, scene, camera, store, others);
  });
  watchCamera(canvas, camera, draw);
  makeReplayTools(store, drawable, camera, draw);
  const tell = () => {
    caption.textContent = describeScene(sceneOf(store.runs[store.machine]), store);
  };
  store.listen((changes) => {
    if ("hover" in changes && Object.keys(changes).length === 1) return;
    draw();
    tell();
  });
  tell();
}

// Where the points are and how long the struts, in words: never exaggerated.
function describeScene(scene, store) {
  if (scene.run.caption) return scene.run.caption;
  const poses = posesAt(scene.run, store.time);
  const told = shownPoints(scene.run.machine).map((point) => {
    const place = pointAt(poses, point).map((part) => part.toFixed(3).replace("-0.000", "0.000").replace("-", "−"));
    return `${point.name} at (${place.join(", ")}) m`;
  });
  const lengths = strutsAt(scene.run, store.time, poses).map(
    (strut) => `${strut.name} ${strutLength(strut).toFixed(4)} m long`,
  );
  const larger = scene.factor === 1 ? [] : [`deformations drawn ${showNumber(scene.factor, 3)} times as large`];
  return [...told, ...lengths, `grid ${showNumber(gridStep(scene))} m`, ...larger].join(" · ");
}

function makeReplayTools(store, drawable, camera, draw) {
  const tools = byId("replay-tools");
  if (drawable.length > 1) {
    const options = drawable.filter((run) => !run.backdrop).map((run) => [run.number, run.label]);
    const choice = makeChoice("Run that is replayed", options, store.machine, (value) => store.set({ machine: Number(value) }));
    const others = drawable.some((run) => run.backdrop) ? "at rest" : "others";
    store.listen((changes) => "machine" in changes && (choice.value = store.machine));
    tools.append(choice, makeToggle(others, store.ghosts, (ghosts) => store.set({ ghosts })));
  }
  const look = (view) => {
    [camera.azimuth, camera.elevation] = VIEWS[view];
    // Another number each time: the same view again is fitted again.
    camera.view = (camera.view ?? 0) + 1;
    draw();
  };
  if (drawable.some((run) => isFlexible(run.machine)) && !store.looping) tools.append(makeExaggeration(store));
  tools.append(
    makeToggle("axes", store.axes, (axes) => store.set({ axes })),
    makeToggle("names", store.names, (names) => store.set({ names })),
    ...Object.keys(VIEWS).map((view) => makeButton(view, `See it from: ${view}`, () => look(view))),
  );
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
