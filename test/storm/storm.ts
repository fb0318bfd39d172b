import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "./random.ts";
import type { Server } from "./server.ts";

/** How hard a test is run. */
export interface Force {
  /** How many kills, pauses or repetitions of each kind. */
  rounds: number;
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

export interface StormTest {
  name: string;
  run: (force: Force) => Promise<Row[]>;
}

/** Kills the server at random moments, so often, and starts it again. @returns the milliseconds that each start took */
export async function killAtRandom(server: Server, { rounds, random, log }: Force): Promise<number[]> {
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

/** Waits until `done` says so. @returns whether it did in time */
export async function until(done: () => Promise<boolean>, patienceMs: number): Promise<boolean> {
  const end = Date.now() + patienceMs;
  while (!(await done())) {
    if (Date.now() > end) return false;
    await delay(200);
  }
  return true;
}

/** The middle one of some figures. */
export function median(figures: number[]): number {
  return quantile(figures, 0.5);
}

/** The figure below which a share of them lies; 0 where there are none. */
export function quantile(figures: number[], share: number): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
