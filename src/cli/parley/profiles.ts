import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandError, reasonOf } from "../command-error.ts";

/** A saved service and its secrets. */
export interface Profile {
  url: string;
  adminToken?: string;
  apiKey?: string;
}

export type Profiles = Record<string, Profile>;
type Environment = Record<string, string | undefined>;

/** The profile that is used if none is named. */
export const DEFAULT_PROFILE = "default";

/** The path of the profiles file, in the user's configuration folder. */
export function profilesPath(env: Environment): string {
  const folder = env.XDG_CONFIG_HOME || (process.platform === "win32" && env.APPDATA) || join(homedir(), ".config");
  return join(folder, "parley", "profiles.json");
}

/**
 * Reads all saved profiles. Returns none if the file doesn't exist.
 * @throws CommandError if other users can read the file, or if it is damaged
 */
export async function readProfiles(path: string): Promise<Profiles> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if (process.platform !== "win32" && mode & 0o077) {
      throw new CommandError(
        `${path} contains secrets and other users can read it. Run chmod 600 on it, and replace the secrets.`,
      );
    }
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error instanceof CommandError ? error : new CommandError(`${path} can't be read: ${reasonOf(error)}.`);
  }
  const profiles = parsed(text);
  if (!profiles) throw new CommandError(`${path} is damaged. Remove it and run parley login again.`);
  return profiles;
}

/** Writes all profiles to a file that only the owner can read. A kill leaves the old file or the new one. @throws CommandError */
export async function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  const unfinished = `${path}.${process.pid}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rm(unfinished, { force: true });
    await writeFile(unfinished, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    await chmod(unfinished, 0o600);
    await rename(unfinished, path);
  } catch (error) {
    throw new CommandError(`${path} can't be written: ${reasonOf(error)}.`);
  }
}

/** The profile to save. Keeps the secrets of `before` only if they are for the same service. */
export function merged(before: Profile | undefined, profile: Profile): Profile {
  return before?.url === profile.url ? { ...before, ...profile } : profile;
}

function parsed(text: string): Profiles | null {
  try {
    const { profiles } = JSON.parse(text) as { profiles: unknown };
    if (typeof profiles !== "object" || profiles === null) return null;
    const isProfile = (value: unknown) => typeof (value as Profile | null)?.url === "string";
    return Object.values(profiles).every(isProfile) ? (profiles as Profiles) : null;
  } catch {
    return null;
  }
}
