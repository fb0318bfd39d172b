import { type ChildProcess, execFile, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../src/cli/local/port.ts";
import { databasePath } from "../../../src/cli/local-database.ts";
import { copyCheckout } from "../../support/world/checkout.ts";
import { lastingPort } from "../../support/world/lasting-port.ts";

/** Less than a test may take: a poll that gives up says what it saw. */
const PATIENCE_MS = 200_000;

/** A run of `npm start` in its own process group. */
class Start {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly #more = new EventEmitter();
  stdout = "";
  stderr = "";

  constructor(cwd: string, args: string[]) {
    // Without the variables of the test runner.
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

  /** Waits for the end of the introduction. Returns its two curl lines. */
  async lines(): Promise<{ send: string; list: string }> {
    await this.prints("Press Ctrl-C to stop.\n");
    const [send = "", list = ""] = this.stdout.split("\n").filter((line) => line.startsWith("curl "));
    return { send, list };
  }

  /** Waits for a text on stdout or stderr. */
  async prints(text: string): Promise<void> {
    while (!`${this.stdout}${this.stderr}`.includes(text)) {
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

  /** Kills all its processes at once, like a power loss. */
  async killGroup(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, "SIGKILL");
    await this.exit();
  }
}

let checkout: string;
let port: number;
/** The server of most tests, in a new checkout, with its data in the folder `data`. */
let shared: Start;
let starts: Start[] = [];

beforeAll(async () => {
  checkout = await copyCheckout();
  port = await lastingPort("localhost");
  shared = new Start(checkout, [`--port=${port}`, "--persist-to", "data"]);
  await shared.lines();
});

afterEach(async () => {
  for (const start of starts) await start.killGroup();
  starts = [];
});

afterAll(async () => {
  await shared.killGroup();
  // If only its parent was killed, wrangler may still be closing its files.
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

/** Waits until nothing listens on the port. */
async function closed(port: number): Promise<void> {
  const listener = () =>
    freePort(port, "localhost").then(
      () => "nobody",
      (error: Error) => error.message,
    );
  await expect.poll(listener, { timeout: PATIENCE_MS, interval: 20 }).toBe("nobody");
}

test("a start prints addresses, commands and paths, and doesn't log its own requests", async () => {
  const { send, list } = await shared.lines();
  const base = `http://localhost:${port}`;
  const state = join(checkout, "data");
  const [consoleLink = ""] = /http\S+#code=operator\S+/.exec(shared.stdout) ?? [];
  const [webChat = ""] = /http\S+#user\S+/.exec(shared.stdout) ?? [];
  expect(shared.stdout).toBe(`
Parley is running at ${base}

Console   ${consoleLink}
Web chat  ${webChat}
API docs  ${base}/docs

Send a message to the web chat:
${send}

List its messages:
${list}

API key   ${state}/parley-demo.json
Data      ${state}
Secrets   ${checkout}/.dev.vars
Log       npm start -- --verbose

Press Ctrl-C to stop.
`);
  const body = JSON.stringify({ code: new URLSearchParams(new URL(consoleLink).hash.slice(1)).get("code") });
  const headers = { "Sec-Fetch-Site": "same-origin" };
  const signIn = () => fetch(`${base}/console/session`, { method: "POST", headers, body });
  expect([(await signIn()).status, (await signIn()).status]).toEqual([204, 401]);
  expect(webChat).toMatch(new RegExp(`^${base}/web/chn_\\w+#user=demo-visitor&hash=[0-9a-f]{64}$`));
  expect((await fetch(webChat)).status).toBe(200);
  expect((await fetch(`${base}/docs`)).status).toBe(200);
  expect(shared.stderr).toBe("Starting Parley. The first start takes a few seconds longer.\n");
});

test("only the owner can read the files with secrets", async () => {
  expect((await stat(join(checkout, ".dev.vars"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(checkout, "data", "parley-demo.json"))).mode & 0o777).toBe(0o600);
});

test("nobody reaches the database through the server's port, and no URL of a request is stored", async () => {
  const base = `http://localhost:${port}`;
  for (const path of ["explorer", "explorer/api/d1/database", "local/explorer"]) {
    const answer = await fetch(`${base}/cdn-cgi/${path}`);
    expect([path, answer.status, await answer.json()]).toEqual([
      path,
      404,
      expect.objectContaining({ code: "not_found" }),
    ]);
  }
  const secret = crypto.randomUUID();
  await (await fetch(`${base}/healthz?secret=${secret}`)).text();
  const state = join(checkout, "data");
  expect(await readdir(join(state, "v3"))).not.toContain("observability");
  for (const file of await readdir(state, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    // SQLite deletes some files while this looks.
    const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.of());
    expect(bytes.includes(secret), file.name).toBe(false);
  }
});

test("the cron trigger runs each minute, and by hand", async () => {
  const path = join(checkout, "data", await databasePath(checkout));
  const runAt = () => {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return Number(database.prepare("select at from alarm_net").get()?.at ?? 0);
    } finally {
      database.close();
    }
  };
  const before = runAt();
  await expect.poll(runAt, { timeout: PATIENCE_MS, interval: 500 }).toBeGreaterThan(before);
  expect((await fetch(`http://localhost:${port}/cdn-cgi/handler/scheduled`)).status).toBe(200);
  expect(shared.stderr).toBe("Starting Parley. The first start takes a few seconds longer.\n");
});

test("a build during a running server keeps its pages available", async () => {
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

test("a port that is in use is one sentence on stderr and exit code 1", async () => {
  const second = start("--port", String(port));
  expect(await second.exit()).toBe(1);
  expect(second.stderr).toMatch(new RegExp(`^✗ Port ${port} is in use\\..*\\n$`));
});

test("wrong arguments are one sentence on stderr and exit code 2", async () => {
  const refused = start("--port", "http");
  expect(await refused.exit()).toBe(2);
  expect(refused).toMatchObject({
    stdout: "",
    stderr: '✗ --port must be a number from 0 to 65535, not "http".\n',
  });
});

test("data of an earlier layout is one sentence on stderr and exit code 1, and stays as it is", async () => {
  const state = join(checkout, "earlier");
  const path = join(state, await databasePath(checkout));
  await mkdir(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec("create table d1_migrations (name text); insert into d1_migrations values ('0000_directory.sql')");
  database.close();
  const before = await readFile(path);
  const refused = start("--port", "0", "--persist-to", state);
  expect(await refused.exit()).toBe(1);
  expect(refused).toMatchObject({
    stdout: "",
    stderr: expect.stringMatching(/^✗ The data in \S+ is from an earlier version .*: delete .*\n$/),
  });
  expect(refused.stderr).toContain(state);
  expect(await readdir(state, { recursive: true })).toHaveLength(4);
  expect((await readFile(path)).equals(before)).toBe(true);
});

test("the data of a server is for its user alone", async () => {
  const state = join(checkout, "data");
  const entries = await readdir(state, { recursive: true, withFileTypes: true });
  const open: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    // SQLite deletes some files while this looks.
    const found = await stat(path).catch(() => null);
    if (found && (found.mode & 0o777) !== (entry.isDirectory() ? 0o700 : 0o600)) open.push(path);
  }
  expect(entries.length).toBeGreaterThan(10);
  expect(open).toEqual([]);
});

test("a malformed secret is one sentence on stderr and exit code 1", async () => {
  const refused = start("--port", "0", "--var", "CREDENTIALS_KEY:short");
  expect(await refused.exit()).toBe(1);
  expect(refused.stderr).toBe("✗ CREDENTIALS_KEY in --var is malformed: it must be 32 bytes in base64.\n");
});

test("a demo with a damaged file is replaced, and --verbose shows steps and requests, except its own", async () => {
  const state = join(checkout, "damaged");
  await mkdir(state);
  await writeFile(join(state, "parley-demo.json"), "{");
  const verbose = start("--port", String(await lastingPort("localhost")), "--persist-to", state, "--verbose");
  const { list } = await verbose.lines();
  expect(verbose.stderr).toContain("! A new demo organization replaces the previous one: its file is damaged.\n");
  expect(verbose.stderr).toContain("✓ Created the database");
  expect(verbose.stderr).toMatch(/✓ The server answers at http:\/\/localhost:\d+ \(/);
  expect(verbose.stderr).not.toContain('"event"');
  expect(await paste(list)).toMatchObject({ messages: [] });
  await verbose.prints('"status":200');
});

test("two servers that start at the same time use different ports, and SIGTERM ends one with exit code 0", async () => {
  await rm(join(checkout, "dist"), { recursive: true });
  const both = ["one", "two"].map((name) => start("--port", "0", "--persist-to", join(checkout, name)));
  const lines = await Promise.all(both.map((each) => each.lines()));
  const answers = await Promise.all(lines.map(({ list }) => paste(list)));
  expect(answers.map((answer) => Object.keys(answer))).toEqual(Array(2).fill(["messages", "pagination"]));
  both[0]?.signal("SIGTERM");
  expect(await both[0]?.exit()).toBe(0);
  await closed(Number(/localhost:(\d+)/.exec(lines[0]?.list ?? "")?.[1]));
});

test("a kill -9 loses nothing, and the next start prints the same lines", async () => {
  const before = await shared.lines();
  expect(await paste(before.send)).toMatchObject({ message: { seq: 1, content: "Hello from Parley" } });
  await shared.killGroup();
  await closed(port);
  shared = new Start(checkout, [`--port=${port}`, "--persist-to", "data"]);
  expect(await shared.lines()).toEqual(before);
  expect(shared.stderr).toBe("Starting Parley.\n");
  expect(await paste(before.list)).toMatchObject({ messages: [{ seq: 1 }], pagination: { total: 1 } });
  expect(await paste(before.send)).toMatchObject({ message: { seq: 2 } });
});

test("a build error of the Worker is shown, and wrangler's exit code is returned", async () => {
  await writeFile(join(checkout, "src", "broken.ts"), "const x = ;\n");
  const broken = start("src/broken.ts", "--port", String(await lastingPort("localhost")));
  expect(await broken.exit()).toBe(1);
  expect(broken.stderr).toContain('Unexpected ";"');
});

// The last test, because it ends the shared server.
test("the server ends when npm start is killed", async () => {
  shared.signal("SIGKILL");
  await closed(port);
});
