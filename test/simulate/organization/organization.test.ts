import { expect, test } from "vitest";
import { loadService } from "./bundle.ts";
import { PLAIN_SABOTEURS } from "./saboteurs.ts";
import { missingIn, organizationSaboteurCaught, runOrganizationSeries } from "./series.ts";
import { simulateOrganization } from "./simulate.ts";

/** To see one seed line by line: `npm run test:simulate -- --organization --trace <seed>`. */
const FROM = Number(process.env.SEED || Math.trunc(Math.random() * 1e8));
const SEEDS = 200;

const service = await loadService();
const series = await runOrganizationSeries(service, FROM, SEEDS);

test(`an organization and its chats keep what must hold through all faults: ${SEEDS} seeds from ${FROM}`, () => {
  expect(Object.fromEntries(series.broken)).toEqual({});
});

test("each fault and each check came about in these seeds", () => {
  expect(missingIn(series)).toEqual([]);
});

test("a seed is the same each time, also in another copy of the service", async () => {
  const one = await simulateOrganization(service, FROM, true);
  const other = await simulateOrganization(await loadService(), FROM, true);
  expect(one).toEqual(other);
  expect(one.trace.length).toBeGreaterThan(10);
});

test.each(Object.entries(PLAIN_SABOTEURS))("the simulation finds a wrong version: %s", async (_name, wrong) => {
  expect(await organizationSaboteurCaught(wrong)).not.toBeNull();
});
