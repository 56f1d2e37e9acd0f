// In which unit does a person read a number, and how is it written? The table is the library's own: unit of SI -> from
// which largest magnitude on which unit, and what one of it is in SI.

const SHOWN = {{units}};
const SMALLEST = 1e-14;

// The unit in which numbers [unit, of SI] of at most this magnitude are shown: {name, size}.
function chooseUnit(unit, largest) {
  if (!SHOWN[unit] || !(largest >= SMALLEST && largest < Infinity)) return { name: writeUnit(unit), size: 1 };
  const [, name, size] = SHOWN[unit].filter(([least]) => least <= largest).at(-1);
  return { name, size };
}

const RAISED = { 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹", "-": "⁻" };

// "rad/s^2" as "rad/s²".
function writeUnit(unit) {
  return unit.replace(/\^(-?\d+)(?![\d.])/g, (_, power) => [...power].map((digit) => RAISED[digit]).join("")).replace(/ohm\b/, "Ω");
}

// A number without a unit is "1" to the eye of a physicist, but says more as "no unit".
function showUnit(unit) {
  return unit === "" ? "no unit" : writeUnit(unit);
}

// Six significant digits without useless zeros; a dash for what is not a number, 0 for what rounding leaves.
function showNumber(value, digits = 6) {
  if (typeof value === "string") return value.replace("inf", "∞").replace("-", "−");
  if (value == null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size < SMALLEST) return "0";
  const plain = size >= 1e-4 && size < 10 ** Math.max(digits, 5);
  const text = plain ? String(Number(value.toPrecision(digits))) : value.toExponential(Math.max(0, digits - 2)).replace(/\.?0+e/, "e");
  return text.replace(/^-/, "−").replace("e-", "e−").replace("e+", "e");
}

// A number beside others of at most this size, to a few millionths of it.
function showBeside(value, largest) {
  const places = 5 - Math.floor(Math.log10(largest));
  return showNumber(largest > 0 && places > 0 && places < 20 ? Number(value.toFixed(places)) : value);
}

// A number of SI with the unit in which people read it: 31.2 µm.
function showQuantity(value, unit, digits = 3) {
  const { name, size } = chooseUnit(unit, Math.abs(value));
  return `${showNumber(value / size, digits)} ${name}`.trimEnd();
}

function showTime(t) {
  return `${t.toFixed(4).replace("-", "−")} s`;
}
