import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { freePort } from "../../src/cli/local/port.ts";
import { migrate, serve } from "../../src/cli/local/server.ts";
import { answers } from "../../src/cli/wrangler.ts";
import { unpackBrowser } from "./browser.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The service that runs for all browser tests. */
    server: { base: string; adminToken: string };
  }
}

const config = new URL("../../wrangler.toml", import.meta.url).pathname;
const stop = new AbortController();
const said: string[] = [];
let ended: Promise<unknown> = Promise.resolve();
let state = "";

/** Starts the real service once, as `npm start` does, on data and secrets that live as long as the run. */
export async function setup(project: TestProject): Promise<void> {
  state = await mkdtemp(join(tmpdir(), "parley-browser-"));
  const place = { config, state };
  const secret = () => randomBytes(32).toString("base64");
  const adminToken = secret();
  // They win over what a developer keeps in .dev.vars.
  const vars = { ADMIN_TOKEN: adminToken, KEY_SECRET: secret(), CREDENTIALS_KEY: secret() };
  const ip = "127.0.0.1";
  const note = (line: string) => void said.push(line);
  await Promise.all([unpackBrowser(), migrate(place, note, stop.signal)]);
  const port = await freePort(0, ip);
  const base = `http://${ip}:${port}`;
  const code = serve(place, { ip, port, vars, others: [] }, note, stop.signal);
  ended = code;
  await Promise.race([
    answers(base, stop.signal),
    code.then((code) => Promise.reject(new Error(`wrangler ended with exit code ${code}:\n${said.join("\n")}`))),
  ]);
  project.provide("server", { base, adminToken });
}

/** Stops the service, and shows what the visitors' side of it could not do. */
export async function teardown(): Promise<void> {
  stop.abort();
  await ended;
  await rm(state, { recursive: true, force: true, maxRetries: 10 });
  for (const line of said) if (/not_taken|not_opened/.test(line)) console.error(line);
}
