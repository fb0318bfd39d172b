import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { freePort } from "../../src/cli/local/port.ts";
import { answers } from "../../src/cli/wrangler.ts";
import type { Order } from "./server-process.ts";
import { running } from "./storm.ts";

const root = new URL("../..", import.meta.url).pathname;
const script = new URL("server-process.ts", import.meta.url).pathname;
const START_PATIENCE_MS = 90_000;
const MAX_LINES = 200;
const NOT_COPIED = ["node_modules", ".git", ".wrangler", ".dev.vars", "coverage", "dist", "test"];

/** The service on a copy of the checkout and data of its own, which can be killed, stopped for a while, and started again on the same data. */
export class Server {
  readonly base: string;
  readonly adminToken: string;
  readonly state: string;
  /** Counts the starts. What a network hears between two starts comes from the first one's life. */
  life = 0;
  kills = 0;
  readonly #folder: string;
  readonly #order: Order;
  #process: ChildProcess | null = null;
  #exited: Promise<unknown> = Promise.resolve();
  #said: string[] = [];

  private constructor(folder: string, order: Order) {
    this.#folder = folder;
    this.#order = order;
    this.base = `http://127.0.0.1:${order.port}`;
    this.adminToken = order.vars.ADMIN_TOKEN ?? "";
    this.state = order.place.state;
  }

  /** Starts the service with these variables, on a free port and an empty folder, or on the data that `fill` puts there. */
  static async begin(vars: Record<string, string> = {}, fill = async (_state: string) => {}): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), "parley-storm-"));
    // Each start builds the visitors' page anew: in one folder, servers would take it from under each other.
    await cp(root, folder, { recursive: true, filter: (path) => !NOT_COPIED.includes(basename(path)) });
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    const place = { config: join(folder, "wrangler.toml"), state: join(folder, "data") };
    const secret = () => randomBytes(32).toString("base64");
    // They win over what a developer keeps in .dev.vars.
    const secrets = { ADMIN_TOKEN: secret(), KEY_SECRET: secret(), CREDENTIALS_KEY: secret() };
    const port = await lastingPort();
    const server = new Server(folder, { place, port, vars: { ...secrets, ...vars }, migrates: true });
    await fill(place.state);
    await server.start();
    return server;
  }

  /** @throws Error with what the server said, when it does not answer */
  async start(): Promise<void> {
    this.life++;
    this.#said = [];
    const order = { ...this.#order, migrates: this.life === 1 };
    const env = { ...process.env, NODE_ENV: undefined, NODE_OPTIONS: undefined, VITEST: undefined };
    const child = spawn(process.execPath, ["--no-warnings", script, JSON.stringify(order)], {
      cwd: this.#folder,
      detached: true,
      env,
    });
    this.#process = child;
    this.#exited = once(child, "exit");
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#said = [...this.#said, text].slice(-MAX_LINES);
      });
    }
    const patience = new AbortController();
    const end = running() + START_PATIENCE_MS;
    const watch = setInterval(() => running() > end && patience.abort(), 1_000);
    const died = this.#exited.then(() => Promise.reject(new Error(`The server ended:\n${this.#said.join("")}`)));
    await Promise.race([answers(this.base, patience.signal), died])
      .catch((error: unknown) => {
        if (!patience.signal.aborted) throw error;
        throw new Error(`Start ${this.life}: no answer in ${START_PATIENCE_MS / 1_000} s:\n${this.#said.join("")}`);
      })
      .finally(() => clearInterval(watch));
    // From here on its end is what the storm is for.
    died.catch(() => {});
  }

  /** The process group of all its processes. */
  get group(): number {
    return this.#process?.pid ?? 0;
  }

  /** As kill -9 of all its processes at one moment. They are dead when this returns; `gone` says when they are reaped. */
  kill(): { gone: Promise<unknown> } {
    this.kills++;
    this.#signal("SIGKILL");
    return { gone: this.#exited };
  }

  /** Stops all its processes where they stand, for so long. */
  async pause(ms: number): Promise<void> {
    this.#signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#signal("SIGCONT");
  }

  /** Ends it and removes its data. */
  async end(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#exited;
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#process ?? {};
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, signal);
  }
}

/**
 * A free port of those that systems don't hand out: one that they do may be an outgoing connection's, of anyone, between
 * a kill and the next start.
 */
async function lastingPort(): Promise<number> {
  const port = randomInt(10_000, 32_000);
  return freePort(port, "127.0.0.1").catch(lastingPort);
}
