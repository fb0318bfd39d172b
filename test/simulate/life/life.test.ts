import { expect, test } from "vitest";
import { missingIn, runObjectSeries, SABOTEUR_TIMEOUT_MS, saboteurCaught } from "../objects/scenario.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { LIFE } from "./scenario.ts";

/** To see one seed line by line: `npm run test:simulate -- --life --trace <seed>`. */
const FROM = Number(process.env.SEED || Math.trunc(Math.random() * 1e8));
const SEEDS = 150;

const service = await LIFE.load();
const series = await runObjectSeries(LIFE, service, FROM, SEEDS);

test(`scheduled messages keep what must hold through all faults: ${SEEDS} seeds from ${FROM}`, () => {
  expect(Object.fromEntries(series.broken)).toEqual({});
});

test("each check came about in these seeds", () => {
  expect(missingIn({ ...LIFE, faults: [], events: [] }, series)).toEqual([]);
});

test("a seed is the same each time, also in another copy of the service", async () => {
  const one = await LIFE.simulate(service, FROM, true);
  const other = await LIFE.simulate(await LIFE.load(), FROM, true);
  expect(one).toEqual(other);
  expect(one.trace.length).toBeGreaterThan(10);
});

test.each(Object.entries(PLAIN_SABOTEURS))(
  "the simulation finds a wrong version: %s",
  async (_name, wrong) => {
    expect(await saboteurCaught(LIFE, wrong)).not.toBeNull();
  },
  SABOTEUR_TIMEOUT_MS,
);
