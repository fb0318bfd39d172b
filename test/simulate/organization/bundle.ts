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

export type Service = typeof import("./service.ts");

/**
 * Loads the service's code with simulated globals, networks and platform classes. Each call loads a copy of its own.
 * @throws if the code that a replacement replaces is not there
 */
export async function loadService(replacements: readonly Replacement[] = []): Promise<Service> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [`${here}service.ts`],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "esnext",
    alias: { "cloudflare:workers": `${here}cloudflare-workers.ts` },
    inject: [`${here}globals.ts`],
    plugins: [simulatedNetworks, replacing(replacements)],
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

const simulatedNetworks: esbuild.Plugin = {
  name: "simulated-networks",
  setup(build) {
    build.onResolve({ filter: /\/registry\.ts$/ }, () => ({ path: `${here}registry.ts` }));
  },
};

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
