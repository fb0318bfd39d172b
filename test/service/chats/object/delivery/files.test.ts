import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { fileKey } from "../../../../../src/calls/file-bucket.ts";
import type { ChatIdentity, FileMedia } from "../../../../../src/model/chat-answers.ts";
import type { FileInfo } from "../../../../../src/model/file.ts";
import { randomBase62 } from "../../../../../src/model/id.ts";
import { admin, created, send } from "../../../../support/harness.ts";
import { accept, acceptAs, fakeNetworks, inTurn, lost, refuse, type Script } from "../../../../support/networks.ts";
import { storedBy } from "../../../../support/stored.ts";
import { taken, tellStatus } from "../../../inbound/webhook-calls.ts";
import {
  type Conversation,
  conversation,
  deliveryOf,
  healthOf,
  type Kind,
  pass,
  runNext,
  stopTheClock,
} from "./conversation.ts";

stopTheClock();

const DAY = 86_400_000;
const BYTES = crypto.getRandomValues(new Uint8Array(60_000));
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const INFO: FileInfo = { contentType: DOCX, size: BYTES.length, fileName: "Übersicht.docx", width: null, height: null };
const HOLD = "A message that the others wait for";

/** A chat whose messages wait behind one that its network puts off, until `letGo`. */
async function heldChat(kind: Kind, script: Script = accept) {
  let isHeld = true;
  let number = 0;
  const calls = fakeNetworks((call) => {
    if (call.text !== HOLD) return script(call, ++number);
    return isHeld ? refuse(kind === "telegram" ? 429 : 131_056)(call, 0) : accept(call);
  });
  const chat = await conversation(kind);
  const hold = async () => {
    isHeld = true;
    await send(chat.api, chat.chatId, { content: HOLD });
    await chat.run();
  };
  const letGo = async () => {
    isHeld = false;
    await runNext(chat);
  };
  await hold();
  return { ...chat, hold, letGo, sent: () => calls.filter(({ text }) => text !== HOLD) };
}

/** Where a file of a chat is. */
async function keyOf({ chatId, object }: Conversation, mediaId: string): Promise<string> {
  const life = await runInDurableObject(object(), (_object, { storage }) => {
    return storage.kv.get<ChatIdentity>("lean")?.life ?? 0;
  });
  return fileKey({ chatId, life, mediaId });
}

/** Gives a message an uploaded file, as if it had been sent with it. */
async function show({ object }: Conversation, messageId: string, media: FileMedia): Promise<void> {
  await runInDurableObject(object(), (_object, { storage }) => {
    storage.sql.exec("update messages set media = ? where doc ->> '$.id' = ?", JSON.stringify(media), messageId);
  });
}

/** A queued message with a file, whose bytes are in the bucket. */
async function queuedFile(chat: Conversation, body: object = {}, info: FileInfo = INFO) {
  const media = { fileId: `med_g${randomBase62(15)}`, ...info };
  const { id } = await send(chat.api, chat.chatId, {
    ...{ type: "DOCUMENT", content: media.fileId, mediaUrl: "https://parley.test/media" },
    ...body,
  });
  await env.MEDIA.put(await keyOf(chat, media.fileId), BYTES);
  await show(chat, id, media);
  return { id, media };
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

const methods = (calls: { method: string }[]) => calls.map(({ method }) => method);

test("Telegram gets the bytes of a file, with its name and its type", async () => {
  const chat = await heldChat("telegram");
  const { id } = await queuedFile(chat, { content: "Read this" });
  await chat.letGo();
  expect(chat.sent()).toMatchObject([
    {
      method: "sendDocument",
      body: { chat_id: chat.address, caption: "Read this" },
      file: { field: "document", name: "Übersicht.docx", type: DOCX, sha256: await hashOf(BYTES) },
    },
  ]);
  expect(await chat.message(id)).toMatchObject({ status: "SENT" });
});

test("WhatsApp gets the bytes of a file once, also if no answer comes to the message", async () => {
  const chat = await heldChat("whatsapp", inTurn(accept, lost, acceptAs("wamid.again")));
  const { id } = await queuedFile(chat);
  await chat.letGo();
  const [upload, lostCall] = chat.sent();
  expect(upload).toMatchObject({
    ...{ method: "media", body: { messaging_product: "whatsapp", type: DOCX } },
    file: { field: "file", type: DOCX, sha256: await hashOf(BYTES) },
  });
  await evictDurableObject(chat.object());
  await runNext(chat);
  expect(methods(chat.sent())).toEqual(["media", "messages", "messages"]);
  const document = { id: expect.stringMatching(/^\d+$/), filename: "Übersicht.docx" };
  expect(lostCall?.body.document).toEqual(document);
  expect(chat.sent()[2]?.body.document).toEqual(lostCall?.body.document);
  expect(await chat.message(id)).toMatchObject({ status: "SENT" });
});

test("what is missing after a lost answer is sent, and nothing of it twice: neither the upload nor the first part", async () => {
  const caption = "More than a caption can be. ".repeat(60).trim();
  const chat = await heldChat("whatsapp", inTurn(accept, accept, lost, accept));
  const { id } = await queuedFile(chat, { content: caption });
  await chat.letGo();
  await evictDurableObject(chat.object());
  await runNext(chat);
  expect(chat.sent().map(({ method, body }) => body.document ?? body.text?.body ?? method)).toEqual([
    "media",
    expect.objectContaining({ filename: "Übersicht.docx" }),
    caption,
    caption,
  ]);
  expect(await chat.message(id)).toMatchObject({ status: "SENT" });
});

test("an upload without an answer is made again: nothing was sent, so the message is not lost either", async () => {
  const chat = await heldChat("whatsapp", inTurn(lost));
  const { id } = await queuedFile(chat);
  await chat.letGo();
  const { seq } = await chat.message(id);
  expect(await deliveryOf(chat.object(), seq)).toMatchObject({ lastError: { code: "upload_unknown" } });
  expect(await deliveryOf(chat.object(), seq)).not.toHaveProperty("calls");
  await runNext(chat);
  expect(methods(chat.sent())).toEqual(["media", "media", "messages"]);
});

/** A message whose file Meta has, that failed, and its resend with the same file. */
async function resent(code: number, laterMs = 0) {
  const chat = await heldChat("whatsapp");
  const { id, media } = await queuedFile(chat);
  await chat.letGo();
  taken(await tellStatus(chat, id, "failed", { id: "wamid.x", errors: [{ code, title: "No" }] }));
  expect(await chat.message(id)).toMatchObject({ status: "FAILED" });
  pass(laterMs);
  await chat.hold();
  const answer = await chat.api("POST", `/chats/${chat.chatId}/messages/${id}/resend`);
  const again = created(answer).message;
  await show(chat, again.id, media);
  await chat.letGo();
  expect(await chat.message(again.id)).toMatchObject({ status: "SENT" });
  return chat.sent();
}

test.each([
  ["shows the same upload", 131_047, 0, ["media", "messages", "messages"]],
  ["shows the same upload for 29 days", 131_047, 29 * DAY - 60_000, ["media", "messages", "messages"]],
  ["is uploaded again after 29 days", 131_047, 29 * DAY, ["media", "messages", "media", "messages"]],
  ["is uploaded again if the upload was the fault", 131_053, 0, ["media", "messages", "media", "messages"]],
])("a message that is sent again %s", async (_, code, laterMs, expected) => {
  const calls = await resent(code, laterMs);
  expect(methods(calls)).toEqual(expected);
  const [, first, ...others] = calls;
  expect(others.at(-1)?.body.document.id === first?.body.document.id).toBe(expected.length === 3);
});

test("a redaction forgets the upload", async () => {
  const chat = await heldChat("whatsapp");
  const { id, media } = await queuedFile(chat);
  await chat.letGo();
  const { seq } = await chat.message(id);
  expect(await deliveryOf(chat.object(), seq)).toMatchObject({ calls: { upload: { file: media.fileId } } });
  expect((await admin("POST", `/chats/${chat.chatId}/messages/${id}/redact`)).status).toBe(200);
  expect(await storedBy(chat.object())).not.toContain("upload");
});

test("a message whose file is gone fails with a code of its own, and proves nothing about the channel", async () => {
  const chat = await heldChat("whatsapp");
  const { id, media } = await queuedFile(chat);
  await env.MEDIA.delete(await keyOf(chat, media.fileId));
  await chat.letGo();
  expect(await chat.message(id)).toMatchObject({ status: "FAILED", error: { code: "media_gone" } });
  expect(chat.sent()).toEqual([]);
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok" });
});

test("a bucket that can't be read, or none, delays the message: it goes out once the file can be read", async () => {
  const chat = await heldChat("telegram");
  const { id } = await queuedFile(chat);
  const get = vi.spyOn(env.MEDIA, "get").mockRejectedValueOnce(new Error("R2 is away"));
  await chat.letGo();
  expect(get).toHaveBeenCalledOnce();
  expect(chat.sent()).toEqual([]);
  expect(await chat.queue()).toMatchObject({ lastError: { code: "media_away" } });
  await runNext(chat);
  expect(methods(chat.sent())).toEqual(["sendDocument"]);
  expect(await chat.message(id)).toMatchObject({ status: "SENT" });
});
