import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, created, expectError, expectFaults, newKey, send } from "../../support/harness.ts";
import { accept, fakeNetworks, inTurn, lost, refuse } from "../../support/networks.ts";
import { linesOf } from "../export/fixtures.ts";
import { report } from "./inbound.ts";
import { chatOf, conversation, type Kind, pass, runNext, stopTheClock } from "./object/delivery/conversation.ts";
import { filesOf } from "./object/files/fixtures.ts";

stopTheClock();

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const PNG = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
);
const GIF = new TextEncoder().encode("GIF89a and more bytes");
const OGG = new TextEncoder().encode("OggS\0 and more bytes");

/** The start of a ZIP, as each DOCX has it, and bytes that no other file has. */
function docx(): Uint8Array<ArrayBuffer> {
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  bytes.set([0x50, 0x4b, 0x03, 0x04]);
  return bytes;
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A chat of a kind, and uploads to it by requests. */
async function fileChat(kind: Kind | "web") {
  const place = await conversation(kind === "web" ? "telegram" : kind);
  const chat = kind === "web" ? { ...place, ...(await webChatOf(place)) } : place;
  const { api, chatId, organizationId } = chat;
  const path = `/chats/${chatId}/messages`;
  const put = (bytes: Uint8Array, type = "image/png", name = "") =>
    api("POST", `/chats/${chatId}/media${name && `?fileName=${encodeURIComponent(name)}`}`, bytes, {
      "Content-Type": type,
      "Content-Length": String(bytes.byteLength),
    });
  return {
    ...chat,
    path,
    put,
    upload: async (...given: Parameters<typeof put>): Promise<string> => created(await put(...given)).media.id,
    post: (body: object, headers: Record<string, string> = {}) =>
      api("POST", path, { content: "Look", ...body }, headers),
    files: filesOf(organizationId, chatId),
    redact: async (id: string) => (await admin("POST", `/chats/${chatId}/messages/${id}/redact`)).status,
  };
}

async function webChatOf(place: Awaited<ReturnType<typeof conversation>>) {
  const body = { kind: "web", name: "Web" };
  const { channel } = created(await admin("POST", `/organizations/${place.organizationId}/channels`, body));
  return chatOf(place, channel.id);
}

test.each([
  ["telegram", "sendDocument", "document"],
  ["whatsapp", "media", "file"],
] as const)("%s gets an uploaded document byte by byte, with its name and its type", async (kind, method, field) => {
  const calls = fakeNetworks();
  const { upload, post, run, message } = await fileChat(kind);
  const bytes = docx();
  const mediaId = await upload(bytes, DOCX, "Übersicht.docx");
  const { id } = created(await post({ mediaId })).message;
  await run();
  expect(await message(id)).toMatchObject({ status: "SENT", type: "DOCUMENT" });
  const name = kind === "telegram" ? "Übersicht.docx" : expect.any(String);
  expect(calls[0]).toMatchObject({ method, file: { field, name, type: DOCX, sha256: await hashOf(bytes) } });
  expect(JSON.stringify(calls)).not.toContain("parley.test");
  if (kind === "whatsapp") expect(calls[1]?.body.document).toMatchObject({ filename: "Übersicht.docx" });
});

test("a file that was scheduled for 30 days, failed and was sent again goes out after its first message was redacted", async () => {
  const calls = fakeNetworks(inTurn(refuse(400, "Bad Request: no"), refuse(429)));
  const { api, path, upload, post, run, message, redact, files, ...chat } = await fileChat("telegram");
  const bytes = docx();
  const mediaId = await upload(bytes, DOCX, "plan.docx");
  const scheduledAt = new Date(Date.now() + 30 * DAY).toISOString();
  const { id } = created(await post({ mediaId, scheduledAt })).message;
  pass(30 * DAY - MINUTE);
  await run();
  expect((await api("GET", `${path}/${id}/media`)).headers.get("Content-Length")).toBe("60000");
  pass(MINUTE);
  await run();
  expect(await message(id)).toMatchObject({ status: "FAILED" });
  const again = created(await api("POST", `${path}/${id}/resend`)).message;
  await run();
  expect(await redact(id)).toBe(200);
  expect(await message(again.id)).toMatchObject({ status: "QUEUED", media: { fileName: "plan.docx" } });
  await runNext({ ...chat, run });
  expect(await message(again.id)).toMatchObject({ status: "SENT" });
  const sent = { name: "plan.docx", sha256: await hashOf(bytes) };
  expect(calls.map(({ file }) => file)).toMatchObject([sent, sent, sent]);
  expect(await files.bytes()).toEqual([mediaId]);
});

test.each<[kind: Kind | "web", bytes: Uint8Array, contentType: string, type: string, told: RegExp]>([
  ["whatsapp", GIF, "image/gif", "IMAGE", /JPEG or PNG/],
  ["whatsapp", OGG, "audio/ogg", "VIDEO", /MP4 or 3GP/],
  ["telegram", GIF, "image/gif", "IMAGE", /JPEG, PNG or WebP/],
  ["telegram", PNG, "image/png", "AUDIO", /is not an audio file/],
  ["web", PNG, "image/png", "VIDEO", /is not a video/],
])(
  "%s takes no %s %s as %s: a 400 that names mediaId, and the file stays",
  async (kind, bytes, contentType, type, told) => {
    fakeNetworks();
    const { upload, post, files } = await fileChat(kind);
    const mediaId = await upload(bytes, contentType);
    const answer = await post({ mediaId, type });
    expectFaults(answer, "mediaId");
    expect(answer.body.errors[0].message).toMatch(told);
    expect(await files.rows()).toEqual([{ id: mediaId, state: "unused" }]);
    expect(created(await post({ mediaId, type: "DOCUMENT" })).message.type).toBe("DOCUMENT");
  },
);

test("sound can't stand above choices, and a picture can", async () => {
  const { upload, post } = await fileChat("web");
  const interactive = { choices: [{ type: "reply", id: "a", title: "Yes" }] };
  expectFaults(await post({ mediaId: await upload(OGG, "audio/ogg"), interactive }), "mediaId");
  const { message } = created(await post({ mediaId: await upload(PNG), interactive }));
  expect(message).toMatchObject({ type: "IMAGE", interactive: { choices: interactive.choices } });
  const mediaId = await upload(PNG);
  expectFaults(await post({ content: mediaId, mediaId, interactive }), "content");
});

test("a message whose content is the mediaId has the file's name as its text, also in the list of chats", async () => {
  const { api, chatId, upload, post } = await fileChat("web");
  const mediaId = await upload(PNG, "image/png", "dot.png");
  const { message } = created(await post({ content: mediaId, mediaId }));
  expect(message).toMatchObject({ content: mediaId, text: "dot.png" });
  await report(chatId);
  const [chat] = (await api("GET", `/chats?search=${(await api("GET", `/chats/${chatId}`)).body.chat.contact.address}`))
    .body.chats;
  expect(chat.lastMessage).toMatchObject({ type: "IMAGE", text: "dot.png" });
  const nameless = await upload(PNG);
  expect(created(await post({ content: nameless, mediaId: nameless })).message.text).toBe("image/png");
});

test("a network gets no caption from a content that is the mediaId", async () => {
  const calls = fakeNetworks();
  const { upload, post, run } = await fileChat("telegram");
  const mediaId = await upload(PNG);
  created(await post({ content: mediaId, mediaId }));
  await run();
  expect(calls).toMatchObject([{ method: "sendPhoto", text: "" }]);
});

test("the file enters the idempotency key's request", async () => {
  const { upload, post } = await fileChat("web");
  const [mediaId, other] = [await upload(PNG), await upload(PNG)];
  const key = { "Idempotency-Key": "once" };
  const { message } = created(await post({ mediaId }, key));
  expect(created(await post({ mediaId }, key)).message).toEqual(message);
  expectError(await post({ mediaId: other }, key), 422, "idempotency_mismatch");
  expectError(await post({}, key), 422, "idempotency_mismatch");
  expect(created(await post({ mediaId: other })).message.id).not.toBe(message.id);
});

test("a file whose message was redacted can't be sent again, nor one whose day is over", async () => {
  const { upload, post, redact } = await fileChat("web");
  const [redacted, expired] = [await upload(PNG), await upload(PNG)];
  expect(await redact(created(await post({ mediaId: redacted })).message.id)).toBe(200);
  expectError(await post({ mediaId: redacted }), 404, "media_not_found");
  pass(DAY);
  expectError(await post({ mediaId: expired }), 404, "media_not_found");
});

test("the 101st unused file is a 409, and leaves no bytes; a message that names one makes room", async () => {
  const { put, post, files } = await fileChat("web");
  const first = await files.upload();
  for (let count = 1; count < 100; count++) await files.upload();
  expectError(await put(PNG), 409, "upload_limit");
  expect(await files.bytes()).toHaveLength(100);
  created(await post({ mediaId: first }));
  expect((await put(PNG)).status).toBe(201);
  expectError(await put(PNG), 409, "upload_limit");
});

test("a message with a file is exported as it is shown, and a redaction blanks it there too", async () => {
  const { chatId, organizationId, upload, post, redact } = await fileChat("web");
  const { secret } = await newKey(organizationId, { permissions: ["data:export"] });
  const { message } = created(await post({ mediaId: await upload(PNG, "image/png", "dot.png") }));
  const exported = async () => (await linesOf(secret, `/chats/${chatId}/export`)).find((line) => line.message)?.message;
  expect(await exported()).toEqual(message);
  await redact(message.id);
  expect(await exported()).toMatchObject({ id: message.id, mediaUrl: null, text: "" });
  expect(JSON.stringify(await exported())).not.toMatch(/dot\.png|image\/png/);
});

test("a message that waits in its chat's line keeps its file when it is canceled", async () => {
  fakeNetworks(refuse(429));
  const { api, path, upload, post, run, files } = await fileChat("telegram");
  await post({});
  await run();
  const mediaId = await upload(PNG);
  const { id } = created(await post({ mediaId })).message;
  const canceled = await api("POST", `${path}/${id}/cancel`);
  expect(canceled.body.message).toMatchObject({ status: "CANCELED", media: { contentType: "image/png" } });
  expect(await files.rows()).toEqual([]);
  expectError(await post({ mediaId }), 409, "media_used");
  expect((await api("GET", `${path}/${id}/media`)).status).toBe(200);
});

test("while R2 is away, what was sent still goes: a message without a file, and a file that WhatsApp has", async () => {
  const calls = fakeNetworks(inTurn(accept, lost));
  const { api, upload, post, run, message, channelId, ...chat } = await fileChat("whatsapp");
  const { id } = created(await post({ mediaId: await upload(PNG) })).message;
  await run();
  const bucket = env.MEDIA;
  Object.assign(env, { MEDIA: undefined });
  try {
    const other = await chatOf({ api }, channelId);
    const text = await send(api, other.chatId, { content: "No file" });
    await other.run();
    expect(await other.message(text.id)).toMatchObject({ status: "SENT" });
    await runNext({ ...chat, run });
    expect(await message(id)).toMatchObject({ status: "SENT" });
    expect(calls.filter(({ method }) => method === "media")).toHaveLength(1);
  } finally {
    Object.assign(env, { MEDIA: bucket });
  }
});
