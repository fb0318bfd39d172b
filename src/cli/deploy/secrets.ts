import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeToOthers, missingSecrets, prepareDevVars, readVariables, type Variables } from "../dev-vars.ts";
import type { Environment } from "../wrangler.ts";

/** Where secrets are kept that were made for the deployed service: Cloudflare never shows one again. */
export const KEPT_IN = ".deploy.vars";

/** Whether this is a build, Cloudflare's or another's, whose checkout is thrown away afterwards. */
export function isCheckoutLost({ CI, WORKERS_CI }: Environment): boolean {
  return [CI, WORKERS_CI].some((value) => !/^(?:false|0|)$/i.test(value ?? ""));
}

/** What to do for the secrets that the Worker lacks. */
export interface Plan {
  missing: string[];
  /** Those of them that the file of kept secrets has no value for, so that they must be made. */
  toMake: string[];
}

/** @param names the secrets that the Worker has, null where there is no Worker */
export function planSecrets(names: string[] | null, kept: Variables): Plan {
  const missing = missingSecrets(Object.fromEntries((names ?? []).map((name) => [name, "there"])));
  return { missing, toMake: missingSecrets(kept, missing) };
}

/** What the file of kept secrets says; nothing where there is none. */
export async function keptSecrets(root: string): Promise<Variables> {
  return readVariables(await readFile(join(root, KEPT_IN), "utf8").catch(() => ""));
}

/**
 * The values of these secrets: those that were kept, and new ones for the rest, which are kept before anything else
 * happens to them.
 * @throws CommandError for a kept value that is malformed, or a file that can't be written
 */
export async function valuesOf(root: string, names: string[]): Promise<Variables> {
  if (names.length === 0) return {};
  const path = join(root, KEPT_IN);
  await closeToOthers(path);
  const { variables } = await prepareDevVars(path, {}, names, "npm run deploy: move them to a safe place");
  return Object.fromEntries(names.map((name) => [name, variables[name] ?? ""]));
}

/** Calls `use` with the path of a folder that nobody else can read, and of a file in it that holds `values`. */
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
