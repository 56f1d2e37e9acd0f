// How are a scenario's numbers found and moved? A tree by their names, a search, a slider and a field for each.

const MOST_FOUND = 80;
const FEWEST_SHOWN = 8;

// desk: values (changed ones by name), numbers (all by name), change(name, value, last).
function makeNumbers(desk) {
  const search = make("input", { type: "search", id: "number-search", placeholder: "Search numbers", "aria-label": "Search numbers" });
  let changed = false;
  const toggle = makeToggle("only what is changed", false, (on) => ((changed = on), show()));
  byId("number-tools").replaceChildren(search, toggle);
  const rows = new Map();
  const rowOf = (number) => rows.get(number.name) ?? rows.set(number.name, makeNumber(desk, number)).get(number.name);
  const mark = () => {
    for (const summary of byId("tree").querySelectorAll("summary")) {
      const under = [...desk.values.keys()].some((name) => name.startsWith(`${summary.dataset.path}.`));
      summary.classList.toggle("changed", under);
    }
  };
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...desk.numbers.values()];
    if (words.length === 0 && !changed) {
      byId("tree").replaceChildren(...makeGroups(all, 0, rowOf));
      openFirst(byId("tree"));
      return mark();
    }
    const found = all.filter(({ name }) => (!changed || desk.values.has(name)) && words.every((word) => name.toLowerCase().includes(word)));
    const note = found.length > MOST_FOUND ? `The first ${MOST_FOUND} of ${found.length}: search for more words.` : `${found.length} of ${all.length}`;
    const shown = found.slice(0, MOST_FOUND).map((number) => rowOf(number).fully());
    byId("tree").replaceChildren(make("p", { class: "quiet" }, note), ...shown);
  };
  search.addEventListener("input", show);
  return {
    show: () => (rows.clear(), show()),
    update() {
      for (const row of rows.values()) row.update();
      mark();
      if (changed) show();
    },
    refuse(flaws) {
      for (const row of rows.values()) row.refuse(flaws);
    },
  };
}

// Numbers whose names begin alike, under one another; rows are made when their group is opened.
function makeGroups(numbers, depth, rowOf) {
  const groups = new Map();
  const rows = [];
  for (const number of numbers) {
    const parts = number.name.split(".");
    if (parts.length === depth + 1) rows.push(rowOf(number).shortly(depth));
    else groups.set(parts[depth], [...(groups.get(parts[depth]) ?? []), number]);
  }
  // A number that is alone in its group stands among the rows, which come before the groups.
  const folded = [];
  for (const [name, inside] of groups) {
    if (inside.length === 1) {
      rows.push(rowOf(inside[0]).shortly(depth));
      continue;
    }
    const path = inside[0].name.split(".").slice(0, depth + 1).join(".");
    const summary = make("summary", { "data-path": path }, name, make("span", { class: "quiet" }, String(inside.length)));
    const group = make("details", {}, summary);
    group.addEventListener("toggle", () => {
      if (group.open && group.children.length === 1) group.append(...makeGroups(inside, depth + 1, rowOf));
    });
    folded.push(group);
  }
  return [...rows, ...folded];
}

// Open groups from the top on until there are some sliders to be seen; opening a group makes its rows.
function openFirst(tree) {
  for (;;) {
    const closed = tree.querySelector("details:not([open])");
    if (!closed || tree.querySelectorAll(".number").length >= FEWEST_SHOWN) return;
    closed.open = true;
    closed.dispatchEvent(new Event("toggle"));
  }
}

function makeNumber(desk, number) {
  const { name, unit, tunable } = number;
  const label = `${name} [${showUnit(unit)}]`;
  const slider = make("input", { type: "range", step: "any", "aria-label": label });
  const field = make("input", { type: "number", step: "any", "aria-label": label });
  const back = makeButton("↺", `Put ${name} back`, () => desk.change(name, number.value, true));
  back.className = "back";
  const title = tunable ? name : `${name}: a constant of the native code, which is compiled anew for it`;
  const said = make("span", { class: "name", title });
  const why = make("span", { class: "why", hidden: true });
  const cells = [said, field, make("span", { class: "unit", title: showUnit(unit) }, unit ? showUnit(unit) : "–"), back];
  const row = make("div", { class: `number${tunable ? "" : " code"}`, "data-number": name }, ...cells, slider, why);
  const [low, high] = number.range;
  const update = () => {
    const value = desk.values.get(name) ?? number.value;
    slider.hidden = !Number.isFinite(value);
    [slider.min, slider.max] = [Math.min(low, value), Math.max(high, value)].map((end, k) => (Number.isFinite(end) ? end : number.range[k]));
    if (document.activeElement !== slider && !slider.hidden) slider.value = value;
    if (document.activeElement !== field) field.value = slider.hidden ? "" : Number(Number(value).toPrecision(7));
    field.placeholder = slider.hidden ? showNumber(value) : "";
    row.classList.toggle("changed", desk.values.has(name));
  };
  // What needs other code waits until the slider is let go.
  slider.addEventListener("input", () => {
    field.value = Number(Number(slider.value).toPrecision(7));
    if (tunable || desk.opened.has(name)) desk.change(name, Number(slider.value), false);
  });
  slider.addEventListener("change", () => desk.change(name, Number(slider.value), true));
  field.addEventListener("change", () => {
    if (Number.isFinite(field.valueAsNumber)) desk.change(name, field.valueAsNumber, true);
    else update();
  });
  slider.addEventListener("blur", update);
  field.addEventListener("blur", update);
  update();
  return {
    update,
    refuse(flaws) {
      const own = desk.values.has(name) ? flaws.filter(({ path }) => path && (name.endsWith(path) || path.endsWith(name))) : [];
      row.classList.toggle("refused", own.length > 0);
      why.textContent = own.map(showFlaw).join("\n");
      why.hidden = own.length === 0;
    },
    shortly: (depth) => (said.replaceChildren(...breakable(name.split(".").slice(depth).join("."))), row),
    fully: () => (said.replaceChildren(...breakable(name)), row),
  };
}

// A name that goes over to the next line where its words do.
function breakable(name) {
  return name.split(/(?<=[._])/).flatMap((part) => [part, make("wbr")]);
}

function showFlaw({ path, what, remedy }) {
  return `${path ? `${path}: ` : ""}${what}${remedy ? ` (${remedy})` : ""}`;
}
