// How does time pass? Play, scrub, speed; space plays, arrows step.

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5];
const STEPS = 1000;

function makeTransport(store, place) {
  const play = makeButton("▶", "Play", () => {
    store.touched = true;
    togglePlay(store);
  });
  play.id = "play";
  const slider = make("input", { type: "range", id: "scrub", min: 0, max: STEPS, step: "any", value: 0, "aria-label": "Time" });
  slider.addEventListener("input", () => {
    const [start, end] = store.span;
    moveTo(store, start + ((end - start) * Number(slider.value)) / STEPS);
  });
  const clock = make("output", { id: "clock", for: "scrub" });
  const way = make("output", { id: "way", class: "quiet", for: "scrub" });
  const speeds = SPEEDS.map((speed) => [speed, `${speed}×`]);
  const speed = makeChoice("Speed", speeds, store.speed, (value) => store.set({ speed: Number(value) }));
  let ticks = makeEventTicks(store);
  place.append(play, speed, make("div", { class: "scrubber" }, slider, ticks), clock, way);
  const show = () => {
    const [start, end] = store.span;
    const share = (store.time - start) / (end - start);
    slider.value = share * STEPS;
    slider.style.setProperty("--share", `${100 * share}%`);
    slider.setAttribute("aria-valuetext", showTime(store.time));
    clock.textContent = showTime(store.time);
    const run = store.runs[store.machine];
    way.textContent = run?.path ? `s = ${showNumber(heldValueAt(run, run.path.way, store.time), 3)} m` : "";
    play.textContent = store.playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", store.playing ? "Pause" : "Play");
  };
  store.listen((changes) => {
    if ("runs" in changes) {
      const anew = makeEventTicks(store);
      ticks.replaceWith(anew);
      ticks = anew;
    }
    if ("time" in changes || "playing" in changes) show();
  });
  show();
  watchTransportKeys(store);
}

// Whoever opens a page sees it move, once, unless they wish for less motion.
function playOnOpening(store) {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches && store.span[1] > store.span[0]) togglePlay(store);
}

function makeEventTicks(store) {
  const [start, end] = store.span;
  const ticks = make("div", { class: "ticks", "aria-hidden": "true" });
  for (const event of store.runs.filter((run) => !run.faint).flatMap((run) => run.events).slice(0, 300)) {
    const tick = make("i", { title: event.name });
    tick.style.left = `${(100 * (event.time - start)) / (end - start)}%`;
    ticks.append(tick);
  }
  return ticks;
}

function togglePlay(store) {
  if (store.playing) return store.set({ playing: false });
  const [first, last] = store.span;
  if (store.time >= last) store.set({ time: first });
  store.set({ playing: true });
  let before = performance.now();
  const step = (now) => {
    if (!store.playing) return;
    const ahead = store.time + ((now - before) / 1000) * store.speed;
    const [start, end] = store.span;
    const time = store.looping && ahead >= end ? start + ((ahead - start) % (end - start)) : ahead;
    store.set({ time: Math.min(Math.max(time, start), end) });
    before = now;
    if (store.time >= end) store.set({ playing: false });
    else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function watchTransportKeys(store) {
  const part = () => (store.span[1] - store.span[0]) / 200;
  const moves = {
    ArrowLeft: (factor) => store.time - factor * part(),
    ArrowRight: (factor) => store.time + factor * part(),
    Home: () => store.span[0],
    End: () => store.span[1],
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || usesKey(event.target, event.key)) return;
    if (event.key === " ") store.set({ touched: true }), togglePlay(store);
    else if (moves[event.key]) moveTo(store, moves[event.key](event.shiftKey ? 10 : 1));
    else return;
    event.preventDefault();
  });
}

// Whether an element has its own use for a key: texts and lists for all, buttons, boxes and links for space.
function usesKey(element, key) {
  const kind = element.tagName;
  if (element.id === "scrub") return false;
  if (kind === "SELECT" || kind === "TEXTAREA" || (kind === "INPUT" && element.type !== "checkbox")) return true;
  return key === " " && ["BUTTON", "INPUT", "SUMMARY", "A"].includes(kind);
}
