import { expect, test } from "vitest";
import { sampleOf } from "../../support/sample.ts";
import type { Replacement } from "./bundle.ts";
import { missingIn, runObjectSeries, type Scenario, saboteurCaught } from "./scenario.ts";

/** Hundreds of seeds take long on a busy machine. */
const MANY_SEEDS_MS = 1_800_000;

/**
 * It takes seconds to load a wrong version and to find what is wrong. A run finds one of six, by its first seed, and
 * `npm run test:long -- simulate` finds all.
 */
const SABOTEUR_EVERY = 6;

/**
 * The tests of a simulation, from a seed of its own each run. To see one seed line by line:
 * `npm run test:long -- simulate <the simulation's option> --trace <seed>`.
 * @param saboteurs those that a few hundred seeds find
 */
export async function testScenario<Service>(
  title: string,
  scenario: Scenario<Service>,
  { seeds, saboteurs }: { seeds: number; saboteurs: Readonly<Record<string, Replacement>> },
): Promise<void> {
  const from = Number(process.env.SEED || Math.trunc(Math.random() * 1e8));
  const service = await scenario.load();
  const series = await runObjectSeries(scenario, service, from, seeds);

  test(`${title} keep what must hold through all faults: ${seeds} seeds from ${from}`, () => {
    expect(Object.fromEntries(series.broken)).toEqual({});
  });

  test("each check came about", { timeout: MANY_SEEDS_MS }, async () => {
    let missing = missingIn(scenario, series);
    // By chance a rare one came in none of these seeds. Then it comes in more of them.
    for (let n = 2; missing.length > 0 && n <= 8; n *= 2)
      missing = missingIn(scenario, await runObjectSeries(scenario, service, from, n * seeds));
    expect(missing).toEqual([]);
  });

  test("a seed is the same each time, also in another copy of the service", async () => {
    const one = await scenario.simulate(service, from, true);
    const other = await scenario.simulate(await scenario.load(), from, true);
    expect(one).toEqual(other);
    expect(one.trace.length).toBeGreaterThan(10);
  });

  test.each(sampleOf(Object.entries(saboteurs), SABOTEUR_EVERY, from))(
    "the simulation finds a wrong version: %s",
    async (_name, wrong) => {
      expect(await saboteurCaught(scenario, wrong)).not.toBeNull();
    },
    MANY_SEEDS_MS,
  );
}
