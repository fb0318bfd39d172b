import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const TYPES = join(import.meta.dirname, "types.ts");
const DOCUMENT = join(import.meta.dirname, "../public.json");

/** The first line of the types: it names the document that they were generated from. */
async function stampOf(): Promise<string> {
  const hash = createHash("sha256")
    .update(await readFile(DOCUMENT))
    .digest("hex");
  return `// Generated from the document with the SHA-256 ${hash}.\n`;
}

/** Whether the committed types were generated from the committed document. */
export async function isStamped(): Promise<boolean> {
  return (await readFile(TYPES, "utf8")).startsWith(await stampOf());
}

if (import.meta.main) await writeFile(TYPES, (await stampOf()) + (await readFile(TYPES, "utf8")));
