import { expect, test } from "vitest";
import {
  type Asked,
  type ConversationNews,
  type CountedMessage,
  countMessage,
  type MemberCounts,
  withMembers,
} from "../../../src/model/conversation-counts.ts";

const many = (from: number, to: number): MemberCounts =>
  Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`m${from + n}`, { messages: 1 }]));

test("counts of members add up, and those that were counted last are kept", () => {
  expect(withMembers({ a: { messages: 1 } }, { a: { messages: 2, within1m: 1 }, b: { received: 1 } })).toEqual({
    a: { messages: 3, within1m: 1 },
    b: { received: 1 },
  });
  const full = many(0, 20);
  expect(withMembers(full, {})).toEqual(full);
  const after = withMembers(full, { m0: { messages: 1 }, m20: { messages: 1 } });
  expect(Object.keys(after)).toHaveLength(20);
  expect(after).not.toHaveProperty("m1");
  expect(after).toMatchObject({ m0: { messages: 2 }, m20: { messages: 1 } });
  expect(withMembers(full, { m1: { messages: 1 } })).toEqual({ ...full, m1: { messages: 2 } });
  // More than it keeps, if all are new.
  expect(Object.keys(withMembers(full, many(30, 60)))).toEqual(Object.keys(many(30, 60)));
});

const MINUTE = 60_000;

/** What is known after messages, each with what an echo leaves unanswered. */
function after(...messages: (Partial<CountedMessage> & { at: number; left?: Asked | null })[]): ConversationNews {
  const nothing = { unansweredSince: null, askedAt: null, isUncounted: false, contactWroteAt: null };
  const news: ConversationNews = { ...nothing, counts: {}, members: {} };
  for (const { left = null, ...message } of messages) {
    countMessage(news, { isInbound: false, namedSenderId: null, ...message }, null, left);
  }
  return news;
}

const inbound = (at: number, more: Partial<CountedMessage> = {}) => ({ at, isInbound: true, ...more });
const echo = (at: number, left: Asked | null = null) => ({ at, isEcho: true, left });

test("an echo ends a wait, and its answer counts in no class", () => {
  expect(after(inbound(MINUTE), echo(2 * MINUTE))).toMatchObject({
    unansweredSince: null,
    counts: { received: 1, messages: 1 },
  });
  // The next wait is counted again.
  const { counts } = after(inbound(MINUTE), echo(2 * MINUTE), inbound(3 * MINUTE), { at: 3 * MINUTE + 1 });
  expect(counts).toEqual({ received: 2, messages: 2, within1m: 1, r0: 1 });
});

test("what an echo leaves begins a wait of its own", () => {
  const left = { at: 2 * MINUTE, wroteAt: MINUTE + 30_000 };
  const news = after(inbound(MINUTE), inbound(2 * MINUTE), echo(3 * MINUTE, left));
  expect(news).toMatchObject({ unansweredSince: 2 * MINUTE, askedAt: MINUTE + 30_000 });
  countMessage(news, { isInbound: false, at: 4 * MINUTE, namedSenderId: null }, null);
  expect(news.counts).toEqual({ received: 2, messages: 2, within5m: 1, r10: 1 });
});

test("an echo that answers nothing leaves the wait as it is, with what is known of it", () => {
  const wait = { unansweredSince: MINUTE, askedAt: 30_000 };
  const news = after(inbound(MINUTE, { networkAt: 30_000 }), echo(2 * MINUTE, { at: MINUTE, wroteAt: 30_000 }));
  expect(news).toMatchObject(wait);
  news.isUncounted = true;
  countMessage(news, { ...echo(3 * MINUTE), isInbound: false, namedSenderId: null }, null, {
    at: MINUTE,
    wroteAt: 30_000,
  });
  expect(news).toMatchObject({ ...wait, isUncounted: true });
});

test("a message to the network's own agent makes nothing unanswered, and ends no wait", () => {
  const standby = inbound(MINUTE, { isStandby: true });
  expect(after(standby)).toMatchObject({ unansweredSince: null, contactWroteAt: MINUTE, counts: { received: 1 } });
  expect(after(inbound(30_000), standby)).toMatchObject({ unansweredSince: 30_000, contactWroteAt: MINUTE });
});
