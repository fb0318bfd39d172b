import { exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Message } from "../../../src/chats/message.ts";
import { admin, expectError, newKey, newOrganization, send } from "../../support/harness.ts";
import { fakeNetworks, refuse, type Script, status } from "../../support/networks.ts";
import { fromMeta, fromTelegram, taken, telegramText, whatsappText } from "../inbound/webhook-calls.ts";
import { ACCESS_TOKEN, BOT_TOKEN, type Kind, newNetworkChannel, stopTheClock } from "./conversation.ts";

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
    "cache-control": "no-store",
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
  let isRead = false;
  const slow = () => {
    const body = new ReadableStream({
      async pull(controller) {
        if (isAsked) {
          while (!isRead) await scheduler.wait(1);
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
  isRead = true;
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

test.each([
  ["telegram", refuse(400, "Bad Request: wrong file_id or the file is temporarily unavailable")],
  ["telegram", refuse(400, "Bad Request: file is too big")],
  ["telegram", found(status(404))],
  ["whatsapp", refuse(100, "Unsupported get request")],
  ["whatsapp", status(404)],
  ["whatsapp", found(status(404))],
  ["whatsapp", found(status(410))],
] as const)("media that %s has no more is expired: %#", async (kind, script) => {
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
  ["telegram", "a redirect of the look-up", redirect, 1],
  ["telegram", "a redirect of the download", found(redirect), 2],
  ["telegram", "an address in place of a path", elsewhere("https://evil.test/a"), 1],
  ["telegram", "a path that climbs", elsewhere("../../botX/getMe"), 1],
  ["telegram", "a look-up that is no JSON", () => new Response("<html>"), 1],
  ["telegram", "a 502", found(status(502)), 2],
  ["telegram", "a dead token", refuse(401, "Unauthorized"), 1],
  ["whatsapp", "a redirect of the look-up", redirect, 1],
  ["whatsapp", "a redirect of the download", found(redirect), 2],
  ["whatsapp", "a foreign host", elsewhere("https://evil.test/a"), 1],
  ["whatsapp", "a host that looks like Meta's", elsewhere("https://lookaside.fbsbx.com.evil.test/a"), 1],
  ["whatsapp", "a user in the address", elsewhere("https://lookaside.fbsbx.com@evil.test/a"), 1],
  ["whatsapp", "plain http", elsewhere("http://lookaside.fbsbx.com/a"), 1],
  ["whatsapp", "a look-up that is no JSON", () => new Response("<html>"), 1],
  ["whatsapp", "a page in place of the bytes", found(() => file("text/html")), 2],
  ["whatsapp", "a dead token", refuse(190, `Bad ${ACCESS_TOKEN}`, { status: 401 }), 1],
] as const)(
  "%s answers with %s: the media is unavailable, and the answer says no more",
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

test.each(KINDS)("a type that a browser would run is given to %s's media by nobody", async (kind) => {
  fakeNetworks(found(() => file("image/svg+xml")));
  const { get } = await withDocument(kind, { type: "image/svg+xml", name: "a.svg" });
  const answer = await get();
  expect(answer.status).toBe(200);
  expect(answer.headers.get("Content-Type")).not.toMatch(/svg|html|script|xml/);
});

test.each(KINDS)("media of a channel of %s's that is being erased is not found", async (kind) => {
  const { api, path, channel } = await withDocument(kind);
  expect((await admin("DELETE", `/channels/${channel.id}`)).status).toBe(200);
  expectError(await api("GET", path), 404, "chat_not_found");
});
