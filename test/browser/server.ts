import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { causeOf } from "../../src/platform/log.ts";
import { type TelegramServer, telegramServer } from "../support/telegram-server.ts";
import { DevServer } from "../support/world/dev-server.ts";
import { unpackBrowser } from "./browser.ts";
import type { Started } from "./running-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The file that says when the service of all browser tests runs. Its JSON is `Started`. */
    serverFile: string;
  }
}

let folder = "";
let server: DevServer | undefined;
let telegram: TelegramServer | undefined;
let starting: Promise<void> | undefined;
let output = "";

/**
 * Starts the server of `npm start` once for all browser tests, with a fake of Telegram, and unpacks the browser. Webhooks
 * may call this machine. Other tests run meanwhile.
 */
export async function setup(project: TestProject): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), "parley-browser-"));
  const file = join(folder, "server.json");
  project.provide("serverFile", file);
  starting = start()
    .catch((error: unknown): Started => ({ error: String(causeOf(error)) }))
    .then((started) => tell(file, started));
}

async function start(): Promise<Started> {
  telegram = await telegramServer();
  const vars = { TELEGRAM_API_BASE: telegram.base, WEBHOOKS_ALLOW_LOCAL: "true" };
  const beginning = DevServer.begin({ vars, onOutput: (text) => (output += text) });
  const [begun, unpacked] = await Promise.allSettled([beginning, unpackBrowser()]);
  if (begun.status === "rejected") throw begun.reason;
  // Before the browser's fault is thrown: the run must end the server.
  server = begun.value;
  if (unpacked.status === "rejected") throw unpacked.reason;
  return { base: server.base, adminToken: server.secrets.ADMIN_TOKEN };
}

/** In one step, so that nobody reads half of it. */
async function tell(file: string, started: Started): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(started));
  await rename(`${file}.new`, file);
}

/** Stops the server, and prints the errors that it logged about visitors. */
export async function teardown(): Promise<void> {
  await starting;
  await Promise.all([server?.end(), telegram?.close(), rm(folder, { recursive: true })]);
  for (const line of output.split("\n")) if (/not_taken|not_opened/.test(line)) console.error(line);
}
