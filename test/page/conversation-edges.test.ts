import { expect, test } from "vitest";
import {
  type Action,
  type Conversation,
  emptyConversation,
  hasEarlier,
  reduce,
  resumeAfter,
} from "../../src/web/visitor/conversation.ts";
import type { ChatMessage } from "../../src/web/visitor/frames.ts";
import { inbound, messages, outbound, ready, stored } from "./frames.ts";

type Frame = Extract<Action, { type: "frame" }>["frame"];

const frames = (state: Conversation, ...all: Frame[]) =>
  all.reduce((each, frame) => reduce(each, { type: "frame", frame }), state);
const open = (last: number) => frames(emptyConversation(), ready(messages(1, last)));
const write = (state: Conversation, id: string, text: string, tried = true) => {
  const written = reduce(state, { type: "write", id, text, at: Date.UTC(2026, 10, 20, 12) });
  return tried ? reduce(written, { type: "tried", id }) : written;
};
const seqs = ({ entries }: Conversation) => entries.map(({ message }) => message.seq);
const waits = ({ outbox }: Conversation) => outbox.map(({ id }) => id);

test("an empty conversation requests everything", () => {
  expect(emptyConversation()).toEqual({
    chatId: null,
    entries: [],
    outbox: [],
    oldest: 1,
    caughtUp: false,
    skipTo: null,
    companyRead: 0,
  });
  expect(resumeAfter(emptyConversation())).toBe(0);
});

test("a pong changes nothing", () => {
  const state = open(2);
  expect(frames(state, { type: "pong" })).toBe(state);
});

test("an error of the page itself belongs to one message, until it is sent again", () => {
  const trouble = { code: "lost", message: "No answer", retryAfter: null };
  const state = reduce(write(write(open(1), "a", "A"), "b", "B"), { type: "trouble", id: "b", trouble });
  expect(state.outbox.map((own) => own.trouble)).toEqual([null, trouble]);
  expect(reduce(state, { type: "again", id: "b" }).outbox.map((own) => own.trouble)).toEqual([null, null]);
});

test("a refusal has its code, its text and its wait", () => {
  const refused = { type: "refused", id: "a", code: "rate_limited", message: "Slowly", retryAfter: 3 } as const;
  expect(frames(write(open(1), "a", "A"), refused).outbox[0]?.trouble).toEqual({
    code: "rate_limited",
    message: "Slowly",
    retryAfter: 3,
  });
});

test("older messages that are already shown are ignored", () => {
  const state = frames(emptyConversation(), ready(messages(4, 6)));
  expect(seqs(frames(state, { type: "older", messages: messages(2, 5) }))).toEqual([2, 3, 4, 5, 6]);
  const nothing = frames(emptyConversation(), ready([]));
  for (const older of [[], messages(1, 2)]) {
    expect(frames(nothing, { type: "older", messages: older })).toBe(nothing);
  }
});

test("earlier messages are offered until the server has none, because they were deleted", () => {
  const state = frames(emptyConversation(), ready(messages(4, 6)));
  expect(hasEarlier(state)).toBe(true);
  const walked = frames(state, { type: "older", messages: messages(2, 3) });
  expect(hasEarlier(walked)).toBe(true);
  const ended = frames(walked, { type: "older", messages: [] });
  expect([hasEarlier(ended), seqs(ended)]).toEqual([false, [2, 3, 4, 5, 6]]);
  expect(hasEarlier(open(3))).toBe(false);
  expect(hasEarlier(emptyConversation())).toBe(false);
});

test("a page whose messages were all deleted in the meantime shows none, and then the next message", () => {
  const emptied = frames(open(3), ready([], 0));
  expect([seqs(emptied), emptied.caughtUp]).toEqual([[], true]);
  const message = messages(4, 4);
  const behind = frames(emptied, { type: "message", message: message[0] as ChatMessage });
  expect(behind.caughtUp).toBe(false);
  const caughtUp = frames(behind, ready(message, 4));
  expect([seqs(caughtUp), caughtUp.caughtUp]).toEqual([[4], true]);
});

test("a gap of a hundred messages is loaded completely, and a longer one is skipped", () => {
  const walked = frames(open(1), ready(messages(1, 101), 201));
  expect([walked.entries.length, walked.skipTo, walked.caughtUp]).toEqual([101, null, false]);
  const jumped = frames(open(1), ready(messages(1, 101), 202));
  expect([jumped.entries.length, jumped.skipTo]).toEqual([1, 102]);
});

test("a page that starts right after the newest message is appended", () => {
  expect(seqs(frames(open(2), ready(messages(3, 4))))).toEqual([1, 2, 3, 4]);
});

test("a page with a gap is shown up to the gap", () => {
  const state = frames(emptyConversation(), ready([outbound(5, "a"), outbound(7, "b")]));
  expect([seqs(state), state.caughtUp]).toEqual([[5], false]);
});

test("a message on an empty page is the first one, or leaves a gap", () => {
  const nothing = frames(emptyConversation(), ready([]));
  expect(seqs(frames(nothing, { type: "message", message: outbound(1, "a") }))).toEqual([1]);
  const gap = frames(nothing, { type: "message", message: outbound(2, "b") });
  expect([seqs(gap), gap.caughtUp]).toEqual([[], false]);
});

test("an acknowledged message waits for the ones before it, even if a connection brings only some of them", () => {
  const ahead = frames(write(open(1), "a", "A"), stored("a", 5));
  expect([waits(ahead), ahead.caughtUp]).toEqual([["a"], false]);
  const some = frames(ahead, ready(messages(1, 3), 5));
  expect([waits(some), seqs(some)]).toEqual([["a"], [1, 2, 3]]);
  const all = frames(
    some,
    { type: "message", message: outbound(4, "x") },
    { type: "message", message: inbound(5, "A") },
  );
  expect([waits(all), all.entries.at(-1)?.key]).toEqual([[], "a"]);
});

test("another chat with as many messages replaces the one on the page", () => {
  const state = frames(write(open(2), "a", "A"), { ...ready([], 5), chatId: "cht_g1" });
  expect([state.chatId, seqs(state), waits(state)]).toEqual(["cht_g1", [], ["a"]]);
  expect(state.outbox[0]).toMatchObject({ afterSeq: 0, echo: null, seq: null });
});

test("a chat with fewer messages is another chat, and one with as many is not", () => {
  expect(seqs(frames(open(3), ready([], 2)))).toEqual([]);
  expect(seqs(frames(open(3), ready([], 3)))).toEqual([1, 2, 3]);
});

test("a message of the company is not an echo, and neither is another text", () => {
  const state = write(open(1), "a", "A");
  const keys = (message: ReturnType<typeof inbound>) => {
    const { entries, outbox } = frames(state, { type: "message", message });
    return [entries.at(-1)?.key, outbox[0]?.echo];
  };
  expect(keys(inbound(2, "A"))).toEqual(["a", 2]);
  expect(keys(outbound(2, "A"))).toEqual(["2", null]);
  expect(keys(inbound(2, "B"))).toEqual(["2", null]);
});

test("a message matches one echo, and none after its acknowledgment", () => {
  const state = write(open(1), "a", "A");
  const echoes = (from: Conversation, ...seq: number[]) =>
    frames(from, ...seq.map((each) => ({ type: "message", message: inbound(each, "A") }) as const)).entries.map(
      ({ key }) => key,
    );
  expect(echoes(state, 2, 3)).toEqual(["1", "a", "3"]);
  expect(echoes(frames(state, stored("a", 4)), 2)).toEqual(["1", "2"]);
});

test("after a reload, an equal message that was the newest when this one was written is not its echo", () => {
  const [own] = write(frames(emptyConversation(), ready([inbound(1, "A")])), "a", "A").outbox;
  const again = frames(emptyConversation(own ? [own] : []), ready([inbound(1, "A")]));
  expect([again.entries[0]?.key, waits(again)]).toEqual(["1", ["a"]]);
});

test("an acknowledgment belongs to the message with its id, which is shown as the server stored it", () => {
  const state = frames(write(write(open(1), "a", "A"), "b", "B"), stored("b", 2));
  expect(waits(state)).toEqual(["a"]);
  expect(state.entries.at(-1)).toEqual({
    key: "b",
    message: {
      id: "msg_2",
      seq: 2,
      direction: "INBOUND",
      type: "TEXT",
      content: "B",
      text: "B",
      mediaUrl: null,
      status: "RECEIVED",
      createdAt: "2026-11-20T12:00:00.000Z",
    },
  });
  expect(frames(state, stored("c", 3))).toBe(state);
});

test("a status of an unknown message changes nothing", () => {
  const status = (seq: number) => ({ type: "status", seq, status: "READ" }) as const;
  const state = frames(emptyConversation(), ready(messages(4, 5)));
  for (const seq of [3, 6]) expect(frames(state, status(seq))).toBe(state);
  const nothing = emptyConversation();
  expect(frames(nothing, status(1))).toBe(nothing);
  expect(frames(state, status(5)).entries.map(({ message }) => message.status)).toEqual(["SENT", "READ"]);
});

test("a changed message replaces the one that is shown, and no other", () => {
  const state = open(2);
  const changed = { ...outbound(1, "edited"), isEdited: true };
  const after = frames(state, { type: "updated", message: changed });
  expect(after.entries[0]).toEqual({ ...state.entries[0], message: changed });
  expect(after.entries[1]).toBe(state.entries[1]);
  // Of a chat that was deleted, and of one that is not loaded.
  expect(seqs(frames(state, { type: "updated", message: outbound(3, "new") }))).toEqual([1, 2]);
  const other = { ...outbound(1, "another chat's"), id: "msg_other" };
  expect(frames(state, { type: "updated", message: other }).entries[0]?.message.text).toBe(
    state.entries[0]?.message.text,
  );
});

test("after a reset the page has the newest messages alone, and what was not sent yet", () => {
  const state = reduce(open(2), { type: "write", id: "a", text: "wait", at: 0 });
  const forgotten = frames(state, { type: "reset" });
  expect([seqs(forgotten), waits(forgotten), forgotten.chatId]).toEqual([[], ["a"], state.chatId]);
  const after = frames(forgotten, ready(messages(201, 300)));
  expect([seqs(after)[0], seqs(after).length, waits(after), after.caughtUp]).toEqual([201, 100, ["a"], true]);
  expect(hasEarlier(after)).toBe(true);
});

test("what the company has read goes forward alone", () => {
  const state = frames(open(2), { type: "read", seq: 2 }, { type: "read", seq: 1 });
  expect(state.companyRead).toBe(2);
  expect(frames(state, { type: "typing", name: "Ana" })).toBe(state);
});

test("a tap stays what it is when it is stored", () => {
  const choice = { id: "msg_1:0", title: "Refund", messageId: "msg_1" };
  const state = reduce(open(1), { type: "write", id: "a", text: "Refund", choice, at: 0 });
  expect(state.outbox[0]?.choice).toEqual(choice);
  const { message } = frames(state, stored("a", 2)).entries[1] ?? {};
  expect(message).toMatchObject({ text: "Refund", replyTo: "msg_1", choice: { title: "Refund", messageId: "msg_1" } });
});
