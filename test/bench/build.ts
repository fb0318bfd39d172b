import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { bundle } from "../support/bundle.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The path of each Worker's script. */
export type Scripts = Record<
  "parley" | "counted" | "steps" | "delayed" | "direct" | "floors" | "literal" | "countedLiteral",
  string
>;

/** Runs wrangler with the project's configuration. Returns its standard output. */
export function wrangler(...args: string[]): Promise<string> {
  return wranglerIn(ROOT, ...args);
}

async function wranglerIn(cwd: string, ...args: string[]): Promise<string> {
  const command = createRequire(import.meta.url).resolve("wrangler");
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_WRITE_LOGS: "false", NO_COLOR: "1" };
  const options = { cwd, env, maxBuffer: 1e8 };
  const run = promisify(execFile)(process.execPath, ["--no-warnings", command, ...args], options);
  return (await run).stdout;
}

/**
 * Builds Parley as a deploy does, and the bench's own Workers with the same bundler.
 * @param root the checkout that is built; without it, this one
 */
export async function buildScripts(
  folder: string,
  { minify, root = ROOT }: { minify: boolean; root?: string | undefined },
): Promise<Scripts> {
  const own = ["steps", "counted", "delayed", "direct", "floors", "literal", "counted-literal"];
  await Promise.all([
    wranglerIn(root, "deploy", "--dry-run", minify ? "--minify" : "--no-minify", "--outdir", join(folder, "parley")),
    bundle(Object.fromEntries(own.map((name) => [name, join(root, "test/bench/workers", `${name}.ts`)])), folder),
  ]);
  return {
    parley: join(folder, "parley", "index.js"),
    counted: join(folder, "counted.js"),
    steps: join(folder, "steps.js"),
    delayed: join(folder, "delayed.js"),
    direct: join(folder, "direct.js"),
    floors: join(folder, "floors.js"),
    literal: join(folder, "literal.js"),
    countedLiteral: join(folder, "counted-literal.js"),
  };
}

/** Bytes of a script, gzipped as the platform counts them. */
export async function gzippedSize(script: string): Promise<number> {
  return gzipSync(await readFile(script)).length;
}
