import { CommandError } from "../command-error.ts";
import { configurationPath, readPrivate, writePrivate } from "../private-file.ts";

/** A saved service and its secrets. */
export interface Profile {
  url: string;
  adminToken?: string;
  apiKey?: string;
}

export type Profiles = Record<string, Profile>;
type Environment = Record<string, string | undefined>;

export const DEFAULT_PROFILE = "default";

/** The path of the profiles file, in the user's configuration folder. */
export function profilesPath(env: Environment): string {
  return configurationPath(env, "profiles.json");
}

/**
 * Reads all saved profiles. Returns none if the file doesn't exist.
 * @throws CommandError if other users can read the file, or if it is damaged
 */
export async function readProfiles(path: string): Promise<Profiles> {
  const text = await readPrivate(path);
  const profiles = text === null ? {} : parsed(text);
  if (!profiles) throw new CommandError(`${path} is damaged. Remove it and run parley login again.`);
  return profiles;
}

/** Writes all profiles to a file that only the owner can read. @throws CommandError */
export function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  return writePrivate(path, { profiles });
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
