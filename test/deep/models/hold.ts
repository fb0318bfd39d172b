import { env } from "cloudflare:workers";
import fc from "fast-check";
import { vi } from "vitest";
import { KEPT_SEEDS } from "./kept-seeds.ts";

/** Where a run is found again: `path` leads to it and to what it was cut down to, `replay` says which steps were taken. */
export interface Place {
  seed: number;
  path: string;
  replay?: string;
}

/** What `npm run test:long -- models` asks for. */
export interface Settings extends Partial<Place> {
  runs?: number;
}

const isMany = env.TEST_MODELS !== "";
const ASKED: Settings = isMany ? JSON.parse(env.TEST_MODELS) : {};

/** For all runs of a test. */
export const TIMEOUT_MS = isMany ? 3 * 3_600_000 : 300_000;

const seen = new Map<string, number>();

/** Counts what came about: a run in which nothing does says nothing. */
export function saw(what: string): void {
  seen.set(what, (seen.get(what) ?? 0) + 1);
}

/**
 * Runs a property on a seed of its own each time, what once failed first. What fails names the command that runs it again.
 * @param name of the test's file, without its ending
 * @param runs how many `npm run test:deep` has, and `npm run test:long -- models` unless it is told
 */
export async function hold<Ts>(
  name: string,
  runs: { few: number; many: number },
  propertyOf: (replay?: string) => fc.IAsyncPropertyWithHooks<Ts>,
): Promise<void> {
  // A line of the log costs as much as what it tells of.
  for (const level of ["log", "warn"] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
  for (const { seed, path, replay } of KEPT_SEEDS[name] ?? []) {
    await check(name, propertyOf(replay), { seed, path, numRuns: 1 });
  }
  const { seed, path, replay } = ASKED;
  const numRuns = path === undefined ? (ASKED.runs ?? (isMany ? runs.many : runs.few)) : 1;
  const from = { ...(seed !== undefined && { seed }), ...(path !== undefined && { path }) };
  const done = await check(name, propertyOf(replay), { ...from, numRuns });
  const counts = [...seen].map(([what, times]) => `${what} ${times}`).sort();
  if (isMany) console.info(`${name}: ${done.numRuns} runs from seed ${done.seed}: ${counts.join(", ")}`);
}

async function check<Ts>(name: string, property: fc.IAsyncPropertyWithHooks<Ts>, parameters: fc.Parameters<Ts>) {
  const done = await fc.check(property, parameters);
  if (done.failed) {
    throw new Error(`${again(name, done)}\n\n${fc.defaultReportMessage(done)}`, { cause: done.errorInstance });
  }
  return done;
}

function again<Ts>(name: string, { seed, counterexamplePath, counterexample }: fc.RunDetails<Ts>): string {
  const [, taken] = /replayPath="([^"]*)"/.exec(fc.stringify(counterexample)) ?? [];
  const place = `--seed ${seed} --path ${counterexamplePath}${taken ? ` --replay ${taken}` : ""}`;
  return `Again: npm run test:long -- models --only ${name} ${place}`;
}
