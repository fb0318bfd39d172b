import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../../../support/alarms.ts";
import { breakDirectory, breakObjects, countHops, OUTAGES, replaceMethod } from "../../../../support/faults.ts";
import { admin, newChat, newOrganization } from "../../../../support/harness.ts";
import {
  asUser,
  connect,
  newSite,
  newToken,
  objectOf,
  type Page,
  signUser,
  visit,
} from "../../../../support/sockets.ts";
import { pass, stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

async function newVisitor() {
  const organization = await newOrganization();
  const token = newToken();
  const object = await objectOf(organization.channelId, token);
  return { ...organization, token, object, ...(await visit(organization.channelId, { token })) };
}

test("a visitor can write one message a second, and is told when to continue", async () => {
  const { page } = await newVisitor();
  await page.write("a");
  expect(await page.write("b")).toEqual({
    type: "refused",
    id: "b",
    code: "rate_limited",
    message: "Too many messages",
    retryAfter: 1,
  });
  pass(999);
  expect(await page.write("b")).toMatchObject({ type: "refused", retryAfter: 1 });
  pass(1);
  expect(await page.write("b")).toMatchObject({ type: "stored", seq: 2 });
});

test("the rate limit applies to the visitor, in all tabs and after an eviction", async () => {
  const { page, channelId, token, object } = await newVisitor();
  const { page: other } = await visit(channelId, { token });
  await page.write("a");
  await other.next();
  await evictDurableObject(object);
  expect(await other.write("b")).toMatchObject({ type: "refused", code: "rate_limited" });
});

test("concurrent messages are stored in order until the rate limit is reached", async () => {
  const { page, channelId, token } = await newVisitor();
  for (const id of ["a", "b", "c"]) page.send({ type: "message", id, content: id });
  const types = [(await page.next()).type, (await page.next()).type, (await page.next()).type];
  expect(types).toEqual(["stored", "refused", "refused"]);
  expect((await visit(channelId, { token })).ready.messages).toMatchObject([{ seq: 1, content: "a" }]);
});

/** Lets calls that open a chat wait. @returns a function that releases them */
function holdOpening(): () => void {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  replaceMethod("ORGANIZATIONS", "open", (open) => async (...given) => {
    await released;
    return open(...given);
  });
  return release;
}

test("two first messages that wait for the organization's object don't both pass the rate limit", async () => {
  const { page } = await newVisitor();
  const release = holdOpening();
  for (const id of ["a", "b"]) page.send({ type: "message", id, content: id });
  // Both have arrived once a later frame is answered.
  expect(await page.rest()).toEqual([]);
  release();
  expect(await page.next()).toMatchObject({ type: "stored", id: "a", seq: 1 });
  expect(await page.next()).toMatchObject({ type: "refused", id: "b", code: "rate_limited" });
});

test("a visitor can write 60 messages an hour, and the 61st when the first is an hour old", async () => {
  const { page } = await newVisitor();
  for (let n = 1; n <= 60; n++) {
    expect(await page.write(`${n}`)).toMatchObject({ type: "stored", seq: n });
    pass(1_000);
  }
  expect(await page.write("61")).toMatchObject({ type: "refused", code: "rate_limited", retryAfter: 3_540 });
  pass(3_540_000 - 1);
  expect(await page.write("61")).toMatchObject({ type: "refused", retryAfter: 1 });
  pass(1);
  expect(await page.write("61")).toMatchObject({ type: "stored", seq: 61 });
});

test("empty content is refused, and the socket stays open", async () => {
  const { page } = await newVisitor();
  expect(await page.write("a", "")).toMatchObject({ type: "refused", id: "a", code: "missing_field" });
  expect(await page.write("a", "x")).toMatchObject({ type: "stored" });
});

test.each([
  ["4,096 characters", "x".repeat(4_096)],
  ["4,096 characters of three bytes each", "€".repeat(4_096)],
  ["2,048 surrogate pairs", "🦀".repeat(2_048)],
  ["quotes and NUL", `"\\\u0000`],
  ["markup", "<img src=x onerror=alert(1)>"],
])("content of %s is stored as it is", async (_, content) => {
  const { page, channelId, token } = await newVisitor();
  expect(await page.write("a", content)).toMatchObject({ type: "stored" });
  expect((await visit(channelId, { token })).ready.messages).toMatchObject([{ content, text: content }]);
});

test.each([
  ["not JSON", "hello", 1008],
  ["binary", new ArrayBuffer(8), 1008],
  ["a message without an id", { type: "message", content: "x" }, 1008],
  ["more than 16 KiB of text", `{"type":"ping","x":"${"x".repeat(16 * 1_024)}"}`, 1009],
])("a frame that is %s closes the socket", async (_, frame, code) => {
  const { page, channelId, api } = await newVisitor();
  page.send(frame);
  expect(await page.closed).toBe(code);
  expect((await api("GET", `/chats?channel=${channelId}`)).body.chats).toEqual([]);
});

test("a socket that sends more than 50 frames a second is closed, and the visitor's other socket stays open", async () => {
  const { page, channelId, token } = await newVisitor();
  const { page: other } = await visit(channelId, { token });
  for (let n = 0; n < 51; n++) page.send({ type: "read", seq: n });
  expect(await page.closed).toBe(1013);
  expect(await other.rest()).toEqual([]);
});

test("a socket that requests more than four older pages in a second is closed", async () => {
  const { page } = await newVisitor();
  for (let n = 0; n < 4; n++) expect(await page.ask({ type: "older", before: 1 })).toMatchObject({ type: "older" });
  expect(await page.ask({ type: "older", before: 1 })).toEqual({ closed: 1013 });
});

test("a socket is closed if more than 20 of its messages are waiting, and those 20 are processed", async () => {
  const { page, channelId, token } = await newVisitor();
  const { page: other } = await visit(channelId, { token });
  const release = holdOpening();
  for (let n = 1; n <= 20; n++) page.send({ type: "message", id: `${n}`, content: "x" });
  expect(await page.rest()).toEqual([]);
  page.send({ type: "message", id: "21", content: "x" });
  expect(await page.closed).toBe(1013);
  release();
  expect(await other.next()).toMatchObject({ type: "message", message: { seq: 1 } });
  pass(1_000);
  expect(await other.write("b")).toMatchObject({ type: "stored", seq: 2 });
});

test("a socket beyond the limit sleeps like the others, and its frames are ignored", async () => {
  const { channelId, token, object } = await newVisitor();
  for (let n = 2; n <= 5; n++) await visit(channelId, { token });
  const slept = await runInDurableObject(object, async (_object, state) => {
    const accepted = vi.spyOn(state, "acceptWebSocket");
    const page = await connect(channelId, { token });
    page.send({ type: "message", id: "a", content: "x" });
    expect(await page.closed).toBe(1013);
    return accepted.mock.calls.length;
  });
  expect(slept).toBe(1);
  await evictDurableObject(object);
  expect(await (await connect(channelId, { token })).closed).toBe(1013);
  // Another visitor's socket is not one too many.
  await visit(channelId);
});

test("a sixth socket replaces a socket that was silent for three minutes", async () => {
  const { page, channelId, token } = await newVisitor();
  for (let n = 0; n < 4; n++) await visit(channelId, { token });
  pass(180_000);
  expect(await (await connect(channelId, { token })).closed).toBe(1013);
  pass(1);
  await visit(channelId, { token });
  expect(await page.closed).toBe(1013);
});

/** Opens a new chat from an address. */
async function begin(channelId: string, from: string): Promise<{ page: Page; answer: { type: string } }> {
  const { page } = await visit(channelId, { from });
  return { page, answer: await page.write("first") };
}

test("one address can open 5 new chats a minute, and the sixth is told when to try again", async () => {
  const { channelId } = await newOrganization();
  const from = "192.0.2.1";
  for (let n = 0; n < 5; n++) {
    expect((await begin(channelId, from)).answer.type).toBe("stored");
    pass(1_000);
  }
  await evictDurableObject(env.CHANNELS.getByName(channelId));
  const { page, answer } = await begin(channelId, from);
  expect(answer).toEqual({
    type: "refused",
    id: "first",
    code: "rate_limited",
    message: "Too many new chats",
    retryAfter: 55,
  });
  expect((await begin(channelId, "192.0.2.2")).answer.type).toBe("stored");
  pass(55_000);
  expect(await page.write("first")).toMatchObject({ type: "stored" });
  expect((await begin(channelId, from)).answer.type).toBe("refused");
});

test("a refused new chat is refused again for 5 s without a call of an object or the directory", async () => {
  const { channelId } = await newOrganization();
  const from = "192.0.2.3";
  for (let n = 0; n < 5; n++) await begin(channelId, from);
  const { page, answer } = await begin(channelId, from);
  expect(answer).toMatchObject({ code: "rate_limited", retryAfter: 60 });
  const hops = countHops();
  pass(500);
  for (let n = 0; n < 50; n++) {
    pass(20);
    expect(await page.write(`${n}`)).toMatchObject({ message: "Too many new chats", retryAfter: n < 24 ? 5 : 4 });
  }
  expect(hops()).toEqual({});
  pass(5_000);
  expect(await page.write("asked")).toMatchObject({ message: "Too many new chats", retryAfter: 54 });
  pass(53_500);
  expect(await page.write("first")).toMatchObject({ type: "stored" });
});

test("the addresses of one /64 count as one address, and the next /64 counts separately", async () => {
  const { channelId } = await newOrganization();
  for (let n = 1; n <= 5; n++) await begin(channelId, `2001:db8:0:1::${n}`);
  expect((await begin(channelId, "2001:db8:0:1:ffff:ffff:ffff:ffff")).answer.type).toBe("refused");
  expect((await begin(channelId, "2001:db8:0:2::1")).answer.type).toBe("stored");
});

test("existing chats don't count toward the limit", async () => {
  const { channelId } = await newOrganization();
  const from = "192.0.2.9";
  const token = newToken();
  const { page } = await visit(channelId, { token });
  await page.write("a");
  for (let n = 0; n < 5; n++) await begin(channelId, from);
  pass(1_000);
  const { page: moved } = await visit(channelId, { token, from });
  expect(await moved.write("b")).toMatchObject({ type: "stored", seq: 2 });
});

test("the addresses of new chats are stored for a minute", async () => {
  const { channelId } = await newOrganization();
  await begin(channelId, "192.0.2.77");
  const channel = env.CHANNELS.getByName(channelId);
  const kept = () =>
    runInDurableObject(channel, (_object, { storage }) =>
      storage.sql.exec<{ count: number }>("select count(*) as count from openings").one(),
    );
  expect(await kept()).toEqual({ count: 1 });
  pass(60_000);
  await runAlarm(channel);
  expect(await kept()).toEqual({ count: 0 });
});

test("while the organization's object does not answer, a first message gets unavailable, and its repeats count as one new chat", async () => {
  const { channelId } = await newOrganization();
  const from = "192.0.2.11";
  const { page } = await visit(channelId, { from });
  breakObjects("ORGANIZATIONS", "open");
  for (let n = 0; n < 6; n++) {
    expect(await page.write("a")).toMatchObject({ type: "refused", id: "a", code: "unavailable", retryAfter: 5 });
  }
  expect((await visit(channelId)).ready).toMatchObject({ chatId: null });
  vi.restoreAllMocks();
  expect(await page.write("a")).toMatchObject({ type: "stored", seq: 1 });
  for (let n = 0; n < 4; n++) expect((await begin(channelId, from)).answer.type).toBe("stored");
  expect((await begin(channelId, from)).answer.type).toBe("refused");
});

test.each(OUTAGES)(
  "while the directory is down, new visitors can write on a channel with chats (%s error)",
  async (outage) => {
    const { channelId } = await newOrganization();
    await begin(channelId, "192.0.2.13");
    breakDirectory(outage);
    expect((await begin(channelId, "192.0.2.14")).answer).toMatchObject({ type: "stored", seq: 1 });
  },
);

test("a visitor beyond the limit can write in a chat that the company created meanwhile", async () => {
  const { api, channelId, secret } = await newSite();
  const from = "192.0.2.12";
  const { page } = await visit(channelId, { protocols: asUser("user-7", await signUser("user-7", secret)), from });
  for (let n = 0; n < 5; n++) await begin(channelId, from);
  await newChat(api, channelId, "user-7");
  expect(await page.write("a")).toMatchObject({ type: "stored", seq: 1 });
});

test.each(OUTAGES)("a chat in use stores messages while the directory is down (%s error)", async (outage) => {
  const { page } = await newVisitor();
  await page.write("a");
  pass(1_000);
  breakDirectory(outage);
  expect(await page.write("b")).toMatchObject({ type: "stored", seq: 2 });
});

test("at the limit on chats, a visitor's first message is refused, and a chat that exists goes on", async () => {
  const { page, organizationId, channelId } = await newVisitor();
  await page.write("a");
  expect((await admin("PATCH", `/organizations/${organizationId}`, { limits: { chats: 1 } })).status).toBe(200);
  expect((await begin(channelId, "192.0.2.15")).answer).toMatchObject({ code: "chat_limit", retryAfter: null });
  pass(1_000);
  expect(await page.write("b")).toMatchObject({ type: "stored", seq: 2 });
});

test("if the channel's object does not answer, new chats get unavailable", async () => {
  const { page, api } = await newVisitor();
  breakObjects("CHANNELS", "admitNewChat");
  expect(await page.write("a")).toMatchObject({ type: "refused", code: "unavailable", retryAfter: 5 });
  expect((await api("GET", "/chats")).body.chats).toEqual([]);
});

test("if the chat's object does not answer, the socket is closed with 1013", async () => {
  const { channelId } = await newOrganization();
  breakObjects("CHATS", "fetch");
  expect(await (await connect(channelId)).closed).toBe(1013);
});
