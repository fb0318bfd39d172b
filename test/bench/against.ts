import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Mistake } from "../support/mistake.ts";
import { prepare, type RunSettings, withSetup } from "./bench.ts";
import type { Case } from "./cases.ts";
import { type Prepared, type Turn, turn, WARM_UP_SECONDS } from "./rounds.ts";
import { type Server, withServer } from "./server.ts";
import { median, quantile } from "./statistics.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FIRST_SECONDS = 1;

/** A case in both builds, turn by turn. */
export interface Compared {
  name: string;
  before: Turn[];
  after: Turn[];
  /** The first response with a wrong status. */
  unexpected: string | null;
}

/** A build of the service with the data of the cases. */
interface Build {
  server: Server;
  prepared: Prepared[];
}

/**
 * Measures cases of the service at a commit and as it is here. Both run at the same time, on data of their own, and a case
 * has a turn in one build right after its turn in the other, so what slows the machine slows both.
 */
export function measureAgainst(
  commit: string,
  cases: Case[],
  settings: RunSettings & { rounds: number },
): Promise<Compared[]> {
  const { rounds, seconds, log } = settings;
  return withCheckout(commit, (root) =>
    withBuild(settings, cases, root, (before, drive) =>
      withBuild(settings, cases, ROOT, async (after) => {
        const compared: Compared[] = cases.map(({ name }) => ({ name, before: [], after: [], unexpected: null }));
        for (let round = -1; round < rounds; round++) {
          const isWarmUp = round < 0;
          if (!isWarmUp) log(`Round ${round + 1} of ${rounds}`);
          for (const [index, result] of compared.entries()) {
            for (const side of round % 2 === 0 ? (["before", "after"] as const) : (["after", "before"] as const)) {
              const { server, prepared } = side === "before" ? before : after;
              const each = prepared[index] as Prepared;
              const times = isWarmUp
                ? { seconds: FIRST_SECONDS, warmUpSeconds: 0 }
                : { seconds, warmUpSeconds: WARM_UP_SECONDS };
              const { unexpected, ...measured } = await turn(server, drive, each, times);
              if (!isWarmUp) result[side].push(measured);
              result.unexpected ??= unexpected;
            }
          }
        }
        return compared;
      }),
    ),
  );
}

/** For each case the medians of both builds, and the quartiles of the ratios within the pairs of turns. */
export function againstText(commit: string, compared: Compared[]): string {
  const lines = compared.map(({ name, before, after, unexpected }) => {
    if (unexpected !== null) return `${name}: a wrong response\n${unexpected}`;
    const pairs = (of: (turn: Turn) => number | null) =>
      after.flatMap((turn, index) => {
        const [later, earlier] = [of(turn), of(before[index] as Turn)];
        return later === null || earlier === null ? [] : [later / earlier];
      });
    const medians = (of: (turn: Turn) => number | null) =>
      [before, after].map((turns) => Math.round(median(turns.flatMap((turn) => of(turn) ?? [])))).join(" → ");
    const [rates, cpus] = [pairs(({ rate }) => rate), pairs(({ cpu }) => cpu)];
    const cpu = cpus.length > 0 ? `; CPU µs ${medians(({ cpu }) => cpu)}, ratio ${quartiles(cpus)}` : "";
    return `${name}: requests/s ${medians(({ rate }) => rate)}, ratio ${quartiles(rates)}${cpu}`;
  });
  return [
    `${commit} → this checkout. Ratios of pairs of turns: lower quartile, median, upper quartile.`,
    ...lines,
  ].join("\n");
}

function quartiles(ratios: number[]): string {
  return [quantile(ratios, 0.25), median(ratios), quantile(ratios, 0.75)].map((ratio) => ratio.toFixed(2)).join(" / ");
}

function withBuild<T>(
  settings: RunSettings,
  cases: Case[],
  root: string,
  work: (build: Build, drive: Parameters<Parameters<typeof withSetup<T>>[2]>[1]) => Promise<T>,
): Promise<T> {
  return withSetup(settings, { minify: true, root }, async (setup, drive) => {
    const prepared = await prepare(setup, cases, settings.log);
    return withServer(setup, { counted: false, showErrors: false }, (server) => work({ server, prepared }, drive));
  });
}

/** Checks a commit out into a temporary folder, with this checkout's dependencies. */
async function withCheckout<T>(commit: string, work: (root: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "parley-against-"));
  const root = join(folder, "checkout");
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: ROOT });
  try {
    await git("worktree", "add", "--detach", root, commit).catch(() => {
      throw new Mistake(`${commit} is not a commit of this repository`);
    });
    await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
    return await work(root);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await git("worktree", "prune");
  }
}
