import { expect, test } from "vitest";
import npmrc from "../../../.npmrc?raw";
import manifest from "../../../package.json?raw";
import lockfile from "../../../package-lock.json?raw";
import clientNpmrc from "../../../src/openapi/client/.npmrc?raw";
import clientManifest from "../../../src/openapi/client/package.json?raw";
import clientLockfile from "../../../src/openapi/client/package-lock.json?raw";
import wrangler from "../../../wrangler.toml?raw";
import mutationNpmrc from "../../mutation/.npmrc?raw";
import mutationManifest from "../../mutation/package.json?raw";
import mutationLockfile from "../../mutation/package-lock.json?raw";

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  optional?: boolean;
  link?: boolean;
  hasInstallScript?: boolean;
}

type Names = Record<string, string> | undefined;

/** The installed packages, in the root and in the two folders whose tools need other versions. */
const PLACES = [
  { place: "the root", npmrc, manifest, lockfile },
  { place: "src/openapi/client", npmrc: clientNpmrc, manifest: clientManifest, lockfile: clientLockfile },
  { place: "test/mutation", npmrc: mutationNpmrc, manifest: mutationManifest, lockfile: mutationLockfile },
].map(({ place, npmrc, manifest, lockfile }) => {
  const { dependencies, devDependencies, allowScripts } = JSON.parse(manifest) as Record<string, Names>;
  const { "": self, ...locked } = (JSON.parse(lockfile) as { packages: Record<string, Locked & Record<string, Names>> })
    .packages;
  return { place, npmrc, self, locked, all: { ...dependencies, ...devDependencies }, dependencies, allowScripts };
});

test("the lockfile states the version of package.json", () => {
  const versionOf = (text: string) => (JSON.parse(text) as { version: string }).version;
  expect(versionOf(lockfile)).toBe(versionOf(manifest));
});

test.each(PLACES)(
  "in $place every dependency is pinned to one version, the locked one",
  ({ npmrc, all, self, locked }) => {
    expect({ ...self?.dependencies, ...self?.devDependencies }).toEqual(all);
    for (const [name, version] of Object.entries(all)) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
      expect(locked[`node_modules/${name}`]?.version, name).toBe(version);
    }
    expect(npmrc).toMatch(/^save-exact=true$/m);
  },
);

test.each(PLACES)(
  "in $place every locked package has a version and a hash, and comes from the configured registry",
  ({ npmrc, locked }) => {
    // npm writes an address into the lockfile only for a package that does not come from the registry.
    expect(npmrc).toMatch(/^omit-lockfile-registry-resolved=true$/m);
    for (const [path, { version, resolved, integrity, optional, link }] of Object.entries(locked)) {
      expect(version, path).toMatch(/^\d+\.\d+\.\d+/);
      expect(link, path).toBeUndefined();
      expect(resolved, path).toBeUndefined();
      if (!optional || integrity !== undefined) expect(integrity, path).toMatch(/^sha512-/);
    }
  },
);

test.each(PLACES)(
  "in $place only the allowed packages run a script when they are installed",
  ({ locked, allowScripts = {} }) => {
    const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const scripts = Object.keys(locked).filter((path) => locked[path]?.hasInstallScript);
    expect([...new Set(scripts.map(nameOf))].sort()).toEqual(Object.keys(allowScripts).sort());
  },
);

/** The packages that each module of src/ imports, outside the pages, the documents' generator and the command line. */
const IMPORTED = Object.entries(
  import.meta.glob<string>(["../../../src/**/*.ts", "!../../../src/{cli,openapi,web}/**", "!../../../src/**/*.d.ts"], {
    query: "?raw",
    import: "default",
    eager: true,
  }),
).map(([path, text]) => ({
  isClient: path.includes("/src/client/"),
  packages: Array.from(text.matchAll(/\bfrom "([^."][^"]*)"/g), ([, name = ""]) => name),
}));

const packagesOf = (isClient: boolean) => {
  const names = IMPORTED.filter((module) => module.isClient === isClient).flatMap(({ packages }) => packages);
  return new Set(
    names.filter((name) => !/^(?:cloudflare|node):/.test(name)).map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0]),
  );
};

test("the service depends on five packages and the client on one, and no message reaches an origin behind its own zone", () => {
  expect(packagesOf(false)).toEqual(new Set(["@levischuck/tiny-cbor", "drizzle-orm", "hono", "zod"]));
  expect(packagesOf(true)).toEqual(new Set(["openapi-fetch"]));
  const all = Object.keys(PLACES[0]?.dependencies ?? {});
  expect(new Set(all)).toEqual(packagesOf(false).union(packagesOf(true)));
  expect(wrangler).toMatch(/^compatibility_flags = \["global_fetch_strictly_public"\]$/m);
});
