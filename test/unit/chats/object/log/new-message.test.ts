import { expect, test } from "vitest";
import { replay } from "../../../../../src/chats/object/idempotent-replay.ts";
import {
  awayMessage,
  echoedMessage,
  inboundMessage,
  nextPosition,
  outboundMessage,
  placedMessage,
  scheduledMessage,
} from "../../../../../src/chats/object/log/new-message.ts";
import { redacted } from "../../../../../src/chats/object/log/redaction.ts";
import type { InboundDraft } from "../../../../../src/model/chat-answers.ts";
import { draft, identity } from "../../../../support/drafts.ts";

const PLACE = { chatId: "cht_g0", seq: 7, at: "2026-11-20T12:00:00.000Z" };
const PREPARED = { outcome: "prepared", senderId: "mbr_g0", text: "Your order 7", template: null } as const;
const DRAFT = draft("Order {{n}}", {
  id: "msg_g0",
  type: "TEMPLATE",
  mediaUrl: "https://media.test/a",
  templateId: "tpl_g0",
  variables: { n: 7 },
  metadata: { ticket: "1" },
});

test("an outbound message is stored with the request's fields, and is QUEUED", () => {
  expect(outboundMessage(DRAFT, PREPARED, PLACE, true)).toStrictEqual({
    id: "msg_g07",
    chatId: "cht_g0",
    seq: 7,
    direction: "OUTBOUND",
    type: "TEMPLATE",
    content: "Order {{n}}",
    mediaUrl: "https://media.test/a",
    senderId: "mbr_g0",
    templateId: "tpl_g0",
    variables: { n: 7 },
    text: "Your order 7",
    status: "QUEUED",
    error: null,
    metadata: { ticket: "1" },
    createdAt: PLACE.at,
    updatedAt: PLACE.at,
  });
});

const FILE = {
  ...{ fileId: "med_g1", contentType: "image/png", size: 9, fileName: "a.png" },
  ...{ width: 2, height: 3 },
};

test("an outbound message with a file says what it is, and has the address of its own media", () => {
  const message = outboundMessage({ ...DRAFT, media: FILE, origin: "https://parley.test" }, PREPARED, PLACE, true);
  expect(message).toMatchObject({
    mediaUrl: "https://parley.test/api/v1/chats/cht_g0/messages/msg_g07/media",
    media: { contentType: "image/png", size: 9, fileName: "a.png", width: 2, height: 3 },
  });
  const waiting = scheduledMessage({ ...DRAFT, media: FILE, origin: "https://parley.test" }, PREPARED, PLACE);
  expect(waiting.mediaUrl).toBe("https://parley.test/api/v1/chats/cht_g0/messages/msg_g0/media");
  expect(scheduledMessage({ ...DRAFT, media: null }, PREPARED, PLACE)).toEqual(
    scheduledMessage(DRAFT, PREPARED, PLACE),
  );
});

test("an outbound message shows its sender's name, if the sender has one", () => {
  const sent = (senderName?: string) => outboundMessage(DRAFT, { ...PREPARED, senderName }, PLACE, true);
  expect(sent("Ada").sender).toEqual({ name: "Ada" });
  expect(sent()).not.toHaveProperty("sender");
});

test("a web message is SENT when it is stored", () => {
  expect(outboundMessage(DRAFT, PREPARED, PLACE, false)).toMatchObject({ status: "SENT", sentAt: PLACE.at });
});

test.each([
  ["the time", 3_000, 2_000, 1_000],
  ["the previous message's time, if the clock is behind it", 2_000, 3_000, 1_000],
  ["the chat's, if the clock is behind its creation", 1_000, 0, 3_000],
])("the next message's time is %s", (_what, now, at, createdAt) => {
  const chat = identity({ chatId: "cht_g0", organizationId: "org_g0", channelId: "chn_g0" }, { createdAt });
  expect(nextPosition({ seq: 6, at }, chat, now)).toEqual({
    chatId: "cht_g0",
    seq: 7,
    at: "1970-01-01T00:00:03.000Z",
  });
});

test("a message for later has no place, its times, and the message that it repeats", () => {
  const times = { scheduledAt: 1_000, expiresAt: 2_000, resendOf: "msg_g01" };
  expect(scheduledMessage({ ...DRAFT, ...times }, PREPARED, PLACE)).toMatchObject({
    id: "msg_g0",
    seq: null,
    status: "SCHEDULED",
    createdAt: PLACE.at,
    scheduledAt: "1970-01-01T00:00:01.000Z",
    expiresAt: "1970-01-01T00:00:02.000Z",
    resendOf: "msg_g01",
  });
});

test.each([
  ["then, if it is later than the last change", "2026-11-20T11:00:00.000Z", PLACE.at],
  ["at its last change, if the clock was set back", "2026-11-20T13:00:00.000Z", "2026-11-20T13:00:00.000Z"],
])("a message that takes its place was created %s", (_what, at, created) => {
  const waiting = scheduledMessage(DRAFT, PREPARED, { chatId: "cht_g0", at });
  expect(placedMessage(waiting, PLACE, false)).toEqual({
    ...waiting,
    seq: 7,
    status: "SENT",
    createdAt: created,
    updatedAt: created,
    sentAt: created,
  });
});

test("an inbound message is stored as it arrived", () => {
  const came: InboundDraft = {
    id: "msg_g1",
    dedupe: "wamid.1",
    type: "IMAGE",
    content: "Look",
    media: { id: "7", contentType: null, fileName: null },
    origin: "https://parley.test",
    addresses: ["2"],
  };
  expect(inboundMessage(came, {}, PLACE)).toEqual({
    id: "msg_g17",
    chatId: "cht_g0",
    seq: 7,
    direction: "INBOUND",
    type: "IMAGE",
    content: "Look",
    mediaUrl: "https://parley.test/api/v1/chats/cht_g0/messages/msg_g17/media",
    senderId: null,
    templateId: null,
    variables: null,
    text: "Look",
    status: "RECEIVED",
    error: null,
    metadata: {},
    createdAt: PLACE.at,
    updatedAt: PLACE.at,
    media: { contentType: "application/octet-stream" },
  });
});

test("an inbound message says of its media what the network told, and sides only together", () => {
  const media = { id: "7", contentType: "image/png", fileName: "a.png", size: 0, width: 2 };
  const came: InboundDraft = {
    ...{ id: "msg_g1", dedupe: "wamid.1", type: "IMAGE", content: "", media, origin: null, addresses: [] },
  };
  const shown = (more: object) => inboundMessage({ ...came, media: { ...media, ...more } }, {}, PLACE).media;
  expect(shown({})).toEqual({ contentType: "image/png", size: 0, fileName: "a.png" });
  expect(shown({ height: 3 })).toEqual({ contentType: "image/png", size: 0, fileName: "a.png", width: 2, height: 3 });
  expect(shown({ width: undefined, height: 3 })).not.toHaveProperty("height");
  expect(shown({ size: undefined })).not.toHaveProperty("size");
});

test("the address of media is a path while the service's own is not known", () => {
  const media = { id: "7", contentType: null, fileName: null };
  const came = { id: "msg_g1", type: "IMAGE", content: "", media, origin: null } as const;
  expect(inboundMessage(came, {}, PLACE).mediaUrl).toBe("/api/v1/chats/cht_g0/messages/msg_g17/media");
});

test("a message that the company wrote elsewhere is SENT, and says where it was written", () => {
  const came = { id: "msg_g1", dedupe: "wamid.1", type: "TEXT", content: "Hi", media: null, addresses: [] } as const;
  const echo = echoedMessage({ ...came, addresses: [], origin: null, writtenIn: "app" }, { replyTo: "msg_g01" }, PLACE);
  expect(echo).toStrictEqual({
    ...inboundMessage({ ...came, origin: null }, { replyTo: "msg_g01" }, PLACE),
    direction: "OUTBOUND",
    status: "SENT",
    sentAt: PLACE.at,
    origin: "app",
  });
});

test("what the channel answers outside of its hours is an outbound text, which a network delivers", () => {
  const away = awayMessage("msg_g1", "Back at nine", PLACE, true);
  expect(away).toStrictEqual({
    id: "msg_g17",
    chatId: "cht_g0",
    seq: 7,
    direction: "OUTBOUND",
    type: "TEXT",
    content: "Back at nine",
    mediaUrl: null,
    senderId: null,
    templateId: null,
    variables: null,
    text: "Back at nine",
    status: "QUEUED",
    error: null,
    metadata: {},
    createdAt: PLACE.at,
    updatedAt: PLACE.at,
    origin: "away",
  });
  expect(awayMessage("msg_g1", "Back at nine", PLACE, false)).toEqual({ ...away, status: "SENT", sentAt: PLACE.at });
});

const first = { doc: JSON.stringify(outboundMessage(DRAFT, PREPARED, PLACE, true)), fingerprint: "f" };

test("a key that was used for the same request returns the stored message", () => {
  expect(replay(first, draft("", { id: "msg_g9", fingerprint: "f" }))).toEqual({
    outcome: "stored",
    doc: first.doc,
    replayed: true,
  });
});

test("a repeat of the call that stored a message is not a replay", () => {
  expect(replay(first, { ...DRAFT, fingerprint: "f" })).toMatchObject({ outcome: "stored", replayed: false });
});

test("a key that was used for another request is refused", () => {
  expect(replay(first, draft("", { fingerprint: "g" }))).toEqual({ outcome: "refused", code: "idempotency_mismatch" });
  expect(replay(first, draft("", { fingerprint: null })).outcome).toBe("refused");
});

test("a redacted message has no fingerprint, and is returned to any request", () => {
  expect(replay({ ...first, fingerprint: null }, draft("", { fingerprint: "g" })).outcome).toBe("stored");
});

test("a redacted message has no content left", () => {
  const message = outboundMessage(DRAFT, PREPARED, PLACE, false);
  const blank = { content: "", text: "", variables: null, mediaUrl: null, metadata: {} };
  expect(redacted(message, 0)).toEqual({ ...message, ...blank, redactedAt: "1970-01-01T00:00:00.000Z" });
  const error = { code: "network_400", message: "What is Order 7?" };
  expect(redacted({ ...message, status: "FAILED", error }, 0).error).toEqual({
    code: "network_400",
    message: "The message was redacted",
  });
});

test("a message that is redacted while it is queued is FAILED, with the reason", () => {
  expect(redacted(outboundMessage(DRAFT, PREPARED, PLACE, true), Date.parse(PLACE.at) + 5)).toMatchObject({
    status: "FAILED",
    error: { code: "redacted", message: "The message was redacted before it was delivered" },
  });
});
