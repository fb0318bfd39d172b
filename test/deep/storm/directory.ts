import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DIRECTORY_PATH, type DirectoryTally } from "./worker/tally.ts";

const WORKER = "test/deep/storm/worker";
const ENTRY = 'main = "src/index.ts"';
const root = new URL("../../..", import.meta.url).pathname;

/** D1 of a server that runs the storms' Worker. A kill ends an outage and begins the tally anew. */
export class Directory {
  readonly #url: URL;

  constructor(base: string) {
    this.#url = new URL(DIRECTORY_PATH, base);
  }

  /** From here on, every call to D1 fails. */
  async takeDown(): Promise<void> {
    await this.#set(true);
  }

  async bringBack(): Promise<void> {
    await this.#set(false);
  }

  async tally(): Promise<DirectoryTally> {
    return (await (await fetch(this.#url)).json()) as DirectoryTally;
  }

  async #set(down: boolean): Promise<void> {
    const { ok } = await fetch(this.#url, { method: "PUT", body: JSON.stringify({ down }) });
    if (!ok) throw new Error("the storms' Worker does not run");
  }
}

/** Makes a copy of the checkout run the storms' Worker: the service, with a D1 that can be taken down. */
export async function useStormWorker(folder: string): Promise<void> {
  await cp(join(root, WORKER), join(folder, WORKER), { recursive: true });
  const path = join(folder, "wrangler.toml");
  const text = await readFile(path, "utf8");
  if (!text.includes(ENTRY)) throw new Error(`${path} has no ${ENTRY}`);
  await writeFile(path, text.replace(ENTRY, `main = "${WORKER}/index.ts"`));
}
