import { randomBytes } from "node:crypto";
import { appendFile, chmod, readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { parseEnv } from "node:util";
import { SECRET_KEY } from "../model/credential.ts";
import { CommandError, reasonOf } from "./command-error.ts";

export type EnvVariables = Record<string, string>;

const REQUIRED = ["ADMIN_TOKEN", "KEY_SECRET", "CREDENTIALS_KEY"];

const FORMS: Record<string, { form: RegExp; rule: string }> = {
  ADMIN_TOKEN: { form: /^[\x21-\x7e]+$/, rule: "ASCII letters, digits and symbols without spaces" },
  KEY_SECRET: SECRET_KEY,
  KEY_SECRET_PREVIOUS: SECRET_KEY,
  CREDENTIALS_KEY: SECRET_KEY,
  CREDENTIALS_KEY_PREVIOUS: SECRET_KEY,
};

/** Parses a `.dev.vars` file as wrangler does: the last line of a name wins. */
export function readVariables(text: string): EnvVariables {
  // wrangler also accepts `NAME: value`, and Node doesn't.
  return parseEnv(text.replace(/^([ \t]*(?:export[ \t]+)?[\w.-]+):[ \t]/gm, "$1=")) as EnvVariables;
}

/** The required secrets that are missing or empty. */
export function missingSecrets(variables: EnvVariables, required = REQUIRED): string[] {
  return required.filter((name) => !variables[name]);
}

/** The name of the first malformed secret, and the rule that it breaks. */
export function malformedSecret(variables: EnvVariables): { name: string; rule: string } | null {
  for (const [name, { form, rule }] of Object.entries(FORMS)) {
    const value = variables[name];
    if (value && !form.test(value)) return { name, rule };
  }
  return null;
}

/** The lines to append to `text`, with a random value for each name. `creator` is the command that created them. */
export function newSecrets(names: string[], text: string, random = randomSecret, creator = "npm start"): string {
  // Without quotes, because they could close an open quote in `text`.
  const lines = names.map((name) => `${name}=${random()}\n`).join("");
  const lineBreak = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${lineBreak}# Created by ${creator}.\n${lines}`;
}

/**
 * Adds missing secrets to `.dev.vars` or a file like it, and creates the file if needed.
 * @param given the values of `--var`, which replace those in the file
 * @param required the names of the secrets
 * @param creator the command to name in the file
 * @returns the names of the new secrets, and all variables of the server
 * @throws CommandError for a malformed secret, or a file that can't be read or written
 */
export async function prepareDevVars(
  path: string,
  given: EnvVariables,
  required = REQUIRED,
  creator = "npm start",
): Promise<{ created: string[]; variables: EnvVariables }> {
  const found = await readIfThere(path);
  const text = found ?? "";
  const before = readVariables(text);
  const malformed = malformedSecret({ ...before, ...given });
  if (malformed) {
    const place = malformed.name in given ? "--var" : basename(path);
    throw new CommandError(`${malformed.name} in ${place} is malformed: it must be ${malformed.rule}.`);
  }
  const created = missingSecrets(before, required);
  if (created.length === 0) return { created, variables: { ...before, ...given } };
  const added = newSecrets(created, text, randomSecret, creator);
  try {
    if (found === null) await writeFile(path, added, { mode: 0o600, flag: "wx" });
    else {
      await closeToOthers(path);
      await appendFile(path, added);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} can't be written: ${reasonOf(error)}.`);
  }
  return { created, variables: { ...readVariables(text + added), ...given } };
}

/**
 * Lets only the owner read and write a file of secrets. Does nothing if the file doesn't exist.
 * @throws CommandError if the mode can't be changed
 */
export async function closeToOthers(path: string): Promise<void> {
  try {
    await chmod(path, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw new CommandError(`The permissions of ${path} can't be changed: ${reasonOf(error)}.`);
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new CommandError(`${path} can't be read: ${reasonOf(error)}.`);
  }
}

function randomSecret(): string {
  return randomBytes(32).toString("base64");
}
