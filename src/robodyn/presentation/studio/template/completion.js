// What can be written here? Keys, tables and words that the JSON Schema of scenario files knows at this place.

const MOST_CHOICES = 60;

// The schemas that a value at this place may follow: references resolved, alternatives side by side.
function alternatives(schema, root) {
  if (!schema || typeof schema !== "object") return [];
  if (schema.$ref) return alternatives(root.$defs[schema.$ref.split("/").pop()], root);
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...inner.flatMap((one) => alternatives(one, root))];
}

// Those of what stands in it under a key.
function descend(schemas, key, root) {
  return schemas.flatMap((schema) => {
    const own = schema.properties?.[key];
    return alternatives(own ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : null), root);
  });
}

function schemasAt(root, path) {
  return path.reduce((schemas, key) => descend(schemas, key, root), alternatives(root, root));
}

// Keys at a place with what is said of them.
function keysAt(root, path) {
  const keys = new Map();
  for (const schema of schemasAt(root, path)) {
    for (const [key, value] of Object.entries(schema.properties ?? {})) {
      if (!keys.has(key)) keys.set(key, alternatives(value, root).find(({ description }) => description)?.description ?? value.description ?? "");
    }
  }
  return keys;
}

function isTable(root, path) {
  return schemasAt(root, path).some(({ type }) => type === "object");
}

// Words that the value at a place may be.
function wordsAt(root, path) {
  const schemas = schemasAt(root, path);
  const words = schemas.flatMap((schema) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]));
  if (schemas.some(({ type }) => type === "boolean")) words.push(true, false);
  return [...new Set(words)].map((word) => (typeof word === "string" ? `"${word}"` : String(word)));
}

// What may be written at a place of a text: { from, choices: [{ text, note }] }; names: of bodies, joints ... in the text.
function complete(text, cursor, root) {
  const start = text.lastIndexOf("\n", cursor - 1) + 1;
  const line = text.slice(start, cursor);
  const lines = scanLines(text);
  const { table, within } = lines[text.slice(0, start).split("\n").length - 1];
  const head = line.match(/^\s*\[\[?\s*([^\]]*)$/);
  if (head) return choose(headings(root, lines), head[1], cursor);
  const equals = line.match(/^([^=#]*)=\s*(.*)$/);
  if (equals && !within) {
    const key = splitKey(equals[1])?.parts ?? [];
    const begun = equals[2].match(/(["\w.-]*)$/)[1];
    return choose([...wordsAt(root, [...table, ...key]), ...namesFor(key, lines)].map((word) => [word, ""]), begun, cursor);
  }
  if (within || line.includes("#")) return { from: cursor, choices: [] };
  const written = line.match(/^\s*((?:[A-Za-z0-9_-]+\.)*)([A-Za-z0-9_-]*)$/);
  if (!written) return { from: cursor, choices: [] };
  const path = [...table, ...written[1].split(".").filter(Boolean)];
  const taken = new Set(lines.filter(({ path: own }) => own && own.length > path.length && path.every((part, k) => own[k] === part)).map(({ path: own }) => own[path.length]));
  taken.delete(written[2]);
  return choose([...keysAt(root, path)].filter(([key]) => !taken.has(key)), written[2], cursor);
}

// Tables that there are or may be, with a place for a name where tables have names of the writer's own.
function headings(root, lines) {
  const tops = [...keysAt(root, [])].filter(([key]) => isTable(root, [key]));
  const known = lines.filter(({ head, path }) => head && path.length > 1).map(({ path }) => [`${path.slice(0, -1).join(".")}.`, ""]);
  return [...new Map([...tops, ...known])];
}

// Names of bodies or joints where a key asks for one.
function namesFor(key, lines) {
  const groups = { parent: "bodies", child: "bodies", body: "bodies", on: "joints", joint: "joints", start: "points", end: "points", point: "points", of: "joints" };
  const group = groups[key[key.length - 1]];
  if (!group) return [];
  const names = lines.filter(({ path }) => path && path.length > 1 && path[0] === group).map(({ path }) => path[1]);
  return [...new Set([...(group === "bodies" ? ["ground"] : []), ...names])].map((name) => `"${name}"`);
}

// Those that begin as written, then those that contain it.
function choose(known, begun, cursor) {
  const wanted = begun.toLowerCase().replace(/^"/, "");
  const bare = (text) => text.toLowerCase().replace(/^"/, "");
  const fits = known.filter(([text]) => bare(text).includes(wanted) && text !== begun);
  fits.sort(([a], [b]) => bare(b).startsWith(wanted) - bare(a).startsWith(wanted));
  return { from: cursor - begun.length, choices: fits.slice(0, MOST_CHOICES).map(([text, note]) => ({ text, note })) };
}
