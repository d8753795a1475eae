// Writes the tests that one `node --test` ran, a line of JSON each, into the folder TEST_EVENTS_FOLDER.
import { appendFileSync } from "node:fs";
import { join, relative } from "node:path";

const file = join(process.env.TEST_EVENTS_FOLDER ?? ".", `node-${process.pid}.jsonl`);

function stateOf({ type, data }) {
  if (data.skip !== undefined && data.skip !== false) return "skipped";
  if (data.todo !== undefined && data.todo !== false) return "skipped";
  return type === "test:pass" ? "passed" : "failed";
}

export default async function* report(source) {
  const above = [];
  for await (const event of source) {
    const { data } = event;
    if (event.type === "test:start") above[data.nesting] = data.name;
    if (event.type !== "test:pass" && event.type !== "test:fail") continue;
    above[data.nesting] = data.name;
    const name = above.slice(0, data.nesting + 1);
    const place = data.file ? relative(process.cwd(), data.file) : "";
    const suite = data.details?.type === "suite";
    appendFileSync(file, `${JSON.stringify({ file: place, name, suite, state: stateOf(event) })}\n`);
  }
  yield "";
}
