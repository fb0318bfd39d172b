import { expect, test } from "vitest";
import { afterHold } from "../../../src/chats/delivery/head.ts";
import { hold, NOT_TRIED } from "../../../src/chats/delivery/retry.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

test("a channel that does not answer is asked again after 10 s, doubling to 5 minutes, with a jitter of a fifth", () => {
  const message = { createdAt: new Date(NOW).toISOString(), updatedAt: new Date(NOW).toISOString() };
  const waitAfter = (aways: number, random: number) =>
    Number(
      afterHold({ message, delivery: { ...NOT_TRIED, aways }, lastError: null }, { outcome: "away" }, NOW, random)
        .delivery.nextAt,
    ) - NOW;
  expect([0, 0.5, 1].map((random) => waitAfter(0, random))).toEqual([8_000, 10_000, 12_000]);
  expect([0, 1, 2, 3, 4, 5, 6].map((aways) => waitAfter(aways, 0.5) / 1_000)).toEqual([10, 20, 40, 80, 160, 300, 300]);
});

test("how often a channel did not answer is counted until it does", () => {
  const away = hold(hold(NOT_TRIED, NOW, "away", NOW), NOW, "away", NOW);
  expect(away).toMatchObject({ aways: 2, attempts: 0 });
  expect(hold(away, NOW, "pace", NOW).aways).toBeUndefined();
  expect(hold(away, NOW, "broken", NOW).aways).toBeUndefined();
});
