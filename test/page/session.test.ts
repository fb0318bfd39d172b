import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OwnMessage } from "../../src/web/visitor/conversation.ts";
import { inbound, messages, outbound, ready, stored } from "./frames.ts";
import { idOf, nothingKept, start } from "./session-fixtures.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("messages are sent one at a time, in the order they were written", () => {
  const { session, sent, hear } = start();
  session.write("one");
  session.write("two");
  expect(sent).toEqual([]);
  hear(ready([]));
  expect(sent).toMatchObject([{ type: "message", content: "one" }]);
  hear(stored(idOf(sent[0]), 1));
  expect(sent).toMatchObject([{ content: "one" }, { content: "two" }]);
});

test("an unacknowledged message is sent again on the next connection, with the same id", () => {
  const { session, sent, hear, lose } = start();
  hear(ready([]));
  session.write("one");
  lose(1006);
  expect(session.view.link).toBe("offline");
  hear(ready([]));
  expect(sent).toHaveLength(2);
  expect(idOf(sent[1])).toBe(idOf(sent[0]));
});

test("a short refusal is waited for, and a long one is shown and lets the next message go", () => {
  const { session, sent, hear } = start();
  hear(ready([]));
  session.write("one");
  session.write("two");
  const refusal = { type: "refused", code: "rate_limited", message: "" } as const;
  hear({ ...refusal, id: idOf(sent[0]), retryAfter: 1 });
  expect([sent.length, session.view.notice?.kind]).toEqual([1, "wait"]);
  vi.advanceTimersByTime(1_000);
  expect(sent.map((frame) => frame.type === "message" && frame.content)).toEqual(["one", "one"]);
  hear({ ...refusal, id: idOf(sent[0]), retryAfter: 600 });
  expect([session.view.notice?.kind, session.view.conversation.outbox[0]?.trouble?.retryAfter]).toEqual([
    "trouble",
    600,
  ]);
  expect(sent[2]).toMatchObject({ content: "two" });
});

test("a message without a response is sent again on a new connection", () => {
  const { session, sent, hear, asked } = start();
  hear(ready([]));
  session.write("one");
  vi.advanceTimersByTime(15_000);
  expect(asked).toHaveLength(2);
  hear(ready([]));
  expect(sent.map(idOf)).toEqual([idOf(sent[0]), idOf(sent[0])]);
});

test("a device without a network is offline immediately, and sends nothing until it is online", () => {
  const { session, sent, hear, asked } = start();
  hear(ready([]));
  session.networkLost();
  session.write("one");
  expect([session.view.link, sent.length]).toEqual(["offline", 0]);
  session.wake();
  expect(asked).toHaveLength(2);
  hear(ready([]));
  expect(sent).toMatchObject([{ content: "one" }]);
});

test("a message that makes the server close the socket is not sent forever", () => {
  const { session, sent, hear, lose } = start();
  hear(ready([]));
  session.write("too large");
  lose(1009);
  expect(session.view.conversation.outbox[0]?.trouble?.code).toBe("too_long");
  hear(ready([]));
  expect(sent).toHaveLength(1);
});

test("a page beyond the limit says so until a socket is free", () => {
  const { session, hear, lose } = start();
  lose(1013, "Too many open pages");
  expect(session.view.link).toBe("crowded");
  lose(1013, "Try again later");
  expect(session.view.link).toBe("offline");
  hear(ready([]));
  expect(session.view.link).toBe("online");
});

test("a refused identity ends the attempts", () => {
  const { session, lose, asked } = start();
  lose(4401);
  session.wake();
  expect([session.view.link, asked.length]).toEqual([4401, 1]);
});

test("delivered is sent immediately, read only when the visitor sees the message, and each once", () => {
  const { session, sent, hear } = start();
  hear(ready([outbound(1, "hi"), inbound(2, "hello"), outbound(3, "how are you")]));
  expect(sent).toEqual([{ type: "delivered", seq: 3 }]);
  expect(session.view.unread).toBe(2);
  session.setVisible(true);
  expect(sent.slice(1)).toEqual([{ type: "read", seq: 3 }]);
  expect(session.view.unread).toBe(0);
  hear({ type: "status", seq: 3, status: "READ" });
  session.setVisible(true);
  expect(sent).toHaveLength(2);
});

test("an acknowledgment is not repeated if the connection broke before the statuses arrived", () => {
  const { sent, hear, lose } = start();
  hear(ready(messages(1, 3)));
  expect(sent).toEqual([{ type: "delivered", seq: 3 }]);
  lose(1006);
  // The next connection begins with the newest message, so the earlier ones stay as the page knows them.
  hear(ready([{ ...outbound(3, "text 3"), status: "DELIVERED" }]));
  expect(sent).toHaveLength(1);
});

test("a gap is filled by a new connection from the last message", () => {
  const { asked, hear } = start();
  hear(ready(messages(1, 100), 130));
  expect(asked).toEqual(["?after=0", "?after=99"]);
  hear(ready(messages(100, 130)));
  hear({ type: "message", message: outbound(133, "x") });
  expect(asked).toEqual(["?after=0", "?after=99", "?after=129"]);
});

test("a server that never sends what it announces is not asked forever", () => {
  const { asked, hear } = start();
  hear(ready(messages(1, 3), 5));
  hear(ready([], 5));
  expect(asked).toEqual(["?after=0", "?after=2"]);
});

test("a reloaded page sends its unsent messages", () => {
  const own = { id: "storage", text: "before the reload", writtenAt: 0, afterSeq: 0, echo: null, seq: null };
  const { sent, hear } = start({ ...nothingKept, outbox: () => [{ ...own, tried: true, trouble: null }] });
  hear(ready([]));
  expect(sent).toEqual([{ type: "message", id: "storage", content: "before the reload" }]);
});

test("older messages are requested on the open connection, a page at a time", () => {
  const { session, sent, hear } = start();
  hear(ready(messages(151, 250)));
  session.loadOlder();
  session.loadOlder();
  expect(session.view.older).toBe("loading");
  expect(sent.filter(({ type }) => type === "older")).toEqual([{ type: "older", before: 151 }]);
  hear({ type: "older", messages: messages(51, 150) });
  expect([session.view.older, session.view.conversation.entries.length]).toEqual(["idle", 200]);
  session.loadOlder();
  expect(sent.at(-1)).toEqual({ type: "older", before: 51 });
});

test("older messages requested offline arrive with the next connection, or fail with it or after ten seconds", () => {
  const { session, sent, asked, hear, lose } = start();
  hear(ready(messages(151, 250)));
  lose(1006);
  session.loadOlder();
  expect([session.view.older, asked.length]).toEqual(["loading", 2]);
  lose(1006);
  expect(session.view.older).toBe("failed");
  session.loadOlder();
  hear(ready(messages(250, 250)));
  expect(session.view.older).toBe("loading");
  expect(sent).toContainEqual({ type: "older", before: 151 });
  vi.advanceTimersByTime(10_000);
  expect(session.view.older).toBe("failed");
});

test("the read position of an erased chat doesn't apply to its successor", () => {
  const { session, hear } = start();
  session.setVisible(true);
  hear(ready(messages(1, 3)));
  session.setVisible(false);
  hear(ready([], 0));
  hear({ type: "message", message: outbound(1, "anew") });
  expect(session.view.unread).toBe(1);
});

test("part of what was missed is neither seen nor unread until the rest has arrived", () => {
  const { session, hear } = start();
  const missed = messages(1, 150);
  session.setVisible(true);
  hear(ready(missed.slice(0, 100), 150));
  session.setVisible(false);
  expect(session.view.unread).toBe(0);
  hear(ready(missed.slice(99), 150));
  expect(session.view.unread).toBe(150);
});

test("a tap sends the choice with its title", () => {
  const { session, sent, hear } = start();
  hear(ready([outbound(1, "?")]));
  session.write("Refund", { choice: { id: "msg_1:0", title: "Refund", messageId: "msg_1" } });
  expect(sent.at(-1)).toMatchObject({ type: "message", content: "Refund", choice: "msg_1:0" });
});

test("a choice is sent once, however often choices of its message are tapped", () => {
  const { session, sent, hear } = start();
  const tap = (index: number) =>
    session.write(`${index}`, { choice: { id: `msg_1:${index}`, title: `${index}`, messageId: "msg_1" } });
  hear(ready([outbound(1, "?")]));
  tap(0);
  tap(0);
  tap(1);
  hear(stored(idOf(sent.at(-1)), 2));
  tap(1);
  expect(sent.filter(({ type }) => type === "message")).toMatchObject([{ choice: "msg_1:0" }]);
  expect(session.view.conversation.outbox).toEqual([]);
});

test("a reply names what it answers, in each attempt and in the kept outbox", () => {
  let kept: readonly OwnMessage[] = [];
  const { session, sent, hear, lose } = start({ ...nothingKept, saveOutbox: (outbox) => (kept = outbox) });
  hear(ready([outbound(1, "?")]));
  session.write("Yes", { replyTo: "msg_1" });
  expect(sent.at(-1)).toMatchObject({ type: "message", content: "Yes", replyTo: "msg_1" });
  lose(1006);
  expect(kept).toMatchObject([{ text: "Yes", replyTo: "msg_1" }]);
  hear(ready([outbound(1, "?")]));
  expect(sent.at(-1)).toMatchObject({ type: "message", content: "Yes", replyTo: "msg_1" });
});

test("a page that connects again names the newest event that it knows of", () => {
  const { hear, lose, asked, session } = start();
  hear({ ...ready(messages(1, 3)), events: 12 });
  lose(1006);
  session.wake();
  expect(asked).toEqual(["?after=0", "?after=2&events=12"]);
});

test("a reset before the first frame needs no further connection", () => {
  const { hear, lose, asked, session } = start();
  hear({ ...ready(messages(1, 3)), events: 12 });
  lose(1006);
  session.wake();
  hear({ type: "reset" });
  hear({ ...ready(messages(201, 300)), events: 900 });
  expect(asked).toHaveLength(2);
  expect(session.view.conversation.entries).toHaveLength(100);
});

test("a reset on an open connection loads the chat anew", () => {
  const { hear, asked } = start();
  hear({ ...ready(messages(1, 3)), events: 12 });
  hear({ type: "reset" });
  expect(asked).toEqual(["?after=0", "?after=0&events=12"]);
});

test("a visitor's typing is told at most every 3 seconds, and only to a server that understands it", () => {
  const { session, sent, hear } = start();
  session.typing();
  hear(ready([]));
  session.typing();
  expect(sent).toEqual([]);
  hear({ ...ready([]), features: ["typing"] });
  for (let n = 0; n < 3; n++) session.typing();
  expect(sent).toEqual([{ type: "typing" }]);
  vi.advanceTimersByTime(2_999);
  session.typing();
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(1);
  session.typing();
  expect(sent).toHaveLength(2);
});

test("the company's typing is shown for 6 seconds, or until its message comes", () => {
  const { session, hear } = start();
  hear(ready([]));
  hear({ type: "typing", name: "Ana" });
  vi.advanceTimersByTime(5_999);
  hear({ type: "typing", name: null });
  expect(session.view.typing).toEqual({ name: null });
  vi.advanceTimersByTime(5_999);
  expect(session.view.typing).not.toBeNull();
  vi.advanceTimersByTime(1);
  expect(session.view.typing).toBeNull();
  hear({ type: "typing", name: "Ana" });
  hear({ type: "message", message: inbound(1, "mine") });
  expect(session.view.typing).toEqual({ name: "Ana" });
  hear({ type: "message", message: outbound(2, "Hello") });
  expect(session.view.typing).toBeNull();
  session.close();
});
