import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { apartWorkers, type Secrets, workerOptions } from "../support/world/workers.ts";
import type { Scripts } from "./build.ts";
import type { Question } from "./server-process.ts";

export type Statement = { sql: string; values: (string | number | null)[] };

/** The Workers that take requests, each on a socket of its own. */
export type Front = "direct" | "floors" | "literal" | "parley" | `${"literal" | "parley"}-objects` | `delayed${number}`;

export interface Server {
  url(front: Front): URL;
  /** Runs statements in one transaction on the D1 database of a Worker. */
  sql(front: Front, statements: Statement[]): Promise<void>;
  /** The id of the process that runs all Workers. */
  pid: number;
  stop(): Promise<void>;
}

/** What all servers of a run share: a folder for data, the Workers' scripts, the service's secrets. */
export interface Setup {
  folder: string;
  scripts: Scripts;
  secrets: Secrets;
}

export interface ServerOptions {
  /** The service with counters in it, or as it is deployed. */
  counted: boolean;
  /** Whether errors that the Workers log are shown. */
  showErrors: boolean;
  /** The port of the inspector. Without it there is none. */
  inspector?: number;
}

/** Milliseconds added to each way of a hop. Each has a Worker of its own. */
export const DELAYS = [20, 50, 100] as const;

/**
 * Starts all Workers on the data in `folder`. Each service's objects live in an isolate of their own, as in production.
 */
async function startServer(
  { folder, scripts, secrets }: Setup,
  { counted, showErrors, inspector }: ServerOptions,
): Promise<Server> {
  const env = { ...process.env, MINIFLARE_WORKERD_PATH: await workerdIn(folder, { quiet: !showErrors }) };
  const child = fork(new URL("server-process.ts", import.meta.url), { env, execArgv: ["--no-warnings"] });
  const bindings = {};
  // Webhooks call the process of the bench.
  const own = { ...secrets, WEBHOOKS_ALLOW_LOCAL: "true" };
  const workers = [
    ...apartWorkers({ name: "floors", script: scripts.floors, objects: { OBJECTS: "FloorObject" }, bindings }),
    ...apartWorkers({
      name: "literal",
      script: counted ? scripts.countedLiteral : scripts.literal,
      objects: { LIMITS: "Limiter" },
      bindings,
    }),
    ...apartWorkers({ name: "parley", script: counted ? scripts.counted : scripts.parley, bindings: own }),
    workerOptions({
      name: "direct",
      script: scripts.direct,
      bindings: secrets,
      database: "parley",
      objectsOf: "parley-objects",
    }),
    ...DELAYS.map((ms) =>
      workerOptions({
        name: `delayed${ms}`,
        script: scripts.delayed,
        bindings: { ...secrets, DELAY_MS: ms },
        database: "parley",
        objectsOf: "parley-objects",
      }),
    ),
  ];
  const options = {
    ...(inspector !== undefined && { inspectorPort: inspector }),
    resourcePersistencePath: join(folder, "data"),
    workers,
  };
  const urls = (await ask(child, { ask: "start", options })) as Record<string, string>;
  return {
    url: (front) => new URL(urls[front] ?? ""),
    sql: async (worker, statements) => void (await ask(child, { ask: "sql", worker, statements })),
    pid: Number(await readFile(join(folder, "workerd.pid"), "utf8")),
    stop: async () => {
      await ask(child, { ask: "stop" });
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}

/** Starts a server, does some work with it, and stops it. */
export async function withServer<T>(
  setup: Setup,
  options: ServerOptions,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await startServer(setup, options);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/**
 * A command that runs workerd and writes its process id to a file. `quiet` drops what Workers log: Miniflare would parse
 * each line, on the core that the driver needs.
 */
async function workerdIn(folder: string, { quiet }: { quiet: boolean }): Promise<string> {
  const miniflare = createRequire(import.meta.url).resolve("miniflare");
  const workerd = createRequire(miniflare)("workerd") as { default: string };
  const path = join(folder, "workerd.sh");
  const run = `exec '${workerd.default}' "$@"${quiet ? " >/dev/null" : ""}`;
  // SQLite writes a temporary file in each step of a deletion. In /var/tmp, a busy disk would hold up requests.
  const environment = `export SQLITE_TMPDIR='${folder}'`;
  await writeFile(path, `#!/bin/sh\necho $$ > '${join(folder, "workerd.pid")}'\n${environment}\n${run}\n`);
  await chmod(path, 0o755);
  return path;
}

function ask(child: ChildProcess, question: Question): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the server process ended with code ${code}`));
    child.once("exit", onExit);
    child.once("message", ({ value, error }: { value?: unknown; error?: string }) => {
      child.off("exit", onExit);
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    });
    child.send(question);
  });
}
