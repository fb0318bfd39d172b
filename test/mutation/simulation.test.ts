import { expect, test } from "vitest";
import { MODES, runSeries } from "../simulate/series.ts";

/** Few, for they are run once for each mutant of what they decide by. */
const SEEDS = 5;

test.each(MODES)("whatever goes wrong, what must hold does, in a few seeds: %s", async (mode) => {
  expect(Object.fromEntries((await runSeries(mode, 1, SEEDS)).broken)).toEqual({});
});
