import { expect, test } from "vitest";
import { deliveredUpTo, nextToSend, readUpTo, unreadCount } from "../../src/web/visitor/acknowledgments.ts";
import { type Conversation, emptyConversation, type OwnMessage } from "../../src/web/visitor/conversation.ts";
import type { ChatMessage } from "../../src/web/visitor/frames.ts";
import { timelineOf } from "../../src/web/visitor/timeline.ts";
import { inbound, outbound } from "./frames.ts";

const NOON = new Date(2026, 10, 20, 12).getTime();
const MINUTE = 60_000;
const TROUBLE = { code: "chat_full", message: "Full", retryAfter: null };

/** A conversation with stored and waiting messages. */
function conversation(messages: ChatMessage[], outbox: OwnMessage[] = []): Conversation {
  const entries = messages.map((message) => ({ key: `k${message.seq}`, message }));
  return { ...emptyConversation(outbox), entries };
}

function own(id: string, fields: Partial<OwnMessage> = {}): OwnMessage {
  const fresh = { afterSeq: 0, tried: false, echo: null, seq: null, trouble: null };
  return { id, text: `text ${id}`, writtenAt: NOON, ...fresh, ...fields };
}

const at = (message: ChatMessage, time: number): ChatMessage => ({
  ...message,
  createdAt: new Date(time).toISOString(),
});

test("a stored message is a line with its shown fields", () => {
  const [line] = timelineOf(conversation([at(outbound(1, "Hello"), NOON)]));
  expect(line).toMatchObject({ key: "k1", at: NOON, own: false, progress: null, refused: null, latest: false });
  expect(line?.message.text).toBe("Hello");
});

test.each([
  ["RECEIVED", "sent"],
  ["SENT", "sent"],
  ["DELIVERED", "delivered"],
  ["READ", "read"],
  ["FAILED", "notSent"],
] as const)("a visitor's message that is %s is shown as %s", (status, progress) => {
  expect(timelineOf(conversation([{ ...inbound(1, "Hi"), status }]))[0]?.progress).toBe(progress);
});

test("another person of the company begins a run of their own", () => {
  const from = (seq: number, sender?: string) => ({ ...at(outbound(seq, "Hello"), NOON), sender });
  const lines = timelineOf(conversation([from(1, "Ada"), from(2, "Ada"), from(3, "Bo"), from(4)]));
  expect(lines.map(({ first }) => first)).toEqual([true, false, true, true]);
});

test("waiting messages are shown after stored ones, with their progress", () => {
  const refused = own("c", { trouble: TROUBLE });
  const outbox = [own("a"), own("b", { seq: 3 }), refused, own("d", { echo: 1 })];
  const lines = timelineOf(conversation([inbound(1, "text d")], outbox));
  expect(lines.map(({ key, progress }) => [key, progress])).toEqual([
    ["k1", "sent"],
    ["a", "sending"],
    ["b", "sent"],
    ["c", "notSent"],
  ]);
  expect(lines.map((line) => line.refused)).toEqual([null, null, null, refused]);
  expect(lines[1]).toMatchObject({ at: NOON, own: true, message: { type: "TEXT", text: "text a", mediaUrl: null } });
});

test("after a final state nothing is being sent, and nothing can be sent again", () => {
  const lines = timelineOf(conversation([], [own("a"), own("b", { seq: 1 }), own("c", { trouble: TROUBLE })]), true);
  expect(lines.map(({ progress, refused }) => [progress, refused])).toEqual([
    ["notSent", null],
    ["sent", null],
    ["notSent", null],
  ]);
});

test("a group of messages ends with its author, after five minutes, with the day, and after a refused message", () => {
  const lines = timelineOf(
    conversation([
      at(outbound(1, "a"), NOON),
      at(outbound(2, "b"), NOON + 5 * MINUTE - 1),
      at(outbound(3, "c"), NOON + 10 * MINUTE - 1),
      at(inbound(4, "d"), NOON + 10 * MINUTE),
    ]),
  );
  expect(lines.map(({ first, last }) => [first, last])).toEqual([
    [true, false],
    [false, true],
    [true, true],
    [true, true],
  ]);
  const midnight = new Date(2026, 10, 21).getTime();
  const [evening, morning] = timelineOf(
    conversation([at(outbound(1, "a"), midnight - MINUTE), at(outbound(2, "b"), midnight)]),
  );
  expect([evening?.newDay, evening?.last, morning?.newDay, morning?.first]).toEqual([true, true, true, true]);
  const [refused, next] = timelineOf(conversation([], [own("a", { trouble: TROUBLE }), own("b")]));
  expect([refused?.last, next?.newDay, next?.first]).toEqual([true, false, true]);
});

test("the progress of the visitor's newest message is shown as text", () => {
  const lines = timelineOf(conversation([inbound(1, "a"), inbound(2, "b"), outbound(3, "c")]));
  expect(lines.map(({ latest }) => latest)).toEqual([false, true, false]);
  expect(timelineOf(conversation([outbound(1, "a")]))[0]?.latest).toBe(false);
  expect(timelineOf(conversation([]))).toEqual([]);
});

test("acknowledgments cover the company's messages that the server does not know about yet", () => {
  const with_ = (...statuses: ChatMessage["status"][]) =>
    conversation(statuses.map((status, index) => ({ ...outbound(index + 1, "x"), status })));
  expect([deliveredUpTo(with_("SENT", "SENT")), readUpTo(with_("SENT", "SENT"))]).toEqual([2, 2]);
  expect([deliveredUpTo(with_("SENT", "DELIVERED")), readUpTo(with_("SENT", "DELIVERED"))]).toEqual([0, 2]);
  expect([deliveredUpTo(with_("SENT", "READ")), readUpTo(with_("SENT", "READ"))]).toEqual([0, 0]);
  expect([deliveredUpTo(with_("SENT", "FAILED")), readUpTo(with_("SENT", "FAILED"))]).toEqual([1, 1]);
  expect([deliveredUpTo(with_("FAILED")), readUpTo(with_("FAILED"))]).toEqual([0, 0]);
  expect(readUpTo(conversation([inbound(1, "Hi")]))).toBe(0);
});

test("the unread messages are the company's after the last seen one", () => {
  const all = conversation([
    outbound(1, "a"),
    outbound(2, "b"),
    { ...outbound(3, "c"), status: "READ" },
    inbound(4, "d"),
  ]);
  expect([unreadCount(all, 0), unreadCount(all, 1), unreadCount(all, 2)]).toEqual([2, 1, 0]);
});

test("the next message to send is the first that is neither stored nor refused", () => {
  const outbox = [own("a", { seq: 1 }), own("b", { trouble: TROUBLE }), own("c"), own("d")];
  expect(nextToSend(conversation([], outbox))?.id).toBe("c");
  expect(nextToSend(conversation([], outbox.slice(0, 2)))).toBeUndefined();
});

test("the newest stored message keeps its status text while a later one waits or was refused", () => {
  const stored = [at(inbound(1, "a"), NOON)];
  for (const waiting of [own("b"), own("b", { trouble: TROUBLE })]) {
    expect(timelineOf(conversation(stored, [waiting])).map(({ latest }) => latest)).toEqual([true, false]);
  }
});

test("each message in a group shows its time, unless the next one has the same", () => {
  const times = [NOON, NOON + 20_000, NOON + MINUTE, NOON + 4 * MINUTE, NOON + 4 * MINUTE + 1];
  const lines = timelineOf(conversation(times.map((time, n) => at(inbound(n + 1, "x"), time))));
  expect(lines.map(({ first }) => first)).toEqual([true, false, false, false, false]);
  expect(lines.map(({ timed }) => timed)).toEqual([false, true, true, false, true]);
});

test("a reply has the message that it answers, or null if the page has not loaded it", () => {
  const first = outbound(1, "Hello");
  const lines = timelineOf(
    conversation([first, { ...inbound(2, "Hi"), replyTo: "msg_1" }, { ...inbound(3, "Ho"), replyTo: "msg_0" }]),
  );
  expect(lines.map(({ quoted }) => quoted)).toEqual([undefined, first, null]);
});

test("a message whose choice was tapped says which, also before the tap is sent", () => {
  const choice = { id: "msg_1:0", title: "Refund", messageId: "msg_1" };
  const tapped = (messages: ChatMessage[], outbox: OwnMessage[] = []) =>
    timelineOf(conversation(messages, outbox)).map((line) => [line.tapped, line.quoted]);
  const tap = { ...inbound(2, "Refund"), choice, replyTo: "msg_1" };
  expect(tapped([outbound(1, "?"), tap])).toEqual([
    ["Refund", undefined],
    [null, undefined],
  ]);
  expect(tapped([outbound(1, "?")], [own("a", { choice })])[0]).toEqual(["Refund", undefined]);
  expect(tapped([outbound(1, "?")])).toEqual([[null, undefined]]);
});

test("a visitor's message that the company has read says so", () => {
  const lines = timelineOf({ ...conversation([inbound(1, "a"), inbound(2, "b")]), companyRead: 1 });
  expect(lines.map(({ progress }) => progress)).toEqual(["read", "sent"]);
});

test("a reaction that is not confirmed is shown in place of the former one", () => {
  const reactions = [
    { by: "organization" as const, emoji: "👍" },
    { by: "contact" as const, emoji: "😢" },
  ];
  const shown = (emoji: string | null) => {
    const lines = timelineOf(conversation([{ ...outbound(1, "Hello"), reactions }]), false, [
      { seq: 1, emoji: "😮" },
      { seq: 1, emoji },
    ]);
    return lines[0]?.message.reactions?.map((one) => one.emoji);
  };
  expect(shown("🙏")).toEqual(["👍", "🙏"]);
  expect(shown(null)).toEqual(["👍"]);
});

test("an unsent reply shows what it answers", () => {
  const replyTo = outbound(1, "Tea?").id;
  const lines = timelineOf(conversation([outbound(1, "Tea?")], [own("a", { replyTo }), own("b", { replyTo: "?" })]));
  expect(lines.map(({ quoted }) => quoted?.text ?? quoted)).toEqual([undefined, "Tea?", null]);
});
