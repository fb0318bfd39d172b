import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../command-error.ts";
import { missingSecrets, prepareDevVars, readVariables } from "../dev-vars.ts";
import { localMigrations } from "../local-database.ts";
import { printError } from "../progress.ts";
import type { Environment } from "../wrangler.ts";
import { IS_PREPARED, migrate } from "./server.ts";

/**
 * Gives a bare `wrangler dev` what its server lacks: the secrets in `.dev.vars`, readable by their owner alone, and the
 * tables of the database in `.wrangler/state`. Keeps what exists. Does nothing for other commands of wrangler, so a
 * deployed Worker never gets a secret from here.
 * @param environment with the `WRANGLER_COMMAND` that wrangler sets for its build step
 * @returns a sentence for each thing that was created
 * @throws CommandError for a malformed secret, a file that can't be written, or a failed migration
 */
async function prepareDev(root: string, environment: Environment, signal: AbortSignal): Promise<string[]> {
  if (environment.WRANGLER_COMMAND !== "dev" || environment[IS_PREPARED]) return [];
  const created = await prepareSecrets(root);
  const migrated = await prepareDatabase(root, signal);
  return [
    ...(created.length > 0 ? [`Created ${created.join(", ")} in .dev.vars.`] : []),
    ...(migrated ? ["Migrated the local database."] : []),
  ];
}

/** @returns the names of the new secrets */
export async function prepareSecrets(root: string): Promise<string[]> {
  // wrangler reads no `.env` beside a `.dev.vars`, so a new `.dev.vars` would hide a developer's own secrets.
  for (const name of [".env", ".env.local"]) {
    const own = readVariables(await readFile(join(root, name), "utf8").catch(() => ""));
    if (missingSecrets(own).length < missingSecrets({}).length) return [];
  }
  return (await prepareDevVars(join(root, ".dev.vars"), {}, undefined, "wrangler dev")).created;
}

/** @returns whether the database lacked a migration */
async function prepareDatabase(root: string, signal: AbortSignal): Promise<boolean> {
  const state = join(root, ".wrangler", "state");
  const { all, applied } = await localMigrations(root, state);
  if (applied && all.every((name) => applied.includes(name))) return false;
  await migrate({ config: join(root, "wrangler.toml"), state }, console.log, signal);
  return true;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, "../../..");
  try {
    for (const line of await prepareDev(root, process.env, new AbortController().signal)) console.log(line);
  } catch (error) {
    printError(reasonOf(error));
    process.exitCode = 1;
  }
}
