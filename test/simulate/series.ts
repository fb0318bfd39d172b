import type { Decisions } from "./decisions.ts";
import { simulate } from "./simulate.ts";
import { FAULTS, INVARIANTS, type Invariant } from "./world.ts";

export type Mode = "safety" | "liveness";
export const MODES: readonly Mode[] = ["safety", "liveness"];

/** What decides what becomes of a message: each must have come about, or the run says nothing of it. */
export const BRANCHES = [
  "turn: ask",
  "turn: wait",
  "turn: close",
  "turn: expire",
  "permit: granted",
  "permit: wait",
  "permit: later",
  "permit: later, broken",
  "a stale permit",
  "a start that did not come",
  "a trial",
  "a probe",
  "a channel mended",
  "a second copy may be sent",
  "outcome: sent",
  "outcome: retry",
  "outcome: failed",
  "outcome: unknown",
  "outcome: moved",
  "outcome: channel_broken",
  "told: broke",
  "told: slow_down",
  "told: probed",
  "news",
  "news that is none",
  "news of no message",
  "QUEUED to SENT",
  "QUEUED to DELIVERED",
  "QUEUED to READ",
  "QUEUED to FAILED",
  "QUEUED to CANCELED",
  "not canceled",
  "expired behind another message",
  "expired before its first attempt",
  "expired after an attempt",
  "expired while the head was on the wire",
  "a permit was returned",
  "SENT to DELIVERED",
  "SENT to READ",
  "SENT to FAILED",
  "DELIVERED to READ",
  "FAILED to SENT",
  "FAILED to DELIVERED",
  "FAILED to READ",
  "a message that was the cause",
  "given up after its time",
  "something stays broken",
] as const;

/** Runs of one mode, from a seed on. */
export interface Series {
  mode: Mode;
  seeds: number;
  events: number;
  /** How often each thing happened, and in how many seeds. */
  counts: Map<string, { times: number; seeds: number }>;
  checks: Map<Invariant, number>;
  broken: Map<Invariant, { seeds: number; first: number; text: string }>;
}

export async function runSeries(mode: Mode, from: number, seeds: number, decisions?: Decisions): Promise<Series> {
  const series: Series = { mode, seeds, events: 0, counts: new Map(), checks: new Map(), broken: new Map() };
  for (let seed = from; seed < from + seeds; seed++) {
    const { events, counts, checks, violation } = await simulate(seed, mode, decisions && { decisions });
    series.events += events;
    for (const [name, times] of counts) {
      const before = series.counts.get(name) ?? { times: 0, seeds: 0 };
      series.counts.set(name, { times: before.times + times, seeds: before.seeds + 1 });
    }
    for (const [name, times] of checks) series.checks.set(name, (series.checks.get(name) ?? 0) + times);
    if (!violation) continue;
    const before = series.broken.get(violation.invariant) ?? { seeds: 0, first: seed, text: violation.text };
    series.broken.set(violation.invariant, { ...before, seeds: before.seeds + 1 });
  }
  return series;
}

/** The first seed in which a wrong version of the decisions breaks what must hold; null where none does. */
export async function firstCaught(
  decisions: Decisions,
  most: number,
): Promise<{ seed: number; invariant: Invariant } | null> {
  for (let seed = 0; seed < most; seed++) {
    const { violation } = await simulate(seed, "liveness", { decisions });
    if (violation) return { seed, invariant: violation.invariant };
  }
  return null;
}

/** What happened too seldom: a fault in under a hundredth of the seeds, a branch under `least` times, a check never. */
export function vacuous(all: readonly Series[], least: number): string[] {
  const seeds = all.reduce((sum, each) => sum + each.seeds, 0);
  const of = (name: string, what: "seeds" | "times") =>
    all.reduce((sum, { counts }) => sum + (counts.get(name)?.[what] ?? 0), 0);
  const checked = (name: Invariant) => all.some(({ checks }) => (checks.get(name) ?? 0) > 0);
  return [
    ...FAULTS.filter((name) => of(name, "seeds") < seeds / 100),
    ...BRANCHES.filter((name) => of(name, "times") < least),
    ...(Object.keys(INVARIANTS) as Invariant[]).filter((name) => !checked(name)),
  ];
}

/** One line for each invariant: how often it was looked at, in how many seeds it held, and the first in which not. */
export function table(all: readonly Series[]): string {
  const rows = (Object.keys(INVARIANTS) as Invariant[]).map((name) => {
    const checks = all.reduce((sum, each) => sum + (each.checks.get(name) ?? 0), 0);
    const seeds = all.reduce((sum, each) => sum + each.seeds, 0);
    const failed = all.reduce((sum, { broken }) => sum + (broken.get(name)?.seeds ?? 0), 0);
    const [first] = all.flatMap(({ broken, mode }) => {
      const one = broken.get(name);
      return one ? [`${mode} ${one.first}: ${one.text}`] : [];
    });
    return [INVARIANTS[name], figure(checks), `${figure(seeds - failed)} of ${figure(seeds)}`, first ?? ""];
  });
  const lines = [["what must hold", "checks", "seeds in which it held", "first seed that failed"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(([name = "", checks = "", held = "", first = ""]) =>
      [name.padEnd(widths[0] ?? 0), checks.padStart(widths[1] ?? 0), held.padStart(widths[2] ?? 0), first]
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function figure(value: number): string {
  return Math.round(value).toLocaleString("en");
}
