import { access, mkdir, mkdtemp, rmdir } from "node:fs/promises";
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
 * Creates the folder of the data.
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
  return access(join(state, "v3")).then(
    () => false,
    () => true,
  );
}

/** Node's `recursive` option hangs below /proc, where the parent exists and the child can't be created. */
async function makeFolder(path: string): Promise<void> {
  const made = await mkdir(path).catch((error: NodeJS.ErrnoException) => error.code);
  if (made === undefined || made === "EEXIST") return;
  if (made === "ENOENT" && dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path);
}
