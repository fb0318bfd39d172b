import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { countHops } from "../../support/faults.ts";
import { admin, call, created, newChat, newOrganization, send } from "../../support/harness.ts";
import { fakeNetworks, inTurn, lost } from "../../support/networks.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { newSite, newToken, objectOf, visit } from "../../support/sockets.ts";
import { conversation, pass, runNext, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { uploadsEnded } from "../visitors/uploading.ts";
import { meter } from "./meter.ts";

stopTheClock();

/** Counts the calls to R2 since the last count, without zeros. */
function countBucketCalls() {
  const names = ["put", "get", "head", "list", "delete"] as const;
  const spies = names.map((name) => vi.spyOn(env.MEDIA, name));
  return () => {
    const counts = names.map((name, index) => [name, spies[index]?.mock.calls.length ?? 0] as const);
    for (const spy of spies) spy.mockClear();
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  };
}

/** A chat to which one file was uploaded and sent, and requests for it. */
async function warmChat() {
  const { api, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const at = `/chats/${id}`;
  const upload = (headers: Record<string, string> = {}) =>
    api("POST", `${at}/media`, "Hello", { "Content-Type": "text/plain", "Content-Length": "5", ...headers });
  const mediaId = created(await upload()).media.id;
  // The first one with an idempotency key creates its table.
  created(await upload({ "Idempotency-Key": "first" }));
  const message = await send(api, id, { mediaId });
  return {
    api,
    at,
    upload,
    media: `${at}/messages/${message.id}/media`,
    object: () => env.CHATS.getByName(id),
    message,
  };
}

test("an upload calls its key twice, the chat twice and R2 once; its repeat calls the key twice, the chat once and R2 never", async () => {
  const { upload } = await warmChat();
  const [hops, calls] = [countHops(), countBucketCalls()];
  created(await upload());
  expect([hops(), calls()]).toEqual([{ KEYS: 2, CHATS: 2 }, { put: 1 }]);
  const key = { "Idempotency-Key": "once" };
  created(await upload(key));
  expect([hops(), calls()]).toEqual([{ KEYS: 2, CHATS: 2 }, { put: 1 }]);
  created(await upload(key));
  expect([hops(), calls()]).toEqual([{ KEYS: 2, CHATS: 1 }, {}]);
});

test("an upload writes two rows, with an idempotency key four, and its repeat none", async () => {
  const { upload, object } = await warmChat();
  const rows = [];
  for (const headers of [{}, { "Idempotency-Key": "once" }, { "Idempotency-Key": "once" }] as Record<
    string,
    string
  >[]) {
    rows.push((await objectWrites({ object }, async () => created(await upload(headers)))).rows);
    vi.restoreAllMocks();
  }
  expect(rows).toEqual([2, 4, 0]);
});

test("a send with a file calls what a send without one calls, and not R2", async () => {
  const { api, at, upload } = await warmChat();
  const { media } = created(await upload());
  const [hops, calls] = [countHops(), countBucketCalls()];
  created(await api("POST", `${at}/messages`, { content: "Look", mediaId: media.id }));
  expect([hops(), calls()]).toEqual([{ KEYS: 1, CHATS: 1 }, {}]);
});

test.each<[string, string, Record<string, string>, object]>([
  ["a download", "GET", {}, { get: 1 }],
  ["a part of it", "GET", { Range: "bytes=1-2" }, { get: 1 }],
  ["HEAD", "HEAD", {}, { head: 1 }],
  ["a file that its client has", "GET", { "If-None-Match": "*" }, {}],
  ["a part that it does not have", "GET", { Range: "bytes=9-" }, {}],
])("%s calls the key and the chat once each, and R2 at most once", async (_name, method, headers, expected) => {
  const { api, media } = await warmChat();
  const [hops, calls] = [countHops(), countBucketCalls()];
  expect((await api(method, media, undefined, headers)).status).toBeLessThan(417);
  expect([hops(), calls()]).toEqual([{ KEYS: 1, CHATS: 1 }, expected]);
});

test("a redaction deletes a file in one call", async () => {
  const { at, message } = await warmChat();
  const calls = countBucketCalls();
  expect((await admin("POST", `${at}/messages/${message.id}/redact`)).status).toBe(200);
  expect(calls()).toEqual({ delete: 1 });
});

test("WhatsApp's uploads are read once, also if the message goes out twice", async () => {
  fakeNetworks(inTurn(({ method }) => Response.json(method === "media" ? { id: "1" } : {}), lost));
  const { api, chatId, run, ...chat } = await conversation("whatsapp");
  const headers = { "Content-Type": "text/plain", "Content-Length": "5" };
  const { media } = created(await api("POST", `/chats/${chatId}/media`, "Hello", headers));
  const calls = countBucketCalls();
  const { id } = await send(api, chatId, { mediaId: media.id });
  await run();
  await runNext({ ...chat, run });
  expect(await chat.message(id)).toMatchObject({ status: "SENT" });
  expect(calls()).toEqual({ get: 1 });
});

test("a visitor's first file has bounded costs, and a read of it by its link calls the chat once and R2 once", async () => {
  const { api, channelId, organizationId } = await newSite();
  await newChat(api, channelId);
  const token = newToken();
  const upload = (claim: string) =>
    call("POST", `/web/${channelId}/media`, {
      headers: { Authorization: `Bearer token.${claim}`, "Content-Type": "text/plain", "Content-Length": "5" },
      body: "Hello",
    });
  const [channel, organization] = [env.CHANNELS.getByName(channelId), env.ORGANIZATIONS.getByName(organizationId)];
  const chat = await objectOf(channelId, token);
  // The first one of the channel creates its table.
  created(await upload(newToken()));
  await uploadsEnded(channel);
  const { read } = await meter([channel, organization, chat]);
  const { media } = created(await upload(token));
  await uploadsEnded(channel);
  // Calls: the channel's limits of uploads, at its begin and its end, and of new chats, the chat for a chat that isn't
  // there, for the reservation and for the confirmation, the organization's object for the new chat. Of the rows, two are
  // the table of files, and two are the file's. The channel is read again before the confirmation, which writes nothing.
  expect(read()).toEqual({ calls: 7, rows: 21, directory: 0 });
  vi.restoreAllMocks();
  const { page } = await visit(channelId, { token });
  const { page: other } = await visit(channelId, { token });
  page.send({ type: "message", id: "a", content: media.id, mediaId: media.id });
  const { message } = await other.next();
  pass(1_000);
  const [hops, calls] = [countHops(), countBucketCalls()];
  expect((await call("GET", message.mediaUrl.slice("https://parley.test".length))).text).toBe("Hello");
  expect([hops(), calls()]).toEqual([{ CHATS: 1 }, { get: 1 }]);
});
