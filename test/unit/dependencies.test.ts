import { expect, test } from "vitest";
import npmrc from "../../.npmrc?raw";
import manifest from "../../package.json?raw";
import lockfile from "../../package-lock.json?raw";
import wrangler from "../../wrangler.toml?raw";

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  optional?: boolean;
  hasInstallScript?: boolean;
}

const { dependencies, devDependencies, allowScripts } = JSON.parse(manifest) as Record<string, Record<string, string>>;
const locked = Object.entries((JSON.parse(lockfile) as { packages: Record<string, Locked> }).packages).filter(
  ([path]) => path !== "",
);
const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

test("every dependency is pinned to one version, which is the locked one", () => {
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(Object.fromEntries(locked)[`node_modules/${name}`]?.version, name).toBe(version);
  }
  expect(npmrc).toMatch(/^save-exact=true$/m);
});

test("every locked package comes from the registry, and what is not for some other platform with its hash", () => {
  for (const [path, { resolved = "https://registry.npmjs.org/", integrity, optional }] of locked) {
    expect(resolved, path).toMatch(/^https:\/\/registry\.npmjs\.org\//);
    if (!optional || integrity !== undefined) expect(integrity, path).toMatch(/^sha512-/);
  }
});

test("no package runs a script when it is installed but those that are allowed to", () => {
  const scripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
  expect([...new Set(scripts)].sort()).toEqual(Object.keys(allowScripts ?? {}).sort());
});

test("the service itself depends on three packages, and no message reaches an origin behind its own zone", () => {
  expect(Object.keys(dependencies ?? {}).sort()).toEqual(["drizzle-orm", "hono", "zod"]);
  expect(wrangler).toMatch(/^compatibility_flags = \["global_fetch_strictly_public"\]$/m);
});
