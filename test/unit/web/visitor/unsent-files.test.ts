import { expect, test } from "vitest";
import { unreadCount } from "../../../../src/web/visitor/acknowledgments.ts";
import {
  bodyOf,
  type Conversation,
  emptyConversation,
  isTapped,
  type OwnFile,
  type OwnMessage,
  reduce,
  sentContentOf,
  type Written,
} from "../../../../src/web/visitor/conversation.ts";
import { timelineOf } from "../../../../src/web/visitor/timeline.ts";
import { inbound, outbound, ready, stored } from "../../../page/frames.ts";

const WRITTEN = Date.UTC(2026, 10, 20, 9);
const picture: OwnFile = {
  name: "cat.png",
  kind: "picture",
  size: 7,
  width: 2,
  height: 3,
  url: "blob:cat",
  mediaId: null,
};
const choice = { id: "msg_1:0", title: "Refund", messageId: "msg_1" };

function write(state: Conversation, id: string, written: Partial<Written> = {}): Conversation {
  return reduce(state, { type: "write", id, text: "", at: WRITTEN, ...written });
}

function own(fields: Partial<OwnMessage> = {}): OwnMessage {
  const fresh = { writtenAt: WRITTEN, afterSeq: 0, tried: false, echo: null, seq: null, trouble: null };
  return { id: "a", text: "", ...fresh, ...fields };
}

test("a written message waits with all that was written, behind the newest message", () => {
  const here = reduce(emptyConversation(), { type: "frame", frame: ready([outbound(1, "Tea?")]) });
  const state = write(here, "a", { text: "Yes", file: picture, replyTo: "msg_1" });
  expect(state.outbox).toEqual([own({ text: "Yes", file: picture, replyTo: "msg_1", afterSeq: 1 })]);
});

test("an upload that ends names the file of its own message, and of no other", () => {
  const both = write(write(write(emptyConversation(), "a", { file: picture }), "b", { file: picture }), "c");
  const { outbox } = ["b", "c"].reduce((state, id) => reduce(state, { type: "uploaded", id, mediaId: "med_1" }), both);
  expect(outbox.map(({ file }) => file)).toEqual([picture, { ...picture, mediaId: "med_1" }, undefined]);
});

test("a message that is taken back is gone, and the others still wait", () => {
  const both = write(write(emptyConversation(), "a", { text: "A" }), "b", { text: "B" });
  expect(reduce(both, { type: "withdraw", id: "a" }).outbox.map(({ id }) => id)).toEqual(["b"]);
});

test("a file can be taken back until it is sent, and a text never", () => {
  const outbox = [
    own({ id: "a", file: picture }),
    own({ id: "b", file: picture, tried: true }),
    own({ id: "c", file: picture, seq: 4 }),
    own({ id: "d", text: "Hi" }),
    own({ id: "e", text: "Hi", tried: true, seq: 5 }),
  ];
  const lines = timelineOf(emptyConversation(outbox));
  expect(lines.map(({ withdrawable }) => withdrawable)).toEqual(["a", null, null, null, null]);
});

test.each<[string, Partial<OwnMessage>, string]>([
  ["a text is the text", { text: "Hi" }, "Hi"],
  ["a file with a caption is the caption", { text: "Look", file: { ...picture, mediaId: "med_1" } }, "Look"],
  ["a file without a caption is the server's id of the file", { file: { ...picture, mediaId: "med_1" } }, "med_1"],
  ["a file that is not uploaded is empty", { file: picture }, ""],
  ["nothing is empty", {}, ""],
])("the content of %s", (_, fields, content) => {
  expect(sentContentOf(own(fields))).toBe(content);
});

test("an unsent file is shown from this page, under its caption or its name", () => {
  const file = { ...picture, mediaId: "med_1" };
  const shown = { mediaUrl: "blob:cat", file };
  expect(bodyOf(own({ file }))).toEqual({ type: "IMAGE", content: "med_1", text: "cat.png", ...shown });
  expect(bodyOf(own({ file, text: "Look" }))).toEqual({ type: "IMAGE", content: "Look", text: "Look", ...shown });
  for (const kind of ["video", "audio", "other"] as const) {
    expect(bodyOf(own({ file: { ...file, kind } }))).toMatchObject({ type: "DOCUMENT" });
  }
});

test("an unsent message says what it answers, and a tap answers the message with the choices", () => {
  const text = { type: "TEXT", content: "Yes", text: "Yes", mediaUrl: null };
  expect(bodyOf(own({ text: "Yes" }))).toEqual(text);
  expect(Object.keys(bodyOf(own({ text: "Yes" })))).toEqual(Object.keys(text));
  expect(bodyOf(own({ text: "Yes", replyTo: "msg_2" }))).toEqual({ ...text, replyTo: "msg_2" });
  expect(bodyOf(own({ text: "Yes", choice, replyTo: "msg_2" }))).toEqual({ ...text, choice, replyTo: "msg_1" });
});

test("a stored file without a caption is the echo of the message that sent it", () => {
  const sent = reduce(write(emptyConversation(), "a", { file: { ...picture, mediaId: "med_1" } }), {
    type: "tried",
    id: "a",
  });
  const echoOf = (content: string) =>
    reduce(sent, { type: "frame", frame: { type: "message", message: inbound(1, content) } }).entries[0]?.key;
  expect([echoOf("med_1"), echoOf("med_2")]).toEqual(["a", "1"]);
});

test("after a reset, a message that seemed to be stored waits again", () => {
  const waiting = emptyConversation([own({ echo: 3, seq: 3 })]);
  const { outbox } = reduce(waiting, { type: "frame", frame: { type: "reset" } });
  expect(outbox).toEqual([own({ echo: null, seq: 3 })]);
});

test("an acknowledgment ahead of its turn ends the trouble of its message", () => {
  const trouble = { code: "lost", message: "No answer", retryAfter: null };
  const state = reduce(emptyConversation([own({ trouble })]), { type: "frame", frame: stored("a", 5) });
  expect(state.outbox).toEqual([own({ seq: 5 })]);
});

test("a page that has the first message has nothing to learn from an empty list of older ones", () => {
  const whole = reduce(emptyConversation(), { type: "frame", frame: ready([outbound(1, "a"), outbound(2, "b")]) });
  expect(reduce(whole, { type: "frame", frame: { type: "older", messages: [] } })).toBe(whole);
});

test("a choice is tapped as soon as the tap is written, and stays so when it is stored", () => {
  const asked = reduce(emptyConversation(), { type: "frame", frame: ready([outbound(1, "?")]) });
  expect(isTapped(asked, "msg_1")).toBe(false);
  const tapped = write(asked, "a", { text: "Refund", choice });
  const sent = reduce(tapped, { type: "frame", frame: stored("a", 2) });
  for (const state of [tapped, sent])
    expect([isTapped(state, "msg_1"), isTapped(state, "msg_2")]).toEqual([true, false]);
});

test("an unsent message that answers nothing quotes nothing", () => {
  expect(timelineOf(emptyConversation([own({ text: "Hi" })]))[0]?.quoted).toBeUndefined();
});

test("a reaction that is not confirmed is shown at its own message alone", () => {
  const here = reduce(emptyConversation(), { type: "frame", frame: ready([outbound(1, "a"), outbound(2, "b")]) });
  const lines = timelineOf(here, false, [{ seq: 2, emoji: "🎉" }]);
  expect(lines.map(({ message }) => message.reactions)).toEqual([undefined, [{ by: "contact", emoji: "🎉" }]]);
});

test("a message of the company that was refused is not unread", () => {
  const failed = { ...outbound(2, "b"), status: "FAILED" as const };
  const here = reduce(emptyConversation(), { type: "frame", frame: ready([outbound(1, "a"), failed]) });
  expect(unreadCount(here, 0)).toBe(1);
});
