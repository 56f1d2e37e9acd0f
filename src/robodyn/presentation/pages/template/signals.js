// What was the value of a signal at a time? Columns are decoded when they are first looked at.

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 4], [4, 2, 1, 2, 1, 2]];

function decodeBytes(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

// The columns of all runs, deflated in the page's data.
async function inflate(text) {
  const stream = new Blob([decodeBytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A column of n numbers. Bytes are sorted, all lowest ones first. "steps": differences of whole numbers of steps, the sign
// in the lowest bit; "f8": bits that differ from those of the number before.
function decodeColumn({ type, data, step, order, width }, n, bytes) {
  if (type === "constant") return new Float64Array(n).fill(data);
  if (type === "f8") {
    const raw = new Uint8Array(8 * n);
    for (let k = 0; k < n; k++) {
      for (let i = 0; i < 8; i++) raw[8 * k + i] = bytes[data + i * n + k] ^ (k ? raw[8 * (k - 1) + i] : 0);
    }
    return new Float64Array(raw.buffer);
  }
  const values = new Float64Array(n);
  for (let i = width - 1; i >= 0; i--) for (let k = 0; k < n; k++) values[k] = 256 * values[k] + bytes[data + i * n + k];
  for (let k = 0; k < n; k++) values[k] = values[k] % 2 ? -(values[k] + 1) / 2 : values[k] / 2;
  for (let i = 0; i < order; i++) for (let k = 1; k < n; k++) values[k] += values[k - 1];
  return values.map((count) => count * step);
}

function prepareRun(raw, number, bytes = null) {
  const signals = new Map(raw.signals.map((signal) => [signal.name, signal]));
  const knots = raw.knots === null ? null : bytes.subarray(raw.knots, raw.knots + raw.kept);
  const time = decodeColumn(raw.time, raw.kept, bytes);
  return { ...raw, number, bytes, time, knots, signals, dash: DASHES[number % DASHES.length], thinned: raw.kept < raw.rows };
}

// Runs of a page's data, their columns unpacked.
async function prepareRuns({ runs, columns }) {
  const bytes = columns ? await inflate(columns) : null;
  return runs.map((run, number) => prepareRun(run, number, bytes));
}

// The samples of a signal, or null where the run has none of that name.
function valuesOf(run, name) {
  const signal = run.signals.get(name);
  if (!signal) return null;
  return (signal.values ??= decodeColumn(signal, run.time.length, run.bytes));
}

// Samples of the time derivative, which make the interpolation cubic where rows are few; thinned ones do not fit them.
function ratesOf(run, name) {
  const { rate, held } = run.signals.get(name);
  return rate && !held && !run.thinned ? valuesOf(run, rate) : null;
}

// The last row at or before t: at a jump, the right limit.
function rowAt(time, t) {
  let [low, high] = [0, time.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Cubic through both ends of an interval with the slopes there (per share of the interval), at the share s.
function hermite(s, left, right, leftSlope, rightSlope) {
  return left + s * s * (3 - 2 * s) * (right - left) + s * (1 - s) * ((1 - s) * leftSlope - s * rightSlope);
}

// First row and number of rows of the polynomial for the interval after a row: the nearest six within the knots about it.
function windowAt({ time, knots }, row) {
  if (!knots) return [row, 2];
  let [first, last] = [row, row + 1];
  while (first > Math.max(row - 5, 0) && !knots[first]) first--;
  while (last < Math.min(row + 6, time.length - 1) && !knots[last]) last++;
  const count = Math.min(last - first + 1, 6);
  return [Math.min(Math.max(row - 2, first), last + 1 - count), count];
}

// The polynomial through some rows, at time t (Neville's scheme).
function polynomial(time, values, first, count, t) {
  const p = Array.from(values.slice(first, first + count));
  for (let span = 1; span < count; span++) {
    for (let k = 0; k < count - span; k++) {
      const [left, right] = [time[first + k], time[first + k + span]];
      p[k] = ((t - left) * p[k + 1] - (t - right) * p[k]) / (right - left);
    }
  }
  return p[0];
}

function between(run, name, row, t) {
  const { time } = run;
  const values = valuesOf(run, name);
  const step = time[row + 1] - time[row];
  if (row + 1 >= time.length || !(step > 0) || t === time[row] || run.signals.get(name).held) return values[row];
  const [first, count] = windowAt(run, row);
  const rates = ratesOf(run, name);
  if (!rates || count >= 5) return polynomial(time, values, first, count, t);
  const s = (t - time[row]) / step;
  return hermite(s, values[row], values[row + 1], step * rates[row], step * rates[row + 1]);
}

// The value at time t [s]; not a number outside the record.
function valueAt(run, name, t) {
  const { time } = run;
  if (!run.signals.has(name) || time.length === 0 || t < time[0] || t > time[time.length - 1]) return NaN;
  return between(run, name, rowAt(time, t), t);
}

// The nearest value the record has: its ends stand for what lies outside.
function heldValueAt(run, name, t) {
  const { time } = run;
  return valueAt(run, name, Math.min(Math.max(t, time[0]), time[time.length - 1]));
}

// First and last time of all runs; a span of no length is widened so that it can be drawn.
function commonSpan(runs) {
  const filled = runs.filter((run) => run.time.length > 0);
  if (filled.length === 0) return [0, 1];
  const start = Math.min(...filled.map((run) => run.time[0]));
  const end = Math.max(...filled.map((run) => run.time[run.time.length - 1]));
  return end > start ? [start, end] : [start - 0.5, start + 0.5];
}

// All signals of all runs by name, with their units, in the order of recording.
function allSignals(runs) {
  const units = new Map();
  for (const run of runs) for (const [name, signal] of run.signals) if (!units.has(name)) units.set(name, signal.unit);
  return units;
}
