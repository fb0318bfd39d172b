import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeToOthers, missingSecrets, prepareDevVars, readVariables, type Variables } from "../dev-vars.ts";
import type { Environment } from "../wrangler.ts";

/** The file of the secrets that a deploy created. Cloudflare never shows a secret again. */
export const KEPT_IN = ".deploy.vars";

/** Whether this is a CI build, whose checkout is temporary. */
export function isCheckoutLost({ CI, WORKERS_CI }: Environment): boolean {
  return [CI, WORKERS_CI].some((value) => !/^(?:false|0|)$/i.test(value ?? ""));
}

/** The secrets that the Worker lacks. */
export interface Plan {
  missing: string[];
  /** The missing secrets that the file has no value for. */
  toMake: string[];
}

/** @param names the secrets of the Worker, or null if there is no Worker */
export function planSecrets(names: string[] | null, kept: Variables): Plan {
  const missing = missingSecrets(Object.fromEntries((names ?? []).map((name) => [name, "there"])));
  return { missing, toMake: missingSecrets(kept, missing) };
}

/** The secrets in the file, if there is one. */
export async function keptSecrets(root: string): Promise<Variables> {
  return readVariables(await readFile(join(root, KEPT_IN), "utf8").catch(() => ""));
}

/**
 * The values of these secrets, from the file. Creates missing ones and saves them first.
 * @throws CommandError for a malformed value, or a file that can't be written
 */
export async function valuesOf(root: string, names: string[]): Promise<Variables> {
  if (names.length === 0) return {};
  const path = join(root, KEPT_IN);
  await closeToOthers(path);
  const { variables } = await prepareDevVars(path, {}, names, "npm run deploy: move them to a safe place");
  return Object.fromEntries(names.map((name) => [name, variables[name] ?? ""]));
}

/** Calls `use` with a temporary file of `values` and its folder, which other users can't read. */
export async function withFile<T>(values: Variables, use: (file: string, folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "parley-deploy-"));
  try {
    const file = join(folder, "secrets.json");
    await writeFile(file, JSON.stringify(values), { mode: 0o600 });
    return await use(file, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
