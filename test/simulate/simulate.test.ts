import { expect, test } from "vitest";
import { DECISIONS } from "./decisions.ts";
import { SABOTEURS } from "./saboteurs.ts";
import { firstCaught, MODES, runSeries, type Series, vacuous } from "./series.ts";
import { simulate } from "./simulate.ts";

/** From a seed of its own each run; replay one that failed with `npm run test:simulate -- --trace <seed> --mode <mode>`. */
const FROM = Number(process.env.SEED || Math.trunc(Math.random() * 1e8));
const SEEDS = 400;

const series: Series[] = [];
for (const mode of MODES) series.push(await runSeries(mode, FROM, SEEDS));

test.each(series)(`whatever goes wrong, what must hold does: $mode, ${SEEDS} seeds from ${FROM}`, ({ broken }) => {
  expect(Object.fromEntries(broken)).toEqual({});
});

test("each fault, each decision and each check came about in the seeds that were run", () => {
  expect(vacuous(series, 1)).toEqual([]);
});

test("a seed is the same each time", async () => {
  const one = await simulate(FROM, "liveness", { isTraced: true });
  const other = await simulate(FROM, "liveness", { isTraced: true });
  expect(one).toEqual(other);
  expect(one.trace.length).toBeGreaterThan(10);
});

test.each(Object.entries(SABOTEURS))("a wrong version is caught: %s", async (_name, wrong) => {
  expect(await firstCaught({ ...DECISIONS, ...wrong }, 1_000)).not.toBeNull();
});

test("there are twenty wrong versions at least", () => {
  expect(Object.keys(SABOTEURS).length).toBeGreaterThanOrEqual(20);
});
