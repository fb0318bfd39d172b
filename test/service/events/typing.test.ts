import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { ContactAddresses } from "../../../src/chats/object/contact-addresses.ts";
import { replaceMethod } from "../../support/faults.ts";
import { admin, client, expectFaults, newKey, send } from "../../support/harness.ts";
import { hurryLater } from "../../support/hurry.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { newToken, visit } from "../../support/sockets.ts";
import { neverRing } from "../../support/timers.ts";
import { until } from "../../support/until.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newListenerWithChat, openStream, pageOf, report, type Stream, untilDoorbells } from "./fixtures.ts";

stopTheClock();
// A stream that is being probed drops what somebody writes, and one whose client reads nothing for 4 seconds is given up.
beforeEach(() => neverRing(2_000, 4_000));

/**
 * A stream that has its first frame, and hears what somebody writes.
 * @param open how many streams of the organization are open then
 */
async function listening(
  { secret, organizationId }: { secret: string; organizationId: string },
  query = "",
  open = 1,
): Promise<Stream> {
  const stream = await openStream(secret, query);
  await stream.next();
  await untilDoorbells(organizationId, open);
  return stream;
}

test("somebody writes: the stream tells who, without id and cursor, and continues exactly after its last event", async () => {
  const { api, secret, chat, organizationId, keyId } = await newListenerWithChat();
  const stream = await listening({ secret, organizationId });
  expect((await api("POST", `/chats/${chat.id}/typing`)).body).toEqual({ shown: false });
  const frame = await stream.next();
  expect(frame).toEqual({
    event: "chat.typing",
    data: {
      type: "chat.typing",
      timestamp: new Date().toISOString(),
      organizationId,
      chatId: chat.id,
      channelId: chat.channel.id,
      channelKind: "web",
      contactAddress: chat.contact.address,
      data: { by: { type: "key", id: keyId, name: expect.any(String) } },
    },
  });
  await send(api, chat.id);
  await report(chat.id);
  const { id = "" } = (await stream.next()) ?? {};
  pass(5_000);
  await api("POST", `/chats/${chat.id}/typing`);
  expect((await stream.next())?.event).toBe("chat.typing");
  await stream.close();
  await send(api, chat.id);
  await report(chat.id);
  const again = await openStream(secret, "", { "Last-Event-ID": id });
  expect((await again.events(1))[0]).toMatchObject({ type: "message.created", number: 3 });
  await again.close();
  expect((await pageOf(api)).events.map(({ type }) => type)).not.toContain("chat.typing");
});

test("of several who write at once in a chat, each is told, once in 5 seconds", async () => {
  const { api, secret: listeners, chat, organizationId } = await newListenerWithChat();
  const [ann, ben] = [await newKey(organizationId, { name: "Ann" }), await newKey(organizationId, { name: "Ben" })];
  const stream = await listening({ secret: listeners, organizationId });
  const write = async ({ secret }: typeof ann) =>
    expect((await client(secret)("POST", `/chats/${chat.id}/typing`)).status).toBe(200);
  for (let round = 0; round < 2; round++) {
    for (const writer of [ann, ben]) {
      await write(writer);
      // A stream drops what comes before its client has read the typing before.
      expect((await stream.next())?.data.data.by?.name).toBe(writer.key.name);
    }
    pass(4_000);
    for (const writer of [ann, ben]) await write(writer);
    pass(1_000);
  }
  await send(api, chat.id);
  await report(chat.id);
  expect((await stream.next())?.event).toBe("message.created");
  await stream.close();
});

test("a chat tells it once in 5 seconds, and filters leave it out", async () => {
  const listener = await newListenerWithChat();
  const { api, chat } = listener;
  const [all, family, messages, other] = await Promise.all([
    listening(listener, "", 4),
    listening(listener, "types=chat.*", 4),
    listening(listener, "types=message.*", 4),
    listening(listener, "types=chat.typing&channel=chn_g000000000000000", 4),
  ]);
  await api("POST", `/chats/${chat.id}/typing`);
  // The streams are told after the response.
  for (const stream of [all, family]) expect((await stream.next())?.event).toBe("chat.typing");
  for (let times = 0; times < 2; times++) {
    pass(1_000);
    await api("POST", `/chats/${chat.id}/typing`);
  }
  await send(api, chat.id);
  await report(chat.id);
  expect((await all.next())?.event).toBe("message.created");
  expect((await messages.next())?.event).toBe("message.created");
  for (const stream of [all, family, messages, other]) await stream.close();
});

test("an organization's streams get 20 in a second, and the rest is dropped", async () => {
  const { secret, organizationId } = await newListenerWithChat();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const news = JSON.stringify({ channelId: "chn_g000000000000000", doc: "{}" });
  expect(await object.typing(news)).toBe(false);
  const stream = await listening({ secret, organizationId }, "types=chat.typing");
  const sends = vi.spyOn(WebSocket.prototype, "send");
  const passed = () => sends.mock.calls.filter(([what]) => what === news).length;
  for (let times = 0; times < 21; times++) expect(await object.typing(news)).toBe(true);
  expect(passed()).toBe(20);
  pass(999);
  await object.typing(news);
  expect(passed()).toBe(20);
  pass(1);
  await object.typing(news);
  expect(passed()).toBe(21);
  await stream.close();
});

test("if no stream is open, a chat asks once in 30 seconds", async () => {
  const { api, chat } = await newListenerWithChat();
  let asked = 0;
  let answered = 0;
  replaceMethod("ORGANIZATIONS", "typing", (original) => async (...given) => {
    asked++;
    const answer = await original(...given);
    answered++;
    return answer;
  });
  for (let times = 0; times < 6; times++) {
    await api("POST", `/chats/${chat.id}/typing`);
    await until("the organization has answered the chat", () => asked > 0 && answered === asked);
    pass(5_000);
  }
  expect(asked).toBe(1);
});

test("a visitor who writes is told to the streams, and nothing is written", async () => {
  const { organizationId, channelId } = await newListenerWithChat();
  const { secret } = await newKey(organizationId, { permissions: ["events:read"] });
  const token = newToken();
  const { page } = await visit(channelId, { token });
  await page.write("first");
  const { chatId } = (await visit(channelId, { token })).ready;
  const stream = await listening({ secret, organizationId }, "types=chat.typing");
  const object = () => env.CHATS.getByName(chatId);
  const written = await objectWrites({ object }, async () => {
    page.send({ type: "typing" });
    expect((await stream.next())?.data).toMatchObject({
      chatId,
      data: { by: { type: "contact", id: null, name: null } },
    });
  });
  expect(written).toEqual({ rows: 0, values: 0, alarms: 0 });
  await stream.close();
  await page.close();
});

test("a contact with a name is told by it", async () => {
  const { api, organizationId, channelId } = await newListenerWithChat();
  const { secret } = await newKey(organizationId, { permissions: ["events:read"] });
  const token = newToken();
  const { page } = await visit(channelId, { token });
  await page.write("first");
  const { chatId } = (await visit(channelId, { token })).ready;
  expect((await api("PATCH", `/chats/${chatId}`, { contact: { name: "Ada" } })).status).toBe(200);
  const stream = await listening({ secret, organizationId }, "types=chat.typing");
  page.send({ type: "typing" });
  expect((await stream.next())?.data.data).toEqual({ by: { type: "contact", id: null, name: "Ada" } });
  await stream.close();
  await page.close();
});

test("however many listen, it is one call of the organization, which writes nothing", async () => {
  const { api, secret, chat, organizationId } = await newListenerWithChat();
  const listener = { secret, organizationId };
  const streams = [
    await listening(listener),
    await listening(listener, "", 2),
    await listening(listener, "types=chat.typing", 3),
  ];
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  const calls = [vi.spyOn(env.ORGANIZATIONS, "getByName"), vi.spyOn(env.CHATS, "getByName")];
  const written = await objectWrites({ object: () => organization }, async () => {
    await api("POST", `/chats/${chat.id}/typing`);
    for (const stream of streams) expect((await stream.next())?.event).toBe("chat.typing");
  });
  expect(written).toEqual({ rows: 0, values: 0, alarms: 0 });
  // A stream of an earlier test may still read the feed of another organization.
  const own = new Set([organizationId, chat.id]);
  const called = calls.map(({ mock }) => mock.calls.map(([name]) => name).filter((name) => own.has(name)));
  expect(called).toEqual([[organizationId], [chat.id]]);
  for (const stream of streams) await stream.close();
});

test("the stream of a revoked key ends, and counts no longer as one that listens", async () => {
  const { secret, keyId, organizationId } = await newListenerWithChat();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  const news = JSON.stringify({ channelId: "chn_g000000000000000", doc: "{}" });
  const goOn = hurryLater();
  const stream = await listening({ secret, organizationId }, "types=chat.typing");
  expect(await object.typing(news)).toBe(true);
  expect((await stream.next())?.event).toBe("chat.typing");
  expect((await admin("DELETE", `/keys/${keyId}`)).status).toBe(200);
  goOn();
  expect(await stream.rest()).toEqual([]);
  await untilDoorbells(organizationId, 0);
  expect(await object.typing(news)).toBe(false);
});

test("an address that can't be read costs the news alone", async () => {
  const { api, secret, chat, organizationId } = await newListenerWithChat();
  const stream = await listening({ secret, organizationId }, "types=chat.typing");
  const broken = vi.spyOn(ContactAddresses.prototype, "current").mockImplementation(() => {
    throw new Error("broken");
  });
  expect((await api("POST", `/chats/${chat.id}/typing`)).body).toEqual({ shown: false });
  broken.mockRestore();
  pass(5_000);
  await api("POST", `/chats/${chat.id}/typing`);
  expect((await stream.next())?.event).toBe("chat.typing");
  await stream.close();
});

test("the list of events takes the type, and never has one", async () => {
  const { api, chat } = await newListenerWithChat();
  await api("POST", `/chats/${chat.id}/typing`);
  expect((await pageOf(api, "types=chat.typing")).events).toEqual([]);
});

test("a webhook can't have it", async () => {
  const { api } = await newListenerWithChat();
  expectFaults(await api("POST", "/webhooks", { url: "https://example.com/", types: ["chat.typing"] }), "types.0");
});
