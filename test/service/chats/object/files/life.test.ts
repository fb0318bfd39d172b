import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { addressOfToken } from "../../../../../src/channels/web/identity.ts";
import { newId } from "../../../../../src/model/id.ts";
import { admin, newOrganization, send } from "../../../../support/harness.ts";
import { newPlace } from "../../../visitors/uploading.ts";
import { conversation, pass, stopTheClock } from "../delivery/conversation.ts";
import { retain } from "../retention/fixtures.ts";
import { DAY, filesOf, MINUTE, messageOf, newFileChat } from "./fixtures.ts";

stopTheClock();

test("a message shows its file: what it is, where it is, and the file's name as its text", async () => {
  const chat = await newFileChat();
  const message = messageOf(await chat.send(await chat.upload()));
  expect(message).toMatchObject({
    type: "IMAGE",
    text: "a.png",
    mediaUrl: `https://parley.test/api/v1/chats/${chat.chat.id}/messages/${message.id}/media`,
    media: { contentType: "image/png", size: 5, fileName: "a.png", width: 2, height: 3 },
  });
  expect(await chat.rows()).toHaveLength(0);
  const { status, headers, text } = await chat.api("GET", `/chats/${chat.chat.id}/messages/${message.id}/media`);
  expect([status, headers.get("Content-Type"), text]).toEqual([200, "image/png", "bytes"]);
});

test("a file whose upload was cut off is gone after ten minutes, and its late confirmation is refused", async () => {
  const chat = await newFileChat();
  const file = await chat.reserved();
  await chat.write(file);
  pass(10 * MINUTE);
  expect(await chat.confirm(file)).toEqual({ outcome: "gone" });
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
  expect(await chat.rows()).toEqual([]);
});

test("a file that no message names is gone after a day; until then one message can name it, and no other", async () => {
  const chat = await newFileChat();
  const [used, unused] = [await chat.upload(), await chat.upload()];
  await chat.send(used);
  expect(await chat.send(used)).toMatchObject({ outcome: "refused", code: "media_used" });
  expect(await chat.send("med_gaaaaaaaaaaaaaaa")).toMatchObject({ outcome: "refused", code: "media_not_found" });
  pass(DAY);
  expect(await chat.send(unused)).toMatchObject({ outcome: "refused", code: "media_not_found" });
  await chat.settle();
  expect(await chat.bytes()).toEqual([used]);
});

test("a file of another chat can't be named", async () => {
  const chat = await newFileChat();
  const other = await newFileChat({ ...chat, ...(await newOrganization()) });
  expect(await other.send(await chat.upload())).toMatchObject({ outcome: "refused", code: "media_not_found" });
});

test("a chat has at most 100 unused files, and 256 MiB of them", async () => {
  const chat = await newFileChat();
  for (let count = 0; count < 100; count++) await chat.reserved();
  expect(await chat.reserve()).toMatchObject({ outcome: "refused", code: "upload_limit" });
  pass(10 * MINUTE);
  const large = 16 * 1_024 * 1_024;
  for (let count = 0; count < 16; count++) await chat.reserved({ size: large });
  expect(await chat.reserve({ size: 1 })).toMatchObject({ outcome: "refused", code: "upload_limit" });
});

test("a visitor's unused files take none of the company's room, nor the company's of the visitor's", async () => {
  const site = await newPlace();
  await site.upload();
  const [{ id }] = await site.chats();
  const { reserve, reserved, object, as } = filesOf(site.organizationId, id);
  const visitor = { ...site, chatId: id, address: await addressOfToken(site.token) };
  const reserveAsVisitor = () =>
    object().reserveVisitorFile(as, visitor as never, {
      id: newId("med", null),
      size: 1,
      fileName: null,
      idempotencyHash: null,
    });
  for (let count = 1; count < 100; count++) expect((await reserveAsVisitor()).outcome).toBe("reserved");
  expect(await reserveAsVisitor()).toMatchObject({ outcome: "refused", code: "upload_limit" });
  for (let count = 0; count < 16; count++) await reserved({ size: 16 * 1_024 * 1_024 });
  expect(await reserve({ size: 1 })).toMatchObject({ outcome: "refused", code: "upload_limit" });
  pass(10 * MINUTE);
  // The visitor's file that is confirmed is still the visitor's.
  for (let count = 1; count < 100; count++) expect((await reserveAsVisitor()).outcome).toBe("reserved");
  expect(await reserveAsVisitor()).toMatchObject({ outcome: "refused", code: "upload_limit" });
});

test("the same key gets the same file, however late, and never with another size", async () => {
  const chat = await newFileChat();
  const file = await chat.reserved({ idempotencyHash: "key" });
  expect(await chat.reserved({ idempotencyHash: "key" })).toEqual(file);
  await chat.write(file);
  const confirmed = await chat.confirm(file, "key");
  expect(confirmed.outcome).toBe("ok");
  expect(await chat.confirm(file, "key")).toEqual(confirmed);
  await chat.send(file.id);
  pass(3 * DAY);
  const again = await chat.reserve({ idempotencyHash: "key" });
  expect(again).toEqual({ ...confirmed, outcome: "stored" });
  const other = await chat.reserve({ idempotencyHash: "key", size: 6 });
  expect(other).toMatchObject({ outcome: "refused", code: "idempotency_mismatch" });
});

test("a key whose first upload never ended gets another file: the first one's bytes may be under deletion", async () => {
  const chat = await newFileChat();
  const file = await chat.reserved({ idempotencyHash: "key" });
  pass(10 * MINUTE);
  const again = await chat.reserved({ idempotencyHash: "key" });
  expect(again.id).not.toBe(file.id);
  expect((await chat.confirm(again, "key")).outcome).toBe("ok");
});

test("a redaction is answered after the bytes are gone; while R2 is away it is a 503, and can be repeated", async () => {
  const chat = await newFileChat();
  const { id } = messageOf(await chat.send(await chat.upload()));
  const deletes = vi.spyOn(env.MEDIA, "delete").mockRejectedValue(new Error("R2 is away"));
  expect((await chat.redact(id)).status).toBe(503);
  expect(await chat.bytes()).toHaveLength(1);
  const shown = (await chat.api("GET", `/chats/${chat.chat.id}/messages/${id}`)).body.message;
  expect(shown).toMatchObject({ text: "", mediaUrl: null });
  expect(shown).not.toHaveProperty("media");
  deletes.mockRestore();
  expect((await chat.redact(id)).status).toBe(200);
  expect(await chat.bytes()).toEqual([]);
  expect(await chat.rows()).toEqual([]);
});

test("the alarm deletes what R2 refused to delete, and holds up nothing else", async () => {
  const chat = await newFileChat();
  const { id } = messageOf(await chat.send(await chat.upload()));
  const deletes = vi.spyOn(env.MEDIA, "delete").mockRejectedValue(new Error("R2 is away"));
  await chat.redact(id);
  await chat.settle();
  expect(await chat.bytes()).toHaveLength(1);
  expect((await send(chat.api, chat.chat.id)).status).toBe("SENT");
  deletes.mockRestore();
  pass(MINUTE);
  await chat.settle();
  expect(await chat.bytes()).toEqual([]);
});

test("a file that is scheduled for 30 days is there on the last of them; a cancellation gives it back for a day", async () => {
  const chat = await newFileChat();
  const [kept, canceled] = [await chat.upload(), await chat.upload()];
  const scheduledAt = Date.now() + 30 * DAY;
  const { id } = messageOf(await chat.send(kept, { scheduledAt }));
  const other = messageOf(await chat.send(canceled, { scheduledAt }));
  expect(await chat.send(kept)).toMatchObject({ code: "media_used" });
  const path = `/chats/${chat.chat.id}/messages`;
  expect((await chat.api("POST", `${path}/${other.id}/cancel`)).status).toBe(200);
  expect(messageOf(await chat.send(canceled)).type).toBe("IMAGE");
  pass(30 * DAY - 1);
  await chat.settle();
  expect((await chat.api("GET", `${path}/${id}/media`)).text).toBe("bytes");
  pass(1);
  await chat.settle();
  const placed = (await chat.api("GET", `${path}/${id}`)).body.message;
  expect(placed).toMatchObject({ status: "SENT", media: { fileName: "a.png" } });
  expect((await chat.api("GET", `${path}/${id}/media`)).text).toBe("bytes");
});

test("a redacted scheduled message takes its bytes with it", async () => {
  const chat = await newFileChat();
  const { id } = messageOf(await chat.send(await chat.upload(), { scheduledAt: Date.now() + DAY }));
  expect((await chat.redact(id)).status).toBe(200);
  expect(await chat.bytes()).toEqual([]);
});

test("a resend shows the same file: the bytes go with the last message that shows them", async () => {
  const talk = await conversation("telegram");
  const chat = filesOf(talk.organizationId, talk.chatId);
  const mediaId = await chat.upload();
  const expiresAt = Date.now() + MINUTE;
  const original = messageOf(await chat.send(mediaId, { scheduledAt: Date.now() + 2 * MINUTE, expiresAt }));
  pass(3 * MINUTE);
  await chat.settle();
  const path = `/chats/${talk.chatId}/messages`;
  expect((await talk.api("GET", `${path}/${original.id}`)).body.message.status).toBe("FAILED");
  const resent = await talk.api("POST", `${path}/${original.id}/resend`, { scheduledAt: new Date(Date.now() + DAY) });
  expect(resent.status, resent.text).toBe(201);
  const { id, media, mediaUrl } = resent.body.message;
  expect(media).toEqual(original.media);
  expect(mediaUrl).toBe(`https://parley.test/api/v1${path}/${id}/media`);
  expect(await chat.send(mediaId)).toMatchObject({ outcome: "refused", code: "media_used" });
  expect((await chat.redact(original.id)).status).toBe(200);
  expect(await chat.bytes()).toEqual([mediaId]);
  expect((await talk.api("GET", `${path}/${id}/media`)).text).toBe("bytes");
  expect((await chat.redact(id)).status).toBe(200);
  expect(await chat.bytes()).toEqual([]);
  expect(await chat.rows()).toEqual([]);
});

test("retention takes the files of what it deletes", async () => {
  const chat = await newFileChat();
  await retain(chat.channelId, 1);
  await chat.send(await chat.upload());
  pass(4 * DAY);
  await send(chat.api, chat.chat.id);
  for (let rings = 0; rings < 6; rings++) await chat.ring();
  expect(await chat.bytes()).toEqual([]);
});

test("a deleted chat has no bytes when its deletion is answered, and late ones go; those of the chat after it stay", async () => {
  const chat = await newFileChat();
  await chat.send(await chat.upload());
  const late = await chat.reserved();
  const { address } = chat.chat.contact;
  expect((await admin("DELETE", `/chats/${chat.chat.id}`)).status).toBe(200);
  expect(await chat.bytes()).toEqual([]);
  const again = await chat.api("POST", "/chats", { channelId: chat.channelId, contact: { address } });
  expect(again.body.chat.id).toBe(chat.chat.id);
  const stays = await chat.upload();
  await chat.send(stays);
  await chat.write(late);
  expect(await chat.confirm(late)).toEqual({ outcome: "gone" });
  pass(10 * MINUTE);
  await chat.settle();
  expect(await chat.bytes()).toEqual([stays]);
});

test("a deletion is repeated until R2 has deleted the bytes", async () => {
  const chat = await newFileChat();
  await chat.send(await chat.upload());
  const deletes = vi.spyOn(env.MEDIA, "delete").mockRejectedValue(new Error("R2 is away"));
  expect((await admin("DELETE", `/chats/${chat.chat.id}`)).status).toBe(503);
  expect(await chat.bytes()).toHaveLength(1);
  deletes.mockRestore();
  expect((await admin("DELETE", `/chats/${chat.chat.id}`)).status).toBe(200);
  expect(await chat.bytes()).toEqual([]);
});

test("a chat without files never asks R2 for anything", async () => {
  const { api, channelId } = await newOrganization();
  const chat = await newFileChat({ ...(await newOrganization()), api, channelId } as never);
  const calls = (["list", "delete", "get", "put", "head"] as const).map((name) => vi.spyOn(env.MEDIA, name));
  const message = await send(api, chat.chat.id);
  await chat.redact(message.id);
  await admin("DELETE", `/chats/${chat.chat.id}`);
  pass(DAY);
  await chat.ring();
  for (const spy of calls) expect(spy).not.toHaveBeenCalled();
});
