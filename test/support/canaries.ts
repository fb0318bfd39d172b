import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeEach, expect } from "vitest";
import { Secrets, shownIn } from "./secrets.ts";

/** Known before the first test: the service's own secrets, and those that tests give their channels. */
const PLANTED = [
  env.ADMIN_TOKEN,
  env.KEY_SECRET,
  env.CREDENTIALS_KEY,
  "telegram-bot-token",
  "whatsapp-access-token",
  "whatsapp-app-secret",
];

let secrets = new Secrets();
const found: string[] = [];

/** Searches for a secret in everything that is logged, returned and stored, until the end of the file. */
export function plant(secret: string): void {
  secrets.plant(secret);
}

/** The start of the first secret in a text, or null. */
export function secretIn(text: string): string | null {
  return secrets.in(text);
}

/** Searches for secrets in a response. Secrets that it may show are added to the search, and no other is allowed. */
export function lookInto(what: string, text: string): void {
  const shown = shownIn(text);
  for (const secret of shown.secrets) plant(secret);
  note(what, shown.rest);
}

function note(what: string, text: string): void {
  const secret = secretIn(text);
  if (secret !== null) found.push(`${what}: ${secret}`);
}

/** Searches for secrets in a line of the log. */
export function noteLine(level: string, line: unknown[]): void {
  note(`the log (${level})`, line.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" "));
}

/** Searches for secrets in all tests of a file: in each log line and each response. */
export function watchForSecrets(): void {
  if (!isWatching) watchLog();
  isWatching = true;
  secrets = new Secrets();
  for (const secret of PLANTED) secrets.plant(secret);
  beforeEach(({ onTestFailed }) => {
    lines.length = 0;
    onTestFailed(() => {
      for (const print of lines.splice(0)) print();
    });
  });
  afterEach(() => expect(found.splice(0)).toEqual([]));
}

/** Searches for the same secrets in the directory, at the end of a file. */
export function watchDirectory(): void {
  afterAll(async () => expect(secretIn(await directoryText())).toBeNull());
}

/** Test files share a runtime, so its console is wrapped once. */
let isWatching = false;

/** What a test logged last. Only a failed test prints it, because printing takes a tenth of the time of all tests. */
const lines: (() => void)[] = [];
const MOST_LINES = 1_000;

function watchLog(): void {
  for (const level of ["log", "warn", "error"] as const) {
    const write = console[level].bind(console);
    console[level] = (...line) => {
      noteLine(level, line);
      if (lines.push(() => write(...line)) > MOST_LINES) lines.shift();
    };
  }
}

/** All rows of the directory. */
export async function directoryText(): Promise<string> {
  const names = await tableNames();
  const tables = await env.DB.batch(names.map((name) => env.DB.prepare(`select * from "${name}"`)));
  return JSON.stringify(tables.map((table) => table.results));
}

async function tableNames(): Promise<string[]> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\' and name not like 'sqlite%'",
  ).all<{ name: string }>();
  return results.map(({ name }) => name);
}
