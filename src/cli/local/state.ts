import { chmod, mkdir, mkdtemp, readdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError, reasonOf } from "../command-error.ts";
import { localMigrations } from "../local-database.ts";

/** Changes nothing. @throws CommandError if the data has a layout that no migration leads on from */
export async function refuseEarlierLayout(root: string, state: string): Promise<void> {
  // What can't be read is left to wrangler, which says more.
  const { all, applied } = await localMigrations(root, state).catch(() => ({ all: [], applied: null }));
  const [first] = all;
  if (first === undefined || !applied || applied.length === 0 || applied.includes(first)) return;
  throw new CommandError(
    `The data in ${state} is from an earlier version of Parley, and this one can't read it: delete that folder, or start with --persist-to and another one.`,
  );
}

/**
 * Creates the folder of the data, and closes data that an earlier version left open to other users of the machine.
 * @returns whether it contains no data yet
 * @throws CommandError if the folder can't be written
 */
export async function prepareState(state: string): Promise<boolean> {
  try {
    await makeFolder(state);
    // A real write: permissions say nothing about root or a read-only disk.
    await rmdir(await mkdtemp(join(state, "probe-")));
  } catch (error) {
    throw new CommandError(`Can't write to the data folder ${state}: ${reasonOf(error)}.`);
  }
  // wrangler stores everything below `v3`.
  return !(await closeFolder(join(state, "v3")));
}

/** Lets only the owner into a folder, and read and write what is in it. @returns false if there is no such folder */
async function closeFolder(path: string): Promise<boolean> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null);
  if (!entries) return false;
  // Another user's data stays as it is. A file may be gone by now: SQLite deletes some.
  const close = (each: string, mode: number) => chmod(each, mode).catch(() => {});
  await close(path, 0o700);
  for (const entry of entries) {
    const isFolder = entry.isDirectory();
    if (isFolder || entry.isFile()) await close(join(entry.parentPath, entry.name), isFolder ? 0o700 : 0o600);
  }
  return true;
}

/** Node's `recursive` option hangs below /proc, where the parent exists and the child can't be created. */
async function makeFolder(path: string): Promise<void> {
  const made = await mkdir(path).catch((error: NodeJS.ErrnoException) => error.code);
  if (made === undefined || made === "EEXIST") return;
  if (made === "ENOENT" && dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path);
}
