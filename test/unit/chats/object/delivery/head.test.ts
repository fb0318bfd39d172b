import { expect, test } from "vitest";
import { reportsOf } from "../../../../../src/chats/object/delivery/channel-reports.ts";
import {
  afterAttempt,
  afterHold,
  afterWake,
  epochAfter,
  isSameAttempt,
  isStalePermit,
  judged,
  known,
  mayGoOn,
  nextStep,
  partsKept,
  rowOfStatus,
  startAttempt,
} from "../../../../../src/chats/object/delivery/head.ts";
import type { Known } from "../../../../../src/chats/object/delivery/parts.ts";
import { begin, hold, NOT_TRIED } from "../../../../../src/chats/object/delivery/retry.ts";
import type {
  Delivery,
  DeliveryError,
  PartNews,
  QueuedMessage,
} from "../../../../../src/chats/object/log/delivery-column.ts";
import { outboundMessage } from "../../../../../src/chats/object/log/new-message.ts";
import type { Outcome } from "../../../../../src/model/network.ts";
import { draft } from "../../../../support/drafts.ts";
import { FAULT, failed, retry, sent, unknown } from "./outcomes.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const POLICY = { unknownWaitMs: 90_000 };

/** A message that was stored a minute ago. */
function row(delivery: Partial<Delivery> = {}, fields: Partial<QueuedMessage> = {}): QueuedMessage {
  const prepared = { outcome: "prepared", senderId: "mbr_g0", text: "Hello", template: null } as const;
  const place = { chatId: "cht_g0", seq: 7, at: new Date(NOW - 60 * SECOND).toISOString() };
  return {
    seq: 7,
    message: outboundMessage(draft("Hello"), prepared, place, true),
    delivery: { ...NOT_TRIED, ...delivery },
    parts: { ids: [] },
    lastError: null,
    template: null,
    ...fields,
  };
}

/** A delivery in attempt `count`, which started five seconds ago. */
const attempt = (count = 1): Delivery => ({
  ...NOT_TRIED,
  attempts: count,
  startedAt: NOW - 5 * SECOND,
  firstAt: NOW - 5 * SECOND,
});
const early: PartNews = { networkId: "x", status: "DELIVERED", error: null, isOurs: true };

test("a message without attempts asks for a permit, without a reserved start", () => {
  expect(nextStep(row(), false, NOW)).toEqual({ turn: "ask", reservedAt: null });
});

test("a message waits until its time, and asks with its reserved start", () => {
  const waiting = { attempts: 1, firstAt: NOW - SECOND, nextAt: NOW };
  expect(nextStep(row(waiting), false, NOW - 1)).toEqual({ turn: "wait" });
  expect(nextStep(row(waiting), false, NOW)).toEqual({ turn: "ask", reservedAt: null });
  expect(nextStep(row({ ...waiting, reserved: true }), false, NOW)).toEqual({ turn: "ask", reservedAt: NOW });
});

test("another instance's open attempt is closed as unknown, with the parts sent", () => {
  expect(nextStep(row(attempt(), { parts: { ids: ["a"] } }), false, NOW)).toEqual({
    turn: "close",
    outcome: { outcome: "unknown", message: "The attempt was interrupted", parts: ["a"] },
  });
});

test("an attempt that this instance has not made yet asks for a permit at once", () => {
  expect(nextStep(row(attempt()), true, NOW)).toEqual({ turn: "ask", reservedAt: null });
});

test("a message that is a day old fails with its last error", () => {
  const old = { attempts: 3, firstAt: NOW - DAY };
  expect(nextStep(row({ ...old, firstAt: NOW - DAY + 1 }), false, NOW).turn).toBe("ask");
  expect(nextStep(row(old, { lastError: FAULT }), false, NOW)).toEqual({
    turn: "expire",
    error: { code: "delivery_timeout", message: "Not delivered within a day: Undeliverable" },
  });
  expect(nextStep(row(old), true, NOW)).toEqual({
    turn: "expire",
    error: { code: "delivery_timeout", message: "Not delivered within a day: no attempt succeeded" },
  });
});

test("a permit is stale if another message is at the head", () => {
  const asked = { seq: 1, wakes: 0 };
  expect(isStalePermit(false, asked, { seq: 1, wakes: 0, isExpired: false })).toBe(false);
  expect(isStalePermit(false, asked, { seq: 2, wakes: 0, isExpired: false })).toBe(true);
});

test("after a wake, a refusal because of a broken channel is stale, and a permit is not", () => {
  const asked = { seq: 1, wakes: 0 };
  expect(isStalePermit(true, asked, { seq: 1, wakes: 0, isExpired: false })).toBe(false);
  expect(isStalePermit(true, asked, { seq: 1, wakes: 1, isExpired: false })).toBe(true);
  expect(isStalePermit(false, asked, { seq: 1, wakes: 1, isExpired: false })).toBe(false);
});

test("a permit is stale if the message has expired in the meantime", () => {
  expect(isStalePermit(false, { seq: 1, wakes: 0 }, { seq: 1, wakes: 0, isExpired: true })).toBe(true);
});

test("a channel's pace holds a message until its start, without an error", () => {
  const { delivery, lastError } = afterHold(
    row({}, { lastError: FAULT }),
    { outcome: "later", at: NOW + 9, broken: null },
    NOW,
    0.5,
  );
  expect(delivery).toMatchObject({ nextAt: NOW + 9, reserved: true, heldSince: null });
  expect(lastError).toEqual(FAULT);
});

test.each([
  ["broken since before the message was stored: it waits since it was stored", NOW - HOUR, NOW - 60 * SECOND],
  ["broken since after the message was stored: it waits since then", NOW - SECOND, NOW - SECOND],
])("a broken channel holds a message, %s", (_when, since, from) => {
  const permit = { outcome: "later", at: NOW + HOUR, broken: { reason: "Bad token", since } } as const;
  const { delivery, lastError } = afterHold(row(), permit, NOW, 0.5);
  expect(delivery).toMatchObject({ nextAt: NOW + HOUR, reserved: false, heldSince: from, firstAt: from });
  expect(lastError).toEqual({ code: "channel_broken", message: "Bad token" });
});

test("a channel that does not answer is asked again after 10 s, doubling to 5 minutes, with a jitter of 20%", () => {
  const held = (noAnswers: number, random = 0.5) =>
    afterHold(row({ noAnswers }, { lastError: FAULT }), { outcome: "away" }, NOW, random);
  const waitAfter = (noAnswers: number, random?: number) => (held(noAnswers, random).delivery.nextAt ?? NOW) - NOW;
  expect(held(0).delivery).toMatchObject({ noAnswers: 1, reserved: false });
  expect(held(0).lastError).toEqual({ code: "channel_away", message: "The channel does not answer" });
  expect([0, 0.5, 1].map((random) => waitAfter(0, random))).toEqual([8_000, 10_000, 12_000]);
  expect([0, 1, 2, 3, 4, 5, 6].map((noAnswers) => waitAfter(noAnswers) / SECOND)).toEqual([
    10, 20, 40, 80, 160, 300, 300,
  ]);
});

test("a message starts another attempt, or uses the one that it was stored with", () => {
  expect(startAttempt(row(), null, false, NOW)).toMatchObject({ attempts: 1, startedAt: NOW, firstAt: NOW });
  const marked = attempt();
  expect(startAttempt(row(marked), null, true, NOW)).toEqual(marked);
});

test("a probe ends the wait for a broken channel, which does not count toward the deadline", () => {
  const probing = startAttempt(row(), NOW - 20 * SECOND, false, NOW);
  expect(probing).toMatchObject({ attempts: 1, startedAt: NOW, firstAt: NOW - 20 * SECOND, heldMs: 20 * SECOND });
  expect(startAttempt(row(), NOW - HOUR, false, NOW)).toMatchObject({ heldMs: 60 * SECOND });
  expect(startAttempt(row(attempt()), NOW - 20 * SECOND, true, NOW)).toMatchObject({ attempts: 1, startedAt: NOW });
});

test("a message's state is that of its row, with at least as many parts as were sent", () => {
  const open = row(attempt(2), { parts: { ids: ["a", "b"] } });
  expect(known(open, 1)).toEqual({
    status: "QUEUED",
    error: null,
    parts: { of: 2, ids: ["a", "b"] },
    attempts: 2,
    isOpen: true,
  });
  expect(known(row(), 3)).toMatchObject({ parts: { of: 3, ids: [] }, attempts: 0, isOpen: false });
});

test("a row shows an attempt until the next one starts", () => {
  expect(isSameAttempt(row(attempt(2)), attempt(2))).toBe(true);
  expect(isSameAttempt(row(attempt(3)), attempt(2))).toBe(false);
  expect(isSameAttempt(null, attempt(2))).toBe(false);
});

test("only a successful probe starts a new epoch", () => {
  const mendedAfter = (probe: number | null, outcome: Outcome) => epochAfter({ epoch: 4, probe }, outcome);
  expect(mendedAfter(1, sent("a"))).toBe(5);
  expect([mendedAfter(null, sent("a")), mendedAfter(1, unknown())]).toEqual([4, 4]);
});

/** The state of a message after an attempt. `fields` is its state before. */
function end(outcome: Outcome, fields: Partial<Known> = {}, last: DeliveryError | null = null, isLost = false) {
  const open = attempt();
  const before: Known = { ...known(row(open), 1), ...fields };
  const made = isLost ? undefined : { first: 0, epoch: 3, calledAt: NOW - 4 * SECOND };
  return afterAttempt({ delivery: open, lastError: last }, before, outcome, POLICY, NOW, 0.5, made);
}

const refused: Outcome = { outcome: "channel_broken", reason: "131031: Locked", parts: ["a"] };

test("a message that breaks its channel again after another attempt succeeded fails, and the channel gets no report", () => {
  const again = judged(refused, { probe: null, epoch: 3, provenEpoch: 3 }, 2);
  expect(again).toEqual({ outcome: "failed", code: "message_refused", message: "131031: Locked", parts: ["a"] });
  // The network's answer was about the channel, so it does not prove that the channel works.
  expect(reportsOf(again, { probe: null, trial: 9 })).toEqual([{ report: "probed", works: false }]);
});

test.each<[string, Outcome, number | null, number, number | null]>([
  ["that meets a broken channel for the first time", refused, null, 3, null],
  ["that breaks it again before another message succeeded", refused, null, 2, 2],
  ["that is the probe", refused, 1, 3, 2],
  ["that the network accepts", sent("a"), null, 3, 2],
])("a message %s is not the cause", (_which, outcome, probe, provenEpoch, brokenEpoch) => {
  expect(judged(outcome, { probe, epoch: 3, provenEpoch }, brokenEpoch)).toBe(outcome);
});

test("an error that may be about the channel is, if the channel never worked with its credentials", () => {
  const unsure = {
    outcome: "failed",
    code: "network_100",
    message: "No",
    unsure: "100: No",
    parts: ["a"],
  } satisfies Outcome;
  const broken = { outcome: "channel_broken", reason: "100: No", parts: ["a"] };
  expect(judged(unsure, { probe: null, epoch: 3, provenEpoch: 2 }, null)).toEqual(broken);
  expect(judged(unsure, { probe: 1, epoch: 0, provenEpoch: -1 }, null)).toEqual(broken);
  expect(judged(unsure, { probe: null, epoch: 3, provenEpoch: 3 }, null)).toBe(unsure);
  const { unsure: _, ...sure } = unsure;
  expect(judged(sure, { probe: null, epoch: 3, provenEpoch: 2 }, null)).toBe(sure);
});

test("a message keeps the epoch in which it met a broken channel, through its next attempt", () => {
  const { delivery } = end(refused);
  expect(delivery.brokenEpoch).toBe(3);
  expect(begin(hold(delivery, NOW + 1, "broken", NOW), NOW + 1).brokenEpoch).toBe(3);
  expect(end(refused, {}, null, true).delivery.brokenEpoch).toBeUndefined();
});

test("a run ends after fifty steps or five minutes", () => {
  expect([mayGoOn(49, NOW, NOW), mayGoOn(50, NOW, NOW)]).toEqual([true, false]);
  expect([mayGoOn(0, NOW, NOW + 299_999), mayGoOn(0, NOW, NOW + 300_000)]).toEqual([true, false]);
});

test("a sent message is SENT, with its part's id and without an error", () => {
  expect(end(sent("a"), {}, FAULT)).toEqual({
    delivery: {
      ...attempt(),
      startedAt: null,
      epoch: 3,
      past: [{ number: 1, at: NOW - 4 * SECOND, ms: 4_000, outcome: "sent", error: null }],
    },
    parts: { of: 1, ids: ["a"] },
    lastError: null,
    status: "SENT",
    error: null,
    broken: null,
  });
});

test("a refused message is FAILED with the network's error", () => {
  expect(end(failed())).toMatchObject({ status: "FAILED", error: FAULT, lastError: FAULT });
  expect(end(failed()).delivery.startedAt).toBeNull();
});

test("a message that may be repeated waits, with its error", () => {
  const { delivery, status, error, lastError } = end(retry());
  expect(delivery).toMatchObject({ nextAt: NOW + 2 * SECOND, startedAt: null, epoch: 3 });
  expect([status, error, lastError]).toEqual(["QUEUED", null, { code: "busy", message: "Busy" }]);
});

test("an outcome that allows one repeat fails if the previous error was the same", () => {
  expect(end(retry({ once: true }), {}, { code: "busy", message: "Busy" }).status).toBe("FAILED");
  expect(end(retry({ once: true }), {}, FAULT).status).toBe("QUEUED");
});

test("a lost attempt has no epoch", () => {
  expect(end(unknown(), {}, null, true).delivery).not.toHaveProperty("epoch");
});

test("a lost attempt keeps the parts that were sent before it", () => {
  const fields = { parts: { of: 2, ids: ["a"] } };
  expect(end(unknown("a"), fields, null, true).parts).toEqual({ of: 2, ids: ["a"], lost: [0, 1] });
});

test("a status that came before the answer stands, and the answer only adds the parts sent", () => {
  expect(end(failed(), { status: "READ" })).toMatchObject({ status: "READ", error: null, lastError: null });
  expect(end(retry(), { status: "DELIVERED" })).toMatchObject({ status: "DELIVERED", lastError: null });
  expect(end(sent("a"), { status: "READ" })).toMatchObject({ status: "READ", parts: { ids: ["a"] } });
});

test("a message that was redacted while it was sent successfully is SENT", () => {
  const redacted = { code: "redacted", message: "The message was redacted before it was delivered" };
  expect(end(sent("a"), { status: "FAILED", error: redacted })).toMatchObject({ status: "SENT", error: null });
  expect(end(retry(), { status: "FAILED", error: redacted })).toMatchObject({ status: "FAILED", error: redacted });
  expect(end(sent("a"), { status: "FAILED", error: FAULT })).toMatchObject({ status: "FAILED", error: FAULT });
});

test("early statuses are kept while the message waits, and dropped when it is done", () => {
  const parts = { of: 1, ids: [], early: [early] };
  expect(end(retry(), { parts }).parts).toEqual(parts);
  expect(end(failed(), { parts }).parts).toEqual({ of: 1, ids: [] });
  expect(end(retry(), { parts, status: "READ" }).parts).toEqual({ of: 1, ids: [] });
});

test("an early status that reports a broken channel is passed on", () => {
  const bad = { code: "network_131042", message: "No payment", broken: "131042: No payment" };
  const told: PartNews = { networkId: "a", status: "FAILED", error: bad, isOurs: true };
  expect(end(sent("a"), { parts: { of: 1, ids: [], early: [told] } })).toMatchObject({
    status: "FAILED",
    broken: "131042: No payment",
  });
});

test("early statuses are kept while the message is queued or being sent", () => {
  const parts = { of: 1, ids: [], early: [early] };
  const kept = (status: Known["status"], isOpen: boolean) =>
    partsKept({ status, error: null, parts, attempts: 1, isOpen }).early !== undefined;
  expect([kept("QUEUED", false), kept("QUEUED", true), kept("SENT", true), kept("SENT", false)]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

/** A log in which message 3 is `msg_3` with the part `net_3`, and message 5 is at the head. */
const log = {
  byId: (id: string) => (id === "msg_3" ? { seq: 3 } : null),
  networkIds: { ownMessage: (id: string) => (id === "net_3" ? { seq: 3 } : null) },
  delivered: (seq: number) => row({}, { seq }),
  queue: { head: () => row({}, { seq: 5 }) },
} as unknown as Parameters<typeof rowOfStatus>[0];

test.each([
  ["that names our message belongs to it", "msg_3", "other", null, 3],
  ["that names an unknown message belongs to none", "msg_9", "net_3", 6, undefined],
  ["with a part's id belongs to its message", null, "net_3", 6, 3],
  ["with an unknown id belongs to the message that is being sent", null, "other", 6, 6],
  ["with an unknown id belongs to the head if no message is being sent", null, "other", null, 5],
])("a status %s", (_what, messageId, networkId, sending, seq) => {
  expect(rowOfStatus(log, { messageId, networkId }, sending)?.seq).toBe(seq);
});

test("a wake only affects a message that waits for a broken channel", () => {
  const broke = { ...NOT_TRIED, heldSince: NOW - HOUR, nextAt: NOW + HOUR };
  expect(afterWake(broke, NOW)).toEqual({ ...broke, nextAt: NOW });
  expect(afterWake({ ...broke, heldSince: null }, NOW)).toBeNull();
  expect(afterWake({ ...broke, startedAt: NOW }, NOW)).toBeNull();
});
