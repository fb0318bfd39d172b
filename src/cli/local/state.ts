import { access, mkdir, mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError, reasonOf } from "../command-error.ts";

/**
 * Makes the folder in which wrangler keeps the data.
 * @returns whether there is no data in it yet
 * @throws CommandError when it can't be written
 */
export async function prepareState(state: string): Promise<boolean> {
  try {
    await makeFolder(state);
    // Permissions alone don't tell: root has them all, and a read-only disk refuses it too.
    await rmdir(await mkdtemp(join(state, "probe-")));
  } catch (error) {
    throw new CommandError(`The data can't be kept in ${state}: ${reasonOf(error)}.`);
  }
  // wrangler's layout: everything is below `v3`.
  return access(join(state, "v3")).then(
    () => false,
    () => true,
  );
}

/** Not Node's `recursive`: that never returns below /proc, where a parent exists and its child can't. */
async function makeFolder(path: string): Promise<void> {
  const made = await mkdir(path).catch((error: NodeJS.ErrnoException) => error.code);
  if (made === undefined || made === "EEXIST") return;
  if (made === "ENOENT" && dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path);
}
