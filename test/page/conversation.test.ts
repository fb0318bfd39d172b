import { expect, test } from "vitest";
import { deliveredUpTo, nextToSend, readUpTo, unreadCount } from "../../src/web/visitor/acknowledgments.ts";
import {
  type Action,
  type Conversation,
  emptyConversation,
  newestSeq,
  reduce,
  resumeAfter,
} from "../../src/web/visitor/conversation.ts";
import { timelineOf } from "../../src/web/visitor/timeline.ts";
import { inbound, messages, outbound, ready, stored } from "./frames.ts";

function after(...actions: Action[]): Conversation {
  return actions.reduce(reduce, emptyConversation());
}

const frame = (of: Extract<Action, { type: "frame" }>["frame"]): Action => ({ type: "frame", frame: of });
const write = (id: string, text: string): Action => ({ type: "write", id, text, at: Date.UTC(2026, 10, 20, 9) });
const tried = (id: string): Action => ({ type: "tried", id });
const texts = (state: Conversation) => timelineOf(state).map(({ message }) => message.text);

test("a message is shown immediately, and keeps its line when it is stored", () => {
  const sending = after(frame(ready([])), write("a", "hello"));
  expect(timelineOf(sending)).toMatchObject([{ key: "a", progress: "sending" }]);
  const sent = reduce(sending, frame(stored("a", 1)));
  expect(timelineOf(sent)).toMatchObject([{ key: "a", progress: "sent" }]);
  expect(sent.outbox).toEqual([]);
});

test("a repeated acknowledgment changes nothing", () => {
  const once = after(frame(ready([])), write("a", "hello"), frame(stored("a", 1)));
  expect(reduce(once, frame(stored("a", 1)))).toBe(once);
});

test("a message whose acknowledgment was lost is shown once after a reconnect", () => {
  const lost = after(frame(ready([])), write("a", "hello"), tried("a"), frame(ready([inbound(1, "hello")])));
  expect(timelineOf(lost)).toMatchObject([{ key: "a", progress: "sent" }]);
  expect(nextToSend(lost)?.id).toBe("a");
  const acknowledged = reduce(lost, frame(stored("a", 1)));
  expect(timelineOf(acknowledged)).toMatchObject([{ key: "a", progress: "sent" }]);
  expect(acknowledged.outbox).toEqual([]);
});

test("an equal message of another tab is not mistaken for this tab's", () => {
  const taken = after(
    frame(ready([])),
    write("a", "ok"),
    tried("a"),
    frame({ type: "message", message: inbound(1, "ok") }),
  );
  const both = reduce(taken, frame(stored("a", 2)));
  expect(texts(both)).toEqual(["ok", "ok"]);
  expect(new Set(timelineOf(both).map(({ key }) => key)).size).toBe(2);
});

test("a message that was never sent is not matched with a stored one", () => {
  const state = after(frame(ready([])), write("a", "ok"), frame({ type: "message", message: inbound(1, "ok") }));
  expect(texts(state)).toEqual(["ok", "ok"]);
});

test("an acknowledgment with missing messages before it requests them and keeps the order", () => {
  const state = after(frame(ready([])), write("a", "mine"), frame(stored("a", 2)));
  expect(state.caughtUp).toBe(false);
  expect(nextToSend(state)).toBeUndefined();
  const filled = reduce(state, frame(ready([outbound(1, "theirs"), inbound(2, "mine")])));
  expect(texts(filled)).toEqual(["theirs", "mine"]);
  expect(filled.outbox).toEqual([]);
  expect(timelineOf(filled)[1]?.key).toBe("a");
});

test("a message after a gap is not shown until the gap is filled", () => {
  const state = after(frame(ready(messages(1, 3))), frame({ type: "message", message: outbound(5, "later") }));
  expect(newestSeq(state)).toBe(3);
  expect(state.caughtUp).toBe(false);
  expect(resumeAfter(state)).toBe(2);
});

test("a known message that arrives again is updated in place", () => {
  const state = after(frame(ready(messages(1, 3))), frame({ type: "message", message: outbound(2, "") }));
  expect(texts(state)).toEqual(["text 1", "", "text 3"]);
  expect(texts(reduce(state, frame({ type: "message", message: outbound(3, "x") })))).toEqual(["text 1", "", "x"]);
});

test("after a reload, an equal message from before it was written is not its echo", () => {
  const [own] = after(frame(ready(messages(1, 3))), write("a", "ok"), tried("a")).outbox;
  const reloaded = reduce(emptyConversation(own ? [own] : []), frame(ready([outbound(1, "hi"), inbound(2, "ok")])));
  expect(texts(reloaded)).toEqual(["hi", "ok", "ok"]);
});

test("an acknowledged message before the newest page does not wait any longer", () => {
  const ahead = after(frame(ready([])), write("a", "mine"), frame(stored("a", 2)));
  const jumped = [frame(ready(messages(1, 100), 900)), frame(ready(messages(801, 900)))].reduce(reduce, ahead);
  expect(jumped.outbox).toEqual([]);
});

test("a short gap is loaded completely, and after a long one only the newest page", () => {
  const short = after(frame(ready(messages(1, 100), 150)));
  expect([newestSeq(short), resumeAfter(short), short.caughtUp]).toEqual([100, 99, false]);
  const long = after(frame(ready(messages(1, 100), 5_000)));
  expect([newestSeq(long), resumeAfter(long), long.caughtUp]).toEqual([0, 4_900, false]);
  const jumped = reduce(long, frame(ready(messages(4_901, 5_000))));
  expect([jumped.entries.length, resumeAfter(jumped), jumped.caughtUp]).toEqual([100, 4_999, true]);
});

test("after a long gap, the old messages are removed", () => {
  const away = after(frame(ready(messages(1, 10))), frame(ready(messages(11, 110), 900)));
  expect(resumeAfter(away)).toBe(800);
  const back = reduce(away, frame(ready(messages(801, 900))));
  expect(back.entries[0]?.message.seq).toBe(801);
});

test("older messages are added in front, unless they leave a gap", () => {
  const state = after(frame(ready(messages(1, 100), 5_000)), frame(ready(messages(4_901, 5_000))));
  const older = reduce(state, frame({ type: "older", messages: messages(4_801, 4_900) }));
  expect([older.entries.length, older.entries[0]?.message.seq]).toEqual([200, 4_801]);
  expect(reduce(state, frame({ type: "older", messages: messages(4_701, 4_800) }))).toBe(state);
});

test("an erased chat is removed, and unsent messages are kept", () => {
  const state = after(frame(ready(messages(1, 3))), write("a", "still here"));
  const erased = reduce(state, frame({ ...ready([]), chatId: null }));
  expect(texts(erased)).toEqual(["still here"]);
  expect(erased.caughtUp).toBe(true);
});

/** Messages of a chat that was created again. */
const anew = (from: number, to: number) =>
  messages(from, to).map((message) => ({ ...message, id: `${message.id}_anew`, text: `anew ${message.seq}` }));

test("a chat that was erased and created again is recognized by its newest message", () => {
  const here = after(frame(ready(messages(1, 3))), write("a", "still here"));
  expect(resumeAfter(here)).toBe(2);
  const gone = reduce(here, frame(ready(anew(3, 5))));
  expect([texts(gone), resumeAfter(gone), gone.caughtUp]).toEqual([["still here"], 0, false]);
  const there = reduce(gone, frame(ready(anew(1, 5))));
  expect(texts(there)).toEqual(["anew 1", "anew 2", "anew 3", "anew 4", "anew 5", "still here"]);
  expect(there.caughtUp).toBe(true);
});

test("a chat that was created again after its only message is shown with the frame that reveals it", () => {
  const own = after(frame(ready([])), write("a", "hello"), frame(stored("a", 1)));
  const there = reduce(own, frame(ready(anew(1, 2))));
  expect([texts(there), there.caughtUp]).toEqual([["anew 1", "anew 2"], true]);
});

test("a new connection repeats the newest message, which is shown once", () => {
  const here = after(frame(ready([])), write("a", "hello"), frame(stored("a", 1)));
  const again = reduce(here, frame(ready([inbound(1, "hello"), outbound(2, "hi")])));
  expect(texts(again)).toEqual(["hello", "hi"]);
  expect(timelineOf(again)[0]?.key).toBe("a");
});

test("a refused message keeps its text and reason, and is sent again with its id", () => {
  const refusal = { type: "refused", id: "a", code: "rate_limited", message: "Slow down", retryAfter: 60 } as const;
  const refused = after(frame(ready([])), write("a", "hello"), frame(refusal), write("b", "next"));
  expect(timelineOf(refused)[0]).toMatchObject({ progress: "notSent", message: { text: "hello" } });
  expect(nextToSend(refused)?.id).toBe("b");
  expect(nextToSend(reduce(refused, { type: "again", id: "a" }))?.id).toBe("a");
});

test("after a final state, waiting messages are not sent and can't be sent again", () => {
  const refusal = { type: "refused", id: "a", code: "rate_limited", message: "", retryAfter: 60 } as const;
  const state = after(frame(ready([])), write("a", "one"), frame(refusal), write("b", "two"));
  expect(timelineOf(state, true).map(({ progress, refused }) => [progress, refused])).toEqual([
    ["notSent", null],
    ["notSent", null],
  ]);
});

test("a refused message is not matched with an equal stored one", () => {
  const refusal = { type: "refused", id: "a", code: "rate_limited", message: "", retryAfter: 60 } as const;
  const state = after(frame(ready([])), write("a", "ok"), tried("a"), frame(refusal), frame(ready([inbound(1, "ok")])));
  expect(timelineOf(state)).toHaveLength(2);
});

test("only the company's messages are acknowledged, up to the newest", () => {
  const state = after(frame(ready([outbound(1, "x"), inbound(2, "y"), outbound(3, "z"), inbound(4, "w")])));
  expect([deliveredUpTo(state), readUpTo(state), unreadCount(state, 0), unreadCount(state, 1)]).toEqual([3, 3, 2, 1]);
  const delivered = reduce(state, frame({ type: "status", seq: 3, status: "DELIVERED" }));
  expect([deliveredUpTo(delivered), readUpTo(delivered)]).toEqual([0, 3]);
  const read = reduce(delivered, frame({ type: "status", seq: 3, status: "READ" }));
  expect(readUpTo(read)).toBe(0);
});

test("the visitor's own message shows its status", () => {
  const state = after(frame(ready([inbound(1, "x")])), frame({ type: "status", seq: 1, status: "READ" }));
  expect(timelineOf(state)[0]?.progress).toBe("read");
});
