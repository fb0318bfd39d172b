import { expect, test } from "vitest";
import { missingIn, runObjectSeries, SABOTEUR_TIMEOUT_MS, saboteurCaught } from "../objects/scenario.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { WEBHOOKS } from "./scenario.ts";

/** To see one seed line by line: `npm run test:simulate -- --webhooks --trace <seed>`. */
const FROM = Number(process.env.SEED || Math.trunc(Math.random() * 1e8));
const SEEDS = 120;

const service = await WEBHOOKS.load();
const series = await runObjectSeries(WEBHOOKS, service, FROM, SEEDS);

test(`lines and webhooks keep what must hold through all faults: ${SEEDS} seeds from ${FROM}`, () => {
  expect(Object.fromEntries(series.broken)).toEqual({});
});

test("each check came about in these seeds", () => {
  expect(missingIn({ ...WEBHOOKS, faults: [], events: [] }, series)).toEqual([]);
});

test("a seed is the same each time, also in another copy of the service", async () => {
  const one = await WEBHOOKS.simulate(service, FROM, true);
  const other = await WEBHOOKS.simulate(await WEBHOOKS.load(), FROM, true);
  expect(one).toEqual(other);
  expect(one.trace.length).toBeGreaterThan(10);
});

test.each(Object.entries(PLAIN_SABOTEURS))(
  "the simulation finds a wrong version: %s",
  async (_name, wrong) => {
    expect(await saboteurCaught(WEBHOOKS, wrong)).not.toBeNull();
  },
  SABOTEUR_TIMEOUT_MS,
);
