import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../../command-error.ts";
import { type EnvVariables, malformedSecret, missingSecrets } from "../../dev-vars.ts";
import { localMigrations } from "../../local-database.ts";
import { bad, type Check, ok } from "../check.ts";
import { devVariables } from "../connection.ts";

const MIGRATIONS = "migrations of the local database";
const PLACEHOLDER = /^\s*database_id\s*=\s*"0{8}-0{4}-0{4}-0{4}-0{12}"/m;

/** Checks the files of the checkout: the local secrets and the settings for a deploy. */
export async function localChecks(root: string, isHere: boolean): Promise<Check[]> {
  return [...(isHere ? await secretChecks(root) : []), ...(await deployChecks(root, isHere))];
}

async function secretChecks(root: string): Promise<Check[]> {
  const variables = await devVariables(root);
  if (!variables) {
    return [bad(".dev.vars", "fails", "is missing", "npm start creates it with all secrets")];
  }
  const missing = missingSecrets(variables);
  const required = missingSecrets({}).map((name) =>
    missing.includes(name)
      ? bad(`${name} in .dev.vars`, "fails", "is missing", `npm start creates a new one${effectOfNew(name)}`)
      : formCheck(name, variables),
  );
  const others = Object.keys(variables).filter((name) => /_PREVIOUS$|_API_BASE$/.test(name) && variables[name]);
  const wrong = others.map((name) => formCheck(name, variables)).filter(({ state }) => state !== "ok");
  return [...required, ...wrong, ...(await modeCheck(root))];
}

function formCheck(name: string, variables: EnvVariables): Check {
  const what = `${name} in .dev.vars`;
  const malformed = malformedSecret({ [name]: variables[name] ?? "" });
  if (malformed) {
    const advice = `restore its previous value, or remove the line: npm start creates a new one${effectOfNew(name)}`;
    return bad(what, "fails", `is malformed: it must be ${malformed.rule}`, advice);
  }
  if (name.endsWith("_API_BASE") && !/^https?:$/.test(URL.parse(variables[name] ?? "")?.protocol ?? "")) {
    return bad(what, "fails", "is malformed: it must be an http(s) address", "leave it empty for the network's own");
  }
  return ok(what, "has the right form");
}

/** What a new value of a secret breaks. */
function effectOfNew(name: string): string {
  if (name === "KEY_SECRET") return "; a new one makes all existing API keys invalid";
  if (name === "CREDENTIALS_KEY") return "; with a new one, all channels need their secrets again";
  return "";
}

async function modeCheck(root: string): Promise<Check[]> {
  const path = join(root, ".dev.vars");
  const { mode } = await stat(path);
  if (process.platform === "win32" || !(mode & 0o077)) return [];
  return [bad(".dev.vars", "warns", "can be read by others on this machine", `chmod 600 ${path}`)];
}

async function deployChecks(root: string, isHere: boolean): Promise<Check[]> {
  const text = await readFile(join(root, "wrangler.toml"), "utf8").catch(() => null);
  if (text === null) {
    return [bad("wrangler.toml", "fails", "is missing", "take it from the repository: git checkout wrangler.toml")];
  }
  if (!PLACEHOLDER.test(text)) return [ok("wrangler.toml", "names a database to deploy to")];
  const advice = "npm run deploy finds or creates it, and writes its id to the file";
  return [bad("wrangler.toml", isHere ? "unknown" : "warns", "names no database to deploy to yet", advice)];
}

/** Checks that the database of `npm start` has all migrations. Only reads the database. */
export async function migrationsCheck(root: string, state: string): Promise<Check> {
  try {
    const { all, applied } = await localMigrations(root, state);
    if (!applied) return bad(MIGRATIONS, "unknown", `there is no database in ${state}`, "npm start creates it");
    const missing = all.filter((name) => !applied.includes(name));
    if (missing.length === 0) return ok(MIGRATIONS, `all ${all.length} applied`);
    return bad(MIGRATIONS, "fails", `not applied: ${missing.join(", ")}`, "restart npm start, which applies them");
  } catch (error) {
    return bad(MIGRATIONS, "unknown", `it can't be read (${reasonOf(error)})`, "stop npm start and run doctor again");
  }
}
