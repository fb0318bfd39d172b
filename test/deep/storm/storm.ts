import { setTimeout as delay } from "node:timers/promises";
import type { DevServer } from "../../support/world/dev-server.ts";
import { running } from "../../support/world/patience.ts";
import type { Random } from "./random.ts";

/** How hard a test is run. */
export interface Force {
  /** How many kills, pauses or repetitions of each kind. */
  rounds: number;
  /** How long a test lasts that is measured by time. */
  minutes: number;
  random: Random;
  log: (line: string) => void;
}

/** A line of the table; what did not hold stands in `faults`. */
export interface Row {
  test: string;
  howMany: string;
  held: string;
  faults: string[];
}

/** Kills the server at random moments, so often, and starts it again. @returns the milliseconds that each start took */
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

/** Does all of the work, at most so much of it at once. @returns what each came to, in the order of the work */
export async function atMost<T>(connections: number, work: (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  const left = work.entries();
  async function connection(): Promise<void> {
    for (const [at, one] of left) results[at] = await one();
  }
  await Promise.all(Array.from({ length: connections }, connection));
  return results;
}

/** Waits until `done` says so. @returns whether it did in time */
export async function until(done: () => Promise<boolean>, patienceMs: number): Promise<boolean> {
  const end = running() + patienceMs;
  while (!(await done())) {
    if (running() > end) return false;
    await delay(200);
  }
  return true;
}
