import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes a folder of files while a server may be reading it. `write` fills a new folder beside `out`; then each changed
 * file is renamed over the old one, so that no file is ever missing or incomplete.
 * @returns what `write` returned
 */
export async function publish<T>(out: string, write: (folder: string) => Promise<T>): Promise<T> {
  // Not inside `out`, where wrangler would serve it. Beside `out`, because a rename can't cross disks.
  await mkdir(dirname(out), { recursive: true });
  const folder = await mkdtemp(join(dirname(out), ".building-"));
  try {
    const written = await write(folder);
    const names = await filesIn(folder);
    for (const name of names) await replace(join(folder, name), join(out, name));
    for (const name of await filesIn(out)) {
      if (!names.includes(name)) await rm(join(out, name), { force: true });
    }
    return written;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Leaves an unchanged file alone, because wrangler restarts the server after each change. */
async function replace(from: string, to: string): Promise<void> {
  const [next, current] = await Promise.all([readFile(from), readFile(to).catch(() => null)]);
  if (current?.equals(next)) return;
  await mkdir(dirname(to), { recursive: true });
  await rename(from, to);
}

/** The paths of all files below `folder`. Folders are never removed: workerd keeps them open and would serve nothing. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}
