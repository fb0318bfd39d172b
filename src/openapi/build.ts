import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isStamped } from "./client/stamp.ts";
import { documents } from "./documents.ts";

/** Where a document lies, beside this file; it is committed, so that a change of the interface shows as one. */
function placeOf(name: string): string {
  return join(import.meta.dirname, `${name}.json`);
}

const manifest = join(import.meta.dirname, "../../package.json");
const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
const isCheck = process.argv.includes("--check");
const stale: string[] = [];

for (const [name, document] of Object.entries(documents(version))) {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const place = placeOf(name);
  if (!isCheck) await writeFile(place, text);
  else if ((await readFile(place, "utf8").catch(() => "")) !== text) stale.push(place);
}

if (isCheck && !(await isStamped())) stale.push("the client's types");

if (stale.length > 0) {
  console.error(`Not what the schemas say: ${stale.join(", ")}. Run npm run openapi.`);
  process.exitCode = 1;
}
