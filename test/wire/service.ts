import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { bundle } from "../bundle.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** The service in a process of its own, reached over sockets: nothing but the runtime's own HTTP lies between. */
export interface Service {
  url: URL;
  secrets: { ADMIN_TOKEN: string; KEY_SECRET: string; CREDENTIALS_KEY: string };
  /** Hosts that were called from inside; each call was taken. */
  called: Set<string>;
  /** Where D1 and the objects lie. */
  data: string;
  stop(): Promise<void>;
}

/** @param onLine is told each line that the service logs */
export async function startService(onLine: (line: string) => void = () => undefined): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), "parley-wire-"));
  const scriptPath = join(folder, "index.js");
  await bundle({ index: join(ROOT, "src/index.ts") }, folder);
  const secret = () => randomBytes(32).toString("base64");
  const secrets = { ADMIN_TOKEN: secret(), KEY_SECRET: secret(), CREDENTIALS_KEY: secret() };
  const called = new Set<string>();
  const data = join(folder, "data");
  const options = {
    host: "127.0.0.1",
    port: 0,
    cf: false as const,
    resourcePersistencePath: data,
    handleStructuredLogs: ({ message }: { message: string }) => onLine(message),
    workers: [
      {
        name: "parley",
        modules: true,
        scriptPath,
        modulesRoot: dirname(scriptPath),
        compatibilityDate: "2026-09-01",
        compatibilityFlags: ["global_fetch_strictly_public"],
        bindings: { ...secrets },
        d1Databases: { DB: "parley" },
        ratelimits: { STRANGERS: { namespace_id: "1001", simple: { limit: 1_000_000_000, period: 60 as const } } },
        durableObjects: Object.fromEntries(
          Object.entries({ KEYS: "KeyObject", CHATS: "ChatObject", CHANNELS: "ChannelObject" }).map(
            ([name, className]) => [name, { className, useSQLite: true }],
          ),
        ),
        // Called on its own socket: an entry Worker before it would read the requests first.
        unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        outboundService: ({ url }: { url: string }) => {
          called.add(new URL(url).host);
          return answerOf(url) as never;
        },
      },
    ],
  };
  const miniflare = new Miniflare(convertV4MiniflareOptions(options));
  await miniflare.ready;
  await migrate(miniflare);
  return {
    url: await miniflare.unsafeGetDirectURL("parley"),
    secrets,
    called,
    data,
    stop: async () => {
      await miniflare.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Both networks, as far as they take whatever they are sent and have the file that they are asked for. */
export function answerOf(url: string): Response {
  if (url.includes("/file/")) return new Response("a file", { headers: { "Content-Type": "image/jpeg" } });
  if (url.endsWith("/getFile")) return Response.json({ ok: true, result: { file_path: "photos/file_1.jpg" } });
  return Response.json({ ok: true, result: { message_id: 1 }, messages: [{ id: "wamid.1" }] });
}

async function migrate(miniflare: Miniflare): Promise<void> {
  const database = await miniflare.getD1Database("DB", "parley");
  const folder = join(ROOT, "migrations");
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(".sql")).sort()) {
    const text = await readFile(join(folder, name), "utf8");
    await database.batch(text.split("--> statement-breakpoint").map((sql) => database.prepare(sql)));
  }
}
