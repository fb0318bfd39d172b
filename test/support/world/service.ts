import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../bundle.ts";
import { apartWorkers, migrations, newSecrets, type Secrets, startWorkers, workerOptions } from "./workers.ts";
import { type World, worldAt } from "./world.ts";

const ENTRY = new URL("../../../src/index.ts", import.meta.url).pathname;
const NAME = "parley";

/** The service in a workerd process. Requests reach it over sockets, with only the runtime's own HTTP between. */
export interface Service {
  url: URL;
  secrets: Secrets;
  world: World;
  /** The hosts that the service called. Each call succeeded. */
  called: Set<string>;
  stop(): Promise<void>;
}

interface Options {
  /** Gets each line that the service logs. */
  onLine?: (line: string) => void;
  /** The Durable Objects run in an isolate of their own, as in production. */
  objectsApart?: boolean;
}

/** Starts the service in Miniflare on empty data, with faked networks. */
export async function startService({ onLine, objectsApart = false }: Options = {}): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), "parley-world-"));
  await bundle({ index: ENTRY }, folder);
  const secrets = newSecrets();
  const bindings = { ...secrets, LOG_REQUESTS: onLine ? "all" : "none" };
  const setup = { name: NAME, script: join(folder, "index.js"), bindings };
  const called = new Set<string>();
  const outboundService = ({ url }: { url: string }) => {
    called.add(new URL(url).host);
    return answerOf(url) as never;
  };
  const workers = objectsApart ? apartWorkers(setup) : [workerOptions(setup)];
  const { miniflare, urls } = await startWorkers({
    resourcePersistencePath: join(folder, "data"),
    handleStructuredLogs: ({ message }: { message: string }) => onLine?.(message),
    workers: workers.map((worker) => ({ ...worker, outboundService })),
  });
  const database = await miniflare.getD1Database("DB", NAME);
  for (const statements of await migrations()) await database.batch(statements.map((sql) => database.prepare(sql)));
  const url = new URL(urls[NAME] ?? "");
  return {
    url,
    secrets,
    world: worldAt(url, secrets.ADMIN_TOKEN),
    called,
    stop: async () => {
      await miniflare.dispose();
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** What a network or a receiver answers: it accepts each call, and has each file. */
function answerOf(url: string): Response {
  if (url.endsWith("/refused")) return new Response(null, { status: 403 });
  if (url.includes("/file/")) return new Response("a file", { headers: { "Content-Type": "image/jpeg" } });
  if (url.endsWith("/getFile")) return Response.json({ ok: true, result: { file_path: "photos/file_1.jpg" } });
  return Response.json({ ok: true, result: { message_id: 1 }, messages: [{ id: "wamid.1" }] });
}
