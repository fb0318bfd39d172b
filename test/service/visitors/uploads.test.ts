import { env, exports } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, call, expectError, newKey, send } from "../../support/harness.ts";
import { withOtherEnd } from "../../support/other-end.ts";
import { asUser, newToken, signUser, visit } from "../../support/sockets.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { HOUR, MIB, newPlace, PNG, type Upload } from "./uploading.ts";

stopTheClock();

test("a visitor's file begins the chat, which is like one that the company created", async () => {
  const { upload, chats } = await newPlace();
  const { status, body, headers } = await upload({ query: "?fileName=dot.png" });
  expect(status).toBe(201);
  expect(body.media).toMatchObject({ contentType: "image/png", fileName: "dot.png", width: 2, height: 3 });
  expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
  const [chat] = await chats();
  expect(chat).toMatchObject({ lastMessageAt: null });
  const { objects } = await env.MEDIA.list({ prefix: `${chat.id}/` });
  expect(objects.map(({ key }) => key)).toEqual([expect.stringMatching(new RegExp(`/${body.media.id}$`))]);
});

test.for<[name: string, upload: Upload, status: number, code: string]>([
  ["no token", { headers: { Authorization: "" } }, 401, "missing_authorization"],
  ["an API key", { claim: "pk_live_x" }, 401, "wrong_identity"],
  ["a short token", { claim: "token.abc" }, 401, "wrong_identity"],
  ["a forged user", { claim: `user.dXNlcg.${"0".repeat(64)}` }, 401, "wrong_identity"],
  ["another site", { headers: { Origin: "https://evil.example" } }, 403, "wrong_origin"],
  ["10 MiB and one", { size: 10 * MIB + 1 }, 413, "body_too_large"],
  ["no length", { headers: { "Transfer-Encoding": "chunked" } }, 411, "length_required"],
  ["an empty file", { size: 0 }, 400, "validation_failed"],
  ["a name that is a path", { query: "?fileName=..%2Fdot.png" }, 400, "validation_failed"],
  ["another type", { headers: { "Content-Type": "image/gif" } }, 415, "media_type"],
  ["an unknown parameter", { query: "?name=a" }, 400, "validation_failed"],
])("%s is refused, and leaves no chat", async ([, how, status, code]) => {
  const { upload, chats } = await newPlace({ allowedOrigins: ["https://shop.example"] });
  const answer = await upload({ ...how, headers: { Origin: "https://shop.example", ...how.headers } });
  expectError(answer, status, code);
  expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(await chats()).toEqual([]);
});

test("an unknown channel is a 404, and a page of any site may ask before it uploads", async () => {
  const { channelId } = await newPlace();
  const path = `/web/${withOtherEnd(channelId)}/media`;
  const headers = { Authorization: `Bearer token.${newToken()}`, "Content-Length": "1" };
  expectError(await call("POST", path, { headers, body: "x" }), 404, "channel_not_found");
  const preflight = await exports.default.fetch(`https://parley.test/web/${channelId}/media`, {
    method: "OPTIONS",
    headers: { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("Access-Control-Allow-Headers")).toContain("Authorization");
  expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe("*");
});

test("`uploads` says who can send files, and the page gets it", async () => {
  const { upload, channelId, api, organizationId, secret, token } = await newPlace({ uploads: "verified" });
  expectError(await upload(), 403, "uploads_off");
  const protocols = asUser("ada", await signUser("ada", secret));
  expect((await upload({ claim: protocols[1] as string })).status).toBe(201);
  expect((await visit(channelId, { token })).ready.features).not.toContain("uploads");
  expect((await visit(channelId, { protocols })).ready.features).toContain("uploads");
  expect(organizationId).toBeTruthy();
  expect((await api("GET", "/chats")).body.chats).toHaveLength(1);
});

test("without a bucket an upload is a 503, and a page that connects offers none", async () => {
  const { upload, channelId, token, chats } = await newPlace();
  const bucket = env.MEDIA;
  Object.assign(env, { MEDIA: undefined });
  try {
    expectError(await upload(), 503, "unavailable");
    const { page, ready } = await visit(channelId, { token });
    expect(ready.features).not.toContain("uploads");
    expect(await page.write("No file")).toMatchObject({ type: "stored" });
  } finally {
    Object.assign(env, { MEDIA: bucket });
  }
  expect(await chats()).toHaveLength(1);
  expect((await visit(channelId, { token })).ready.features).toContain("uploads");
});

test("nobody uploads if `uploads` is off", async () => {
  const { upload, secret } = await newPlace({ uploads: "off" });
  expectError(await upload({ claim: asUser("ada", await signUser("ada", secret))[1] as string }), 403, "uploads_off");
});

/** A visitor has sent a file: their page, what it said and heard, and what another tab of theirs heard. */
async function sentFile() {
  const place = await newPlace();
  const { upload, channelId, token } = place;
  const { media } = (await upload({ query: "?fileName=dot.png" })).body;
  const [{ page }, { page: other }] = [await visit(channelId, { token }), await visit(channelId, { token })];
  const frame = { type: "message", id: "a", content: media.id, mediaId: media.id };
  const stored = await page.ask(frame);
  const { message } = await other.next();
  return { ...place, media, page, frame, stored, message };
}

const DOT = { contentType: "image/png", size: PNG.byteLength, fileName: "dot.png", width: 2, height: 3 };

test("a visitor sends a file, and another tab reads it by a link", async () => {
  const { channelId, stored, message } = await sentFile();
  expect(stored).toMatchObject({ type: "stored", id: "a" });
  expect(message).toMatchObject({ type: "IMAGE", text: "dot.png", media: DOT });
  const url = new URL(message.mediaUrl);
  expect(url.pathname).toBe(`/web/${channelId}/media/${message.chatId}/${message.id}`);
  const linked = await exports.default.fetch(url);
  expect(linked.status).toBe(200);
  expect(new Uint8Array(await linked.arrayBuffer())).toEqual(PNG);
  expect(Object.fromEntries(linked.headers)).toMatchObject({
    "content-type": "image/png",
    "content-disposition": "inline; filename*=UTF-8''dot.png",
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-cache",
  });
});

test("the company reads a visitor's file by its key", async () => {
  const { api, organizationId, media, message } = await sentFile();
  const [shown] = (await api("GET", `/chats/${message.chatId}/messages`)).body.messages;
  expect(shown).toMatchObject({ type: "IMAGE", text: "dot.png", content: media.id, media: DOT, direction: "INBOUND" });
  expect(shown.mediaUrl).toBe(`https://parley.test/api/v1/chats/${message.chatId}/messages/${message.id}/media`);
  const { secret } = await newKey(organizationId);
  const read = await exports.default.fetch(shown.mediaUrl, { headers: { Authorization: `Bearer ${secret}` } });
  expect(new Uint8Array(await read.arrayBuffer())).toEqual(PNG);
});

test("a repeated frame with a file is stored once, and the file can't be sent again", async () => {
  const { page, media, frame, stored } = await sentFile();
  expect(await page.ask(frame)).toEqual(stored);
  pass(1_000);
  const again = { type: "message", id: "b", content: "Again", mediaId: media.id };
  expect(await page.ask(again)).toMatchObject({ type: "refused", id: "b", code: "media_used" });
});

test.for<[name: string, frame: Record<string, unknown>, code: string]>([
  ["an unknown file", { mediaId: "med_g000000000000000" }, "media_not_found"],
  ["no file's id", { mediaId: "x".repeat(5_000) }, "media_not_found"],
  ["a tap", { mediaId: "med_g000000000000000", choice: "msg_g000000000000000:0" }, "validation_failed"],
])("a message with %s is refused, and the file stays unused", async ([, frame, code]) => {
  const { upload, channelId, token } = await newPlace();
  const { media } = (await upload()).body;
  const { page } = await visit(channelId, { token });
  expect(await page.ask({ type: "message", id: "a", content: "Look", ...frame })).toMatchObject({ code, id: "a" });
  const sent = { type: "message", id: "b", content: "Look", mediaId: media.id };
  expect(await page.ask(sent)).toMatchObject({ type: "stored" });
});

test("a message with a file that isn't there begins no chat", async () => {
  const { channelId, token, chats } = await newPlace();
  const { page } = await visit(channelId, { token });
  const sent = { type: "message", id: "a", content: "Look", mediaId: "med_g000000000000000" };
  expect(await page.ask(sent)).toMatchObject({ type: "refused", id: "a", code: "media_not_found" });
  expect(await chats()).toEqual([]);
});

test("files that aren't there are not searched for at any pace", async () => {
  const { upload, channelId, token } = await newPlace();
  await upload();
  const { page } = await visit(channelId, { token });
  for (let count = 0; count < 6; count++) page.send({ type: "message", id: `${count}`, content: "x", mediaId: "x" });
  expect(await page.closed).toBe(1013);
});

test("another visitor's file can't be sent", async () => {
  const { upload, channelId } = await newPlace();
  const { media } = (await upload()).body;
  const stranger = newToken();
  await upload({ claim: `token.${stranger}` });
  const { page } = await visit(channelId, { token: stranger });
  const sent = { type: "message", id: "b", content: "Look", mediaId: media.id };
  expect(await page.ask(sent)).toMatchObject({ type: "refused", code: "media_not_found" });
});

test("the company's file reaches the visitor by a link, on the host that its page knows", async () => {
  const { upload, channelId, token, api, organizationId } = await newPlace();
  await upload();
  const { page } = await visit(channelId, { token });
  const [chat] = (await api("GET", "/chats")).body.chats;
  const { secret } = await newKey(organizationId);
  const uploaded = await call("POST", `/api/v1/chats/${chat.id}/media`, {
    headers: { Authorization: `Bearer ${secret}`, "Content-Type": "image/png", "Content-Length": `${PNG.byteLength}` },
    body: PNG as never,
  });
  await send(api, chat.id, { content: "Here", mediaId: uploaded.body.media.id });
  const { message } = await page.next();
  expect(message).toMatchObject({ text: "Here", type: "IMAGE", media: { width: 2 } });
  expect(message.mediaUrl).toMatch(/^https:\/\/parley\.test\/web\//);
  expect((await exports.default.fetch(message.mediaUrl, { method: "HEAD" })).headers.get("Content-Length")).toBe(
    String(PNG.byteLength),
  );
  const ranged = { headers: { Range: "bytes=1-3" } };
  expect((await exports.default.fetch(message.mediaUrl, { ...ranged, method: "HEAD" })).status).toBe(200);
  // A copy in the visitor's cache must not outlive a redaction.
  const { headers } = await exports.default.fetch(message.mediaUrl);
  expect(headers.get("Cache-Control")).toBe("private, no-cache");
  const known = { headers: { "If-None-Match": headers.get("ETag") as string } };
  expect((await exports.default.fetch(message.mediaUrl, known)).status).toBe(304);
  const part = await exports.default.fetch(message.mediaUrl, ranged);
  expect([part.status, await part.text()]).toEqual([206, "PNG"]);
  // A page that connects later gets the same link.
  const { ready } = await visit(channelId, { token });
  expect(ready.messages[0].mediaUrl).toBe(message.mediaUrl);
});

test.for<[what: string, end: (place: { chatId: string; id: string; channelId: string }) => Promise<unknown>]>([
  ["the message is redacted", ({ chatId, id }) => admin("POST", `/chats/${chatId}/messages/${id}/redact`)],
  ["the chat is erased", ({ chatId }) => admin("DELETE", `/chats/${chatId}`)],
  ["the channel is deleted", ({ channelId }) => admin("DELETE", `/channels/${channelId}`)],
  ["the next day is over", async () => pass(42 * HOUR)],
])("a link ends when %s", async ([, end]) => {
  const { upload, channelId, token } = await newPlace();
  const { media } = (await upload()).body;
  const { page } = await visit(channelId, { token });
  const { page: other } = await visit(channelId, { token });
  await page.ask({ type: "message", id: "a", content: "Look", mediaId: media.id });
  const { message } = await other.next();
  const served = await exports.default.fetch(message.mediaUrl);
  expect(served.status).toBe(200);
  const known = { "If-None-Match": served.headers.get("ETag") as string };
  await end({ chatId: message.chatId, id: message.id, channelId });
  const answer = await call("GET", message.mediaUrl.slice("https://parley.test".length));
  expectError(answer, 404, "media_not_found");
  const fromCache = await call("GET", message.mediaUrl.slice("https://parley.test".length), { headers: known });
  expectError(fromCache, 404, "media_not_found");
  const { pathname, search } = new URL(message.mediaUrl);
  expectError(await call("GET", `${pathname}${search}0`), 404, "media_not_found");
});
