import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { StartArguments } from "./arguments.ts";
import { freePort } from "./port.ts";
import { Refusal } from "./refusal.ts";
import { complaintLines, workerLines } from "./wrangler-log.ts";

export type Place = { config: string; state: string };
export type Environment = Record<string, string | undefined>;

const PAUSE_MS = 50;
/** A call that a server which is just starting never answers must not hold the next one for longer. */
const PATIENCE_MS = 5_000;

// Nothing leaves the machine and nothing is left in the home folder. What the user has set, wins.
const ENVIRONMENT = {
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_WRITE_LOGS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** How a run of wrangler ended, and what it wrote. */
export type Answer = { code: number; stdout: string; stderr: string };

/** Runs wrangler to its end, without a terminal: it asks nothing. */
export async function ask(args: string[], signal: AbortSignal, env: Environment = {}): Promise<Answer> {
  const child = run(args, signal, env);
  const [code, stdout, stderr] = await Promise.all([exitCode(child), text(child.stdout), text(child.stderr)]);
  signal.throwIfAborted();
  return { code, stdout, stderr };
}

/**
 * Brings the local database to the newest schema.
 * @throws Refusal when wrangler can't; its own words are written first
 */
export async function migrate(place: Place, log: (line: string) => void, signal: AbortSignal): Promise<void> {
  const { code, stdout, stderr } = await ask(["d1", "migrations", "apply", "DB", "--local", ...flags(place)], signal);
  if (code === 0) return;
  for (const line of `${stdout}${stderr}`.trimEnd().split("\n")) log(line);
  throw new Refusal(`The database in ${place.state} can't be migrated; wrangler says why above.`);
}

/**
 * Runs `wrangler dev`. Its errors and what the Worker logs go to `log`.
 * @returns its exit code, once everything that it said is written
 */
export async function serve(
  place: Place,
  { ip, port, vars, others }: StartArguments,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const variables = Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  // Of two servers that start at the same time wrangler gives both the same port for its debugger, and one ends.
  const isGiven = others.some((other) => other.startsWith("--inspector-port"));
  const inspector = isGiven ? [] : ["--inspector-port", String(await inspectorPort(port))];
  const listening = ["--ip", ip, "--port", String(port), ...inspector];
  const child = run(["dev", ...others, ...listening, ...variables, ...flags(place)], signal);
  const worker = workerLines(log);
  const ended = [eachLine(child.stdout, worker).then(() => worker(null)), eachLine(child.stderr, complaintLines(log))];
  const code = await exitCode(child);
  await Promise.all(ended);
  return code;
}

/** One that belongs to the server's own, and lies where no outgoing connection does if that one does. */
function inspectorPort(port: number): Promise<number> {
  const own = port > 20_000 ? port - 10_000 : port + 10_000;
  return freePort(own, "127.0.0.1").catch(() => freePort(0, "127.0.0.1"));
}

/** Waits until the server at `base` answers its health check. */
export async function answers(
  base: string,
  signal: AbortSignal,
  patienceMs = PATIENCE_MS,
  pauseMs = PAUSE_MS,
): Promise<void> {
  for (;;) {
    if (await isHealthy(base, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]))) return;
    await delay(pauseMs, undefined, { signal });
  }
}

async function isHealthy(base: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${base}/healthz`, { signal });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function flags({ config, state }: Place): string[] {
  return ["--config", config, "--persist-to", state];
}

function run(args: string[], signal: AbortSignal, env: Environment = {}) {
  const leash = new URL("leash.ts", import.meta.url).href;
  const wrangler = createRequire(import.meta.url).resolve("wrangler");
  return spawn(process.execPath, ["--no-warnings", "--import", leash, wrangler, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    // CLOUDFLARE_ENV would choose another .dev.vars, as --env does.
    env: { ...ENVIRONMENT, ...process.env, ...env, CLOUDFLARE_ENV: undefined },
    signal,
  });
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    // An abort is an error here too, but of a child that lives: its exit follows.
    child.on("error", (error) => child.pid === undefined && reject(error));
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

async function eachLine(stream: Readable, take: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) take(line);
}
