import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { ChatObject } from "../../../../../src/chats/object/chat-object.ts";
import { admin, newChat, send } from "../../../../support/harness.ts";
import { asUser, connect, newSite, signUser, upgrade, visit } from "../../../../support/sockets.ts";
import { heldBy, NOTHING } from "../../../../support/stored.ts";
import { stopTheClock } from "../delivery/conversation.ts";
import { later, newVisitor } from "./new-visitor.ts";

stopTheClock();

test("opening the socket stores nothing in any object", async () => {
  const { api, organizationId, channelId, token, object } = await newVisitor();
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  // The entries of its audit log.
  const before = await heldBy(organization);
  const { page, ready } = await visit(channelId, { token });
  expect(ready).toMatchObject({ type: "ready", events: 0, chatId: null, messages: [], hasMore: false, lastSeq: 0 });
  page.send({ type: "delivered", seq: 5 });
  page.send({ type: "read", seq: 5 });
  expect(await page.rest()).toEqual([]);
  expect((await api("GET", "/chats")).body.chats).toEqual([]);
  expect(await heldBy(object)).toEqual(NOTHING);
  expect(await heldBy(env.CHANNELS.getByName(channelId))).toEqual(NOTHING);
  expect(await heldBy(organization)).toEqual(before);
});

test("the upgrade response names only the server's protocol", async () => {
  const { channelId } = await newVisitor();
  const response = await upgrade(channelId);
  expect(response.headers.get("Sec-WebSocket-Protocol")).toBe("parley.v1");
  response.webSocket?.accept();
});

test("the first message creates the chat with the visitor's address, and is stored", async () => {
  const { api, channelId, token, messages } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const stored = await page.write("one", "Hello?");
  expect(stored).toEqual({ type: "stored", id: "one", messageId: expect.stringMatching(/^msg_g/), seq: 1 });
  const [chat] = (await api("GET", `/chats?channel=${channelId}`)).body.chats;
  const { address } = chat.contact;
  expect(address).toMatch(/^web_[0-9A-Za-z]{43}$/);
  expect(chat.contact).toEqual({ address, name: null, username: null, personId: null, addresses: [address] });
  expect(await messages(chat.id)).toEqual([
    expect.objectContaining({
      id: stored.messageId,
      chatId: chat.id,
      seq: 1,
      direction: "INBOUND",
      type: "TEXT",
      content: "Hello?",
      text: "Hello?",
      senderId: null,
      mediaUrl: null,
      status: "RECEIVED",
      error: null,
    }),
  ]);
});

test("a message from the company reaches every open tab, without internal fields", async () => {
  const { api, channelId, token } = await newVisitor();
  const { page: one } = await visit(channelId, { token });
  const { page: other } = await visit(channelId, { token });
  await one.write("a");
  const { message } = await other.next();
  const sent = await send(api, message.chatId, { content: "Hi", metadata: { ticket: "7" } });
  const { senderId: _, templateId: _t, variables: _v, metadata: _m, ...rest } = sent;
  const { sentAt: _s, ...shown } = rest;
  const frame = { type: "message", message: shown };
  expect([await one.next(), await other.next()]).toEqual([frame, frame]);
});

test("a visitor's message is acknowledged to its own tab and shown in the other", async () => {
  const { channelId, token } = await newVisitor();
  const { page: one } = await visit(channelId, { token });
  const { page: other } = await visit(channelId, { token });
  const stored = await one.write("a", "From one");
  expect(await other.next()).toMatchObject({
    type: "message",
    message: { id: stored.messageId, seq: 1, content: "From one", direction: "INBOUND", status: "RECEIVED" },
  });
  expect([await one.rest(), await other.rest()]).toEqual([[], []]);
});

test("two concurrent first messages from two tabs create one chat, and are stored one after the other", async () => {
  const { api, channelId, token } = await newVisitor();
  const open = async (content: string) => ({ content, ...(await visit(channelId, { token })) });
  const [one, other] = [await open("A"), await open("B")];
  for (const { page, content } of [one, other]) page.send({ type: "message", id: content, content });
  const frames = [await one.page.next(), await other.page.next()];
  // Frames of two sockets go separate ways, so either can be the first. The other came within the same second.
  const [first, second] = frames[0]?.type === "stored" ? [one, other] : [other, one];
  expect(frames).toContainEqual(expect.objectContaining({ type: "stored", id: first.content, seq: 1 }));
  const message = expect.objectContaining({ content: first.content });
  expect(frames).toContainEqual(expect.objectContaining({ type: "message", message }));
  const refused = { type: "refused", id: second.content, code: "rate_limited", retryAfter: 1 };
  expect(await second.page.next()).toMatchObject(refused);
  later();
  expect(await second.page.write(second.content, second.content)).toMatchObject({ type: "stored", seq: 2 });
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
});

test("a socket that was open before the company created the chat gets its messages", async () => {
  const { api, channelId, secret } = await newSite();
  const protocols = asUser("user-7", await signUser("user-7", secret));
  const { page, ready } = await visit(channelId, { protocols });
  expect(ready.chatId).toBeNull();
  const chat = await newChat(api, channelId, "user-7");
  const { ready: second } = await visit(channelId, { protocols });
  expect(second).toMatchObject({ chatId: chat.id, lastSeq: 0 });
  const sent = await send(api, chat.id, { content: "Welcome" });
  expect(await page.next()).toMatchObject({
    type: "message",
    message: { id: sent.id, text: "Welcome", status: "SENT" },
  });
  expect(await page.write("a")).toMatchObject({ type: "stored", seq: 2 });
});

test("a message that is repeated after a reconnect is stored once and gets the same response, whatever the rate limit", async () => {
  const { channelId, token, messages } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const first = await page.write("one", "Once");
  await page.close();
  const { page: again, ready } = await visit(channelId, { token });
  expect(await again.write("one", "Once")).toEqual(first);
  expect(await again.write("one", "Once")).toEqual(first);
  expect(await messages(ready.chatId)).toHaveLength(1);
});

test("a repeated message gets the same response after an eviction, and other tabs don't see it twice", async () => {
  const { channelId, token, object } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const { page: other } = await visit(channelId, { token });
  const first = await page.write("one");
  await other.next();
  await evictDurableObject(object);
  expect(await page.write("one")).toEqual(first);
  expect(await other.rest()).toEqual([]);
});

test("the same client id in another chat stores another message", async () => {
  const { channelId } = await newVisitor();
  const stored = await Promise.all([1, 2].map(async () => (await visit(channelId)).page.write("same")));
  expect(stored.map(({ seq }) => seq)).toEqual([1, 1]);
  expect(new Set(stored.map(({ messageId }) => messageId)).size).toBe(2);
});

test("sockets sleep through an eviction, and frames in both directions wake their chat", async () => {
  const { api, channelId, token, object } = await newVisitor();
  const { page: one } = await visit(channelId, { token });
  const { page: other } = await visit(channelId, { token });
  await evictDurableObject(object);
  expect(await one.write("a")).toMatchObject({ type: "stored", seq: 1 });
  const { message } = await other.next();
  await evictDurableObject(object);
  await send(api, message.chatId);
  expect([(await one.next()).message.seq, (await other.next()).message.seq]).toEqual([2, 2]);
  await evictDurableObject(object);
  expect(await one.ask({ type: "read", seq: 2 })).toEqual({ type: "status", seq: 2, status: "READ" });
  expect(await other.next()).toEqual({ type: "status", seq: 2, status: "READ" });
});

test("a ping is answered, whatever its spelling", async () => {
  const { channelId, token, object } = await newVisitor();
  const { page } = await visit(channelId, { token });
  expect(await page.ask('{"type":"ping"}')).toEqual({ type: "pong" });
  expect(await page.ask('{ "type" : "ping" }')).toEqual({ type: "pong" });
  await evictDurableObject(object);
  expect(await page.ask('{"type":"ping"}')).toEqual({ type: "pong" });
});

test("a deleted chat's sockets are closed, and its visitor can begin a new chat", async () => {
  const { api, channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const { page: other } = await visit(channelId, { token });
  await page.write("a");
  const [chat] = (await api("GET", "/chats")).body.chats;
  later();
  expect((await admin("DELETE", `/chats/${chat.id}`)).status).toBe(200);
  expect([await page.closed, await other.closed]).toEqual([1001, 1001]);
  later();
  const { page: again, ready } = await visit(channelId, { token, after: 1 });
  expect(ready).toMatchObject({ type: "ready", events: 0, chatId: null, messages: [], hasMore: false, lastSeq: 0 });
  expect(await again.write("b")).toMatchObject({ type: "stored", seq: 1 });
  expect((await api("GET", "/chats")).body.pagination.total).toBe(1);
});

test("a deleted channel's chats close their sockets, and a page without a chat learns it at its first message", async () => {
  const { channelId, token } = await newVisitor();
  const { page } = await visit(channelId, { token });
  const { page: silent } = await visit(channelId);
  await page.write("a");
  later();
  expect((await admin("DELETE", `/channels/${channelId}`)).status).toBe(200);
  expect(await page.closed).toBe(1001);
  silent.send({ type: "message", id: "a", content: "Anyone?" });
  expect(await silent.closed).toBe(4404);
  later(10_000);
  expect(await (await connect(channelId, { token })).closed).toBe(4404);
});

test("a client's close is answered, and makes room for another socket", async () => {
  const { channelId, token } = await newVisitor();
  const pages = [];
  for (let n = 0; n < 5; n++) pages.push((await visit(channelId, { token })).page);
  expect(await (await connect(channelId, { token })).closed).toBe(1013);
  expect(await pages[0]?.rest()).toEqual([]);
  await pages[0]?.close();
  await visit(channelId, { token });
});

test("a close is answered with or without a code, but a lost connection is not", async () => {
  const { channelId, token, object } = await newVisitor();
  for (let n = 0; n < 3; n++) await visit(channelId, { token });
  const answers = await runInDurableObject(object, async (chat: ChatObject, state) => {
    const [lost, silent, normal] = state.getWebSockets() as [WebSocket, WebSocket, WebSocket];
    // `test:jitter` makes each of them late.
    const close = async (socket: WebSocket, code: number) => chat.webSocketClose(socket, code);
    await Promise.all([close(lost, 1006), close(silent, 1005), close(normal, 1000)]);
    return [lost, silent, normal].map(({ readyState }) => readyState === WebSocket.OPEN);
  });
  expect(answers).toEqual([true, false, false]);
});

test("a request without an upgrade is a 400", async () => {
  const { channelId } = await newVisitor();
  const response = await upgrade(channelId, { headers: { Upgrade: "h2c" } });
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, "validation_failed"]);
});
