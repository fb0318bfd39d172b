import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

/** How long a program has to end on its own, with its children, in milliseconds. */
const FAREWELL_MS = 10_000;
/** Of the output that is kept, in characters. */
const MAX_OUTPUT = 4_000_000;

interface Options {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Ends the program. */
  signal: AbortSignal;
  /** The longest time that it may take, in milliseconds. */
  limitMs: number;
}

export interface Ended {
  /** How it ended, unless with code 0. */
  fault: string | null;
  /** Seconds. */
  took: number;
  /** The end of what it printed. */
  output: string;
}

/** Runs a program to its end, in a process group of its own, which is gone afterward. @throws Error if it can't start */
export async function run(program: string, args: string[], { cwd, env, signal, limitMs }: Options): Promise<Ended> {
  signal.throwIfAborted();
  const begun = performance.now();
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-MAX_OUTPUT)));
  }
  const limit = AbortSignal.timeout(limitMs);
  const stop = AbortSignal.any([signal, limit]);
  const exited = once(child, "exit");
  try {
    await Promise.race([exited, once(stop, "abort")]);
    if (stop.aborted) await endGroup(child, exited);
    const [code, by] = (await exited) as [number | null, NodeJS.Signals | null];
    signal.throwIfAborted();
    const how = limit.aborted ? `did not end in ${limitMs / 60_000} minutes` : `ended with ${by ?? `code ${code}`}`;
    const isFine = code === 0 && !limit.aborted;
    const fault = isFine ? null : `${[program, ...args].join(" ")} ${how}`;
    return { fault, took: (performance.now() - begun) / 1_000, output };
  } finally {
    signalGroup(child, "SIGKILL");
  }
}

/** Asks the processes of a group to end, so that they can remove their files, and kills those that stay. */
async function endGroup(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  signalGroup(child, "SIGINT");
  await Promise.race([exited, delay(FAREWELL_MS, undefined, { ref: false })]);
  signalGroup(child, "SIGKILL");
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}
