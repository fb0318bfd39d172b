import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll } from "vitest";
import { migrate } from "../../../../src/cli/local/server.ts";
import { copyCheckout } from "../../../cli/checkout.ts";
import { bundle } from "../../../support/bundle.ts";
import { type TelegramServer, telegramServer } from "../../../support/telegram-server.ts";
import { newSecrets, type Secrets, startWorkers, workerOptions } from "../../../support/world/workers.ts";
import { caller, type World, worldAt } from "../../../support/world/world.ts";

const root = new URL("../../../..", import.meta.url).pathname;
/** Of `wrangler.toml`: so the database lies where `npm start` has it. */
const DATABASE = "00000000-0000-0000-0000-000000000000";
const REQUIRED = ["ADMIN_TOKEN", "KEY_SECRET", "CREDENTIALS_KEY"] as const;

/** A service that lacks a secret, or all of whose secrets are there. */
export type Without = (typeof REQUIRED)[number] | "nothing";

/** What one run of `parley` left. */
export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running service, started once for all tests of the command line, and a checkout in which to run `parley`. */
export class Place {
  readonly folder: string;
  readonly secrets: Secrets;
  readonly telegram: TelegramServer;
  readonly world: World;
  readonly #operate: ReturnType<typeof caller>;
  readonly #miniflare: Miniflare;
  readonly #urls: Record<string, string>;
  #folders = 0;

  private constructor(
    folder: string,
    secrets: Secrets,
    telegram: TelegramServer,
    miniflare: Miniflare,
    urls: Record<string, string>,
  ) {
    this.folder = folder;
    this.secrets = secrets;
    this.telegram = telegram;
    this.#miniflare = miniflare;
    this.#urls = urls;
    this.world = worldAt(this.url(), secrets.ADMIN_TOKEN);
    this.#operate = caller(this.world, "/admin/v1", secrets.ADMIN_TOKEN);
  }

  /** One place for all tests of a file. It begins before them and ends after them. */
  static ofFile(): () => Place {
    let place: Place | undefined;
    beforeAll(async () => {
      place = await Place.begin();
    });
    afterAll(() => place?.end());
    return () => {
      if (!place) throw new Error("The place begins with the first test");
      return place;
    };
  }

  static async begin(): Promise<Place> {
    const folder = await mkdtemp(join(tmpdir(), "parley-cli-"));
    const secrets = newSecrets();
    const script = join(folder, "worker.js");
    const state = join(folder, "state");
    const [telegram] = await Promise.all([
      telegramServer(),
      migrate({ config: join(root, "wrangler.toml"), state }, () => {}, new AbortController().signal),
      bundle({ worker: join(root, "src/index.ts") }, folder),
      copyCheckout(folder),
    ]);
    const worker = (without: Without) => {
      const given = Object.entries(secrets).filter(([name]) => name !== without);
      const bindings = { RATE_LIMIT: "300", TELEGRAM_API_BASE: telegram.base, ...Object.fromEntries(given) };
      return { ...workerOptions({ name: without, script, bindings, database: DATABASE }), r2Buckets: ["MEDIA"] };
    };
    const { miniflare, urls } = await startWorkers({
      resourcePersistencePath: join(state, "v3"),
      handleStructuredLogs: () => {},
      workers: (["nothing", ...REQUIRED] as const).map(worker),
    });
    const place = new Place(folder, secrets, telegram, miniflare, urls);
    await place.devVars(place.secrets);
    return place;
  }

  get state(): string {
    return join(this.folder, "state");
  }

  url(without: Without = "nothing"): string {
    return this.#urls[without] ?? "";
  }

  /** What `.dev.vars` says from here on. */
  async devVars(variables: Record<string, string>, mode = 0o600): Promise<void> {
    const path = join(this.folder, "checkout", ".dev.vars");
    await rm(path, { force: true });
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(path, lines.join(""), { mode });
  }

  /** A folder of its own for a user's configuration. */
  async newHome(): Promise<string> {
    const home = join(this.folder, `home-${++this.#folders}`);
    await mkdir(home);
    return home;
  }

  /** A GET of the operator API, or a POST if there is a body. The call must succeed. */
  async operator<T>(path: string, body?: object): Promise<T> {
    return this.#operate(body ? "POST" : "GET", path, body);
  }

  /** A DELETE of the operator API, which must succeed. */
  async delete(path: string): Promise<void> {
    await this.#operate("DELETE", path);
  }

  /** Changes the directory behind the service's back. */
  sql(statement: string, ...values: (string | number)[]): void {
    const folder = join(this.state, "v3", "d1", "miniflare-D1DatabaseObject");
    for (const file of readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))) {
      const database = new DatabaseSync(join(folder, file));
      database.prepare(statement).run(...values);
      database.close();
    }
  }

  /** Begins `parley` with these words; the environment has what is given, and where the service is. */
  begin(argv: string[], env: Record<string, string> = {}, nodeOptions: string[] = []): ChildProcess {
    const main = join(this.folder, "checkout", "src", "cli", "parley", "bin.js");
    // Of the test runner's own nothing, least of all what a developer keeps in it.
    const own: Record<string, string | undefined> = {
      PATH: process.env.PATH,
      HOME: this.folder,
      NODE_COMPILE_CACHE: join(this.folder, "cache"),
      PARLEY_URL: this.url(),
      ...env,
    };
    return spawn(process.execPath, [...nodeOptions, main, ...argv], { env: own as NodeJS.ProcessEnv });
  }

  /** Runs `parley` to its end. @throws Error when it showed a secret that it was given */
  async run(argv: string[], env: Record<string, string> = {}, input = "", nodeOptions: string[] = []): Promise<Ran> {
    const child = this.begin(argv, env, nodeOptions);
    const ran: Ran = { code: null, stdout: "", stderr: "" };
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (ran.stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (ran.stderr += text));
    // One that does not read it may be gone already.
    child.stdin?.on("error", () => {}).end(input);
    [ran.code] = (await once(child, "close")) as [number];
    for (const [name, secret] of Object.entries({ ...this.secrets, ...secretsIn(env) })) {
      if (`${ran.stdout}${ran.stderr}`.includes(secret)) throw new Error(`parley ${argv.join(" ")} showed ${name}`);
    }
    return ran;
  }

  /** What `parley … --json` says; the words must work. */
  async json<T = Record<string, never>>(argv: string[], env: Record<string, string> = {}): Promise<T> {
    const { code, stdout, stderr } = await this.run([...argv, "--json"], env);
    if (code !== 0) throw new Error(`parley ${argv.join(" ")} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  async end(): Promise<void> {
    await this.#miniflare.dispose();
    await this.telegram.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function secretsIn(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /TOKEN|KEY|SECRET/.test(name)));
}
