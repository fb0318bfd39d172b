import { expect, test } from "vitest";
import { missingIn, runObjectSeries, SABOTEUR_TIMEOUT_MS, saboteurCaught } from "../objects/scenario.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { ORGANIZATION } from "./scenario.ts";

/** To see one seed line by line: `npm run test:simulate -- --organization --trace <seed>`. */
const FROM = Number(process.env.SEED || Math.trunc(Math.random() * 1e8));
const SEEDS = 200;

const service = await ORGANIZATION.load();
const series = await runObjectSeries(ORGANIZATION, service, FROM, SEEDS);

test(`an organization and its chats keep what must hold through all faults: ${SEEDS} seeds from ${FROM}`, () => {
  expect(Object.fromEntries(series.broken)).toEqual({});
});

test("each fault and each check came about in these seeds", () => {
  expect(missingIn(ORGANIZATION, series)).toEqual([]);
});

test("a seed is the same each time, also in another copy of the service", async () => {
  const one = await ORGANIZATION.simulate(service, FROM, true);
  const other = await ORGANIZATION.simulate(await ORGANIZATION.load(), FROM, true);
  expect(one).toEqual(other);
  expect(one.trace.length).toBeGreaterThan(0);
});

test.each(Object.entries(PLAIN_SABOTEURS))(
  "the simulation finds a wrong version: %s",
  async (_name, wrong) => {
    expect(await saboteurCaught(ORGANIZATION, wrong)).not.toBeNull();
  },
  SABOTEUR_TIMEOUT_MS,
);
