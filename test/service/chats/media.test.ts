import { env, exports } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Message } from "../../../src/model/message.ts";
import { admin, expectError, newKey, newOrganization, send } from "../../support/harness.ts";
import { fakeNetworks, refuse, type Script, status } from "../../support/networks.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { gate } from "../../support/until.ts";
import { fromMeta, fromTelegram, taken, telegramText, whatsappText } from "../inbound/webhook-calls.ts";
import { ACCESS_TOKEN, BOT_TOKEN, type Kind, newNetworkChannel, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

const BYTES = "%PDF-1.7 the bytes of the file";
const HIDDEN = /telegram\.org|graph\.facebook|lookaside|fbsbx|evil\.test|bot-token|access-token|AAH-|EAA-/;

/** A message with a document, that a contact sent. */
async function withDocument(kind: Kind, { type = "application/pdf", name = "Rechnung Nr. 7 – 'März'.pdf" } = {}) {
  const organization = await newOrganization();
  const channel = await newNetworkChannel(organization.organizationId, kind);
  if (kind === "telegram") {
    const document = { file_id: "BQAC-file-id", mime_type: type, file_name: name };
    taken(await fromTelegram(channel, telegramText("4711", "", { text: undefined, document, caption: "Look" })));
  } else {
    const value = whatsappText({ wa_id: "4917600001" }, "");
    const document = { id: "1037543291543636", mime_type: type, filename: name, caption: "Look" };
    const message = { ...value.messages[0], type: "document", document, text: undefined };
    taken(await fromMeta(channel, [{ ...value, messages: [message] }]));
  }
  const [chat] = (await organization.api("GET", `/chats?channel=${channel.id}`)).body.chats;
  const [message] = (await organization.api("GET", `/chats/${chat.id}/messages`)).body.messages as Message[];
  const path = `/chats/${chat.id}/messages/${message?.id}/media`;
  expect(message?.mediaUrl).toBe(`https://parley.test/api/v1${path}`);
  return {
    ...organization,
    channel,
    chatId: chat.id as string,
    message,
    path,
    get: () => organization.api("GET", path),
  };
}

const file = (type: string | null = "application/pdf", headers: Record<string, string> = {}): Response =>
  new Response(new TextEncoder().encode(BYTES), { headers: { ...(type && { "Content-Type": type }), ...headers } });

/** Both networks' two steps: where it is, then the bytes. */
function found(download: Script = () => file(), url = "https://lookaside.fbsbx.com/whatsapp/?mid=1"): Script {
  return (call, number) => {
    if (call.method === "getFile")
      return Response.json({ ok: true, result: { file_id: "x", file_path: "documents/a.pdf" } });
    if (call.method === "1037543291543636") return Response.json({ url, mime_type: "application/pdf", file_size: 30 });
    return download(call, number);
  };
}

const KINDS = ["telegram", "whatsapp"] as const;

test.each(KINDS)("the bytes of %s's media come as a download that no browser runs", async (kind) => {
  const calls = fakeNetworks(found(() => file("application/pdf", { "Content-Length": String(BYTES.length) })));
  const { get } = await withDocument(kind);
  const answer = await get();
  expect([answer.status, answer.text]).toEqual([200, BYTES]);
  const headers = Object.fromEntries(answer.headers);
  expect(headers).toMatchObject({
    "content-type": "application/pdf",
    "content-disposition": "attachment; filename*=UTF-8''Rechnung%20Nr.%207%20%E2%80%93%20%27M%C3%A4rz%27.pdf",
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-cache",
    "accept-ranges": "bytes",
  });
  expect(headers["x-ratelimit-limit"]).toBeDefined();
  expect(JSON.stringify(headers)).not.toMatch(HIDDEN);
  expect(calls.map((call) => call.method)).toEqual(
    kind === "telegram" ? ["getFile", "documents/a.pdf"] : ["1037543291543636", "?mid=1"],
  );
  expect(new Set(calls.map((call) => call.token))).toEqual(new Set([kind === "telegram" ? BOT_TOKEN : ACCESS_TOKEN]));
});

test.each(KINDS)("%s's media is streamed: its first bytes are here before its last", async (kind) => {
  let isAsked = false;
  const rest = gate("the rest");
  const slow = () => {
    const body = new ReadableStream({
      async pull(controller) {
        if (isAsked) {
          await rest.pass();
          controller.enqueue(new TextEncoder().encode("last"));
          controller.close();
        } else {
          controller.enqueue(new TextEncoder().encode("first"));
          isAsked = true;
        }
      },
    });
    return new Response(body, { headers: { "Content-Type": "application/pdf" } });
  };
  fakeNetworks(found(slow));
  const { path, organizationId } = await withDocument(kind);
  const { secret } = await newKey(organizationId);
  const headers = { Authorization: `Bearer ${secret}` };
  const response = await exports.default.fetch(new Request(`https://parley.test/api/v1${path}`, { headers }));
  const reader = response.body?.getReader();
  const first = await reader?.read();
  expect(new TextDecoder().decode(first?.value)).toBe("first");
  rest.open();
  const last = await reader?.read();
  expect(new TextDecoder().decode(last?.value)).toBe("last");
  expect((await reader?.read())?.done).toBe(true);
});

test("media that no message has is not found", async () => {
  fakeNetworks(found());
  const { api, chatId, get, path, message } = await withDocument("telegram");
  const outbound = await send(api, chatId, { type: "IMAGE", content: "https://example.com/a.jpg" });
  expectError(await api("GET", `/chats/${chatId}/messages/${outbound.id}/media`), 404, "media_not_found");
  expectError(await api("GET", `/chats/${chatId}/messages/msg_gAAAAAAAAAAAAAAA/media`), 404, "message_not_found");
  expectError(await api("GET", `/chats/cht_gAAAAAAAAAAAAAAA/messages/${message?.id}/media`), 404, "chat_not_found");
  const stranger = await newOrganization();
  expectError(await stranger.api("GET", path), 404, "chat_not_found");
  expect((await get()).status).toBe(200);
  await admin("POST", `/chats/${chatId}/messages/${message?.id}/redact`);
  expectError(await get(), 404, "media_not_found");
});

test.each(KINDS)("a picture of %s's is shown, and is a picture whatever the download calls it", async (kind) => {
  fakeNetworks(found(() => file("text/html")));
  const { get } = await withDocument(kind, { type: "image/png", name: "a.png" });
  if (kind === "whatsapp") fakeNetworks(found(() => file("image/jpeg")));
  const { status: code, headers } = await get();
  expect([code, headers.get("Content-Type"), headers.get("Content-Disposition")]).toEqual([
    ...[200, "image/png", "inline; filename*=UTF-8''a.png"],
  ]);
});

test.each(KINDS)("HEAD asks %s what the file is, and not for its bytes", async (kind) => {
  const { api, path } = await withDocument(kind);
  const calls = fakeNetworks(found());
  const { status: code, text, headers } = await api("HEAD", path);
  expect([code, text, headers.get("Content-Type"), headers.get("ETag")]).toEqual([
    ...[200, "", "application/pdf", expect.stringMatching(/^"msg_/)],
  ]);
  expect(headers.get("Content-Length")).toBe(kind === "whatsapp" ? "30" : null);
  expect(calls).toHaveLength(1);
});

test.each(KINDS)(
  "a part of %s's file is asked of the network, and a client that has it gets nothing again",
  async (kind) => {
    const { api, path, message } = await withDocument(kind);
    const get = (headers: Record<string, string>) => api("GET", path, undefined, headers);
    const part = () => new Response("PDF", { status: 206, headers: { "Content-Range": "bytes 1-3/30" } });
    let calls = fakeNetworks(found(part));
    const etag = `"${message?.id}"`;
    for (const condition of [{}, { "If-Range": etag }]) {
      const answer = await get({ Range: "bytes=1-3", ...condition });
      expect([answer.status, answer.text, answer.headers.get("Content-Range")]).toEqual([206, "PDF", "bytes 1-3/30"]);
      expect(answer.headers.get("Content-Length")).toBe("3");
    }
    expect(calls.map(({ headers }) => headers.get("Range"))).toEqual([null, "bytes=1-3", null, "bytes=1-3"]);
    calls = fakeNetworks(found());
    for (const headers of [
      { Range: "bytes=1-3" },
      { Range: "bytes=1-3", "If-Range": '"other"' },
      { Range: "bytes=1-0" },
    ]) {
      expect(await get(headers as Record<string, string>)).toMatchObject({ status: 200, text: BYTES });
    }
    expect(calls.map(({ headers }) => headers.get("Range")).filter(Boolean)).toEqual(["bytes=1-3"]);
    calls = fakeNetworks(found());
    const known = await get({ "If-None-Match": etag });
    expect([known.status, known.text, known.headers.get("ETag")]).toEqual([304, "", etag]);
    expectError(await get({ "If-Match": '"other"' }), 412, "precondition_failed");
    expect(calls).toEqual([]);
    fakeNetworks(found(() => new Response("no", { status: 416, headers: { "Content-Range": "bytes */30" } })));
    const none = await get({ Range: "bytes=30-" });
    expect([none.status, none.text, none.headers.get("Content-Range")]).toEqual([416, "", "bytes */30"]);
    fakeNetworks(found(() => new Response("no", { status: 416 })));
    expectError(await get({ Range: "bytes=30-" }), 503, "unavailable");
  },
);

test("a file that Telegram gives to no bot is too large, and not remembered as gone", async () => {
  const { chatId, get } = await withDocument("telegram");
  const calls = fakeNetworks(refuse(400, "Bad Request: file is too big"));
  const object = () => env.CHATS.getByName(chatId);
  const { rows } = await objectWrites({ object }, async () => {
    for (const _ of [1, 2]) expectError(await get(), 404, "too_large_at_network");
  });
  expect([rows, calls]).toMatchObject([0, [{ method: "getFile" }, { method: "getFile" }]]);
});

test.each([
  ["telegram", 0, refuse(400, "Bad Request: invalid file_id")],
  ["whatsapp", 30, refuse(100, "Object with ID does not exist")],
  ["whatsapp", 30, found(status(404))],
] as const)(
  "what %s no longer has after %d days is remembered in one row, and not asked for again",
  async (kind, days, script) => {
    const { api, chatId, get, message, path } = await withDocument(kind);
    const calls = fakeNetworks(script);
    const object = () => env.CHATS.getByName(chatId);
    const ask = async () => {
      const { rows } = await objectWrites({ object }, async () => expectError(await get(), 404, "media_expired"));
      vi.restoreAllMocks();
      return rows;
    };
    if (days > 0) {
      vi.setSystemTime(Date.parse(message?.createdAt ?? "") + days * 86_400_000 - 1);
      expect(await ask()).toBe(0);
      expect(await ask()).toBe(0);
      vi.setSystemTime(Date.now() + 1);
    }
    expect(await ask()).toBe(1);
    calls.length = 0;
    expect(await ask()).toBe(0);
    expectError(await api("GET", path, undefined, { "If-None-Match": `"${message?.id}"` }), 404, "media_expired");
    expect(calls).toEqual([]);
    expect((await api("GET", `/chats/${chatId}/messages/${message?.id}`)).body.message).toEqual(message);
    await admin("POST", `/chats/${chatId}/messages/${message?.id}/redact`);
    expectError(await get(), 404, "media_not_found");
  },
);

test("what Telegram may have again is asked for again", async () => {
  const { get } = await withDocument("telegram");
  vi.setSystemTime(Date.now() + 400 * 86_400_000);
  fakeNetworks(refuse(400, "Bad Request: wrong file_id or the file is temporarily unavailable"));
  expectError(await get(), 404, "media_expired");
  fakeNetworks(found());
  expect((await get()).text).toBe(BYTES);
});

test.each([
  ["telegram", refuse(400, "Bad Request: wrong file_id or the file is temporarily unavailable")],
  ["telegram", found(status(404))],
  ["whatsapp", status(404)],
  ["whatsapp", found(status(404))],
  ["whatsapp", found(status(410))],
] as const)("media that %s no longer has is expired: %#", async (kind, script) => {
  const { get } = await withDocument(kind);
  fakeNetworks(script);
  expectError(await get(), 404, "media_expired");
});

const redirect: Script = () => new Response(null, { status: 302, headers: { Location: "https://evil.test/" } });
const elsewhere =
  (path: string): Script =>
  (call, number) =>
    call.method === "getFile"
      ? Response.json({ ok: true, result: { file_path: path } })
      : found(() => file(), path)(call, number);

test.each([
  ["telegram", "a redirect of the download", found(redirect), 2],
  ["telegram", "a path that climbs", elsewhere("../../botX/getMe"), 1],
  ["telegram", "a dead token", refuse(401, "Unauthorized"), 1],
  ["whatsapp", "a redirect of the download", found(redirect), 2],
  ["whatsapp", "a foreign host", elsewhere("https://evil.test/a"), 1],
  ["whatsapp", "a page in place of the bytes", found(() => file("text/html")), 2],
  ["whatsapp", "a dead token", refuse(190, `Bad ${ACCESS_TOKEN}`, { status: 401 }), 1],
] as const)(
  "%s answers with %s: the media is unavailable, and the answer says nothing else",
  async (kind, _what, script, count) => {
    const { get } = await withDocument(kind);
    const calls = fakeNetworks(script);
    const answer = await get();
    expectError(answer, 503, "unavailable");
    expect(answer.headers.get("Location")).toBeNull();
    expect(JSON.stringify([answer.text, [...answer.headers]])).not.toMatch(HIDDEN);
    expect(calls).toHaveLength(count);
    expect(calls.some((call) => call.url.includes("evil"))).toBe(false);
  },
);

test.each(
  KINDS.flatMap((kind) => ["text/html", "image/svg+xml", "text/javascript"].map((type) => [kind, type] as const)),
)("%s's file of the type %s is said to be that, and no response has this type", async (kind, type) => {
  fakeNetworks(found());
  const { get, api, path, message } = await withDocument(kind, { type, name: "a.file" });
  expect(message?.media).toMatchObject({ contentType: type, fileName: "a.file" });
  for (const answer of [await get(), await api("HEAD", path)]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Content-Type")).toBe("application/octet-stream");
    expect(answer.headers.get("Content-Disposition")).toMatch(/^attachment/);
  }
});

test.each(KINDS)("media of a channel of %s's that is being erased is not found", async (kind) => {
  const { api, path, channel } = await withDocument(kind);
  expect((await admin("DELETE", `/channels/${channel.id}`)).status).toBe(200);
  expectError(await api("GET", path), 404, "chat_not_found");
});
