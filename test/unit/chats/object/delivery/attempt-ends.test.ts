import { expect, test } from "vitest";
import { afterAttempt, isOutcomeOpen, known, STUCK } from "../../../../../src/chats/object/delivery/head.ts";
import { begin, NOT_TRIED } from "../../../../../src/chats/object/delivery/retry.ts";
import type { Delivery, QueuedMessage, StoredParts } from "../../../../../src/chats/object/log/delivery-column.ts";
import { outboundMessage } from "../../../../../src/chats/object/log/new-message.ts";
import type { Outcome } from "../../../../../src/model/network.ts";
import { draft } from "../../../../support/drafts.ts";
import { broken, FAULT, failed, retry, sent, unknown } from "./outcomes.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const POLICY = { unknownWaitMs: 90_000 };
const OPEN = begin(NOT_TRIED, NOW - 5_000);
const PREPARED = { outcome: "prepared", senderId: "mbr_g0", text: "Hello", template: null } as const;

/** A message with this delivery and these parts. */
function row(delivery: Delivery, parts: StoredParts = { ids: [] }): QueuedMessage {
  const place = { chatId: "cht_g0", seq: 7, at: "2026-11-20T11:59:00.000Z" };
  const message = outboundMessage(draft("Hello"), PREPARED, place, true);
  return { seq: 7, message, delivery, parts, lastError: null, template: null };
}

test.each<[string, Outcome, { code: string; message: string } | null]>([
  ["that succeeded", sent("a"), null],
  ["that the network refused", failed(), FAULT],
  ["that is repeated", retry(), { code: "busy", message: "Busy" }],
  ["without an answer", unknown(), { code: "outcome_unknown", message: "No answer" }],
  ["that met a broken channel", broken, { code: "channel_broken", message: "Bad token" }],
])("the history of an attempt %s has when it called, how long it took, and why it failed", (_which, outcome, error) => {
  const open = row(OPEN);
  const made = { first: 0, epoch: 3, calledAt: NOW - 4_000 };
  const { past } = afterAttempt(open, known(open, 1), outcome, POLICY, NOW, 0.5, made).delivery;
  expect(past).toEqual([{ number: 1, at: NOW - 4_000, ms: 4_000, outcome: outcome.outcome, error }]);
});

test("the history of a lost attempt has its start, and not how long it took", () => {
  const open = row(OPEN);
  const { past } = afterAttempt(open, known(open, 1), unknown(), POLICY, NOW, 0.5).delivery;
  expect(past).toMatchObject([{ number: 1, at: NOW - 5_000, ms: null, outcome: "unknown" }]);
});

const WAITING: Delivery = { ...OPEN, startedAt: null, nextAt: NOW };

test.each<[string, QueuedMessage, boolean]>([
  ["during an attempt", row(OPEN), true],
  ["before the first attempt", row(NOT_TRIED), false],
  ["after an attempt that was answered", row(WAITING, { of: 2, ids: [], lost: [0, 0] }), false],
  ["after an attempt without an answer", row(WAITING, { of: 1, ids: [], lost: [1] }), true],
  ["after an attempt of which one part got no answer", row(WAITING, { of: 2, ids: [], lost: [0, 1] }), true],
])("whether a message may be at its network under an id that nobody knows: %s", (_when, message, isOpen) => {
  expect(isOutcomeOpen(message)).toBe(isOpen);
});

test("a message whose every attempt met a fault of the service fails as one that took too long, and says why", () => {
  expect(STUCK).toEqual({
    code: "delivery_timeout",
    message: "Not delivered within a day: an internal error interrupted each attempt",
  });
});
