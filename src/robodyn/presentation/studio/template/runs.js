// Which runs are on the desk? The present one, shadows of the last ones, and those that are pinned.

const MOST_PAST = 3;
const FAINT = [0.42, 0.24, 0.14];
const MOST_PINNED = 5;

// A run as the plots and the replay read it.
function makeRun(header, { time, values, knots }, machine) {
  const signals = new Map(header.columns.map((column, k) => [column.name, { ...column, values: values[k] }]));
  const { run: id, outcome, events, kept, rows } = header;
  return { ...header, id, number: 0, label: "now", time, knots, signals, machine, outcome, events, dash: [], thinned: kept < rows };
}

// Signals that were asked for later.
function addColumns(run, header, { values }) {
  header.columns.forEach((column, k) => run.signals.set(column.name, { ...column, values: values[k] }));
}

// The order in which they are drawn: the present one first.
function runsOnDesk({ current, past, pinned }) {
  const shadows = past.filter((run) => !pinned.includes(run)).slice(0, MOST_PAST);
  shadows.forEach((run, k) => Object.assign(run, { faint: FAINT[k], label: "before", dash: [] }));
  pinned.forEach((run, k) => Object.assign(run, { faint: undefined, label: run.name, dash: DASHES[1 + (k % (DASHES.length - 1))] }));
  Object.assign(current, { faint: undefined, dash: [], label: "now" });
  return [current, ...pinned.filter((run) => run !== current), ...shadows];
}

// What a run is called: by what was changed for it.
function nameRun(run) {
  const changes = Object.entries(run.values);
  if (changes.length === 0) return "as described";
  const [name, value] = changes[changes.length - 1];
  const others = changes.length > 1 ? ` and ${changes.length - 1} more` : "";
  return `${name} = ${showNumber(value, 4)}${others}`;
}
