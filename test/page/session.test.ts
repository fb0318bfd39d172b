import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ConnectionEvents } from "../../src/web/visitor/connection.ts";
import type { OutgoingFrame } from "../../src/web/visitor/frames.ts";
import { ChatSession } from "../../src/web/visitor/session.ts";
import type { TabStorage } from "../../src/web/visitor/stored.ts";
import { inbound, messages, outbound, ready, stored } from "./frames.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const nothingKept: TabStorage = { outbox: () => [], saveOutbox: () => {}, draft: () => "", saveDraft: () => {} };

/** A session on a connection that is all in the test's hands. */
function start(storage: TabStorage = nothingKept) {
  const sent: OutgoingFrame[] = [];
  const asked: string[] = [];
  let events: ConnectionEvents | undefined;
  let url = () => "";
  const session = new ChatSession({
    socketUrl: (after) => `?after=${after}`,
    protocols: ["parley.v1"],
    storage,
    onChange: () => {},
    connect: (nextUrl, _protocols, given) => {
      events = given;
      url = nextUrl;
      asked.push(url());
      return { send: (frame) => void sent.push(frame), restart: () => void asked.push(url()), close: () => {} };
    },
  });
  if (!events) throw new Error("the session opened no connection");
  const { onFrame, onClose } = events;
  return { session, sent, asked, hear: onFrame, lose: (code: number, reason = "") => onClose(code, reason) };
}

const idOf = (frame: OutgoingFrame | undefined) => (frame?.type === "message" ? frame.id : "");

test("messages go one at a time, in the order in which they were written", () => {
  const { session, sent, hear } = start();
  session.write("one");
  session.write("two");
  expect(sent).toEqual([]);
  hear(ready([]));
  expect(sent).toMatchObject([{ type: "message", content: "one" }]);
  hear(stored(idOf(sent[0]), 1));
  expect(sent).toMatchObject([{ content: "one" }, { content: "two" }]);
});

test("what was not acknowledged is sent again on the next connection, under the same id", () => {
  const { session, sent, hear, lose } = start();
  hear(ready([]));
  session.write("one");
  lose(1006);
  expect(session.view.link).toBe("offline");
  hear(ready([]));
  expect(sent).toHaveLength(2);
  expect(idOf(sent[1])).toBe(idOf(sent[0]));
});

test("a short refusal is waited out in its place, a long one is told and lets the next go", () => {
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

test("a message that is not answered goes again on a new connection", () => {
  const { session, sent, hear, asked } = start();
  hear(ready([]));
  session.write("one");
  vi.advanceTimersByTime(15_000);
  expect(asked).toHaveLength(2);
  hear(ready([]));
  expect(sent.map(idOf)).toEqual([idOf(sent[0]), idOf(sent[0])]);
});

test("a device without a network is offline at once, and nothing is sent until it is back", () => {
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

test("a message at which the server hangs up is not sent for ever", () => {
  const { session, sent, hear, lose } = start();
  hear(ready([]));
  session.write("too large");
  lose(1009);
  expect(session.view.conversation.outbox[0]?.trouble?.code).toBe("too_long");
  hear(ready([]));
  expect(sent).toHaveLength(1);
});

test("a page too many says so until it has its place", () => {
  const { session, hear, lose } = start();
  lose(1013, "Too many open pages");
  expect(session.view.link).toBe("crowded");
  lose(1013, "Try again later");
  expect(session.view.link).toBe("offline");
  hear(ready([]));
  expect(session.view.link).toBe("online");
});

test("a refused identity ends the trying", () => {
  const { session, lose, asked } = start();
  lose(4401);
  session.wake();
  expect([session.view.link, asked.length]).toEqual([4401, 1]);
});

test("delivered is told at once, read only when the visitor sees it, and neither twice", () => {
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

test("a gap is filled by connecting again from the last message", () => {
  const { asked, hear } = start();
  hear(ready(messages(1, 100), 130));
  expect(asked).toEqual(["?after=0", "?after=99"]);
  hear(ready(messages(100, 130)));
  hear({ type: "message", message: outbound(133, "x") });
  expect(asked).toEqual(["?after=0", "?after=99", "?after=129"]);
});

test("a server that promises more than it gives is not asked for ever", () => {
  const { asked, hear } = start();
  hear(ready(messages(1, 3), 5));
  hear(ready([], 5));
  expect(asked).toEqual(["?after=0", "?after=2"]);
});

test("what a reloaded page had still to send is sent", () => {
  const own = { id: "storage", text: "before the reload", writtenAt: 0, afterSeq: 0, echo: null, seq: null };
  const { sent, hear } = start({ ...nothingKept, outbox: () => [{ ...own, tried: true, trouble: null }] });
  hear(ready([]));
  expect(sent).toEqual([{ type: "message", id: "storage", content: "before the reload" }]);
});

test("the past is asked for on the open connection, a page at a time", () => {
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

test("the past that is asked for offline comes with the next connection, or fails with it, or in ten seconds", () => {
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

test("what was seen of a chat that was erased makes nothing of its successor's seen", () => {
  const { session, hear } = start();
  session.setVisible(true);
  hear(ready(messages(1, 3)));
  session.setVisible(false);
  hear(ready([], 0));
  hear({ type: "message", message: outbound(1, "anew") });
  expect(session.view.unread).toBe(1);
});
