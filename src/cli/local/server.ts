import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { CommandError } from "../command-error.ts";
import { exitCode, runWrangler, startWrangler } from "../wrangler.ts";
import type { StartArguments } from "./arguments.ts";
import { freePort } from "./port.ts";
import { errorLines, workerLines } from "./wrangler-log.ts";

/** Tells the build step of `wrangler dev` that `npm start` has prepared this server. */
export const IS_PREPARED = "PARLEY_IS_PREPARED";

/** The paths of the server's configuration and data. */
export type ServerFiles = { config: string; state: string };

/**
 * Applies the migrations that the local database lacks.
 * @throws CommandError if wrangler fails; its output is written first
 */
export async function migrate(files: ServerFiles, log: (line: string) => void, signal: AbortSignal): Promise<void> {
  const args = ["d1", "migrations", "apply", "DB", "--local", ...flags(files)];
  const { code, stdout, stderr } = await runWrangler(args, signal);
  if (code === 0) return;
  for (const line of `${stdout}${stderr}`.trimEnd().split("\n")) log(line);
  throw new CommandError(`The database in ${files.state} can't be migrated. See wrangler's error above.`);
}

/** Receives each line of the server's output. Warnings are errors. */
export type OnLine = (line: string, kind: "error" | "log") => void;

/**
 * Runs `wrangler dev`. Its errors and the Worker's log go to `onLine`.
 * @returns its exit code, after all its output is written
 */
export async function serve(
  files: ServerFiles,
  { ip, port, vars, others }: Pick<StartArguments, "ip" | "port" | "vars" | "others">,
  take: OnLine,
  signal: AbortSignal,
): Promise<number> {
  const variables = Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  // If two servers start at the same time, wrangler gives both the same debugger port, and one of them ends.
  const isGiven = others.some((other) => other.startsWith("--inspector-port"));
  const inspector = isGiven ? [] : ["--inspector-port", String(await inspectorPort(port))];
  const listening = ["--ip", ip, "--port", String(port), ...inspector];
  const args = ["dev", ...others, ...listening, ...variables, ...flags(files)];
  const child = startWrangler(args, signal, { [IS_PREPARED]: "true" });
  const worker = workerLines((line) => take(line, isWarning(line) ? "error" : "log"));
  const errors = errorLines((line) => take(line, "error"));
  const ended = [eachLine(child.stdout, worker).then(() => worker(null)), eachLine(child.stderr, errors)];
  const code = await exitCode(child);
  await Promise.all(ended);
  return code;
}

/** A port derived from the server's own, outside the range of outgoing connections if the server's port is. */
function inspectorPort(port: number): Promise<number> {
  const own = port > 20_000 ? port - 10_000 : port + 10_000;
  return freePort(own, "127.0.0.1").catch(() => freePort(0, "127.0.0.1"));
}

/** wrangler writes its own warnings to stdout. */
function isWarning(line: string): boolean {
  return /^\[wrangler:(warn|error)\]/.test(line);
}

function flags({ config, state }: ServerFiles): string[] {
  return ["--config", config, "--persist-to", state];
}

async function eachLine(stream: Readable, take: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) take(line);
}
