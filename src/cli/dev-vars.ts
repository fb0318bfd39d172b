import { randomBytes } from "node:crypto";
import { appendFile, chmod, readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { parseEnv } from "node:util";
import { SECRET_KEY } from "../secret-form.ts";
import { CommandError, reasonOf } from "./command-error.ts";

export type Variables = Record<string, string>;

const REQUIRED = ["ADMIN_TOKEN", "KEY_SECRET", "CREDENTIALS_KEY"];

const FORMS: Record<string, { form: RegExp; rule: string }> = {
  ADMIN_TOKEN: { form: /^[\x21-\x7e]+$/, rule: "ASCII letters, digits and symbols without spaces" },
  KEY_SECRET: SECRET_KEY,
  KEY_SECRET_PREVIOUS: SECRET_KEY,
  CREDENTIALS_KEY: SECRET_KEY,
  CREDENTIALS_KEY_PREVIOUS: SECRET_KEY,
};

/** What a `.dev.vars` file says, read as wrangler reads it: the last line of a name counts. */
export function readVariables(text: string): Variables {
  // wrangler's parser knows `NAME: value` too, Node's does not.
  return parseEnv(text.replace(/^([ \t]*(?:export[ \t]+)?[\w.-]+):[ \t]/gm, "$1=")) as Variables;
}

/** The required secrets that are absent; an empty one is. */
export function missingSecrets(variables: Variables, required = REQUIRED): string[] {
  return required.filter((name) => !variables[name]);
}

/** The first secret that is there and can't be one: its name and what it must be. */
export function malformedSecret(variables: Variables): { name: string; rule: string } | null {
  for (const [name, { form, rule }] of Object.entries(FORMS)) {
    const value = variables[name];
    if (value && !form.test(value)) return { name, rule };
  }
  return null;
}

/** The lines that give each of these names a random value, to stand at the end of `text`; `maker` says who made them. */
export function newSecrets(names: string[], text: string, random = randomSecret, maker = "npm start"): string {
  // No quotes: they could close one that was left open above.
  const lines = names.map((name) => `${name}=${random()}\n`).join("");
  const lineBreak = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${lineBreak}# Made by ${maker}.\n${lines}`;
}

/**
 * Makes the secrets that `.dev.vars`, or a file like it, lacks, and the file itself when there is none.
 * @param given the values of `--var`, which win over the file
 * @param required the names to make sure of
 * @param maker who makes them, for the file's reader
 * @returns what was made, and the variables that the server will have
 * @throws CommandError for a malformed secret, or a file that can't be read or written
 */
export async function prepareDevVars(
  path: string,
  given: Variables,
  required = REQUIRED,
  maker = "npm start",
): Promise<{ made: string[]; variables: Variables }> {
  const found = await readIfThere(path);
  const text = found ?? "";
  const before = readVariables(text);
  const malformed = malformedSecret({ ...before, ...given });
  if (malformed) {
    const place = malformed.name in given ? "--var" : basename(path);
    throw new CommandError(`${malformed.name} in ${place} is malformed: it must be ${malformed.rule}.`);
  }
  const made = missingSecrets(before, required);
  if (made.length === 0) return { made, variables: { ...before, ...given } };
  const added = newSecrets(made, text, randomSecret, maker);
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
  return { made, variables: { ...readVariables(text + added), ...given } };
}

/**
 * Lets only its owner read and write a file of secrets. A file that does not exist is left so.
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
