import { env } from "cloudflare:workers";
import { afterAll, afterEach, expect } from "vitest";

/** Secrets that are known before the first test: the service's own, and those that tests give their channels. */
const PLANTED = new Set([
  env.ADMIN_TOKEN,
  env.KEY_SECRET,
  env.CREDENTIALS_KEY,
  "telegram-bot-token",
  "whatsapp-access-token",
  "whatsapp-app-secret",
]);
const API_KEY = /ply_[geu][0-9A-Za-z]{53}/;
/** What an answer says once, to whom it belongs; and what the operator enters at a network. */
const SHOWN = /"(?:secret|identitySecret|verifyToken)":"([^"]{16,})"/g;

const found: string[] = [];

/** Has a secret looked for, from here to the end of the file, in all that is logged, answered and stored. */
export function plant(secret: string): void {
  PLANTED.add(secret);
}

/** The start of the first secret in a text; null where it holds none. */
export function secretIn(text: string): string | null {
  const secret = API_KEY.exec(text)?.[0] ?? [...PLANTED].find((each) => text.includes(each));
  return secret === undefined ? null : `${secret.slice(0, 6)}…`;
}

/** Looks for secrets in an answer: those that it may show are planted, and no other may stand in it. */
export function lookInto(what: string, text: string): void {
  for (const [, secret] of text.matchAll(SHOWN)) plant(secret as string);
  note(what, text.replace(SHOWN, ""));
}

function note(what: string, text: string): void {
  const secret = secretIn(text);
  if (secret !== null) found.push(`${what}: ${secret}`);
}

/** Looks for secrets in all tests of a file: in each line of the log, each answer, and in the end in the directory. */
export function watchForSecrets(): void {
  for (const level of ["log", "warn", "error"] as const) {
    const write = console[level].bind(console);
    console[level] = (...line) => {
      note(
        `the log (${level})`,
        line.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" "),
      );
      write(...line);
    };
  }
  afterEach(() => expect(found.splice(0)).toEqual([]));
  afterAll(async () => expect(secretIn(await directoryText())).toBeNull());
}

/** All that the directory holds. */
export async function directoryText(): Promise<string> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'",
  ).all<{ name: string }>();
  const tables = await env.DB.batch(results.map(({ name }) => env.DB.prepare(`select * from "${name}"`)));
  return JSON.stringify(tables.map((table) => table.results));
}
