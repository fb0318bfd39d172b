import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandError, reasonOf } from "./command-error.ts";

/** The path of a file in the user's configuration folder. */
export function configurationPath(env: Record<string, string | undefined>, name: string): string {
  const folder = env.XDG_CONFIG_HOME || (process.platform === "win32" && env.APPDATA) || join(homedir(), ".config");
  return join(folder, "parley", name);
}

/**
 * Reads a file with secrets. Returns null if it doesn't exist.
 * @throws CommandError if other users can read the file
 */
export async function readPrivate(path: string): Promise<string | null> {
  try {
    const { mode } = await stat(path);
    if (process.platform !== "win32" && mode & 0o077) {
      throw new CommandError(
        `${path} contains secrets and other users can read it. Run chmod 600 on it, and replace the secrets.`,
      );
    }
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error instanceof CommandError ? error : new CommandError(`${path} can't be read: ${reasonOf(error)}.`);
  }
}

/** Writes JSON to a file that only the owner can read. A kill leaves the old file or the new one. @throws CommandError */
export async function writePrivate(path: string, value: unknown): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rm(unfinished, { force: true });
    await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    await chmod(unfinished, 0o600);
    await rename(unfinished, path);
  } catch (error) {
    throw new CommandError(`${path} can't be written: ${reasonOf(error)}.`);
  }
}
