import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admin, created, expectError, expectFaults } from "../../../support/harness.ts";
import { untilStatus } from "../../../support/message-status.ts";
import { objectWrites } from "../../../support/object-writes.ts";
import { filesOf } from "../../chats/object/files/fixtures.ts";
import { chatWithTemplates, listed } from "./waba.ts";

const withHeader = (name: string, format: string) =>
  listed(name, {
    components: [
      { type: "HEADER", format },
      { type: "BODY", text: "Hi {{1}}" },
      { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "Confirm" }] },
    ],
  });

/** A chat of a kind, with templates whose headers are an image, a video and a document. */
async function chatOf(kind: "whatsapp" | "telegram" | "web") {
  const templates = [withHeader("image", "IMAGE"), withHeader("video", "VIDEO"), withHeader("document", "DOCUMENT")];
  const made = await chatWithTemplates(kind, templates);
  const { api, organizationId, chat, idOf } = made;
  const post = (name: string, header: object, body: object = {}, headers: Record<string, string> = {}) => {
    const send = { content: "-", templateId: idOf(name), variables: { 1: "Ada" }, template: { header }, ...body };
    return api("POST", `/chats/${chat.id}/messages`, send, headers);
  };
  return { ...made, post, files: filesOf(organizationId, chat.id) };
}

/** What the header of a sent template has. */
const headerOf = (sent: unknown) =>
  (sent as { template: { components: { type: string; parameters: unknown[] }[] } }).template.components[0]?.parameters;

test("a file stands in a template's header: Meta gets its bytes, then the id of the upload", async () => {
  const { api, chat, files, meta, post, sent } = await chatOf("whatsapp");
  const mediaId = await files.upload();
  const { message } = created(await post("image", { mediaId }));
  expect(message).toMatchObject({
    type: "TEMPLATE",
    text: "Hi Ada",
    mediaUrl: `https://parley.test/api/v1/chats/${chat.id}/messages/${message.id}/media`,
    media: { contentType: "image/png", size: 5, fileName: "a.png", width: 2, height: 3 },
    template: { header: { mediaId } },
  });
  const [template] = await sent(1);
  expect(headerOf(template)).toEqual([{ type: "image", image: { id: "9001" } }]);
  expect(meta.uploads).toEqual([{ type: "image/png", name: "a.png", text: "bytes" }]);
  expect((await api("GET", `/chats/${chat.id}/messages/${message.id}/media`)).text).toBe("bytes");
  expect(await files.rows()).toEqual([]);
});

test("a document in a header has the name that the send gives it, else the file's", async () => {
  const { files, post, sent } = await chatOf("whatsapp");
  created(await post("document", { mediaId: await files.upload(), fileName: "invoice.png" }));
  created(await post("document", { mediaId: await files.upload() }));
  expect((await sent(2)).map(headerOf)).toEqual([
    [{ type: "document", document: { id: "9001", filename: "invoice.png" } }],
    [{ type: "document", document: { id: "9001", filename: "a.png" } }],
  ]);
});

test("a file that does not fit the header, is used, unknown, or beside a link is refused, and stays as it was", async () => {
  const { files, post, sent } = await chatOf("whatsapp");
  const mediaId = await files.upload();
  expectFaults(await post("video", { mediaId }), "template.header.mediaId");
  expectFaults(await post("image", { mediaId, mediaUrl: "https://a.example/a.png" }), "template.header.mediaUrl");
  expectFaults(await post("image", { mediaId: 7 }), "template.header.mediaId");
  expectFaults(await post("image", { mediaId }, { mediaId }), "mediaId");
  expectFaults(await post("image", {}), "template.header.mediaUrl");
  expectError(await post("image", { mediaId: "med_gAAAAAAAAAAAAAAA" }), 404, "media_not_found");
  expect(await files.rows()).toEqual([{ id: mediaId, state: "unused" }]);
  created(await post("image", { mediaId }));
  await sent(1);
  expectError(await post("image", { mediaId }), 409, "media_used");
});

test.for(["../a.png", "a\\b.png", "..", "a\u0007.png", "a\u202egnp.exe", "x".repeat(241), " "])(
  "the file name %j of a header is refused",
  async (fileName) => {
    const { files, post } = await chatOf("whatsapp");
    const mediaId = await files.upload();
    expectFaults(await post("document", { mediaId, fileName }), "template.header.fileName");
    expect(await files.rows()).toEqual([{ id: mediaId, state: "unused" }]);
  },
);

test("the file of a header enters the idempotency key's request", async () => {
  const { files, post, sent } = await chatOf("whatsapp");
  const [mediaId, other] = [await files.upload(), await files.upload()];
  const key = { "Idempotency-Key": "once" };
  const { message } = created(await post("image", { mediaId }, {}, key));
  expect(created(await post("image", { mediaId }, {}, key)).message.id).toBe(message.id);
  expectError(await post("image", { mediaId: other }, {}, key), 422, "idempotency_mismatch");
  await sent(1);
});

test("a resend keeps the file of a header; its bytes go with the redaction of the last message that shows it", async () => {
  const { api, chat, files, meta, post, sent } = await chatOf("whatsapp");
  meta.refusal = () => Response.json({ error: { code: 132_015, message: "Paused" } }, { status: 400 });
  const mediaId = await files.upload();
  const { message } = created(await post("image", { mediaId }));
  const path = `/chats/${chat.id}/messages/${message.id}`;
  await untilStatus(chat.id, message.id, "FAILED");
  expect((await api("GET", path)).body.message.error.code).toBe("template_rejected");
  meta.refusal = null;
  const again = created(await api("POST", `${path}/resend`, {})).message;
  expect(again).toMatchObject({ media: message.media, template: { header: { mediaId } } });
  expect((await sent(2)).map(headerOf)).toEqual(Array(2).fill([{ type: "image", image: { id: "9001" } }]));
  expect((await admin("POST", `${path}/redact`)).status).toBe(200);
  const blank = (await api("GET", path)).body.message;
  expect([blank.mediaUrl, blank.media, blank.template]).toEqual([null, undefined, undefined]);
  expect(await files.bytes()).toEqual([mediaId]);
  expect((await admin("POST", `/chats/${chat.id}/messages/${again.id}/redact`)).status).toBe(200);
  expect(await files.bytes()).toEqual([]);
});

test("a scheduled template holds its file, and gives it back if it is canceled", async () => {
  const { api, chat, files, post, sent } = await chatOf("whatsapp");
  const mediaId = await files.upload();
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const { message } = created(await post("image", { mediaId }, { scheduledAt }));
  expect(message).toMatchObject({ status: "SCHEDULED", media: { contentType: "image/png" } });
  expect((await api("GET", `/chats/${chat.id}/messages/${message.id}/media`)).text).toBe("bytes");
  expectError(await post("image", { mediaId }), 409, "media_used");
  expect((await api("POST", `/chats/${chat.id}/messages/${message.id}/cancel`)).status).toBe(200);
  expect(await files.rows()).toEqual([{ id: mediaId, state: "unused" }]);
  created(await post("image", { mediaId }));
  await sent(1);
});

test.each(["telegram", "web"] as const)("on %s the file of a header stands above the text", async (kind) => {
  const { files, meta, post, sent } = await chatOf(kind);
  const mediaId = await files.upload();
  expectFaults(await post("video", { mediaId }), "template.header.mediaId");
  const { message } = created(await post("image", { mediaId }));
  expect(message).toMatchObject({
    type: "TEMPLATE",
    text: "Hi Ada",
    media: { contentType: "image/png", fileName: "a.png" },
    interactive: { choices: [{ id: "Confirm", title: "Confirm" }] },
  });
  if (kind === "web") return;
  const [photo] = await sent(1);
  expect(photo).toMatchObject({ caption: "Hi Ada", reply_markup: expect.stringContaining("Confirm") });
  expect(meta.uploads).toEqual([{ type: "image/png", name: "a.png", text: "bytes" }]);
});

test("a template with a file writes as many rows as a message with one", async () => {
  const { api, chat, files, post } = await chatOf("web");
  const object = () => env.CHATS.getByName(chat.id);
  const [one, other] = [await files.upload(), await files.upload()];
  const send = { content: "Look", mediaId: one };
  // The first message brings its table.
  created(await api("POST", `/chats/${chat.id}/messages`, { content: "Hello" }));
  await evictDurableObject(object());
  const plain = await objectWrites({ object }, async () =>
    created(await api("POST", `/chats/${chat.id}/messages`, send)),
  );
  vi.restoreAllMocks();
  const whole = await objectWrites({ object }, async () => created(await post("image", { mediaId: other })));
  vi.restoreAllMocks();
  expect([plain.rows, whole.rows]).toEqual([3, 3]);
});
