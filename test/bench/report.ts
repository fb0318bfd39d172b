import type { Case } from "./cases.ts";
import { helloOf } from "./floor-cases.ts";
import type { CaseTurns, Turn } from "./rounds.ts";
import { median, spread } from "./statistics.ts";
import type { Tally } from "./tally.ts";

/** The figures of one case: medians over the rounds. Rates in requests a second, times in ms, `cpu` in µs a request. */
export interface Row {
  name: string;
  connections: number;
  rate: number;
  /** How far the outermost round lies from the median, as a share of it. */
  spread: number;
  p50: number;
  p99: number;
  cpu: number | null;
  /** Ratios of rates, each of one round, their median; null where there is nothing to compare with. */
  toHello: number | null;
  /** As `toHello`, of requests per second of the server's own time: what else the machine does changes it less. */
  cpuToHello: number | null;
  toFloor: number | null;
  toLiteral: number | null;
  /** For each request, as counted. */
  counts: Tally | null;
  /** How much of a core the driver used, at most. */
  driverShare: number;
  note: string | null;
  unexpected: string | null;
}

export interface Counted {
  each: Case;
  counts: Tally | null;
  note: string | null;
}

export function rowsOf(cases: Counted[], results: Map<Case, CaseTurns>): Row[] {
  const turnsOf = new Map(cases.map(({ each }) => [each.name, results.get(each)?.turns ?? []]));
  return cases.map(({ each, counts, note }) => {
    const { turns, unexpected } = results.get(each) ?? { turns: [], unexpected: null };
    const of = (pick: (turn: Turn) => number) => turns.map(pick);
    const ratioTo = (other: string | undefined, of: (turn: Turn) => number = ({ rate }) => rate) => {
      const others = other === undefined || other === each.name ? [] : (turnsOf.get(other) ?? []);
      const ratios = turns.flatMap((turn, round) => (others[round] ? [of(turn) / of(others[round])] : []));
      return ratios.length > 0 ? median(ratios) : null;
    };
    const hello = helloOf(each.connections);
    const isApart = each.last || each.front.startsWith("delayed");
    const cpu = turns.some(({ cpu }) => cpu === null) ? null : median(of(({ cpu }) => cpu ?? 0));
    return {
      name: each.name,
      connections: each.connections,
      rate: median(of(({ rate }) => rate)),
      spread: spread(of(({ rate }) => rate)),
      p50: median(of(({ p50 }) => p50)),
      p99: median(of(({ p99 }) => p99)),
      cpu,
      toHello: isApart ? null : ratioTo(hello),
      cpuToHello: cpu === null || isApart ? null : ratioTo(hello, (turn) => 1 / (turn.cpu ?? Number.NaN)),
      toFloor: ratioTo(each.floor),
      toLiteral: ratioTo(each.literal),
      counts,
      driverShare: Math.max(...of(({ driverShare }) => driverShare)),
      note,
      unexpected,
    };
  });
}
