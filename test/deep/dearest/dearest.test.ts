import { expect, test } from "vitest";
import { FAMILIES } from "./families.ts";
import { dearestText, findDearest } from "./run.ts";

const SEED = Number(process.env.SEED || Math.trunc(Math.random() * 2 ** 31));

test(`no request costs a second of CPU, as far as 200 that climb show (SEED=${SEED})`, {
  timeout: 300_000,
}, async () => {
  const found = await findDearest(200, SEED);
  const shown = dearestText(found);
  expect(found.map(({ route }) => route).sort()).toEqual(FAMILIES.map(({ route }) => route).sort());
  expect(
    found.filter(({ cost, status }) => cost > 1_000 || status >= 500),
    shown,
  ).toEqual([]);
  // Requests that are refused show little.
  expect(found.filter(({ status }) => status < 400).length, shown).toBeGreaterThan(FAMILIES.length / 6);
});
