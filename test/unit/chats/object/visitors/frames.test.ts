import { expect, test } from "vitest";
import {
  contentFault,
  detailsIn,
  emojiFault,
  featuresOf,
  MAX_FRAME,
  PING,
  PONG,
  readFrame,
  refusedFrame,
  sendFrame,
  storedFrame,
  unavailableFrame,
} from "../../../../../src/chats/object/visitors/frames.ts";

const message = (id: string, content = "Hi") => ({ type: "message" as const, id, content });

test.each([
  ["of 64 characters", "x".repeat(64), true],
  ["of 65 characters", "x".repeat(65), false],
  ["of no characters", "", false],
  ["with half a surrogate pair", "a\ud83d", false],
  ["with a surrogate pair", "a🦀", true],
])("a message frame with an id %s is accepted or invalid", (_what, id, isGood) => {
  expect(readFrame(JSON.stringify(message(id)))).toEqual(isGood ? message(id) : "invalid");
});

test("a frame is text of at most 16 KiB in UTF-8", () => {
  const frame = (bytes: number) => `"${"é".repeat((bytes - 2) / 2)}"`;
  expect(readFrame(frame(MAX_FRAME))).toBe("invalid");
  expect(readFrame(frame(MAX_FRAME + 2))).toBe("too_large");
  expect(readFrame("x".repeat(MAX_FRAME))).toBe("invalid");
  expect(readFrame("x".repeat(MAX_FRAME + 1))).toBe("too_large");
  expect(readFrame(new ArrayBuffer(MAX_FRAME))).toBe("invalid");
  expect(readFrame(new ArrayBuffer(MAX_FRAME + 1))).toBe("too_large");
  expect(readFrame(new TextEncoder().encode('{"type":"ping"}').buffer as ArrayBuffer)).toBe("invalid");
});

test("invalid content is refused with a message", () => {
  expect(contentFault(message("a", "x".repeat(4_096)))).toBeNull();
  for (const blank of [" \n", "\u200b\ufe0f"]) {
    expect(contentFault(message("a", blank))).toEqual({
      type: "refused",
      id: "a",
      code: "missing_field",
      message: "content is required",
      retryAfter: null,
    });
  }
  expect(contentFault(message("a", "x".repeat(4_097)))).toEqual({
    type: "refused",
    id: "a",
    code: "validation_failed",
    message: "content must have at most 4096 characters",
    retryAfter: null,
  });
});

test("a message answers with a choice or with a file, not with both", () => {
  expect(contentFault({ ...message("a"), choice: "msg_g1:0" })).toBeNull();
  expect(contentFault({ ...message("a"), mediaId: "med_g1" })).toBeNull();
  for (const content of ["Hi", ""]) {
    expect(contentFault({ ...message("a", content), choice: "msg_g1:0", mediaId: "med_g1" })).toEqual({
      type: "refused",
      id: "a",
      code: "validation_failed",
      message: "choice and mediaId can't be in one message",
      retryAfter: null,
    });
  }
});

const FEATURES = ["choices", "replies", "reactions", "typing", "contact"];

test.each([
  ["with a bucket, to a visitor who may", "cht_g0", true, { MEDIA: {} }, true],
  ["not to another visitor", "cht_g0", false, { MEDIA: {} }, false],
  ["not without a bucket", "cht_g0", true, {}, false],
  ["not with a bucket in another jurisdiction alone", "cht_e0", true, { MEDIA: {} }, false],
])("uploads are offered %s, and all else to everyone", (_what, chatId, hasUploads, env, isOffered) => {
  const features = featuresOf(env as unknown as Env, { chatId, hasUploads });
  expect(features).toEqual(isOffered ? [...FEATURES, "uploads"] : FEATURES);
});

test("the response to a stored message has the page's id of it, and ours", () => {
  expect(storedFrame("a", JSON.stringify({ id: "msg_g07", seq: 7, content: "Hi" }))).toEqual({
    type: "stored",
    id: "a",
    messageId: "msg_g07",
    seq: 7,
  });
});

test("after a failure here, a page may try again in five seconds", () => {
  expect(unavailableFrame("a")).toMatchObject({ id: "a", code: "unavailable", retryAfter: 5 });
});

test("a refusal has the text of its code by default", () => {
  expect(refusedFrame("a", "chat_full", null).message).toMatch("The chat's storage is full");
  expect(refusedFrame("a", "rate_limited", 3)).toMatchObject({ message: "Rate limit exceeded", retryAfter: 3 });
});

test("a ping and its response have exactly the text that the platform knows", () => {
  expect([PING, PONG]).toEqual(['{"type":"ping"}', '{"type":"pong"}']);
  expect(readFrame(PING)).toEqual({ type: "ping" });
});

test("a page says that its visitor is typing", () => {
  expect(readFrame('{"type":"typing"}')).toEqual({ type: "typing" });
});

test("older messages are requested by a number", () => {
  expect(readFrame('{"type":"older","before":7}')).toEqual({ type: "older", before: 7 });
});

test.each([
  "hello",
  "[1]",
  "null",
  '{"id":"a","content":"x"}',
  '{"type":"message","content":"x"}',
  '{"type":"message","id":"a","content":1}',
  '{"type":"message","id":"a","content":"x","choice":1}',
  '{"type":"message","id":"a","content":"x","replyTo":{}}',
  '{"type":"contact","name":1}',
  '{"type":"contact","email":["a@example.com"]}',
  '{"type":"read","seq":-1}',
  '{"type":"delivered","seq":1.5}',
  '{"type":"delivered","seq":"1"}',
  '{"type":"older","before":-1}',
  '{"type":"older"}',
])("%s is no frame", (text) => {
  expect(readFrame(text)).toBe("invalid");
});

test("a frame is sent to each open socket, even after a closed one", () => {
  const sent: string[] = [];
  const open = { send: (text: string) => sent.push(text) } as unknown as WebSocket;
  const closed = {
    send: () => {
      throw new TypeError("Can't call WebSocket send() after close().");
    },
  } as unknown as WebSocket;
  sendFrame([open, closed, open], { type: "pong" });
  expect(sent).toEqual(['{"type":"pong"}', '{"type":"pong"}']);
});

test("what is null in a message or a contact is absent", () => {
  expect(readFrame('{"type":"message","id":"a","content":"x","choice":null,"replyTo":null}')).toEqual(
    message("a", "x"),
  );
  expect(readFrame('{"type":"contact","name":null}')).toEqual({ type: "contact" });
});

test("half a character in what a visitor says of themselves is replaced", () => {
  expect(readFrame('{"type":"contact","name":"A\\ud800"}')).toEqual({ type: "contact", name: "A\ufffd" });
});

test("a reaction has one emoji or takes it back, and another text is refused", () => {
  for (const emoji of ["👍🏽", null]) expect(emojiFault({ emoji })).toBeNull();
  expect(emojiFault({ emoji: "👍👍" })).toEqual({
    type: "refused",
    id: "reaction",
    code: "validation_failed",
    message: "emoji must be one emoji",
    retryAfter: null,
  });
});

test.each([
  [{}, { name: null, email: null }],
  [{ name: "x".repeat(256) }, { name: "x".repeat(256), email: null }],
  [{ name: "\0Ana\r\n of\u009bAcme" }, { name: "Ana  of Acme", email: null }],
  [{ email: "ana@example.com" }, { name: null, email: "ana@example.com" }],
])("a contact of %j is one", (fields, details) => {
  expect(detailsIn({ name: undefined, email: undefined, ...fields })).toEqual(details);
});

test.each([
  [{ name: "x".repeat(257) }, "name must have 1 to 256 characters"],
  [{ name: " ", email: "nobody" }, "name must have 1 to 256 characters"],
  [{ name: "\u0007" }, "name must have 1 to 256 characters"],
  [{ name: "Ana", email: "nobody" }, "email must be an email address"],
  [{ email: "" }, "email must be an email address"],
  [{ email: `${"x".repeat(320)}@example.com` }, "email must be an email address"],
])("a contact of %j is refused", (fields, text) => {
  expect(detailsIn({ name: undefined, email: undefined, ...(fields as object) })).toEqual({
    type: "refused",
    id: "contact",
    code: "validation_failed",
    message: text,
    retryAfter: null,
  });
});
