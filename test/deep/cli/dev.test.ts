import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { readVariables } from "../../../src/cli/dev-vars.ts";
import { awaitHealthy } from "../../../src/cli/wrangler.ts";
import { copyCheckout } from "../../support/world/checkout.ts";
import { lastingPort } from "../../support/world/lasting-port.ts";

const run = promisify(execFile);

const checkout = await copyCheckout();

afterAll(() => rm(checkout, { recursive: true, force: true, maxRetries: 10 }));

/** The environment of `npx`, without the variables of the test runner. */
function environment(more: Record<string, string> = {}) {
  const PATH = `${join(checkout, "node_modules/.bin")}:${process.env.PATH}`;
  const quiet = { WRANGLER_SEND_METRICS: "false", WRANGLER_WRITE_LOGS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" };
  return { ...process.env, NODE_ENV: undefined, NODE_OPTIONS: undefined, VITEST: undefined, ...quiet, ...more, PATH };
}

/** A `wrangler dev` in the checkout, until the test is over. */
async function dev(): Promise<{ base: string; printed: () => string; end: () => Promise<void> }> {
  const port = await lastingPort("localhost");
  const inspector = await lastingPort();
  const args = ["dev", "--port", String(port), "--inspector-port", String(inspector)];
  const process_: ChildProcess = spawn("wrangler", args, { cwd: checkout, env: environment(), detached: true });
  const exited = once(process_, "close");
  let printed = "";
  for (const stream of [process_.stdout, process_.stderr]) stream?.on("data", (text) => (printed += text));
  const end = async () => {
    if (process_.exitCode === null && process_.signalCode === null) process.kill(-(process_.pid ?? 0), "SIGKILL");
    await exited;
  };
  onTestFinished(end);
  const base = `http://localhost:${port}`;
  const gone = new AbortController();
  void exited.then(() => gone.abort(new Error(printed)));
  await awaitHealthy(base, gone.signal);
  return { base, printed: () => printed, end };
}

test("wrangler dev in a fresh clone serves everything, and a second one creates nothing", async () => {
  const first = await dev();
  expect(first.printed()).toContain("Created ADMIN_TOKEN, KEY_SECRET, CREDENTIALS_KEY in .dev.vars.");
  expect(first.printed()).toContain("Migrated the local database.");
  const path = join(checkout, ".dev.vars");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const secrets = await readFile(path, "utf8");
  const operator = { Authorization: `Bearer ${readVariables(secrets).ADMIN_TOKEN}` };
  const body = JSON.stringify({ name: "Lamps", owner: { name: "Ada" } });
  const create = (base: string) => fetch(`${base}/admin/v1/organizations`, { method: "POST", headers: operator, body });
  expect((await create(first.base)).status).toBe(201);
  expect((await fetch(`${first.base}/docs`)).status).toBe(200);
  expect((await fetch(`${first.base}/api/v1/chats`, { headers: { Authorization: "Bearer ply_x" } })).status).toBe(401);
  await first.end();

  const second = await dev();
  expect(second.printed()).not.toMatch(/Created|Migrated/);
  expect(await readFile(path, "utf8")).toBe(secrets);
  const list = await fetch(`${second.base}/admin/v1/organizations`, { headers: operator });
  expect(await list.json()).toMatchObject({ organizations: [{ name: "Lamps" }] });
});

test("wrangler deploy creates no local secret and gives the Worker none", async () => {
  for (const name of [".dev.vars", ".wrangler"]) await rm(join(checkout, name), { recursive: true, force: true });
  const { stdout } = await run("wrangler", ["deploy", "--dry-run"], { cwd: checkout, env: environment() as never });
  expect(stdout).not.toContain("ADMIN_TOKEN");
  await expect(access(join(checkout, ".dev.vars"))).rejects.toThrow("ENOENT");
});
