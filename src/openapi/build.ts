import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isStamped } from "./client/stamp.ts";
import { documents } from "./documents.ts";
import { whatArrives } from "./what-arrives.ts";

/** The path of a document. Documents are committed, so that a change of the API shows in the diff. */
function pathOf(name: string): string {
  return join(import.meta.dirname, `${name}.json`);
}

const guide = join(import.meta.dirname, "../docs/what-arrives.md");
const manifest = join(import.meta.dirname, "../../package.json");
const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
const isCheck = process.argv.includes("--check");
const stale: string[] = [];

const files = Object.entries(documents(version)).map(([name, document]) => [
  pathOf(name),
  `${JSON.stringify(document, null, 2)}\n`,
]);
for (const [path = "", text = ""] of [...files, [guide, whatArrives()]]) {
  if (!isCheck) await writeFile(path, text);
  else if ((await readFile(path, "utf8").catch(() => "")) !== text) stale.push(path);
}

if (isCheck && !(await isStamped())) stale.push("the client's types");

if (stale.length > 0) {
  console.error(`Out of date: ${stale.join(", ")}. Run npm run openapi.`);
  process.exitCode = 1;
}
