import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { awaitHealthy } from "../../../src/cli/wrangler.ts";
import { copyCheckout } from "./checkout.ts";
import type { Order } from "./dev-server-process.ts";
import { lastingPort } from "./lasting-port.ts";
import { running } from "./patience.ts";
import { newSecrets, type Secrets } from "./workers.ts";
import { type World, worldAt } from "./world.ts";

const script = new URL("dev-server-process.ts", import.meta.url).pathname;
/** A server that ends says so at once. */
const START_PATIENCE_MS = 250_000;
const MAX_OUTPUTS = 200;

interface Options {
  /** Variables besides the secrets. */
  vars?: Record<string, string>;
  /** Changes the copy of the checkout before the first start. */
  prepare?: (folder: string) => Promise<void>;
  /** Gets what the server prints. */
  onOutput?: (text: string) => void;
}

/** The server of `npm start` on a copy of the checkout and data of its own. It can be killed, paused and started again. */
export class DevServer {
  readonly base: string;
  readonly secrets: Secrets;
  readonly world: World;
  /** The folder of the data. */
  readonly state: string;
  /** The number of starts. A fake network notes it with each call, and the storms' Worker says it in each call. */
  life = 0;
  kills = 0;
  readonly #folder: string;
  readonly #order: Order;
  readonly #onOutput: (text: string) => void;
  #process: ChildProcess | null = null;
  #exited: Promise<unknown> = Promise.resolve();
  #outputs: string[] = [];

  private constructor(folder: string, port: number, { vars, onOutput = () => {} }: Options) {
    this.#folder = folder;
    this.#onOutput = onOutput;
    this.state = join(folder, "data");
    this.base = `http://127.0.0.1:${port}`;
    this.secrets = newSecrets();
    this.world = worldAt(this.base, this.secrets.ADMIN_TOKEN);
    const place = { config: join(folder, "wrangler.toml"), state: this.state };
    this.#order = { place, port, vars: { ...this.secrets, ...vars }, migrates: true };
  }

  /** Starts the service on a free port and empty data. */
  static async begin(options: Options = {}): Promise<DevServer> {
    // Each start builds the web pages. Servers in one folder would overwrite each other's.
    const folder = await copyCheckout();
    await options.prepare?.(folder);
    const server = new DevServer(folder, await lastingPort(), options);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.end();
      throw error;
    }
  }

  /** @throws Error with the server's output, if it does not answer */
  async start(): Promise<void> {
    this.life++;
    if (this.life === 2) await this.#keepPages();
    this.#outputs = [];
    const vars = { ...this.#order.vars, STORM_LIFE: String(this.life) };
    const order = { ...this.#order, vars, migrates: this.life === 1 };
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
        this.#outputs = [...this.#outputs, text].slice(-MAX_OUTPUTS);
        this.#onOutput(text);
      });
    }
    const patience = new AbortController();
    const end = running() + START_PATIENCE_MS;
    const watch = setInterval(() => running() > end && patience.abort(), 1_000);
    const died = this.#exited.then(() => Promise.reject(new Error(`The server ended:\n${this.#outputs.join("")}`)));
    await Promise.race([awaitHealthy(this.base, patience.signal), died])
      .catch((error: unknown) => {
        if (!patience.signal.aborted) throw error;
        throw new Error(`Start ${this.life}: no answer in ${START_PATIENCE_MS / 1_000} s:\n${this.#outputs.join("")}`);
      })
      .finally(() => clearInterval(watch));
    // The server runs. From now on a test may kill it.
    died.catch(() => {});
  }

  /** The process group of all its processes. */
  get group(): number {
    return this.#process?.pid ?? 0;
  }

  /** Kills all its processes at once, as `kill -9` does. `gone` resolves when the system has removed them. */
  kill(): { gone: Promise<unknown> } {
    this.kills++;
    this.#signal("SIGKILL");
    return { gone: this.#exited };
  }

  /** Stops all its processes for some milliseconds. */
  async pause(ms: number): Promise<void> {
    this.#signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#signal("SIGCONT");
  }

  /** The first start built the web pages. Building them again would take seconds of each further start. */
  async #keepPages(): Promise<void> {
    const { config } = this.#order.place;
    const text = await readFile(config, "utf8");
    const kept = text.replace(/^\[build\]\n(?:.+\n)+/m, "");
    if (kept === text) throw new Error(`${config} has no part [build]`);
    await writeFile(config, kept);
  }

  /** Kills the server and removes its data. */
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
