import { expect, test } from "vitest";
import { parseFrame } from "../../src/web/visitor/frames.ts";
import { inbound, outbound } from "./frames.ts";

const read = (frame: unknown) => parseFrame(JSON.stringify(frame));
const said = outbound(1, "Hello");

test.each([
  ["binary", new ArrayBuffer(2)],
  ["not text, but looks like a frame", ['{"type":"pong"}']],
  ["not JSON", "{"],
  ["null", "null"],
  ["a string", '"pong"'],
  ["a number", "5"],
  ["an array", "[]"],
  ["an object without a type", "{}"],
  ["an unknown type", '{"type":"dance"}'],
  ["a type that is not text", '{"type":5}'],
])("%s is not a frame", (_what, data) => {
  expect(parseFrame(data)).toBeNull();
});

test("a pong is parsed", () => {
  expect(read({ type: "pong", at: 5 })).toEqual({ type: "pong" });
});

test("the first frame has the chat, its newest messages and the newest seq", () => {
  const frame = {
    type: "ready",
    chatId: "cht_g0",
    messages: [said, inbound(2, "Hi")],
    lastSeq: 2,
    events: 7,
    features: ["choices"],
  };
  expect(read({ ...frame, hasMore: false })).toEqual(frame);
  expect(read({ type: "ready", chatId: null, messages: [], lastSeq: 0 })).toEqual({
    type: "ready",
    chatId: null,
    messages: [],
    lastSeq: 0,
    events: null,
    features: [],
  });
});

test("in a first frame without a newest seq, the last message is the newest", () => {
  expect(read({ type: "ready", chatId: 5, messages: [said, outbound(2, "Hi"), outbound(3, "Ho")] })).toMatchObject({
    chatId: null,
    lastSeq: 3,
  });
  expect(read({ type: "ready", messages: [], lastSeq: -1 })).toMatchObject({ lastSeq: 0 });
});

test("a first frame without a list of messages is invalid", () => {
  expect(read({ type: "ready", chatId: "cht_g0", messages: {}, lastSeq: 0 })).toBeNull();
  expect(read({ type: "ready", chatId: "cht_g0", lastSeq: 0 })).toBeNull();
});

test("of older messages, only valid ones are kept, and none without a list", () => {
  expect(read({ type: "older", messages: [said, { ...said, id: 5 }, null, "x"] })).toEqual({
    type: "older",
    messages: [said],
  });
  expect(read({ type: "older" })).toEqual({ type: "older", messages: [] });
  expect(read({ type: "older", messages: "none" })).toEqual({ type: "older", messages: [] });
});

test("a message is parsed with exactly the fields that the page shows", () => {
  expect(read({ type: "message", message: { ...said, senderId: "mbr_g0" } })).toEqual({
    type: "message",
    message: said,
  });
  const own = inbound(2, "Hi");
  expect(read({ type: "message", message: own })).toEqual({ type: "message", message: own });
});

test.each([
  ["that is absent", undefined],
  ["that is null", null],
  ["that is a text", "Hello"],
  ["without an id", { ...said, id: undefined }],
  ["whose seq is not an integer", { ...said, seq: 1.5 }],
  ["whose seq is negative", { ...said, seq: -1 }],
  ["whose seq is text", { ...said, seq: "1" }],
  ["with another direction", { ...said, direction: "SIDEWAYS" }],
  ["without content", { ...said, content: null }],
])("a message %s is invalid", (_what, message) => {
  expect(read({ type: "message", message })).toBeNull();
});

test("a message without a text shows its content, and a message without a link has none", () => {
  const { text: _, ...bare } = said;
  expect(read({ type: "message", message: { ...bare, mediaUrl: 5 } })).toEqual({ type: "message", message: said });
  expect(read({ type: "message", message: { ...said, mediaUrl: "https://a.example/b" } })).toMatchObject({
    message: { mediaUrl: "https://a.example/b" },
  });
  expect(read({ type: "message", message: { ...said, text: "" } })).toMatchObject({ message: { text: "" } });
});

test.each([undefined, 5, "yesterday"])("a message whose date is %s gets a valid date", (createdAt) => {
  expect(read({ type: "message", message: { ...said, createdAt } })).toMatchObject({
    message: { createdAt: "1970-01-01T00:00:00.000Z" },
  });
});

test("an acknowledgment has the message's two ids and its seq", () => {
  const frame = { type: "stored", id: "a", messageId: "msg_1", seq: 1 };
  expect(read(frame)).toEqual(frame);
  for (const broken of [{ id: 5 }, { messageId: null }, { seq: "1" }]) expect(read({ ...frame, ...broken })).toBeNull();
});

test("a status has a seq and a status", () => {
  const frame = { type: "status", seq: 0, status: "READ" };
  expect(read(frame)).toEqual(frame);
  for (const broken of [{ seq: -1 }, { seq: null }, { status: 5 }]) expect(read({ ...frame, ...broken })).toBeNull();
});

test("a refusal has a reason, and a wait if a retry can help", () => {
  const frame = { type: "refused", id: "a", code: "rate_limited", message: "Slowly", retryAfter: 0 };
  expect(read(frame)).toEqual(frame);
  for (const retryAfter of [null, "5", -1])
    expect(read({ ...frame, retryAfter })).toEqual({ ...frame, retryAfter: null });
  expect(read({ ...frame, message: 5 })).toEqual({ ...frame, message: "" });
  for (const broken of [{ id: 5 }, { code: null }]) expect(read({ ...frame, ...broken })).toBeNull();
});

test("what the server understands is a list of texts, whatever else it says", () => {
  expect(read({ type: "ready", messages: [], events: -1, features: ["typing", 5, null] })).toMatchObject({
    events: null,
    features: ["typing"],
  });
  expect(read({ type: "ready", messages: [], features: "typing" })).toMatchObject({ features: [] });
});

test("a changed message, a reset, the company's typing and reading are parsed", () => {
  expect(read({ type: "updated", message: said })).toEqual({ type: "updated", message: said });
  expect(read({ type: "updated", message: {} })).toBeNull();
  expect(read({ type: "reset", more: 1 })).toEqual({ type: "reset" });
  expect(read({ type: "typing", sender: { name: "Ana" } })).toEqual({ type: "typing", name: "Ana" });
  expect(read({ type: "typing", sender: null })).toEqual({ type: "typing", name: null });
  expect(read({ type: "typing", sender: { name: 5 } })).toEqual({ type: "typing", name: null });
  expect(read({ type: "read", seq: 3 })).toEqual({ type: "read", seq: 3 });
  expect(read({ type: "read", seq: "3" })).toBeNull();
});
