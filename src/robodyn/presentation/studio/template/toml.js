// Where in a TOML text does what stand? A scan of its lines: enough to find a key's line and what is being written.

const BARE = /[A-Za-z0-9_-]/;

// The parts of a dotted key at the beginning of a text, and what follows; null where there is none.
function splitKey(text) {
  const parts = [];
  let rest = text.trimStart();
  for (;;) {
    const quoted = rest.match(/^"((?:[^"\\]|\\.)*)"|^'([^']*)'/);
    const bare = quoted ? null : rest.match(/^[A-Za-z0-9_-]+/);
    if (!quoted && !bare) return parts.length ? { parts, rest } : null;
    parts.push(quoted ? quoted[1] ?? quoted[2] : bare[0]);
    rest = rest.slice((quoted ?? bare)[0].length).trimStart();
    if (!rest.startsWith(".")) return { parts, rest };
    rest = rest.slice(1).trimStart();
  }
}

// A line without its comment and the contents of its texts, and how many brackets it leaves open.
function bareLine(line) {
  const bare = line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, (text) => `"${" ".repeat(Math.max(0, text.length - 2))}"`);
  const code = bare.replace(/#.*$/, "");
  const depth = (code.match(/[[{]/g) ?? []).length - (code.match(/[\]}]/g) ?? []).length;
  return { code, depth };
}

// For each line: the table it is in, the whole path of the key that begins on it (or null), and whether it goes on.
function scanLines(text) {
  let [table, open, key] = [[], 0, null];
  return text.split("\n").map((line) => {
    if (open > 0) {
      open = Math.max(0, open + bareLine(line).depth);
      return { table, path: null, within: key };
    }
    const head = line.match(/^\s*\[\[?([^\]]*)\]?/);
    if (head) {
      table = splitKey(head[1])?.parts ?? [];
      return { table, path: table, within: null, head: true };
    }
    const found = splitKey(line);
    if (!found || !found.rest.startsWith("=")) return { table, path: null, within: null };
    key = [...table, ...found.parts];
    open = Math.max(0, bareLine(line.slice(line.indexOf("="))).depth);
    return { table, path: key, within: null };
  });
}

// The line (from 0) on which what a message is about stands: the longest path that it begins with; -1 where there is none.
function lineOf(text, { path, what }) {
  const told = what.match(/at line (\d+)/);
  if (told) return Number(told[1]) - 1;
  if (/at end of document/i.test(what)) return text.split("\n").length - 1;
  const wanted = path.replace(/\[\d+\]/g, "");
  let [best, line] = [0, -1];
  scanLines(text).forEach((found, k) => {
    const own = found.path?.join(".") ?? "";
    const fits = own && (wanted === own || wanted.startsWith(`${own}.`));
    if (fits && own.length > best) [best, line] = [own.length, k];
  });
  return line;
}

// A line's pieces with their kinds, for colours.
function piecesOf(line) {
  if (/^\s*\[/.test(line)) return tokenise(line, "table");
  const found = splitKey(line);
  if (!found || !found.rest.startsWith("=")) return tokenise(line, null);
  const cut = line.indexOf("=", line.length - found.rest.length);
  return [["key", line.slice(0, cut)], ...tokenise(line.slice(cut), null)];
}

function tokenise(text, plain) {
  const pattern = /(#.*$)|("(?:[^"\\]|\\.)*"?|'[^']*'?)|((?<![\w.])[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|inf|nan)\b|\b(?:true|false)\b)/g;
  const pieces = [];
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    if (plain === "table" && !found[1]) continue;
    if (found.index > end) pieces.push([plain, text.slice(end, found.index)]);
    pieces.push([found[1] ? "comment" : found[2] ? "string" : "number", found[0]]);
    end = found.index + found[0].length;
  }
  if (end < text.length) pieces.push([plain, text.slice(end)]);
  return pieces;
}
