import type { TestProject } from "vitest/node";
import { type TelegramServer, telegramServer } from "../support/telegram-server.ts";
import { DevServer } from "../support/world/dev-server.ts";
import { unpackBrowser } from "./browser.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The service that all browser tests share. */
    server: { base: string; adminToken: string };
  }
}

let server: DevServer | undefined;
let telegram: TelegramServer | undefined;
let output = "";

/** Starts the server of `npm start` once for all browser tests, with a fake of Telegram. Webhooks may call this machine. */
export async function setup(project: TestProject): Promise<void> {
  telegram = await telegramServer();
  const vars = { TELEGRAM_API_BASE: telegram.base, WEBHOOKS_ALLOW_LOCAL: "true" };
  [server] = await Promise.all([DevServer.begin({ vars, onOutput: (text) => (output += text) }), unpackBrowser()]);
  project.provide("server", { base: server.base, adminToken: server.secrets.ADMIN_TOKEN });
}

/** Stops the server, and prints the errors that it logged about visitors. */
export async function teardown(): Promise<void> {
  await Promise.all([server?.end(), telegram?.close()]);
  for (const line of output.split("\n")) if (/not_taken|not_opened/.test(line)) console.error(line);
}
