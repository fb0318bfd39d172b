import { expect, test } from "vitest";
import { historyOf, withoutPastWords, withPast } from "../../../../../src/chats/object/delivery/attempt-history.ts";
import { begin, NOT_TRIED } from "../../../../../src/chats/object/delivery/retry.ts";
import type { Delivery, PastAttempt } from "../../../../../src/chats/object/log/delivery-column.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const BUSY = { code: "http_503", message: "Busy" };

function past(number: number, fields: Partial<PastAttempt> = {}): PastAttempt {
  return { number, at: NOW + number, ms: 7, outcome: "retry", error: BUSY, ...fields };
}

/** The delivery after `count` attempts. */
function after(count: number): Delivery {
  const numbers = Array.from({ length: count }, (_, n) => n + 1);
  return numbers.reduce((delivery, number) => withPast(delivery, past(number)), NOT_TRIED);
}

const numbersOf = (delivery: Delivery) => historyOf(delivery, false).attempts.map(({ number }) => number);

test("an attempt shows when it began, how long it took, and how it ended", () => {
  expect(historyOf(after(1), false)).toEqual({
    attempts: [
      {
        number: 1,
        startedAt: "2026-11-20T12:00:00.001Z",
        durationMs: 7,
        outcome: "retry",
        code: "http_503",
        message: "Busy",
      },
    ],
    dropped: 0,
  });
  const sent = withPast(NOT_TRIED, past(1, { outcome: "sent", error: null }));
  expect(historyOf(sent, false).attempts[0]).toMatchObject({ outcome: "sent", code: null, message: null });
  expect(historyOf(NOT_TRIED, false)).toEqual({ attempts: [], dropped: 0 });
});

test("the first attempt and the last 20 are kept", () => {
  expect(numbersOf(after(21))).toEqual(Array.from({ length: 21 }, (_, n) => n + 1));
  expect(historyOf(after(21), false).dropped).toBe(0);
  expect(numbersOf(after(30))).toEqual([1, ...Array.from({ length: 20 }, (_, n) => n + 11)]);
  expect(historyOf(after(30), false).dropped).toBe(9);
});

test("a text has at most 200 characters, and none is cut in half", () => {
  const delivery = withPast(NOT_TRIED, past(1, { error: { code: "x", message: `${"a".repeat(199)}😀` } }));
  const message = delivery.past?.[0]?.error?.message ?? "";
  expect(message).toHaveLength(200);
  expect(message.isWellFormed()).toBe(true);
});

test("an open attempt that this instance does not make was lost", () => {
  const delivery = begin({ ...after(1), attempts: 1 }, NOW + 60_000);
  expect(historyOf(delivery, true).attempts).toHaveLength(1);
  expect(historyOf(delivery, false).attempts[1]).toEqual({
    number: 2,
    startedAt: "2026-11-20T12:01:00.000Z",
    durationMs: null,
    outcome: "unknown",
    code: "outcome_unknown",
    message: "The attempt was interrupted",
  });
});

test("the attempts of a redacted message keep their codes and lose their texts", () => {
  const [attempt] = withoutPastWords(after(1)).past ?? [];
  expect(attempt).toEqual(past(1, { error: { code: "http_503", message: "The message was redacted" } }));
  const sent = past(1, { outcome: "sent", error: null });
  expect(withoutPastWords(withPast(NOT_TRIED, sent)).past).toEqual([sent]);
  expect(withoutPastWords(NOT_TRIED)).toBe(NOT_TRIED);
});
