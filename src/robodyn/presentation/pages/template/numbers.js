// How are a scenario's numbers found and moved? The most influential first, then by group; a search; a slider and a field.

const MOST_FOUND = 80;
const MOST_FIRST = 12;
const GROUPS = ["mechanism", "drives", "control", "drives and control", "start", "solver"];

// desk: valueOf(name), savedOf(name), numbers (all by name), influence (name -> effect), change(name, value, last), and
// problemOf(number, value): what is wrong with a value, where the page itself knows.
function makeNumbers(desk) {
  const search = make("input", { type: "search", id: "number-search", placeholder: "Search numbers", "aria-label": "Search numbers" });
  let changed = false;
  const toggle = makeToggle("changed", false, (on) => ((changed = on), show()));
  byId("number-tools").replaceChildren(search, toggle);
  const rows = new Map();
  const rowOf = (number) => rows.get(number.name) ?? rows.set(number.name, makeNumberRow(desk, number)).get(number.name);
  const isChanged = ({ name }) => desk.valueOf(name) !== desk.savedOf(name);
  const weigh = ({ name }) => desk.influence.get(name) ?? -1;
  const sort = (numbers) => [...numbers].sort((a, b) => weigh(b) - weigh(a));
  const show = () => {
    const open = new Set([...byId("tree").querySelectorAll("details[open]")].map(({ dataset }) => dataset.group));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...desk.numbers.values()];
    search.placeholder = `${all.length} numbers`;
    if (words.length > 0 || changed) {
      const found = sort(all.filter((number) => (!changed || isChanged(number)) && words.every((word) => number.name.toLowerCase().includes(word))));
      const note = found.length > MOST_FOUND ? `The first ${MOST_FOUND} of ${found.length}: search for more words.` : `${found.length} of ${all.length}`;
      byId("tree").replaceChildren(make("p", { class: "quiet" }, note), ...found.slice(0, MOST_FOUND).map((number) => rowOf(number).element));
      return;
    }
    const first = new Set(chooseFirst(desk, all, sort));
    const rest = all.filter((number) => !first.has(number));
    const folded = GROUPS.map((group) => [group, rest.filter((number) => number.group === group)]).filter(([, inside]) => inside.length > 0);
    const groups = folded.map(([group, inside]) => makeNumberGroup(group, sort(inside), open.has(group), rowOf));
    byId("tree").replaceChildren(...[...first].map((number) => rowOf(number).element), ...groups);
    mark();
  };
  const mark = () => {
    for (const group of byId("tree").querySelectorAll("details")) {
      const inside = [...desk.numbers.values()].filter((number) => number.group === group.dataset.group && isChanged(number));
      group.querySelector("summary").classList.toggle("changed", inside.length > 0);
    }
  };
  search.addEventListener("input", show);
  return {
    search,
    show: () => (rows.clear(), show()),
    sort: show,
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

// As long as influences are not known, one number of each kind: a payload and gains before all others.
function chooseFirst(desk, all, sort) {
  const known = all.filter(({ name }) => desk.influence.get(name) > 0);
  if (known.length > 0) return sort(known).slice(0, MOST_FIRST);
  const usual = all.filter(({ value, group }) => Number.isFinite(value) && value !== 0 && group !== "solver");
  const wanted = [/payload.*mass|mass.*payload/, /mass$/, /gain|proportional/, /stiffness/, /coulomb|friction|viscous/, /speed|velocity/];
  const groups = [...wanted, /./].map((words) => usual.filter(({ name }) => words.test(name)));
  const few = groups.flatMap((group) => group.slice(0, 3));
  return [...new Set([...few, ...groups.flat()])].slice(0, MOST_FIRST);
}

// A group is filled when it is opened.
function makeNumberGroup(group, numbers, open, rowOf) {
  const summary = make("summary", {}, `${group[0].toUpperCase()}${group.slice(1)}`, make("span", { class: "quiet" }, String(numbers.length)));
  const element = make("details", { "data-group": group }, summary);
  const fill = () => {
    if (!element.open || element.children.length > 1) return;
    const note = numbers.length > MOST_FOUND ? [make("p", { class: "quiet" }, `${MOST_FOUND} of ${numbers.length}: search for others.`)] : [];
    element.append(...numbers.slice(0, MOST_FOUND).map((number) => rowOf(number).element), ...note);
  };
  element.addEventListener("toggle", fill);
  element.open = open;
  fill();
  return element;
}

// A number is shown in the unit that it is written in.
function makeNumberRow(desk, number) {
  const { name, unit, factor, tunable } = number;
  const unitText = unit && unit !== "1" ? showUnit(unit) : "";
  const label = unitText ? `${name} [${unitText}]` : name;
  const slider = make("input", { type: "range", step: "any", "aria-label": label });
  const field = make("input", { type: "text", inputmode: "decimal", spellcheck: "false", "aria-label": label });
  const back = makeButton("↺", `Reset ${name}`, () => desk.change(name, desk.savedOf(name), true));
  back.className = "back";
  const title = tunable ? name : `${name}: a constant of the native code, which is compiled anew for it`;
  const said = make("span", { class: "name", title }, ...breakable(name));
  const why = make("span", { class: "why", hidden: true });
  const element = make("div", { class: `number${tunable ? "" : " code"}`, "data-number": name }, said, field, back, slider, why);
  const [low, high] = number.range;
  const show = (value) => (Number.isFinite(value) ? `${Number((value / factor).toPrecision(6))} ${unitText}`.trim() : showNumber(value));
  const refuse = (text) => {
    element.classList.toggle("refused", Boolean(text));
    why.textContent = text;
    why.hidden = !text;
  };
  const update = () => {
    const value = desk.valueOf(name);
    slider.hidden = !Number.isFinite(value);
    [slider.min, slider.max] = [Math.min(low, value), Math.max(high, value)].map((end, k) => (Number.isFinite(end) ? end : number.range[k]));
    slider.style.setProperty("--share", `${(100 * (value - slider.min)) / (slider.max - slider.min)}%`);
    if (document.activeElement !== slider && !slider.hidden) slider.value = value;
    if (document.activeElement !== field) field.value = show(value);
    element.classList.toggle("changed", value !== desk.savedOf(name));
  };
  const move = (value, last) => {
    field.value = show(value);
    const problem = desk.problemOf?.(number, value) ?? "";
    refuse(problem);
    if (!problem) desk.change(name, value, last);
  };
  // Four digits of the unit it is shown in are as fine as a slider is.
  const rounded = (value) => Number((value / factor).toPrecision(4)) * factor;
  // What needs other code waits until the slider is let go.
  slider.addEventListener("input", () => {
    if (tunable || desk.opened.has(name)) move(rounded(Number(slider.value)), false);
    else field.value = show(rounded(Number(slider.value)));
  });
  slider.addEventListener("change", () => move(rounded(Number(slider.value)), true));
  field.addEventListener("change", () => {
    const value = readField(field.value, unit, factor);
    if (Number.isFinite(value)) move(value, true);
    else refuse(`${name}: must be a number${unitText ? ` in ${unitText}` : ""}, is "${field.value}"`);
  });
  // Arrows change a number by 1 %, with shift by 10 %.
  for (const input of [slider, field]) {
    input.addEventListener("keydown", (event) => {
      const signs = { ArrowUp: 1, ArrowDown: -1, ...(input === slider ? { ArrowRight: 1, ArrowLeft: -1 } : {}) };
      if (!(event.key in signs) || event.altKey || event.ctrlKey) return;
      event.preventDefault();
      const value = desk.valueOf(name);
      const step = (event.shiftKey ? 0.1 : 0.01) * (Math.abs(value) || high - low);
      const moved = Number(((value + signs[event.key] * step) / factor).toPrecision(6)) * factor;
      if (Number.isFinite(value)) move(moved, true);
      slider.value = moved;
    });
    input.addEventListener("blur", update);
  }
  update();
  return {
    element,
    update,
    refuse(flaws) {
      const own = desk.valueOf(name) !== desk.savedOf(name) ? flaws.filter(({ path }) => path && (name.endsWith(path) || path.endsWith(name))) : [];
      refuse(own.map((flaw) => showFlaw({ ...flaw, path: name })).join("\n"));
    },
  };
}

// "4", "4 kg" or "4kg" in the number's own unit; NaN for anything else.
function readField(text, unit, factor) {
  const found = text.replace("−", "-").match(/^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*$/);
  if (!found || (found[2] && ![unit, showUnit(unit)].includes(found[2]))) return NaN;
  return Number(found[1]) * factor;
}

// A name that goes over to the next line where its words do.
function breakable(name) {
  return name.split(/(?<=[._])/).flatMap((part) => [part, make("wbr")]);
}

function showFlaw({ path, what, remedy }) {
  return `${path ? `${path}: ` : ""}${what}${remedy ? ` (${remedy})` : ""}`;
}
