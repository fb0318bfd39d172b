import fc from "fast-check";
import { expect, test } from "vitest";
import {
  begin,
  type HoldReason,
  hold,
  isOverdue,
  NOT_TRIED,
  type Step,
  settle,
  statusAfter,
  wakeAt,
} from "../../../../../src/chats/object/delivery/retry.ts";
import type { Delivery } from "../../../../../src/chats/object/log/delivery-column.ts";
import type { Outcome } from "../../../../../src/model/network.ts";
import { broken, retry } from "./outcomes.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const TELEGRAM = { unknownWaitMs: 0 };
const WHATSAPP = { unknownWaitMs: 90_000 };

const random = fc.double({ min: 0, max: 1, noNaN: true });
const attempts = fc.integer({ min: 1, max: 200 });
const unknown: Outcome = { outcome: "unknown", message: "No answer", parts: [] };
/** A delivery in attempt `count`, which starts now. */
function attempt(count: number, firstAt = NOW): Delivery {
  return { ...NOT_TRIED, attempts: count, startedAt: NOW, firstAt };
}

function waitOf(step: Step): number {
  if (step.state !== "waiting") throw new Error(`it is ${step.state}`);
  return (step.delivery.nextAt ?? NOW) - NOW;
}

test("back-offs double from two seconds to ten minutes, each up to 20% shorter or longer", () => {
  fc.assert(
    fc.property(attempts, random, (count, jitter) => {
      const plain = Math.min(600_000, 2_000 * 2 ** (count - 1));
      const wait = waitOf(settle(attempt(count), retry(), TELEGRAM, NOW, jitter));
      expect(wait).toBeGreaterThanOrEqual(Math.floor(plain * 0.8));
      expect(wait).toBeLessThanOrEqual(Math.ceil(plain * 1.2));
    }),
  );
  const spread = [0, 0.5, 1].map((jitter) => waitOf(settle(attempt(1), retry(), TELEGRAM, NOW, jitter)));
  expect(spread).toEqual([1_600, 2_000, 2_400]);
});

test("a wait that the network asks for is respected, and never shortens the back-off", () => {
  fc.assert(
    fc.property(attempts, random, fc.integer({ min: 0, max: DAY }), (count, jitter, afterMs) => {
      const plain = waitOf(settle(attempt(count), retry(), TELEGRAM, NOW, jitter));
      const wished = waitOf(settle(attempt(count), retry({ afterMs }), TELEGRAM, NOW, jitter));
      expect(wished).toBe(Math.max(plain, afterMs));
    }),
  );
});

test("an outcome that allows one repeat fails if it occurs twice in a row", () => {
  const after = (code: string | null) =>
    settle(
      attempt(2),
      retry({ once: true, code: "network_1" }),
      WHATSAPP,
      NOW,
      0.5,
      code === null ? null : { code, message: "" },
    );
  expect([after(null), after("network_503"), after("network_1")].map(({ state }) => state)).toEqual([
    "waiting",
    "waiting",
    "failed",
  ]);
});

test("an unknown outcome waits for the next back-off, on WhatsApp at least 90 s", () => {
  fc.assert(
    fc.property(attempts, random, (count, jitter) => {
      const backoff = waitOf(settle(attempt(count), retry(), TELEGRAM, NOW, jitter));
      expect(waitOf(settle(attempt(count), unknown, TELEGRAM, NOW, jitter))).toBe(backoff);
      expect(waitOf(settle(attempt(count), unknown, WHATSAPP, NOW, jitter))).toBe(Math.max(90_000, backoff));
    }),
  );
});

test("no outcome that waits leaves an open attempt or a reserved start", () => {
  const moved: Outcome = { outcome: "moved", address: "-1", parts: [] };
  const outcomes = fc.constantFrom(retry(), unknown, broken, moved);
  fc.assert(
    fc.property(attempts, random, outcomes, fc.boolean(), (count, jitter, outcome, reserved) => {
      const step = settle({ ...attempt(count), reserved }, outcome, WHATSAPP, NOW, jitter);
      expect(step).toMatchObject({ state: "waiting", delivery: { attempts: count, startedAt: null, reserved: false } });
      expect(waitOf(step)).toBeGreaterThanOrEqual(0);
      // Only a new address is tried at once, and only after the first attempt.
      if (outcome !== moved || count > 1) expect(waitOf(step)).toBeGreaterThanOrEqual(1_600);
    }),
  );
});

test("sent and failed are final", () => {
  expect(settle(attempt(1), { outcome: "sent", parts: ["1"], addresses: [] }, TELEGRAM, NOW, 0)).toEqual({
    state: "sent",
  });
  const failed: Outcome = { outcome: "failed", code: "no", message: "No", parts: [] };
  expect(settle(attempt(1), failed, TELEGRAM, NOW, 0)).toEqual({
    state: "failed",
    error: { code: "no", message: "No" },
  });
});

test("an attempt that got no permit does not count", () => {
  for (const reason of ["pace", "away"] satisfies HoldReason[]) {
    const held = hold(begin(NOT_TRIED, NOW), NOW + 5_000, reason, NOW);
    const noAnswers = reason === "away" ? { noAnswers: 1 } : {};
    expect(held).toEqual({ ...NOT_TRIED, nextAt: NOW + 5_000, reserved: reason === "pace", ...noAnswers });
    expect(begin(held, NOW + 5_000)).toMatchObject({ attempts: 1, startedAt: NOW + 5_000, firstAt: NOW + 5_000 });
  }
});

const event = fc.record({
  what: fc.constantFrom("begin", "pace", "broken", "away", "retry", "unknown", "channel_broken"),
  after: fc.integer({ min: 0, max: DAY / 4 }),
});

test("the state of a delivery is consistent after any sequence of events", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), random, (events, jitter) => {
      let [now, begun, firstAt] = [NOW, 0, null as number | null];
      let delivery = NOT_TRIED;
      for (const { what, after } of events) {
        now += after;
        const isOpen = delivery.startedAt !== null;
        if (what === "begin" && !isOpen) {
          delivery = begin(delivery, now);
          begun++;
          firstAt ??= delivery.firstAt;
        } else if (what === "pace" || what === "broken" || what === "away") {
          if (!isOpen) delivery = hold(delivery, now + 1_000, what, now);
          if (what === "broken") firstAt ??= delivery.firstAt;
        } else if (isOpen && what !== "begin") {
          const outcome = { retry: retry(), unknown, channel_broken: broken }[what];
          const step = settle(delivery, outcome, WHATSAPP, now, jitter);
          if (step.state === "waiting") delivery = step.delivery;
        }
        expect(delivery.attempts).toBe(begun);
        expect(delivery.firstAt).toBe(firstAt);
        expect(delivery.heldMs).toBeGreaterThanOrEqual(0);
        expect(delivery.heldMs).toBeLessThanOrEqual(now - NOW);
        expect(wakeAt(delivery, now)).toBeGreaterThanOrEqual(delivery.startedAt === null ? now : delivery.startedAt);
        if (isOverdue(delivery, now)) expect(isOverdue(delivery, now + 1)).toBe(true);
      }
    }),
  );
});

test("the deadline counts from the first attempt, whatever follows", () => {
  const first = begin(NOT_TRIED, NOW);
  const step = settle(first, retry(), TELEGRAM, NOW, 0);
  const later = begin(step.state === "waiting" ? step.delivery : first, NOW + DAY / 2);
  expect([isOverdue(later, NOW + DAY - 1), isOverdue(later, NOW + DAY)]).toEqual([false, true]);
});

test("a message without attempts is never overdue", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 * DAY }), (after) => {
      expect(isOverdue(hold(NOT_TRIED, NOW, "away", NOW), NOW + after)).toBe(false);
    }),
  );
});

test("the deadline is extended by the time of a broken channel, up to seven days", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: DAY - 1 }), fc.integer({ min: 0, max: 20 * DAY }), (tried, stood) => {
      const heldFrom = NOW + tried;
      const held = hold({ ...attempt(1), startedAt: null }, heldFrom, "broken", heldFrom);
      const epoch = heldFrom + stood;
      const again = begin(held, epoch);
      const deadline = NOW + DAY + Math.min(stood, 7 * DAY);
      expect(isOverdue(held, epoch)).toBe(epoch >= NOW + 8 * DAY);
      if (epoch < deadline) {
        expect([isOverdue(again, deadline - 1), isOverdue(again, deadline)]).toEqual([false, true]);
      }
    }),
  );
});

test("the deadline of a message that was stored while the channel was broken counts from then", () => {
  const held = hold(NOT_TRIED, NOW + MINUTE, "broken", NOW + 5 * DAY, NOW);
  expect([isOverdue(held, NOW + 8 * DAY - 1), isOverdue(held, NOW + 8 * DAY)]).toEqual([false, true]);
  const again = hold(held, NOW + 2 * MINUTE, "broken", NOW + 6 * DAY, NOW + 6 * DAY);
  expect(again).toMatchObject({ heldSince: NOW, firstAt: NOW });
});

test("the outbox wakes when an attempt's lease ends and when a wait is over", () => {
  expect(wakeAt(attempt(1), NOW)).toBe(NOW + MINUTE);
  const waiting: Delivery = { ...attempt(3), startedAt: null, nextAt: NOW + 9_000 };
  expect(wakeAt(waiting, NOW)).toBe(NOW + 9_000);
  expect(wakeAt(waiting, NOW + 10_000)).toBe(NOW + 10_000);
  expect(wakeAt(NOT_TRIED, NOW)).toBe(NOW);
});

test("a status only moves a message forward, and FAILED is final unless the message was delivered after all", () => {
  const told = ["SENT", "DELIVERED", "READ", "FAILED"] as const;
  const table = {
    QUEUED: ["SENT", "DELIVERED", "READ", "FAILED"],
    SENT: [null, "DELIVERED", "READ", "FAILED"],
    DELIVERED: [null, null, "READ", null],
    READ: [null, null, null, null],
    FAILED: [null, "DELIVERED", "READ", null],
    CANCELED: [null, null, null, null],
    RECEIVED: [null, null, null, null],
  } as const;
  for (const [current, expected] of Object.entries(table)) {
    expect(told.map((status) => statusAfter(current as keyof typeof table, status))).toEqual(expected);
  }
});

test("statuses have the same result in any order and with repeats", () => {
  const news = fc.array(fc.constantFrom("SENT", "DELIVERED", "READ", "FAILED"), { maxLength: 8 });
  fc.assert(
    fc.property(news, (statuses) => {
      let current: Parameters<typeof statusAfter>[0] = "QUEUED";
      for (const status of statuses) current = statusAfter(current, status) ?? current;
      const furthest = (["READ", "DELIVERED", "FAILED", "SENT"] as const).find((status) => statuses.includes(status));
      expect(current).toBe(furthest ?? "QUEUED");
    }),
  );
});

const over = (outcome: Outcome, count = 1) => settle(attempt(count), outcome, WHATSAPP, NOW, 0.5);

test("a message without attempts has no open attempt and no wait", () => {
  expect(NOT_TRIED).toEqual({
    attempts: 0,
    startedAt: null,
    firstAt: null,
    nextAt: null,
    reserved: false,
    heldSince: null,
    heldMs: 0,
  });
});

test("after a move the message is sent at once, and after further moves with a pause", () => {
  const moved: Outcome = { outcome: "moved", address: "2", parts: [] };
  const error = { code: "moved", message: "The contact has another address" };
  expect(over(moved)).toEqual({ state: "waiting", delivery: { ...attempt(1), startedAt: null, nextAt: NOW }, error });
  expect(over(moved, 2)).toMatchObject({ state: "waiting", delivery: { nextAt: NOW + 4 * SECOND }, error });
  expect(over({ ...moved, lostTopic: "7" })).toMatchObject({ error: { message: "The topic no longer exists" } });
});

test("an attempt without an answer says so, and waits for a status", () => {
  expect(over(unknown)).toMatchObject({
    delivery: { nextAt: NOW + 90 * SECOND, startedAt: null },
    error: { code: "outcome_unknown", message: "No answer" },
  });
});

test("a message that meets a broken channel waits from then on, and says why", () => {
  expect(over(broken)).toMatchObject({
    state: "waiting",
    delivery: { nextAt: NOW + 2 * SECOND, startedAt: null, heldSince: NOW },
    error: { code: "channel_broken", message: "Bad token" },
  });
});

test("an attempt that gets no permit does not count, and earlier attempts do", () => {
  expect(hold(attempt(1), NOW, "pace", NOW)).toMatchObject({ attempts: 0, startedAt: null, firstAt: null });
  expect(hold(attempt(2, NOW - HOUR), NOW, "pace", NOW)).toMatchObject({ attempts: 1, firstAt: NOW - HOUR });
  const waiting = { ...attempt(2, NOW - HOUR), startedAt: null };
  expect(hold(waiting, NOW, "pace", NOW)).toMatchObject({ attempts: 2, firstAt: NOW - HOUR });
});

test("a message with attempts waits from now on, and one without since it began to wait", () => {
  expect(hold(attempt(2), NOW, "broken", NOW, NOW - HOUR).heldSince).toBe(NOW);
  expect(hold(NOT_TRIED, NOW, "broken", NOW, NOW - HOUR)).toMatchObject({ heldSince: NOW - HOUR, firstAt: NOW - HOUR });
  const held = { ...NOT_TRIED, heldSince: NOW - 2 * HOUR };
  expect(hold(held, NOW, "broken", NOW, NOW - HOUR).heldSince).toBe(NOW - 2 * HOUR);
});

test("the outbox wakes at the deadline even if the network asks for a longer wait, but not while the channel is broken", () => {
  const waits = { ...attempt(1, NOW - HOUR), startedAt: null, nextAt: NOW + 2 * DAY };
  expect(wakeAt(waits, NOW)).toBe(NOW + DAY - HOUR);
  expect(wakeAt({ ...waits, heldMs: HOUR }, NOW)).toBe(NOW + DAY);
  expect(wakeAt({ ...waits, heldSince: NOW - SECOND }, NOW)).toBe(NOW + 2 * DAY);
  expect(wakeAt({ ...NOT_TRIED, nextAt: NOW + 2 * DAY }, NOW)).toBe(NOW + 2 * DAY);
});

test("unanswered requests to the channel are counted until it answers", () => {
  const away = hold(hold(NOT_TRIED, NOW, "away", NOW), NOW, "away", NOW);
  expect(away).toMatchObject({ noAnswers: 2, attempts: 0 });
  expect(hold(away, NOW, "pace", NOW).noAnswers).toBeUndefined();
  expect(hold(away, NOW, "broken", NOW).noAnswers).toBeUndefined();
});
