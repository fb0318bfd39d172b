import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { aroundQueries, breakDirectory, breakObjects, countRoundTrips, OUTAGES } from "../../support/faults.ts";
import { newChat, newOrganization } from "../../support/harness.ts";
import { asUser, connect, newSite, newToken, objectOf, type Page, signUser, visit } from "../../support/sockets.ts";
import { pass, stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

async function newVisitor() {
  const organization = await newOrganization();
  const token = newToken();
  const object = await objectOf(organization.channelId, token);
  return { ...organization, token, object, ...(await visit(organization.channelId, { token })) };
}

test("a visitor writes one message a second, and hears when to go on", async () => {
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

test("the pace is the visitor's, in whichever tab and after an eviction", async () => {
  const { page, channelId, token, object } = await newVisitor();
  const { page: other } = await visit(channelId, { token });
  await page.write("a");
  await other.next();
  await evictDurableObject(object);
  expect(await other.write("b")).toMatchObject({ type: "refused", code: "rate_limited" });
});

test("messages that come at once are stored in their order until the pace is reached", async () => {
  const { page, channelId, token } = await newVisitor();
  for (const id of ["a", "b", "c"]) page.send({ type: "message", id, content: id });
  const types = [(await page.next()).type, (await page.next()).type, (await page.next()).type];
  expect(types).toEqual(["stored", "refused", "refused"]);
  expect((await visit(channelId, { token })).ready.messages).toMatchObject([{ seq: 1, content: "a" }]);
});

/** Visitors whose chat the company has made: their first message asks the directory for it, outside a batch. */
async function newUser() {
  const { api, channelId, secret } = await newSite();
  await newChat(api, channelId, "user-7");
  const protocols = asUser("user-7", await signUser("user-7", secret));
  return { channelId, protocols, ...(await visit(channelId, { protocols })) };
}

test("two first messages that wait for the directory together do not pass the pace together", async () => {
  const { page } = await newUser();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  aroundQueries(async (_, run) => {
    await released;
    return run();
  });
  for (const id of ["a", "b"]) page.send({ type: "message", id, content: id });
  // Both have arrived when a later frame is answered.
  expect(await page.rest()).toEqual([]);
  release();
  expect(await page.next()).toMatchObject({ type: "stored", id: "a", seq: 1 });
  expect(await page.next()).toMatchObject({ type: "refused", id: "b", code: "rate_limited" });
});

test("a visitor writes 60 messages an hour, and the 61st when the first is an hour old", async () => {
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

test.each([
  ["nothing", "", "missing_field"],
  ["white space", " \n\t\u3000", "missing_field"],
  ["4,097 characters", "x".repeat(4_097), "validation_failed"],
])("content of %s is refused, and the socket stays", async (_, content, code) => {
  const { page } = await newVisitor();
  expect(await page.write("a", content)).toMatchObject({ type: "refused", id: "a", code, retryAfter: null });
  expect(await page.write("a", "x")).toMatchObject({ type: "stored" });
});

test.each([
  ["4,096 characters", "x".repeat(4_096)],
  ["4,096 characters of three bytes each", "€".repeat(4_096)],
  ["2,048 surrogate pairs", "🦀".repeat(2_048)],
  ["quotes, NUL and half a surrogate pair", `"\\\u0000\ud800`],
  ["markup", "<img src=x onerror=alert(1)>"],
])("content of %s is stored as it is", async (_, content) => {
  const { page, channelId, token } = await newVisitor();
  expect(await page.write("a", content)).toMatchObject({ type: "stored" });
  expect((await visit(channelId, { token })).ready.messages).toMatchObject([{ content, text: content }]);
});

test.each([
  ["no JSON", "hello", 1008],
  ["no object", "[1]", 1008],
  ["null", "null", 1008],
  ["bytes", new ArrayBuffer(8), 1008],
  ["no type", { id: "a", content: "x" }, 1008],
  ["an unknown type", { type: "typing" }, 1008],
  ["a message without an id", { type: "message", content: "x" }, 1008],
  ["a message with an empty id", { type: "message", id: "", content: "x" }, 1008],
  ["a message with an id of 65 characters", { type: "message", id: "x".repeat(65), content: "x" }, 1008],
  ["a message with half a surrogate pair in its id", { type: "message", id: "\ud800", content: "x" }, 1008],
  ["a message whose content is no text", { type: "message", id: "a", content: 1 }, 1008],
  ["a number below 0", { type: "read", seq: -1 }, 1008],
  ["a page before a number below 0", { type: "older", before: -1 }, 1008],
  ["a page before nothing", { type: "older" }, 1008],
  ["a number with a fraction", { type: "delivered", seq: 1.5 }, 1008],
  ["a number as text", { type: "delivered", seq: "1" }, 1008],
  ["more than 16 KiB of text", `{"type":"ping","x":"${"x".repeat(16 * 1_024)}"}`, 1009],
  ["more than 16 KiB of bytes in fewer characters", `{"type":"ping","x":"${"€".repeat(6_000)}"}`, 1009],
  ["more than 16 KiB of binary", new ArrayBuffer(16 * 1_024 + 1), 1009],
])("a frame that is %s closes the socket", async (_, frame, code) => {
  const { page, channelId, api } = await newVisitor();
  page.send(frame);
  expect(await page.closed).toBe(code);
  expect((await api("GET", `/chats?channel=${channelId}`)).body.chats).toEqual([]);
});

test("a frame of 16 KiB is taken, and fields that we do not know are ignored", async () => {
  const { page } = await newVisitor();
  const frame = (filling: string) => `{"type":"ping","later":"${filling}"}`;
  expect(await page.ask(frame("x".repeat(16 * 1_024 - frame("").length)))).toEqual({ type: "pong" });
});

test("a socket that sends more than 50 frames a second is closed, and its visitor's other one stays", async () => {
  const { page, channelId, token } = await newVisitor();
  const { page: other } = await visit(channelId, { token });
  for (let n = 0; n < 51; n++) page.send({ type: "read", seq: n });
  expect(await page.closed).toBe(1013);
  expect(await other.rest()).toEqual([]);
});

test("a socket that asks for more than four pages of the past in a second is closed", async () => {
  const { page } = await newVisitor();
  for (let n = 0; n < 4; n++) expect(await page.ask({ type: "older", before: 1 })).toMatchObject({ type: "older" });
  expect(await page.ask({ type: "older", before: 1 })).toEqual({ closed: 1013 });
});

test("a page that does not wait for answers is hung up on once 20 messages wait, and those are taken", async () => {
  const { page, channelId, protocols } = await newUser();
  const { page: other } = await visit(channelId, { protocols });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  aroundQueries(async (_, run) => {
    await released;
    return run();
  });
  for (let n = 1; n <= 20; n++) page.send({ type: "message", id: `${n}`, content: "x" });
  expect(await page.rest()).toEqual([]);
  page.send({ type: "message", id: "21", content: "x" });
  expect(await page.closed).toBe(1013);
  release();
  expect(await other.next()).toMatchObject({ type: "message", message: { seq: 1 } });
  pass(1_000);
  expect(await other.write("b")).toMatchObject({ type: "stored", seq: 2 });
});

test("a socket too many sleeps as the others do, and nothing that it sends is taken", async () => {
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
});

test("a sixth socket takes the place of one that has given no sign of life for three minutes", async () => {
  const { page, channelId, token } = await newVisitor();
  for (let n = 0; n < 4; n++) await visit(channelId, { token });
  pass(180_000);
  expect(await (await connect(channelId, { token })).closed).toBe(1013);
  pass(1);
  await visit(channelId, { token });
  expect(await page.closed).toBe(1013);
});

test("a sixth socket of a visitor is closed with 1013, over an eviction too, and another visitor's is not", async () => {
  const { channelId, token, object } = await newVisitor();
  for (let n = 2; n <= 5; n++) await visit(channelId, { token });
  expect(await (await connect(channelId, { token })).closed).toBe(1013);
  await evictDurableObject(object);
  expect(await (await connect(channelId, { token })).closed).toBe(1013);
  await visit(channelId);
});

/** Opens a new chat from an address. */
async function begin(channelId: string, from: string): Promise<{ page: Page; answer: { type: string } }> {
  const { page } = await visit(channelId, { from });
  return { page, answer: await page.write("first") };
}

test("5 new chats a minute come from one address, and a sixth hears when to try again", async () => {
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

test("who may open no further chat is told so without the directory or the channel for 5 s, then they are asked again", async () => {
  const { channelId } = await newOrganization();
  const from = "192.0.2.3";
  for (let n = 0; n < 5; n++) await begin(channelId, from);
  const { page, answer } = await begin(channelId, from);
  expect(answer).toMatchObject({ code: "rate_limited", retryAfter: 60 });
  const roundTrips = countRoundTrips();
  const channelCalls = vi.spyOn(env.CHANNELS, "getByName");
  pass(500);
  for (let n = 0; n < 50; n++) {
    pass(20);
    expect(await page.write(`${n}`)).toMatchObject({ message: "Too many new chats", retryAfter: n < 24 ? 5 : 4 });
  }
  expect([roundTrips(), channelCalls.mock.calls.length]).toEqual([0, 0]);
  pass(5_000);
  expect(await page.write("asked")).toMatchObject({ message: "Too many new chats", retryAfter: 54 });
  pass(53_500);
  expect(await page.write("first")).toMatchObject({ type: "stored" });
});

test("the addresses of one /64 count as one, and those of the next do not", async () => {
  const { channelId } = await newOrganization();
  for (let n = 1; n <= 5; n++) await begin(channelId, `2001:db8:0:1::${n}`);
  expect((await begin(channelId, "2001:db8:0:1:ffff:ffff:ffff:ffff")).answer.type).toBe("refused");
  expect((await begin(channelId, "2001:db8:0:2::1")).answer.type).toBe("stored");
});

test("a chat that is there already counts for nobody", async () => {
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

test("the addresses of new chats are kept for a minute and no longer", async () => {
  const { channelId } = await newOrganization();
  await begin(channelId, "192.0.2.77");
  const channel = env.CHANNELS.getByName(channelId);
  const kept = () =>
    runInDurableObject(channel, (_object, { storage }) =>
      storage.sql.exec<{ count: number }>("select count(*) as count from openings").one(),
    );
  expect(await kept()).toEqual({ count: 1 });
  pass(60_000);
  await runDurableObjectAlarm(channel);
  expect(await kept()).toEqual({ count: 0 });
});

test.each(OUTAGES)(
  "while the directory is down a first message is refused for now, and costs one place among the five (%s error)",
  async (outage) => {
    const { channelId } = await newOrganization();
    const from = "192.0.2.11";
    const { page } = await visit(channelId, { from });
    breakDirectory(outage);
    for (let n = 0; n < 6; n++) {
      expect(await page.write("a")).toMatchObject({ type: "refused", id: "a", code: "unavailable", retryAfter: 5 });
    }
    expect((await visit(channelId)).ready).toMatchObject({ chatId: null });
    vi.restoreAllMocks();
    expect(await page.write("a")).toMatchObject({ type: "stored", seq: 1 });
    for (let n = 0; n < 4; n++) expect((await begin(channelId, from)).answer.type).toBe("stored");
    expect((await begin(channelId, from)).answer.type).toBe("refused");
  },
);

test("who may open no further chat is welcome in one that the company has begun meanwhile", async () => {
  const { api, channelId, secret } = await newSite();
  const from = "192.0.2.12";
  const { page } = await visit(channelId, { protocols: asUser("user-7", await signUser("user-7", secret)), from });
  for (let n = 0; n < 5; n++) await begin(channelId, from);
  await newChat(api, channelId, "user-7");
  expect(await page.write("a")).toMatchObject({ type: "stored", seq: 1 });
});

test.each(OUTAGES)("a chat in use takes messages while the directory is down (%s error)", async (outage) => {
  const { page } = await newVisitor();
  await page.write("a");
  pass(1_000);
  breakDirectory(outage);
  expect(await page.write("b")).toMatchObject({ type: "stored", seq: 2 });
});

test("a channel's object that cannot be reached refuses for now, and nobody is let past it", async () => {
  const { page, api } = await newVisitor();
  breakObjects("CHANNELS", "admitNewChat");
  expect(await page.write("a")).toMatchObject({ type: "refused", code: "unavailable", retryAfter: 5 });
  expect((await api("GET", "/chats")).body.chats).toEqual([]);
});

test("a chat's object that cannot be reached closes the socket with 1013", async () => {
  const { channelId } = await newOrganization();
  breakObjects("CHATS", "fetch");
  expect(await (await connect(channelId)).closed).toBe(1013);
});
