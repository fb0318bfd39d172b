import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isStamped } from "./client/stamp.ts";
import { documents } from "./documents.ts";

/** The path of a document. Documents are committed, so that a change of the API shows in the diff. */
function pathOf(name: string): string {
  return join(import.meta.dirname, `${name}.json`);
}

const manifest = join(import.meta.dirname, "../../package.json");
const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
const isCheck = process.argv.includes("--check");
const stale: string[] = [];

for (const [name, document] of Object.entries(documents(version))) {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const path = pathOf(name);
  if (!isCheck) await writeFile(path, text);
  else if ((await readFile(path, "utf8").catch(() => "")) !== text) stale.push(path);
}

if (isCheck && !(await isStamped())) stale.push("the client's types");

if (stale.length > 0) {
  console.error(`Out of date: ${stale.join(", ")}. Run npm run openapi.`);
  process.exitCode = 1;
}
