import type { Replacement } from "./bundle.ts";

/** By its name: what stands in the file, and what a wrong version has in its place. */
type WrongPlaces = Readonly<Record<string, readonly [right: string, wrong: string]>>;

/**
 * Wrong versions of the service by their names.
 * @param byFile those of each file, by its path from the repository's root
 */
export function wrongVersions(byFile: Readonly<Record<string, WrongPlaces>>): Readonly<Record<string, Replacement>> {
  const versions: Record<string, Replacement> = {};
  for (const [file, places] of Object.entries(byFile)) {
    for (const [name, [right, wrong]] of Object.entries(places)) {
      if (name in versions) throw new Error(`Two wrong versions have this name: ${name}`);
      versions[name] = { file, right, wrong };
    }
  }
  return versions;
}
