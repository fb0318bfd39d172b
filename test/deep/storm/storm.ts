import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../support/random.ts";
import type { DevServer } from "../../support/world/dev-server.ts";
import { running } from "../../support/world/patience.ts";

/** How hard a test runs. */
export interface Force {
  /** The number of kills, pauses or repetitions of each kind. */
  rounds: number;
  /** The duration of a test that is limited by time. */
  minutes: number;
  random: Random;
  log: (line: string) => void;
}

/** A row of the table. `faults` are the violations. */
export interface Row {
  test: string;
  howMany: string;
  held: string;
  faults: string[];
}

/** Kills the server this often at random moments, and starts it again. @returns the milliseconds of each start */
export async function killAtRandom(server: DevServer, { rounds, random, log }: Force): Promise<number[]> {
  const starts: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    await delay(random.between(20, 1_200));
    await server.kill().gone;
    const begun = Date.now();
    await server.start();
    starts.push(Date.now() - begun);
    if (round % 10 === 0) log(`  ${round} kills`);
  }
  return starts;
}

/** Runs work with limited concurrency. @returns the results, in the order of the work */
export async function atMost<T>(connections: number, work: (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  const left = work.entries();
  async function connection(): Promise<void> {
    for (const [at, one] of left) results[at] = await one();
  }
  await Promise.all(Array.from({ length: connections }, connection));
  return results;
}

/** Waits until `done` returns true. @returns whether it did in time */
export async function until(done: () => Promise<boolean>, patienceMs: number): Promise<boolean> {
  const end = running() + patienceMs;
  while (!(await done())) {
    if (running() > end) return false;
    await delay(200);
  }
  return true;
}
