import fc from "fast-check";
import { expect, test } from "vitest";
import { awayMs } from "../../../src/chats/delivery/head.ts";
import { hold, NOT_TRIED } from "../../../src/chats/delivery/schedule.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

test("a channel that does not answer is asked again after 10 s, doubling to 5 minutes, each up to a fifth off", () => {
  const times = fc.integer({ min: 1, max: 10_000 });
  fc.assert(
    fc.property(times, fc.double({ min: 0, max: 1, noNaN: true }), (count, random) => {
      const plain = Math.min(300_000, 10_000 * 2 ** (count - 1));
      expect(awayMs(count, random)).toBe(Math.round(plain * (0.8 + 0.4 * random)));
    }),
  );
  expect([0, 0.5, 1].map((random) => awayMs(1, random))).toEqual([8_000, 10_000, 12_000]);
  expect([1, 2, 3, 4, 5, 6, 7].map((count) => awayMs(count, 0.5) / 1_000)).toEqual([10, 20, 40, 80, 160, 300, 300]);
});

test("how often a channel did not answer is counted until it does", () => {
  const away = hold(hold(NOT_TRIED, NOW, "away", NOW), NOW, "away", NOW);
  expect(away).toMatchObject({ aways: 2, attempts: 0 });
  expect(hold(away, NOW, "pace", NOW).aways).toBeUndefined();
  expect(hold(away, NOW, "broken", NOW).aways).toBeUndefined();
});
