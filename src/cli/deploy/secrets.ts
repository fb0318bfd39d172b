import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeToOthers, type EnvVariables, missingSecrets, prepareDevVars, readVariables } from "../dev-vars.ts";
import type { Environment } from "../wrangler.ts";

/** The name of the file that saves new secrets, because Cloudflare never shows a secret again. */
export function secretsFile(stage: string | null): string {
  return stage === null ? ".deploy.vars" : `.deploy.${stage}.vars`;
}

/** Whether this is a CI build, whose checkout is temporary. */
export function isTemporaryCheckout({ CI, WORKERS_CI }: Environment): boolean {
  return [CI, WORKERS_CI].some((value) => !/^(?:false|0|)$/i.test(value ?? ""));
}

/** The secrets that the Worker lacks. */
export interface Plan {
  missing: string[];
  /** The missing secrets that the file has no value for. */
  toCreate: string[];
}

/** @param names the secrets of the Worker, or null if there is no Worker */
export function planSecrets(names: string[] | null, kept: EnvVariables): Plan {
  const missing = missingSecrets(Object.fromEntries((names ?? []).map((name) => [name, "there"])));
  return { missing, toCreate: missingSecrets(kept, missing) };
}

/** The secrets in the file, if there is one. */
export async function savedSecrets(path: string): Promise<EnvVariables> {
  return readVariables(await readFile(path, "utf8").catch(() => ""));
}

/**
 * Returns the values of these secrets from the file. Creates and saves missing ones first.
 * @throws CommandError for a malformed value, or a file that can't be written
 */
export async function secretValues(path: string, names: string[]): Promise<EnvVariables> {
  if (names.length === 0) return {};
  await closeToOthers(path);
  const { variables } = await prepareDevVars(path, {}, names, "npm run deploy: move them to a safe place");
  return Object.fromEntries(names.map((name) => [name, variables[name] ?? ""]));
}

/** Calls `use` with a temporary file of `values` and its folder, which other users can't read. */
export async function withSecretsFile<T>(
  values: EnvVariables,
  use: (file: string, folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "parley-deploy-"));
  try {
    const file = join(folder, "secrets.json");
    await writeFile(file, JSON.stringify(values), { mode: 0o600 });
    return await use(file, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
