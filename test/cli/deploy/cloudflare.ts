import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { buffer } from "node:stream/consumers";

export const ACCOUNT = { id: "0123456789abcdef0123456789abcdef", name: "Analytical Engines" };
export const DATABASE_ID = "6f1d4b0e-5a4f-4c39-9a53-0d2f8d1f7c11";
export const VERSION_ID = "0b8c5a6e-2f43-4c44-8a0e-1c7d53b0e9aa";
const NOT_FOUND = 10007;
/** The last migration of `wrangler.toml`. A deploy to an account that lacks it does not create a version. */
const LAST_MIGRATION = readFileSync(join(import.meta.dirname, "../../../wrangler.toml"), "utf8")
  .match(/(?<=^tag = ").+(?=")/gm)
  ?.at(-1);

type Answer = { status: number; body: object };

/** What wrangler calls of Cloudflare's API for a deploy, and an account behind it. D1 is a SQLite of its own. */
export class FakeCloudflare {
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #sqlite = new DatabaseSync(":memory:");
  /** What was changed, or was to be, in order; questions are not noted. */
  done: string[] = [];
  /** Of these calls the account says that they are not allowed. */
  refuses = "";
  accounts = [ACCOUNT];
  /** The name under workers.dev, which a new account has not chosen yet. */
  subdomain: string | null = null;
  databases: { uuid: string; name: string }[] = [];
  /** The R2 buckets, as `<name> <jurisdiction>`; null while R2 is off. */
  buckets: string[] | null = [];
  /** The names of the bindings of the Worker's newest version. */
  bound: string[] = [];
  /** The cron triggers of the Worker. */
  crons: string[] = [];
  /** The secrets of the Worker; null while there is none. */
  secrets: Record<string, string> | null = null;
  /** The deployed service leads to another address. */
  redirects = false;
  /** What the deployed service says of itself. By its version, a smoke test ends there. */
  deployed = { version: "0.0.1", build: VERSION_ID };

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    this.#sqlite.close();
  }

  /** The tables of the database. */
  tables(): string[] {
    const rows = this.#sqlite.prepare("select name from sqlite_master where type = 'table'").all();
    return rows.map(({ name }) => String(name));
  }

  /** Applies the migrations of a folder, as an earlier deploy did. */
  migrate(folder: string): void {
    this.#sqlite.exec("create table d1_migrations (id integer primary key autoincrement, name text unique)");
    for (const name of readdirSync(folder)
      .filter((one) => one.endsWith(".sql"))
      .sort()) {
      this.#sqlite.exec(readFileSync(`${folder}/${name}`, "utf8"));
      this.#sqlite.prepare("insert into d1_migrations (name) values (?)").run(name);
    }
  }

  /** Adds an organization to the migrated database. */
  addOrganization(isTemporary: boolean): void {
    const columns = "insert into organizations (id, name, temporary, created_at) values (?, 'Engines', ?, 1)";
    this.#sqlite.prepare(columns).run(crypto.randomUUID(), Number(isTemporary));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = this.#answer(request, await buffer(request));
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  }

  #answer(request: IncomingMessage, sent: Buffer): Answer {
    const { pathname } = new URL(request.url ?? "", "http://cloudflare");
    const path = pathname.replace(`/accounts/${ACCOUNT.id}/`, "").replace(DATABASE_ID, "{id}");
    const call = `${request.method} ${path}`;
    const isQuestion = request.method === "GET" || (path.endsWith("/query") && !sent.includes("INSERT INTO"));
    if (!isQuestion) this.done.push(call);
    if (call === this.refuses && !isQuestion) return failed(403, 10000, "Authentication error");
    if (path.startsWith("r2/")) return this.#bucket(call, sent, String(request.headers["cf-r2-jurisdiction"] ?? ""));
    return this.#routes[call]?.(sent) ?? failed(404, 7003, `The fake has no ${call}`);
  }

  #bucket(call: string, sent: Buffer, jurisdiction: string): Answer {
    if (this.buckets === null) return failed(403, 10042, "Please enable R2 through the Cloudflare Dashboard.");
    const [, asked] = /^GET r2\/buckets\/([\w-]+)(?:\/lifecycle)?$/.exec(call) ?? [];
    if (asked !== undefined) {
      const isThere = this.buckets.includes(`${asked} ${jurisdiction}`.trim());
      return isThere ? ok({ name: asked, rules: [] }) : failed(404, 10006, "The specified bucket does not exist.");
    }
    if (call !== "POST r2/buckets") return failed(404, 7003, `The fake has no ${call}`);
    const { name } = JSON.parse(sent.toString()) as { name: string };
    this.buckets.push(`${name} ${jurisdiction}`.trim());
    return ok({ name });
  }

  readonly #routes: Record<string, (sent: Buffer) => Answer> = {
    "GET /user/tokens/verify": () => ok({ id: "token", status: "active" }),
    "GET /user": () => ok({ email: "ada@example.com" }),
    "GET /accounts": () => ok(this.accounts),
    "GET /memberships": () => ok(this.accounts.map((account) => ({ account }))),
    "GET d1/database": () => ok(this.databases),
    "POST d1/database": (sent) => {
      const made = { uuid: DATABASE_ID, name: JSON.parse(sent.toString()).name as string };
      this.databases.push(made);
      return ok(made);
    },
    "POST d1/database/{id}/query": (sent) => ok([{ ...this.#query(JSON.parse(sent.toString()).sql), success: true }]),
    "GET workers/subdomain": () =>
      this.subdomain ? ok({ subdomain: this.subdomain }) : failed(404, NOT_FOUND, "none"),
    "GET workers/services/parley": () =>
      this.#ofWorker({ default_environment: { script: { tag: "tag", migration_tag: LAST_MIGRATION } } }),
    "GET workers/scripts/parley/secrets": () =>
      this.#ofWorker(Object.keys(this.secrets ?? {}).map((name) => ({ name, type: "secret_text" }))),
    "GET workers/scripts/parley/deployments": () => this.#ofWorker({ deployments: [] }),
    "GET workers/scripts/parley/settings": () => this.#ofWorker({ bindings: [], migration_tag: LAST_MIGRATION }),
    "GET workers/workers/parley": () => this.#ofWorker({ subdomain: { enabled: true, previews_enabled: false } }),
    "POST workers/scripts/parley/assets-upload-session": () => ok({ jwt: "done", buckets: [] }),
    "PUT workers/scripts/parley": (sent) => this.#upload(sent),
    "POST workers/scripts/parley/versions": (sent) => this.#upload(sent),
    "POST workers/scripts/parley/deployments": () => ok({ id: VERSION_ID }),
    "PATCH workers/scripts/parley/script-settings": () => ok({}),
    "POST workers/scripts/parley/subdomain": () => ok({ enabled: true, previews_enabled: false }),
    "PUT workers/scripts/parley/schedules": (sent) => {
      const schedules = JSON.parse(sent.toString()) as { cron: string }[];
      this.crons = schedules.map(({ cron }) => cron);
      return ok({ schedules });
    },
    "GET /deployed/parley.engines.workers.dev/healthz": () =>
      this.#ifDeployed({
        status: this.redirects ? 301 : 200,
        body: { ok: true, ...this.deployed },
      }),
  };

  #ofWorker(result: unknown): Answer {
    return this.#ifDeployed(ok(result));
  }

  #ifDeployed(answer: Answer): Answer {
    return this.secrets ? answer : failed(404, NOT_FOUND, "This Worker does not exist on your account.");
  }

  /** A new version has the secrets of the one before, and those that come with it. */
  #upload(sent: Buffer): Answer {
    const [, metadata = "{}"] = /name="metadata"\r\n\r\n(.*)\r\n/.exec(sent.toString("latin1")) ?? [];
    const { bindings } = JSON.parse(metadata) as { bindings: { name: string; type: string; text: string }[] };
    this.bound = bindings.map(({ name }) => name);
    const secrets = bindings.filter(({ type }) => type === "secret_text").map(({ name, text }) => [name, text]);
    this.secrets = { ...this.secrets, ...Object.fromEntries(secrets) };
    return ok({
      id: VERSION_ID,
      deployment_id: VERSION_ID.replaceAll("-", ""),
      startup_time_ms: 1,
      resources: { script: { etag: "etag" } },
    });
  }

  #query(sql: string): { results: object[] } {
    if (/^\s*select/i.test(sql)) return { results: this.#sqlite.prepare(sql).all() };
    this.#sqlite.exec(sql);
    return { results: [] };
  }
}

function ok(result: unknown): Answer {
  return { status: 200, body: { success: true, errors: [], messages: [], result } };
}

function failed(status: number, code: number, message: string): Answer {
  return { status, body: { success: false, errors: [{ code, message }], messages: [], result: null } };
}
