import { build } from "esbuild";
import type { Plugin } from "vite";

type Bundle = Promise<{ code: string; map: string }>;

/**
 * Gives tests the Worker as one module, bundled like a deploy, and two modules that most test files use as others. Each
 * file loads them again, and separate modules would take longer to load than most files' tests. Any other module of the
 * Worker that a test imports is a separate copy.
 */
export function bundledWorker(root: string): Plugin {
  const index = `${root}src/index.ts`;
  const others = [`${root}src/openapi/errors.ts`, `${root}test/support/organization-rows.ts`];
  const bundles = new Map<string, Bundle>();
  return {
    name: "bundled-worker",
    enforce: "pre",
    async load(id) {
      if (id === `${root}src/app.ts`) return `export { default as app } from "${index}";`;
      if (id !== index && !others.includes(id)) return null;
      const bundle = bundles.get(id) ?? bundleOf(id);
      bundles.set(id, bundle);
      return bundle;
    },
  };
}

async function bundleOf(entry: string): Bundle {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    outdir: "/",
    format: "esm",
    target: "esnext",
    external: ["cloudflare:*", "node:*"],
    sourcemap: "external",
    // The sources are on the disk. In the map, they would be sent to each runtime.
    sourcesContent: false,
    keepNames: true,
    logLevel: "warning",
  });
  const text = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "";
  return { code: text(".js"), map: text(".js.map") };
}
