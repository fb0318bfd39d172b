import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

export type Environment = Record<string, string | undefined>;

const PAUSE_MS = 50;
/** The timeout of each request, because a starting server may never answer one. */
const TIMEOUT_MS = 5_000;

// Nothing leaves the machine and nothing is written to the home folder. The user's own settings win.
const ENVIRONMENT = {
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_WRITE_LOGS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  // wrangler's local explorer runs SQL for everyone who reaches the server's port, without a key.
  X_LOCAL_EXPLORER: "false",
  // wrangler's traces store the full URL of each request and each call to a network, with the bot token, in clear text.
  X_LOCAL_OBSERVABILITY: "false",
  // wrangler starts a third faster if Node caches its compiled code. This is Node's own default folder.
  NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"),
};

/** The exit code and output of a wrangler process. */
export type ProcessResult = { code: number; stdout: string; stderr: string };

/** Runs wrangler to its end, without a terminal, so that it asks no questions. */
export async function runWrangler(args: string[], signal: AbortSignal, env: Environment = {}): Promise<ProcessResult> {
  const child = startWrangler(args, signal, env);
  const [code, stdout, stderr] = await Promise.all([exitCode(child), text(child.stdout), text(child.stderr)]);
  signal.throwIfAborted();
  return { code, stdout, stderr };
}

/** Starts wrangler. wrangler ends when this process ends. */
export function startWrangler(args: string[], signal: AbortSignal, env: Environment = {}) {
  const leash = new URL("leash.ts", import.meta.url).href;
  const wrangler = createRequire(import.meta.url).resolve("wrangler");
  return spawn(process.execPath, ["--no-warnings", "--import", leash, wrangler, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    // CLOUDFLARE_ENV would choose another .dev.vars, as --env does.
    env: { ...ENVIRONMENT, ...process.env, ...env, CLOUDFLARE_ENV: undefined },
    signal,
  });
}

/** The exit code of a process, or 128 plus the number of the signal that ended it. */
export function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    // An abort is also an error, but then the exit follows.
    child.on("error", (error) => child.pid === undefined && reject(error));
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** Waits until the server at `base` passes its health check. */
export async function awaitHealthy(base: string, signal: AbortSignal, timeoutMs = TIMEOUT_MS): Promise<void> {
  for (;;) {
    if (await isHealthy(base, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))) return;
    await delay(PAUSE_MS, undefined, { signal });
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
