import type { Case, Goal } from "./cases.ts";
import { BARE, bareOf } from "./floor-cases.ts";
import type { CaseTurns, Turn } from "./rounds.ts";
import { median, spread } from "./statistics.ts";
import type { Tally } from "./tally.ts";

/** Requests a second. If the bare route makes fewer, the driver or a busy machine was its limit. */
const HONEST_RATE = 18_000;

/**
 * The figures of one case: medians over the rounds, NaN if it got a wrong response. Rates in requests a second, times
 * in ms, `cpu` in µs a request.
 */
export interface Row extends Ratios {
  name: string;
  connections: number;
  rate: number;
  /** How far the outermost round is from the median, as a share of it. */
  spread: number;
  p50: number;
  p99: number;
  cpu: number | null;
  /** What follows a request in the next seconds, in µs of CPU. Null if it was not measured. */
  after: number | null;
  /** For each request, as counted. */
  counts: Tally | null;
  /** The largest share of a core that the driver used. */
  driverShare: number;
  /** The first wrong response. */
  unexpected: string | null;
}

/** Each is the median of the rounds' ratios, and null if there is nothing to compare with. */
interface Ratios {
  toBare: number | null;
  /** As `toBare`, but of requests for a second of the server's CPU time. A busy machine changes it less. */
  cpuToBare: number | null;
  toFloor: number | null;
  toLiteral: number | null;
  /** `byCpu` is the ratio of requests for a second of the server's CPU time. Null for a goal that is not of rates. */
  goal: (Goal & { measured: number; byCpu: number | null }) | null;
}

export interface Counted {
  each: Case;
  counts: Tally | null;
}

export function rowsOf(cases: Counted[], results: Map<Case, CaseTurns>, after = new Map<Case, number>()): Row[] {
  const turnsOf = new Map(cases.map(({ each }) => [each.name, validTurns(results.get(each))]));
  return cases.map(({ each, counts }) => {
    const turns = turnsOf.get(each.name) ?? [];
    const of = (pick: (turn: Turn) => number) => turns.map(pick);
    const ratioTo = (other: string | undefined, pick: (turn: Turn) => number = ({ rate }) => rate) => {
      const others = other === undefined || other === each.name ? [] : (turnsOf.get(other) ?? []);
      const ratios = turns.flatMap((turn, round) => (others[round] ? [pick(turn) / pick(others[round])] : []));
      return ratios.length > 0 ? median(ratios) : null;
    };
    const isSlowedDown = each.front.startsWith("delayed") || each.perSecond !== undefined;
    const bare = isSlowedDown ? undefined : bareOf(each.connections);
    const cpu = turns.some((turn) => turn.cpu === null) ? null : median(of((turn) => turn.cpu ?? 0));
    const cpuRatioTo = (other: string | undefined) =>
      cpu === null ? null : ratioTo(other, (turn) => 1 / (turn.cpu ?? Number.NaN));
    const { goal } = each;
    const figure = (goal: Goal): number | null => {
      if (goal.to !== null) return ratioTo(goal.to, (turn) => turn[goal.of]);
      return goal.of === "calls" ? (counts?.objectCalls ?? null) : median(of(({ p50 }) => p50));
    };
    const measured = goal && turns.length > 0 ? figure(goal) : null;
    return {
      name: each.name,
      connections: each.connections,
      rate: median(of(({ rate }) => rate)),
      spread: spread(of(({ rate }) => rate)),
      p50: median(of(({ p50 }) => p50)),
      p99: median(of(({ p99 }) => p99)),
      cpu,
      after: after.get(each) ?? null,
      toBare: ratioTo(bare),
      cpuToBare: cpuRatioTo(bare),
      toFloor: ratioTo(each.floor),
      toLiteral: ratioTo(each.literal),
      goal:
        goal && measured !== null
          ? { ...goal, measured, byCpu: goal.of === "rate" ? cpuRatioTo(goal.to) : null }
          : null,
      counts,
      driverShare: Math.max(...of(({ driverShare }) => driverShare)),
      unexpected: results.get(each)?.unexpected ?? null,
    };
  });
}

/** A case that got a wrong response has no figures, and gives no other case a ratio. */
function validTurns(result: CaseTurns | undefined): Turn[] {
  return result && result.unexpected === null ? result.turns : [];
}

/** What to say about the ratios if the bare route was slow. Null if it was not. */
export function slowBareRoute(rows: Row[], driver: "Node" | "wrk"): string | null {
  const rate = rows.find(({ name }) => name === BARE)?.rate ?? 0;
  if (rate >= HONEST_RATE) return null;
  const slow = `the bare route made ${thousands(rate)} requests a second, fewer than ${thousands(HONEST_RATE)}`;
  return driver === "wrk"
    ? `Doubtful ratios: ${slow}. This machine is busy or slow. The ratios by CPU are more reliable.`
    : `No ratios: ${slow}. The driver in Node or a busy machine was its limit, so ratios to it would be too high. ` +
        "Install wrk (`apt-get install wrk`) and run the bench again.";
}

export function withoutRatios(rows: Row[]): Row[] {
  return rows.map((row) => ({ ...row, toBare: null, cpuToBare: null, toFloor: null, toLiteral: null, goal: null }));
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString("en");
}
