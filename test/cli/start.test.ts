import { type ChildProcess, execFile, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readDemo } from "../../src/cli/demo.ts";
import { readVariables } from "../../src/cli/dev-vars.ts";
import { freePort } from "../../src/cli/local/port.ts";

const PATIENCE_MS = 120_000;
const root = new URL("../..", import.meta.url).pathname;
const NOT_COPIED = ["node_modules", ".git", ".wrangler", ".dev.vars", "coverage", "dist", "test"];

/** One `npm start`, leader of a process group of its own. */
class Start {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly #more = new EventEmitter();
  stdout = "";
  stderr = "";

  constructor(cwd: string, args: string[]) {
    // As from a terminal: nothing of the test runner's.
    const env = { ...process.env, NODE_ENV: undefined, NODE_OPTIONS: undefined, VITEST: undefined };
    this.#process = spawn(process.execPath, ["src/cli/local/main.ts", ...args], { cwd, detached: true, env });
    this.#process.stdout?.on("data", (text) => {
      this.stdout += text;
      this.#more.emit("more");
    });
    this.#process.stderr?.on("data", (text) => {
      this.stderr += text;
      this.#more.emit("more");
    });
    this.#exited = once(this.#process, "close").finally(() => this.#more.emit("more"));
  }

  /** The two lines to paste, once they are printed. */
  async lines(): Promise<{ list: string; send: string }> {
    for (;;) {
      const whole = this.stdout.split("\n").slice(0, -1);
      const [list, send] = whole.filter((line) => line.startsWith("curl "));
      if (list && send) return { list, send };
      if (this.stderr.includes("✗")) throw new Error(`it failed:\n${this.stderr}`);
      await once(this.#more, "more");
    }
  }

  async exit(): Promise<number | null> {
    return (await this.#exited)[0] as number | null;
  }

  signal(signal: NodeJS.Signals): boolean {
    return this.#process.kill(signal);
  }

  /** As a machine that loses its power. */
  async killGroup(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, "SIGKILL");
    await this.exit();
  }
}

let checkout: string;
let starts: Start[];

beforeEach(async () => {
  starts = [];
  checkout = await mkdtemp(join(tmpdir(), "parley-start-"));
  await cp(root, checkout, { recursive: true, filter: (path) => !NOT_COPIED.includes(basename(path)) });
  await symlink(join(root, "node_modules"), join(checkout, "node_modules"));
});

afterEach(async () => {
  for (const start of starts) await start.killGroup();
  // Of a start that was killed alone, wrangler may still be closing its files.
  await rm(checkout, { recursive: true, force: true, maxRetries: 10 });
});

function start(...args: string[]): Start {
  const begun = new Start(checkout, args);
  starts.push(begun);
  return begun;
}

async function paste(line: string): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)("sh", ["-c", line]);
  return JSON.parse(stdout);
}

/** Waits until nothing listens on the port any more. */
async function closed(port: number): Promise<void> {
  const listener = () =>
    freePort(port, "localhost").then(
      () => "nobody",
      (error: Error) => error.message,
    );
  await expect.poll(listener, { timeout: PATIENCE_MS, interval: 20 }).toBe("nobody");
}

test("a fresh checkout starts, its lines can be pasted, and a kill -9 loses nothing", {
  timeout: PATIENCE_MS,
}, async () => {
  const port = await freePort(0, "localhost");
  const state = join(checkout, "data");
  const first = start(`--port=${port}`, "--persist-to", "data");
  const { list, send } = await first.lines();

  expect(await paste(list)).toMatchObject({ messages: [], pagination: { total: 0 } });
  const { message } = await paste(send);
  expect(message).toMatchObject({ seq: 1, content: "Hello from Parley" });
  expect(first.stderr).toContain(`the data is in ${state}`);
  expect((await stat(join(checkout, ".dev.vars"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(state, "parley-demo.json"))).mode & 0o777).toBe(0o600);

  await first.killGroup();
  await closed(port);
  const second = start("--port", String(port), "--persist-to", state);
  expect(await second.lines()).toEqual({ list, send });
  expect(second.stderr).toContain(`the data in ${state} is kept`);
  expect(await paste(list)).toMatchObject({ messages: [{ seq: 1 }], pagination: { total: 1 } });
  expect(await paste(send)).toMatchObject({ message: { seq: 2 } });

  const third = start("--port", String(port), "--persist-to", state);
  expect(await third.exit()).toBe(1);
  expect(third.stderr).toMatch(new RegExp(`^✗ Port ${port} is in use;.*\\n$`));

  second.signal("SIGTERM");
  expect(await second.exit()).toBe(0);
  await closed(port);
});

test("a revoked demo key, a lost secret and a damaged file are made good", { timeout: PATIENCE_MS }, async () => {
  const port = await freePort(0, "localhost");
  const args = ["--port", String(port), "--var", "ADMIN_TOKEN:given"];
  const file = join(checkout, ".wrangler", "state", "parley-demo.json");
  const lines = new Set<string>();

  const first = start(...args);
  lines.add((await first.lines()).list);
  const key = readDemo(await readFile(file, "utf8"))?.key ?? "";
  const id = `key_${key.slice("ply_".length, "ply_".length + 16)}`;
  const headers = { Authorization: "Bearer given" };
  const revoked = await fetch(`http://localhost:${port}/admin/v1/keys/${id}`, { method: "DELETE", headers });
  expect(revoked.status).toBe(200);
  first.signal("SIGINT");
  expect(await first.exit()).toBe(0);

  const second = start(...args);
  lines.add((await second.lines()).list);
  expect(second.stderr).toMatch(
    /Demo organization org_\w+ in place of the one before \(its key is refused; .* KEY_SECRET/,
  );
  second.signal("SIGTERM");
  expect(await second.exit()).toBe(0);

  const variables = await readFile(join(checkout, ".dev.vars"), "utf8");
  const kept = variables.replace(/^KEY_SECRET=.*\n/m, "");
  await writeFile(join(checkout, ".dev.vars"), kept);
  await writeFile(file, "{");
  const third = start(...args);
  const { list } = await third.lines();
  lines.add(list);
  expect(lines.size).toBe(3);
  expect(third.stderr).toMatch(/Demo organization org_\w+ in place of the one before \(its file is damaged\);/);
  expect(await paste(list)).toMatchObject({ messages: [] });
  const made = await readFile(join(checkout, ".dev.vars"), "utf8");
  expect(made.startsWith(kept)).toBe(true);
  expect(readVariables(made).KEY_SECRET).not.toBe(readVariables(variables).KEY_SECRET);
});

test("a fault of the caller is one sentence on stderr and exit 2, before anything is made", async () => {
  const refused = start("--port", "http");
  expect(await refused.exit()).toBe(2);
  expect(refused.stdout).toBe("");
  expect(refused.stderr).toBe('✗ --port must be a number from 0 to 65535, not "http".\n');
  await expect(stat(join(checkout, ".dev.vars"))).rejects.toThrow("ENOENT");
});

test("a malformed secret is one sentence on stderr and exit 1", async () => {
  await writeFile(join(checkout, ".dev.vars"), "CREDENTIALS_KEY=short\n");
  const refused = start("--port", "0");
  expect(await refused.exit()).toBe(1);
  expect(refused.stderr).toBe("✗ CREDENTIALS_KEY in .dev.vars is malformed: it must be 32 bytes in base64.\n");
});

test("a Worker that doesn't build is shown, and its exit code is ours", { timeout: PATIENCE_MS }, async () => {
  await writeFile(join(checkout, "src", "index.ts"), "const x = ;\n");
  const broken = start("--port", "0");
  expect(await broken.exit()).toBe(1);
  expect(broken.stderr).toContain('Unexpected ";"');
});

test("the death of npm start alone takes the server with it", { timeout: PATIENCE_MS }, async () => {
  const port = await freePort(0, "localhost");
  const killed = start("--port", String(port));
  await killed.lines();
  killed.signal("SIGKILL");
  await closed(port);
});

test("two that start at the same time each get ports of their own", { timeout: PATIENCE_MS }, async () => {
  const both = ["one", "two"].map((name) => start("--port", "0", "--persist-to", join(checkout, name)));
  const lines = await Promise.all(both.map((each) => each.lines()));
  const answers = await Promise.all(lines.map(({ list }) => paste(list)));
  expect(answers.map((answer) => Object.keys(answer))).toEqual(Array(2).fill(["messages", "pagination"]));
});

test("a build beside a running server leaves its pages as they are", { timeout: PATIENCE_MS }, async () => {
  const port = await freePort(0, "localhost");
  await start("--port", String(port)).lines();
  const pages = ["widget.js", "docs", "web-assets/chat.js"].map((path) => `http://localhost:${port}/${path}`);
  let isBuilt = false;
  const build = promisify(execFile)(process.execPath, ["src/web/build.ts"], { cwd: checkout });
  const built = build.finally(() => (isBuilt = true));
  const answers = new Set<string>();
  do {
    for (const page of pages) answers.add(`${(await fetch(page)).status} ${page}`);
  } while (!isBuilt);
  await built;
  for (const page of pages) answers.add(`${(await fetch(page)).status} ${page}`);
  expect([...answers]).toEqual(pages.map((page) => `200 ${page}`));
});
