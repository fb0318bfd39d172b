import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { beginLoad } from "../support/cpu-load.ts";
import { beginSteps } from "../support/stepping-clock.ts";
import { requireRoom } from "../support/temporary-files.ts";
import { type Ended, run } from "./processes.ts";
import { readResult } from "./result.ts";
import type { Row } from "./row.ts";

const root = new URL("../..", import.meta.url).pathname;
/** The clone with its packages, and some more. */
const NEEDED_BYTES = 1.2e9;
/** In milliseconds. A run that hangs is red. */
const CLONE_LIMIT_MS = 5 * 60_000;
const INSTALL_LIMIT_MS = 30 * 60_000;
const TEST_LIMIT_MS = 90 * 60_000;
/** What changes a run, and what npm and Git tell a command of the checkout it was started in. */
const NOT_PASSED_ON =
  /^(?:npm_config_local_prefix|npm_package_|npm_lifecycle_|INIT_CWD$|GIT_|NODE_ENV$|NODE_OPTIONS$|VITEST|(?:SEED|REQUESTS|JITTER|MODELS|ORDER_SEED)$)/;
/** What npm puts before the path: the programs of this checkout. */
const OF_PACKAGES = /node_modules[/\\].*bin$/;

/** The commit that the clones are of. @throws Error without Git */
export function headCommit(): string {
  return git("rev-parse", "HEAD");
}

/** Whether the checkout holds changes that no clone has. */
export function hasChanges(): boolean {
  return git("status", "--porcelain") !== "";
}

interface Run {
  commit: string;
  run: number;
  seed: number;
  /** How many busy processes run beside it. */
  load: number;
  /** Whether the machine's clock steps meanwhile. */
  isStepping: boolean;
  signal: AbortSignal;
}

/**
 * Clones, installs and tests. Nothing stays.
 * @returns what was seen, and the output of the last step
 * @throws Error without the room for a clone, or if it is stopped
 */
export async function runInClone({
  commit,
  run: at,
  seed,
  load,
  isStepping,
  signal,
}: Run): Promise<{ row: Row; output: string }> {
  const row: Row = {
    run: at,
    isLoaded: load > 0,
    isStepping,
    seed,
    installing: null,
    testing: null,
    result: null,
    fault: null,
  };
  requireRoom(tmpdir(), NEEDED_BYTES);
  const folder = await mkdtemp(join(tmpdir(), "parley-clone-"));
  const endLoad = beginLoad(load);
  let endSteps = () => {};
  const inClone = (limitMs: number) => ({ cwd: folder, env: environment(seed), signal, limitMs });
  try {
    for (const args of [
      ["clone", "--quiet", "--no-local", "--no-checkout", root, "."],
      ["-c", "advice.detachedHead=false", "checkout", "--quiet", commit],
    ]) {
      const { fault, output } = await run("git", args, inClone(CLONE_LIMIT_MS));
      if (fault !== null) return { row: { ...row, fault }, output };
    }
    const installed = await run("npm", ["ci"], inClone(INSTALL_LIMIT_MS));
    row.installing = installed.took;
    if (installed.fault !== null) return { row: { ...row, fault: installed.fault }, output: installed.output };
    if (isStepping) endSteps = beginSteps();
    const tested = await run("npm", ["test"], inClone(TEST_LIMIT_MS));
    return { row: { ...row, testing: tested.took, ...verdict(tested) }, output: tested.output };
  } finally {
    endSteps();
    await endLoad();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** A run is green only if it ended well and its output names at least one test and none that failed. */
function verdict({ fault, output }: Ended): Pick<Row, "result" | "fault"> {
  const result = readResult(output);
  if (result === null) return { result, fault: `no readable result${fault === null ? "" : `: ${fault}`}` };
  return { result, fault: result.red.length > 0 ? null : fault };
}

/** As a person's who has just cloned, with an order of the tests. */
function environment(seed: number): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => NOT_PASSED_ON.test(name));
  const without: Record<string, undefined> = Object.fromEntries(names.map((name) => [name, undefined]));
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !OF_PACKAGES.test(folder));
  return { ...process.env, ...without, PATH: path.join(delimiter), ORDER_SEED: String(seed), NO_COLOR: "1" };
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}
