import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { type ConnectingVisitor, visitorHeaders } from "../../../../../src/model/visitor.ts";
import { aroundCall, breakDirectory, breakObjects, countRoundTrips, OUTAGES } from "../../../../support/faults.ts";
import { admin, newChat, send } from "../../../../support/harness.ts";
import { asUser, connect, newSite, newToken, type Page, signUser, visit } from "../../../../support/sockets.ts";
import { pass, stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

/** A site, a user with a chat that the company created, and the user's open page. */
async function newUser(settings: Record<string, unknown> = {}) {
  const site = await newSite(settings);
  const protocols = asUser("user-7", await signUser("user-7", site.secret));
  const { page } = await visit(site.channelId, { protocols });
  const { id: chatId } = await newChat(site.api, site.channelId, "user-7");
  return { ...site, protocols, page, chatId };
}

const rotate = (channelId: string, overlapSeconds = 0) =>
  admin("POST", `/channels/${channelId}/identity-secret`, { overlapSeconds });

const allow = (channelId: string, allowedOrigins: string[]) =>
  admin("PATCH", `/channels/${channelId}`, { settings: { allowedOrigins } });

/** Whether a socket is alive; if not, its close code. */
async function pulse(page: Page): Promise<"alive" | number> {
  const answer = await page.ask('{ "type": "ping" }');
  return answer.type === "pong" ? "alive" : answer.closed;
}

test("a socket of a rotated secret is closed within 10 seconds, at its next frame, which is ignored", async () => {
  const { channelId, chatId, api, page } = await newUser();
  await rotate(channelId);
  pass(9_999);
  expect(await pulse(page)).toBe("alive");
  pass(1);
  page.send({ type: "message", id: "late", content: "Still me?" });
  expect(await page.closed).toBe(4401);
  expect((await api("GET", `/chats/${chatId}/messages`)).body.messages).toEqual([]);
});

test("a message from the company does not reach a socket of a rotated secret", async () => {
  const { channelId, chatId, api, page } = await newUser();
  await rotate(channelId);
  pass(10_000);
  await send(api, chatId, { content: "For the user alone" });
  expect(await page.next()).toEqual({ closed: 4401 });
});

test("a channel knows of a rotation at once, even right after a check", async () => {
  const { channelId, page } = await newUser();
  const other = asUser("user-8", await signUser("user-8", (await rotate(channelId, 60)).body.identitySecret));
  const { page: asks } = await visit(channelId, { protocols: other });
  pass(10_000);
  expect(await pulse(asks)).toBe("alive");
  await rotate(channelId);
  expect(await pulse(page)).toBe(4401);
});

test("a socket stays open during the overlap of its secret, and is closed within 10 seconds after it", async () => {
  const { channelId, page } = await newUser();
  const { body } = await rotate(channelId, 60);
  const protocols = asUser("user-7", await signUser("user-7", body.identitySecret));
  const { page: successor } = await visit(channelId, { protocols });
  pass(59_999);
  expect([await pulse(page), await pulse(successor)]).toEqual(["alive", "alive"]);
  pass(10_000);
  expect([await pulse(page), await pulse(successor)]).toEqual([4401, "alive"]);
});

test("the rotation of a secret does not close sockets of anonymous visitors", async () => {
  const { channelId } = await newSite();
  const { page } = await visit(channelId);
  await rotate(channelId);
  pass(10_000);
  expect(await pulse(page)).toBe("alive");
});

test("a socket of an origin that was removed is closed, and others stay open", async () => {
  const [gone, stays] = ["https://gone.example", "https://stays.example"];
  const { channelId } = await newSite({ allowedOrigins: [gone, stays] });
  const token = newToken();
  const open = async (origin: string) => (await visit(channelId, { token, origin })).page;
  const pages = [await open(gone), await open(stays), await open("https://parley.test")];
  await allow(channelId, [stays]);
  pass(10_000);
  expect(await Promise.all(pages.map(pulse))).toEqual([4403, "alive", "alive"]);
  await allow(channelId, []);
  pass(10_000);
  expect(await pulse(pages[1] as Page)).toBe("alive");
});

test("a socket is closed even after an eviction of its object", async () => {
  const { channelId, chatId, page } = await newUser();
  await rotate(channelId);
  pass(10_000);
  await evictDurableObject(env.CHATS.getByName(chatId));
  expect(await pulse(page)).toBe(4401);
});

test("the socket of a page without a chat is closed too", async () => {
  const { channelId } = await newSite({ allowedOrigins: ["https://gone.example"] });
  const { page } = await visit(channelId, { origin: "https://gone.example" });
  await allow(channelId, ["https://other.example"]);
  pass(10_000);
  expect(await pulse(page)).toBe(4403);
});

test("the channel and the directory are read once in 10 seconds, however many frames pass", async () => {
  const { channelId, chatId, api, page, protocols } = await newUser();
  const { page: other } = await visit(channelId, { protocols });
  await send(api, chatId);
  await page.next();
  await other.next();
  const channelCalls = vi.spyOn(env.CHANNELS, "getByName");
  const roundTrips = countRoundTrips();
  for (let second = 1; second <= 30; second++) {
    pass(1_000);
    expect([await pulse(page), await pulse(other)]).toEqual(["alive", "alive"]);
  }
  expect([channelCalls.mock.calls.length, roundTrips()]).toEqual([3, 3]);
});

test("a chat without an open socket makes no check", async () => {
  const { chatId, api, page } = await newUser();
  await send(api, chatId);
  await page.close();
  pass(10_000);
  const channelCalls = vi.spyOn(env.CHANNELS, "getByName");
  await send(api, chatId);
  expect(channelCalls).not.toHaveBeenCalled();
});

test("frames that arrive during a check are sent afterward, in order, and to each page once", async () => {
  const { channelId, chatId, api, page, protocols } = await newUser();
  pass(10_000);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  aroundCall("CHANNELS", "socketPolicy", { before: () => released });
  for (const content of ["one", "two"]) await send(api, chatId, { content });
  const { page: late, ready } = await visit(channelId, { protocols });
  expect(ready.lastSeq).toBe(2);
  await send(api, chatId, { content: "three" });
  page.send({ type: "read", seq: 3 });
  release();
  const told = [await page.next(), await page.next(), await page.next(), await page.next()];
  expect(told.map(({ message, seq }) => message?.text ?? seq)).toEqual(["one", "two", "three", 1]);
  expect(await late.next()).toMatchObject({ type: "message", message: { text: "three" } });
});

test("a message that is redacted while its frame waits for a check is sent without its text", async () => {
  const { chatId, api, page } = await newUser();
  pass(10_000);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  aroundCall("CHANNELS", "socketPolicy", { before: () => released });
  const { id } = await send(api, chatId, { content: "My card number" });
  await send(api, chatId, { content: "Another" });
  expect((await admin("POST", `/chats/${chatId}/messages/${id}/redact`)).status).toBe(200);
  release();
  const told = [await page.next(), await page.next(), await page.next()];
  expect(told.map(({ message }) => message.text)).toEqual(["", "Another", ""]);
});

test("while the check fails, a socket stays open for an hour, and is then told to try later", async () => {
  const { page } = await newUser();
  breakObjects("CHANNELS", "socketPolicy");
  pass(3_599_000);
  expect(await pulse(page)).toBe("alive");
  pass(1_000);
  expect(await pulse(page)).toBe(1013);
});

test.each(OUTAGES)(
  "while the directory is down, a channel answers with what it knew last (%s error)",
  async (outage) => {
    const { channelId, page } = await newUser();
    pass(10_000);
    expect(await pulse(page)).toBe("alive");
    breakDirectory(outage);
    pass(60_000);
    expect(await pulse(page)).toBe("alive");
    vi.restoreAllMocks();
    await rotate(channelId);
    pass(10_000);
    expect(await pulse(page)).toBe(4401);
  },
);

test("a rotation that could not be reported to its channel takes effect ten seconds later", async () => {
  const { channelId, page } = await newUser();
  pass(10_000);
  expect(await pulse(page)).toBe("alive");
  breakObjects("CHANNELS", "refresh");
  expect((await rotate(channelId)).status).toBe(201);
  vi.restoreAllMocks();
  pass(20_000);
  expect(await pulse(page)).toBe(4401);
});

test("if a secret can't be decrypted, users' sockets are closed after an hour, and anonymous ones stay open", async () => {
  const { channelId, page } = await newUser();
  const { page: stranger } = await visit(channelId);
  await env.DB.prepare("update channels set identity_secret = 'unreadable' where id = ?").bind(channelId).run();
  pass(3_600_000);
  expect([await pulse(page), await pulse(stranger)]).toEqual([1013, "alive"]);
});

test("an overlong origin is refused, and the chat's other pages still get messages", async () => {
  const { channelId, chatId, api, page, protocols } = await newUser();
  const origin = `https://${"a".repeat(20_000)}.example`;
  expect(await (await connect(channelId, { protocols, origin })).closed).toBe(4403);
  pass(10_000);
  await send(api, chatId, { content: "Hello" });
  expect(await page.next()).toMatchObject({ message: { text: "Hello" } });
});

test("a socket with too much data is not accepted, and the chat's other pages still get messages", async () => {
  const { chatId, api, page } = await newUser();
  const [visitor] = await runInDurableObject(env.CHATS.getByName(chatId), (_object, state) =>
    state.getWebSockets().map((socket) => socket.deserializeAttachment() as ConnectingVisitor),
  );
  const headers = visitorHeaders({ ...(visitor as ConnectingVisitor), address: "a".repeat(20_000) });
  await expect(env.CHATS.getByName(chatId).fetch("https://chat/socket", { headers })).rejects.toThrow("16384");
  pass(10_000);
  await send(api, chatId, { content: "Hello" });
  expect(await page.next()).toMatchObject({ message: { text: "Hello" } });
});

test("a frame that is too large closes its socket without waiting for the check", async () => {
  const { page } = await newUser();
  pass(10_000);
  aroundCall("CHANNELS", "socketPolicy", { before: () => page.closed });
  page.send("x".repeat(100_000));
  expect(await page.closed).toBe(1009);
});

test("a hundred frames can wait for a check, and a socket that sends more is told to try later", async () => {
  const { channelId, page, protocols } = await newUser();
  const pages = [
    page,
    ...(await Promise.all([1, 2, 3].map(() => visit(channelId, { protocols })))).map((one) => one.page),
  ];
  pass(10_000);
  aroundCall("CHANNELS", "socketPolicy", { before: () => Promise.race(pages.map(({ closed }) => closed)) });
  for (const one of pages) for (let i = 0; i < 30; i++) one.send({ type: "read", seq: i });
  expect(await Promise.race(pages.map(({ closed }) => closed))).toBe(1013);
});
