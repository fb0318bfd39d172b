import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { type ConnectingVisitor, visitorHeaders, webChatId } from "../../../src/model/visitor.ts";
import { admin, newChannel, newOrganization, send } from "../../support/harness.ts";
import {
  asUser,
  connect,
  newSite,
  newToken,
  Page,
  signUser,
  signUserUntil,
  upgrade,
  visit,
} from "../../support/sockets.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();

/** The result of a visit with these subprotocols: a close code, or "ready". */
async function outcome(channelId: string, protocols: string[], origin?: string): Promise<number | "ready"> {
  const page = await connect(channelId, { protocols, ...(origin !== undefined && { origin }) });
  const first = await page.next();
  return first.type === "ready" ? "ready" : first.closed;
}

test("a user with a valid hash is the same contact on every device", async () => {
  const { api, channelId, secret } = await newSite();
  const protocols = asUser("müller@example.com 🦀", await signUser("müller@example.com 🦀", secret));
  const { page: phone } = await visit(channelId, { protocols });
  await phone.write("a");
  const { ready } = await visit(channelId, { protocols });
  expect(ready.messages).toMatchObject([{ seq: 1 }]);
  const { chat } = (await api("GET", `/chats/${ready.chatId}`)).body;
  expect(chat.contact.address).toBe("müller@example.com 🦀");
});

test.each([
  ["in upper case", (hash: string) => hash.toUpperCase(), "ready"],
  ["of another user", async (_: string, secret: string) => signUser("user-8", secret), 4401],
  ["of another channel's secret", async () => signUser("user-7", (await newSite()).secret), 4401],
])("a hash %s", async (_, hashOf, expected) => {
  const { channelId, secret } = await newSite();
  const hash = await hashOf(await signUser("user-7", secret), secret);
  expect(await outcome(channelId, asUser("user-7", hash))).toBe(expected);
});

/** A time in the future, in Unix seconds. */
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;

test("a hash with an expiry is accepted until then, and an open socket stays open afterward", async () => {
  const { channelId, secret } = await newSite();
  const expires = inSeconds(60);
  const hash = await signUserUntil("user-7", expires, secret);
  expect(await outcome(channelId, asUser("user-7", hash, expires + 1))).toBe(4401);
  const protocols = asUser("user-7", hash, expires);
  const { page } = await visit(channelId, { protocols });
  vi.setSystemTime(expires * 1_000 - 1);
  expect(await outcome(channelId, protocols)).toBe("ready");
  vi.setSystemTime(expires * 1_000);
  expect(await outcome(channelId, protocols)).toBe(4401);
  expect(await page.write("a")).toMatchObject({ type: "stored" });
});

test("hashes with and without an expiry lead to the same contact", async () => {
  const { channelId, secret } = await newSite();
  const expires = inSeconds(60);
  const dated = asUser("user-7", await signUserUntil("user-7", expires, secret), expires);
  await (await visit(channelId, { protocols: dated })).page.write("a");
  const undated = asUser("user-7", await signUser("user-7", secret));
  expect((await visit(channelId, { protocols: undated })).ready.messages).toMatchObject([{ seq: 1 }]);
});

test("a socket without a claim is refused", async () => {
  expect(await outcome((await newSite()).channelId, [])).toBe(4401);
});

test.each([
  ["address", { address: "user-8" }],
  ["organization", { organizationId: newId("org", null) }],
  ["channel", { channelId: newId("chn", null) }],
])("a socket of another %s that was open in a chat's object is closed when the chat is created", async (_, other) => {
  const { api, channelId, secret } = await newSite();
  const { page: own } = await visit(channelId, { protocols: asUser("user-7", await signUser("user-7", secret)) });
  const chatId = await webChatId(channelId, "user-7");
  const [visitor] = await runInDurableObject(env.CHATS.getByName(chatId), (_object, state) =>
    state.getWebSockets().map((socket) => socket.deserializeAttachment() as ConnectingVisitor),
  );
  const headers = visitorHeaders({ ...(visitor as ConnectingVisitor), ...other });
  const { webSocket } = await env.CHATS.getByName(chatId).fetch("https://chat/socket", { headers });
  const foreign = new Page(webSocket as WebSocket);
  expect(await foreign.next()).toMatchObject({ type: "ready", messages: [] });
  await own.write("a", "Private");
  expect(await foreign.next()).toEqual({ closed: 4401 });
  await send(api, chatId, { content: "For the user alone" });
  expect(await own.next()).toMatchObject({ message: { text: "For the user alone" } });
});

test("a token does not open a chat on another channel", async () => {
  const { organizationId, channelId } = await newSite();
  const token = newToken();
  await (await visit(channelId, { token })).page.write("a");
  const other = await newChannel(organizationId, "web");
  expect((await visit(other, { token })).ready).toMatchObject({ chatId: null, messages: [] });
});

test("a rotated identity secret works at once, and the previous one until the overlap ends", async () => {
  const { channelId, secret } = await newSite();
  const before = asUser("user-7", await signUser("user-7", secret));
  expect(await outcome(channelId, before)).toBe("ready");
  const rotated = await admin("POST", `/channels/${channelId}/identity-secret`, { overlapSeconds: 60 });
  const after = asUser("user-7", await signUser("user-7", rotated.body.identitySecret));
  expect([await outcome(channelId, after), await outcome(channelId, before)]).toEqual(["ready", "ready"]);
  vi.setSystemTime(Date.now() + 59_999);
  expect(await outcome(channelId, before)).toBe("ready");
  vi.setSystemTime(Date.now() + 1);
  expect([await outcome(channelId, after), await outcome(channelId, before)]).toEqual(["ready", 4401]);
});

test("after a rotation without overlap, the previous secret is refused after a second", async () => {
  const { channelId, secret } = await newSite();
  const before = asUser("user-7", await signUser("user-7", secret));
  await outcome(channelId, before);
  await admin("POST", `/channels/${channelId}/identity-secret`, {});
  vi.setSystemTime(Date.now() + 1_000);
  expect(await outcome(channelId, before)).toBe(4401);
});

test("if the secret can't be decrypted, a user is told to try later, and an anonymous visitor is accepted", async () => {
  const { channelId, secret } = await newSite();
  const protocols = asUser("user-7", await signUser("user-7", secret));
  const { app } = await import("../../../src/app.ts");
  const { createExecutionContext } = await import("cloudflare:test");
  const closedWith = async (offered: string[]) => {
    const headers = { Upgrade: "websocket", "Sec-WebSocket-Protocol": offered.join(", ") };
    const request = new Request(`https://parley.test/web/${channelId}/socket`, { headers });
    const { webSocket } = await app.fetch(request, { ...env, CREDENTIALS_KEY: "" }, createExecutionContext());
    return new Promise((resolve) => {
      webSocket?.addEventListener("close", ({ code }) => resolve(code));
      webSocket?.addEventListener("message", () => resolve("ready"));
      webSocket?.accept();
    });
  };
  expect(await closedWith(protocols)).toBe(1013);
  expect(await closedWith(["parley.v1", `token.${newToken()}`])).toBe("ready");
});

const LIST = ["https://shop.example", "https://www.shop.example:8443"];

test("a newly allowed origin is accepted at once, and any other is refused", async () => {
  const { channelId } = await newSite({ allowedOrigins: LIST });
  const protocols = ["parley.v1", `token.${newToken()}`];
  expect(await outcome(channelId, protocols, LIST[0])).toBe("ready");
  await admin("PATCH", `/channels/${channelId}`, { settings: { allowedOrigins: ["https://new.example"] } });
  expect(await outcome(channelId, protocols, "https://new.example")).toBe("ready");
  expect(await outcome(channelId, protocols, LIST[0])).toBe(4403);
  expect(await outcome(channelId, protocols)).toBe(4403);
});

test("an unknown channel, a channel of another kind and a malformed id get 4404 and wake no object", async () => {
  const { organizationId } = await newOrganization();
  const objects = [env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  const ids = [newId("chn", null), await newChannel(organizationId, "telegram"), "chn_", organizationId];
  const protocols = ["parley.v1", `token.${newToken()}`];
  for (const id of ids) expect(await outcome(id, protocols)).toBe(4404);
  for (const spy of objects) expect(spy).not.toHaveBeenCalled();
});

test.each(["-1", "1.5", "x", "", "1".repeat(16)])("after=%s closes the socket", async (after) => {
  const { channelId } = await newSite();
  expect(await (await connect(channelId, { after })).closed).toBe(1008);
});

test("a visitor can't set the headers that the Worker sets", async () => {
  const { channelId } = await newSite();
  const victim = newToken();
  const { page } = await visit(channelId, { token: victim });
  await page.write("a", "Private");
  const { ready } = await visit(channelId, { token: victim });
  const forged = encodeURIComponent(JSON.stringify({ chatId: ready.chatId, channelId, after: 0 }));
  const { ready: seen } = await visit(channelId, { headers: { "Parley-Visitor": forged } });
  expect(seen).toMatchObject({ chatId: null, messages: [] });
});

test("tokens reach neither the log nor the chat's object", async () => {
  const { channelId, secret } = await newSite();
  const lines: unknown[] = [];
  for (const method of ["log", "warn", "error"] as const) {
    vi.spyOn(console, method).mockImplementation((...line) => lines.push(line));
  }
  const token = newToken();
  await (await visit(channelId, { token, from: "192.0.2.200" })).page.write("a", "Private words");
  await outcome(channelId, asUser("user-7", await signUser("user-7", secret)));
  await outcome(channelId, asUser("user-7", await signUser("user-8", secret)));
  expect(lines.length).toBeGreaterThan(2);
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${token}|user-7|Private|192\\.0\\.2\\.200|web_`));
});

test("the upgrade response names the protocol only if the client offered it", async () => {
  const { channelId } = await newSite();
  const response = await upgrade(channelId, { protocols: ["other"] });
  expect(response.headers.get("Sec-WebSocket-Protocol")).toBeNull();
  response.webSocket?.accept();
});
