import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as esbuild from "esbuild";

const root = new URL("../../..", import.meta.url).pathname;
const here = new URL(".", import.meta.url).pathname;

/** A wrong version of one place in the service: `right` must occur once in the file, and `wrong` replaces it. */
export interface Replacement {
  /** A path from the repository's root. */
  file: string;
  right: string;
  wrong: string;
}

/** The part of the service that a simulation runs. */
interface BundlePlan {
  /** The absolute path of the module that exports it. */
  entry: string;
  /** Absolute paths of simulated modules, by the end of the path of the module that each replaces. */
  simulated: Readonly<Record<string, string>>;
}

/**
 * How a simulation loads the service's code.
 * @param module the `import.meta.url` of a module beside its `service.ts`
 * @param simulated paths of simulated modules from there, by the end of the path of the module that each replaces
 * @param limits replacements that all its runs have
 */
export function loaderOf<Service>(
  module: string,
  simulated: Readonly<Record<string, string>>,
  limits: readonly Replacement[] = [],
): (replacements?: readonly Replacement[]) => Promise<Service> {
  const pathOf = (file: string) => new URL(file, module).pathname;
  const paths = Object.fromEntries(Object.entries(simulated).map(([end, file]) => [end, pathOf(file)]));
  const plan = { entry: pathOf("service.ts"), simulated: paths };
  return (replacements = []) => loadBundle<Service>(plan, [...limits, ...replacements]);
}

/**
 * Loads the service's code with simulated globals, modules and platform classes. Each call loads a copy of its own.
 * @throws if the code that a replacement replaces is not there
 */
async function loadBundle<Service>(
  { entry, simulated }: BundlePlan,
  replacements: readonly Replacement[],
): Promise<Service> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "esnext",
    alias: { "cloudflare:workers": `${here}cloudflare-workers.ts` },
    inject: [`${here}globals.ts`],
    plugins: [simulating(simulated), replacing(replacements)],
    keepNames: true,
    logLevel: "warning",
  });
  const folder = await mkdtemp(join(tmpdir(), "simulate-"));
  try {
    const path = join(folder, "service.mjs");
    await writeFile(path, outputFiles[0]?.contents ?? []);
    return (await import(/* @vite-ignore */ path)) as Service;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function simulating(simulated: BundlePlan["simulated"]): esbuild.Plugin {
  return {
    name: "simulating",
    setup(build) {
      const used = new Set<string>();
      for (const [end, path] of Object.entries(simulated)) {
        build.onResolve({ filter: new RegExp(`${RegExp.escape(end)}$`) }, () => {
          used.add(end);
          return { path };
        });
      }
      build.onEnd(() => {
        for (const end of Object.keys(simulated)) if (!used.has(end)) throw new Error(`No import ends with ${end}`);
      });
    },
  };
}

function replacing(replacements: readonly Replacement[]): esbuild.Plugin {
  return {
    name: "replacing",
    setup(build) {
      const done = new Set<Replacement>();
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        const wanted = replacements.filter(({ file }) => path === root + file);
        if (wanted.length === 0) return undefined;
        let contents = await readFile(path, "utf8");
        for (const each of wanted) {
          const parts = contents.split(each.right);
          if (parts.length !== 2) throw new Error(`${each.file} has this ${parts.length - 1} times: ${each.right}`);
          contents = parts.join(each.wrong);
          done.add(each);
        }
        return { contents, loader: "ts" };
      });
      build.onEnd(() => {
        for (const each of replacements) if (!done.has(each)) throw new Error(`${each.file} is not in the bundle`);
      });
    },
  };
}
