import { build } from "esbuild";

/** Bundles Workers with the bundler of a deploy: each entry becomes `<its name>.js` in the folder. */
export async function bundle(entryPoints: Record<string, string>, folder: string): Promise<void> {
  await build({
    entryPoints,
    outdir: folder,
    bundle: true,
    format: "esm",
    target: "esnext",
    minify: true,
    external: ["cloudflare:*", "node:*"],
    logLevel: "warning",
  });
}
