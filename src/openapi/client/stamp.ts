import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const PLACE = join(import.meta.dirname, "types.ts");
const DOCUMENT = join(import.meta.dirname, "../public.json");

/** The line that says from which document types were made. */
async function stampOf(): Promise<string> {
  const hash = createHash("sha256")
    .update(await readFile(DOCUMENT))
    .digest("hex");
  return `// Made from the document whose SHA-256 is ${hash}.\n`;
}

/** Whether the committed types were made from the committed document. */
export async function isStamped(): Promise<boolean> {
  return (await readFile(PLACE, "utf8")).startsWith(await stampOf());
}

if (import.meta.main) await writeFile(PLACE, (await stampOf()) + (await readFile(PLACE, "utf8")));
