// The run in node, for the comparison with the simulation: outputs at communication points as doubles, then the events and
// the outcome of the whole run.
import { readFile, writeFile } from "node:fs/promises";
import { load } from "./simulation.mjs";

const model = await load(readFile("simulation.wasm"));
const times = JSON.parse(await readFile("times.json"));
const robot = model.start(), rows = [robot.read()];
for (const time of times.slice(1)) {
  if (!robot.advance(time)) break;
  rows.push(robot.read());
}
await writeFile("rows.bin", Buffer.concat(rows.map((row) => Buffer.from(row.buffer))));
const run = model.run();
console.log(JSON.stringify({ events: run.events.map(({ name }) => name), ok: run.outcome === "done" }));
