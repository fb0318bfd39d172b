import { setTimeout } from "node:timers/promises";
import { cpuTime } from "../support/world/processes.ts";
import type { Case, Traffic } from "./cases.ts";
import { type Driver, type Load, type Measured, drive as nodeDrive } from "./driver.ts";
import type { Server } from "./server.ts";

/** One turn of a case. `cpu` is the server's CPU time for a request in microseconds, and null outside Linux. */
export interface Turn extends Pick<Measured, "p50" | "p99" | "driverShare"> {
  rate: number;
  cpu: number | null;
}

/** A case whose data is there. */
export interface Prepared {
  each: Case;
  traffic: Traffic;
}

export interface CaseTurns {
  turns: Turn[];
  /** The first response with a wrong status. */
  unexpected: string | null;
}

/** More than the second in which a key's object gives no units ahead. */
export const WARM_UP_SECONDS = 1.5;
const FIRST_SECONDS = 0.3;

/** How long a turn is, and in a warm case what comes before it. */
interface TurnTimes {
  seconds: number;
  warmUpSeconds: number;
}

/**
 * Gives each case a turn in each round, so a machine that slows down slows all cases. Each round begins with another
 * case. Before the first round each case has a turn to warm up, which does not count.
 */
export async function runRounds(
  server: Server,
  cases: Prepared[],
  { drive, rounds, seconds, warmUpSeconds }: { drive: Driver; rounds: number } & TurnTimes,
  onRound: (round: number) => void,
): Promise<Map<Case, CaseTurns>> {
  const results = new Map<Case, CaseTurns>(cases.map(({ each }) => [each, { turns: [], unexpected: null }]));
  const first = { seconds: Math.min(seconds, FIRST_SECONDS), warmUpSeconds: 0 };
  for (const each of cases) await turn(server, drive, each, first);
  for (let round = 0; round < rounds; round++) {
    onRound(round);
    const begin = round % cases.length;
    for (const { each, traffic } of [...cases.slice(begin), ...cases.slice(0, begin)]) {
      const { unexpected, ...measured } = await turn(server, drive, { each, traffic }, { seconds, warmUpSeconds });
      const result = results.get(each);
      result?.turns.push(measured);
      if (result) result.unexpected ??= unexpected;
    }
  }
  return results;
}

/** One turn of a case, and its first response with a wrong status. */
export async function turn(
  server: Server,
  drive: Driver,
  { each, traffic }: Prepared,
  { seconds, warmUpSeconds }: TurnTimes,
) {
  const url = server.url(each.front);
  await warmUp(url, { each, traffic }, warmUpSeconds);
  const before = await cpuTime(server.pid);
  const { requests, seconds: took, ...measured } = await runOnce(url, drive, { each, traffic }, seconds);
  const after = await cpuTime(server.pid);
  if (each.rest) await setTimeout(each.rest);
  return {
    ...measured,
    rate: requests / took,
    cpu: before === null || after === null ? null : (after - before) / requests,
  };
}

/** Sends what comes before a turn of a warm case. */
export async function warmUp(url: URL, prepared: Prepared, seconds: number): Promise<void> {
  if (prepared.each.warm && seconds > 0) await nodeDrive(loadOf(url, prepared), { seconds });
}

export function loadOf(url: URL, { each: { connections, perSecond }, traffic }: Prepared): Load {
  return { url, connections, perSecond, ...traffic };
}

/** Sends the requests of a case for a few seconds, or does what it does instead. */
export function runOnce(url: URL, drive: Driver, prepared: Prepared, seconds: number): Promise<Measured> {
  const driven = () => drive(loadOf(url, prepared), seconds);
  return prepared.traffic.run?.(url, { seconds, drive: driven }) ?? driven();
}
