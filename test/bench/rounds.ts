import { setTimeout } from "node:timers/promises";
import { cpuTime } from "../support/world/processes.ts";
import type { Case, Traffic } from "./cases.ts";
import { drive } from "./driver.ts";
import type { Server } from "./server.ts";
import { quantile } from "./statistics.ts";

/** One turn of a case. Times in milliseconds, `cpu` in microseconds of the server's for each request. */
export interface Turn {
  rate: number;
  p50: number;
  p99: number;
  cpu: number | null;
  driverShare: number;
}

/** A case whose data is there. */
export interface Prepared {
  each: Case;
  traffic: Traffic;
}

export interface CaseTurns {
  turns: Turn[];
  /** The first answer that was not what it must be. */
  unexpected: string | null;
}

const WARM_UP_SECONDS = 0.3;

/**
 * Gives each case a turn in each round, so that a machine that slows down slows all of them; each round begins with
 * another case. The turns at the start are to warm up, and are thrown away.
 */
export async function runRounds(
  server: Server,
  cases: Prepared[],
  { rounds, seconds }: { rounds: number; seconds: number },
  onRound: (round: number) => void,
): Promise<Map<Case, CaseTurns>> {
  const results = new Map<Case, CaseTurns>(cases.map(({ each }) => [each, { turns: [], unexpected: null }]));
  const { first = [], last = [] } = Object.groupBy(cases, ({ each }) => (each.last ? "last" : "first"));
  for (const some of [first, last]) {
    for (const { each, traffic } of some) await turn(server, each, traffic, Math.min(seconds, WARM_UP_SECONDS));
    for (let round = 0; round < rounds; round++) {
      if (some === first) onRound(round);
      for (const { each, traffic } of [...some.slice(round % some.length), ...some.slice(0, round % some.length)]) {
        const { unexpected, ...measured } = await turn(server, each, traffic, seconds);
        const result = results.get(each);
        result?.turns.push(measured);
        if (result) result.unexpected ??= unexpected;
      }
    }
  }
  return results;
}

async function turn(server: Server, { front, connections, rest }: Case, traffic: Traffic, seconds: number) {
  const url = server.url(front);
  const before = await cpuTime(server.pid);
  const run = traffic.run ? traffic.run(url) : drive({ url, connections, ...traffic }, { seconds });
  const measured = await run;
  const after = await cpuTime(server.pid);
  if (rest) await setTimeout(rest);
  return {
    rate: measured.requests / measured.seconds,
    p50: quantile(measured.latencies, 0.5),
    p99: quantile(measured.latencies, 0.99),
    cpu: before === null || after === null ? null : (after - before) / measured.requests,
    driverShare: measured.driverShare,
    unexpected: measured.unexpected,
  };
}
