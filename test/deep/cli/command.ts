import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { copyCheckout } from "../../cli/checkout.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-command-"));
await copyCheckout(folder);
afterAll(() => rm(folder, { recursive: true }));

const BIN = join(folder, "checkout", "src", "cli", "parley", "bin.js");
export const API_KEY = `ply_${"a".repeat(54)}`;

/** A folder for a user's configuration. */
export async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "parley-home-"));
  onTestFinished(() => rm(home, { recursive: true }));
  return home;
}

/** Begins `parley` with an API key and an environment of its own. */
export function begin(argv: readonly string[], env: Record<string, string>): ChildProcess {
  const own = { PATH: process.env.PATH, PARLEY_API_KEY: API_KEY, ...env };
  const child = spawn(process.execPath, ["--no-warnings", BIN, ...argv], { env: own as unknown as NodeJS.ProcessEnv });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Runs `parley` to its end. */
export async function run(argv: readonly string[], env: Record<string, string>) {
  const child = begin(argv, env);
  const ran = { code: null as number | null, stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (ran.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (ran.stderr += text));
  child.stdin?.end();
  [ran.code] = (await once(child, "close")) as [number];
  return ran;
}
