import { expect, test } from "vitest";
import { type Case, same } from "./cases.ts";
import { BARE, toBare } from "./floor-cases.ts";
import { type Row, rowsOf, slowBareRoute, withoutRatios } from "./report.ts";
import type { CaseTurns } from "./rounds.ts";
import { goalTable, table } from "./table.ts";

const one = (name: string, more: Partial<Case> = {}): Case => ({
  name,
  front: "parley",
  connections: 16,
  make: async () => same("", 200),
  ...more,
});

const COUNTS = { objectCalls: 1.095, trips: 0, statements: 0, read: 0, written: 0 };

/** The rows of a run of three rounds, in which each case had these rates. */
function rowsWith(...rates: [Case, ...rates: number[]][]): Row[] {
  const results = new Map<Case, CaseTurns>();
  for (const [each, ...all] of rates) {
    const turns = all.map((rate) => ({ rate, p50: 16_000 / rate, p99: 100, cpu: 1e6 / rate, driverShare: 0.3 }));
    results.set(each, { turns, unexpected: null });
  }
  return rowsOf(
    rates.map(([each]) => ({ each, counts: each.name.endsWith("calls") ? COUNTS : null })),
    results,
  );
}

test("a ratio is the median of the ratios within the rounds", () => {
  const send = one("send", { goal: toBare(0.2) });
  const rows = rowsWith([one(BARE), 20_000, 10_000, 40_000], [send, 5_000, 1_000, 8_000]);
  expect(rows[1]).toMatchObject({
    rate: 5_000,
    cpu: 200,
    toBare: 0.2,
    cpuToBare: 0.2,
    goal: { measured: 0.2, byCpu: 0.2 },
  });
  expect(rows[0]?.toBare).toBeNull();
});

test("the table of goals has each goal with what was measured, and marks what is missed", () => {
  const rows = rowsWith(
    [one(BARE), 20_000],
    [one("list", { goal: toBare(0.42) }), 9_000],
    [one("send", { goal: toBare(0.2) }), 3_900],
    [one("slow", { goal: { to: "list", of: "p50", must: 1.2 } }), 7_000],
    [one("fast", { goal: { to: "list", of: "p50", must: 1.2 } }), 8_000],
    [one("near", { goal: { to: null, of: "p50", must: 2 } }), 8_000],
    [one("far", { goal: { to: null, of: "p50", must: 2 } }), 7_000],
    [one("few calls", { goal: { to: null, of: "calls", must: 1.1 } }), 8_000],
    [one("many calls", { goal: { to: null, of: "calls", must: 1 } }), 8_000],
    [one("not counted", { goal: { to: null, of: "calls", must: 1.1 } }), 8_000],
  );
  const cells = goalTable(rows)
    .split("\n")
    .map((line) => line.trim().split(/ {2,}/));
  expect(cells).toEqual([
    ["goal", "compared to", "of", "measured", "by CPU", "must"],
    ["list", BARE, "rate", "0.450", "0.450", "≥ 0.42"],
    ["send", BARE, "rate", "0.195", "0.195", "≥ 0.2", "missed"],
    ["slow", "list", "p50", "1.286", "≤ 1.2", "missed"],
    ["fast", "list", "p50", "1.125", "≤ 1.2"],
    ["near", "p50 ms", "2.000", "≤ 2"],
    ["far", "p50 ms", "2.286", "≤ 2", "missed"],
    ["few calls", "calls a request", "1.095", "≤ 1.1"],
    ["many calls", "calls a request", "1.095", "≤ 1", "missed"],
  ]);
});

test("a case that got a wrong response is an error and has no figures", () => {
  const [list, send] = [one("list", { goal: toBare(0.42) }), one("send", { floor: "list", goal: toBare(0.2) })];
  const turns = [{ rate: 5_000, p50: 1, p99: 2, cpu: 3, driverShare: 0.9 }];
  const results = new Map<Case, CaseTurns>([
    [one(BARE), { turns, unexpected: null }],
    [list, { turns, unexpected: "HTTP 500" }],
    [send, { turns, unexpected: null }],
  ]);
  const rows = rowsOf(
    [...results.keys()].map((each) => ({ each, counts: null })),
    results,
  );
  expect(rows.map(({ unexpected }) => unexpected)).toEqual([null, "HTTP 500", null]);
  expect(rows.map(({ toBare, toFloor, goal }) => [toBare, toFloor, goal?.measured])).toEqual([
    [null, null, undefined],
    [null, null, undefined],
    [1, null, 1],
  ]);
  expect(table(rows).split("\n")[2]).toMatch(/^list +error$/);
});

test("without wrk a bare route below 18,000 requests a second allows no ratios", () => {
  const send = one("send", { floor: BARE, literal: BARE, goal: toBare(0.2) });
  expect(slowBareRoute(rowsWith([one(BARE), 18_000], [send, 4_000]), "Node")).toBeNull();
  const rows = rowsWith([one(BARE), 17_999], [send, 4_000]);
  expect(slowBareRoute(rows, "Node")).toMatch(/^No ratios: the bare route made 17,999 requests a second, fewer than /);
  expect(slowBareRoute(rows, "wrk")).toMatch(/^Doubtful ratios: /);
  const shown = withoutRatios(rows);
  expect(table(shown)).toContain("4,000");
  expect(table(shown)).not.toContain("0.22");
  expect(table(rows)).toContain("0.22");
  expect(goalTable(shown)).toBe("");
});
