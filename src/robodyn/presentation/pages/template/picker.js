// Which signals are plotted, and of which runs?

function makePicker(store, place) {
  const groups = new Map();
  for (const [name, unit] of store.units) groups.set(unit, [...(groups.get(unit) ?? []), name]);
  const boxes = new Map();
  const fieldsets = [...groups].map(([unit, names]) => makeGroup(store, unit, names, boxes));
  const search = make("input", { type: "search", placeholder: "Search signals", "aria-label": "Search signals" });
  const nothing = make("p", { class: "note", hidden: true }, "No signal has such a name.");
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
      toggle.insertBefore(makeSample(run.dash, "currentColor"), toggle.lastChild);
      toggle.classList.add("run");
      place.append(toggle);
    }
  }
  place.append(
    makeButton("+", "Enlarge around the current time", () => zoomTime(store, 0.6, store.time)),
    makeButton("−", "Show more time", () => zoomTime(store, 1 / 0.6, store.time)),
    makeButton("All", "Show the whole time", () => showAll(store)),
  );
}
