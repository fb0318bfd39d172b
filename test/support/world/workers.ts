import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { convertV4MiniflareOptions, Miniflare, type V4MiniflareOptions } from "miniflare";

const MIGRATIONS = new URL("../../../migrations/", import.meta.url).pathname;
const CONFIGURATION = new URL("../../../wrangler.toml", import.meta.url).pathname;
const [, COMPATIBILITY_DATE = ""] = /^compatibility_date = "(.+)"$/m.exec(readFileSync(CONFIGURATION, "utf8")) ?? [];
const OBJECTS = {
  KEYS: "KeyObject",
  ORGANIZATIONS: "OrganizationObject",
  CHATS: "ChatObject",
  CHANNELS: "ChannelObject",
  WEBHOOKS: "WebhookObject",
  SEARCH_INDEXES: "SearchIndexObject",
};

export type Secrets = Record<"ADMIN_TOKEN" | "KEY_SECRET" | "CREDENTIALS_KEY", string>;

/** Secrets for one run. Given to wrangler as variables, they win over the developer's own in .dev.vars. */
export function newSecrets(): Secrets {
  const secret = () => randomBytes(32).toString("base64");
  return { ADMIN_TOKEN: secret(), KEY_SECRET: secret(), CREDENTIALS_KEY: secret() };
}

interface WorkerSetup {
  name: string;
  /** The path of its bundled script. */
  script: string;
  bindings: Record<string, unknown>;
  /** The database of `DB`. */
  database?: string;
  /** The class of each binding. */
  objects?: Record<string, string>;
  /** The Worker that runs its Durable Objects, if another one does. */
  objectsOf?: string;
}

/** A Worker for Miniflare with what wrangler.toml gives the service. */
export function workerOptions({ name, script, bindings, database, objects, objectsOf = name }: WorkerSetup) {
  const scriptName = objectsOf === name ? {} : { scriptName: objectsOf };
  return {
    name,
    modules: true as const,
    scriptPath: script,
    modulesRoot: dirname(script),
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ["global_fetch_strictly_public"],
    bindings: bindings as Record<string, string>,
    d1Databases: { DB: database ?? name },
    r2Buckets: ["MEDIA", "MEDIA_EU", "MEDIA_US"],
    // Counted as in production, but never reached: all requests come from one address.
    ratelimits: { STRANGERS: { namespace_id: "1001", simple: { limit: 1_000_000_000, period: 60 as const } } },
    durableObjects: Object.fromEntries(
      Object.entries(objects ?? OBJECTS).map(([binding, className]) => [
        binding,
        { className, useSQLite: true, ...scriptName },
      ]),
    ),
    // Each Worker has its own socket. Miniflare's entry Worker would read the requests first, and cost 80 µs each.
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}

/** Two Workers of one script: `name` takes the requests, and `<name>-objects` runs the Durable Objects, as in production. */
export function apartWorkers(setup: WorkerSetup) {
  const shared = { ...setup, database: setup.database ?? setup.name, objectsOf: `${setup.name}-objects` };
  return [workerOptions(shared), workerOptions({ ...shared, name: shared.objectsOf })];
}

/** Starts Workers on the data in the folder `resourcePersistencePath`. `urls` has the address of each Worker by its name. */
export async function startWorkers(
  options: V4MiniflareOptions & { workers: { name: string }[] },
): Promise<{ miniflare: Miniflare; urls: Record<string, string> }> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ host: "127.0.0.1", port: 0, cf: false, ...options } as V4MiniflareOptions),
  );
  await miniflare.ready;
  const urls: Record<string, string> = {};
  for (const { name } of options.workers) urls[name] = (await miniflare.unsafeGetDirectURL(name)).origin;
  return { miniflare, urls };
}

/** The SQL statements of each migration, in order. */
export async function migrations(): Promise<string[][]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => name.endsWith(".sql")).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(MIGRATIONS, name), "utf8")));
  return texts.map((text) => text.split("--> statement-breakpoint"));
}
