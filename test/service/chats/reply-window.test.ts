import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { admin, type Client, expectError, expectFaults } from "../../support/harness.ts";
import { untilAttempts } from "../../support/message-status.ts";
import { fakeNetworks, status } from "../../support/networks.ts";
import { newContact, place } from "../inbound/fixtures.ts";
import { fromMeta, taken, whatsappText } from "../inbound/webhook-calls.ts";
import { report, writeAsContact } from "./inbound.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { DAY, inFuture, MINUTE, scheduledPlace } from "./object/scheduled/fixtures.ts";

stopTheClock();

const chatOf = async (api: Client, id: string): Promise<Chat> => (await api("GET", `/chats/${id}`)).body.chat;
const listed = async (api: Client): Promise<Chat[]> => (await api("GET", "/chats")).body.chats;

test("a WhatsApp chat says until when one may answer: from its creation on not at all, then a day after each message", async () => {
  const { api, chatId, organizationId } = await scheduledPlace("whatsapp");
  const created = await chatOf(api, chatId);
  expect(created.replyUntil).toBe(created.createdAt);
  expect((await listed(api))[0]?.replyUntil).toBe(created.createdAt);
  pass(MINUTE);
  await writeAsContact(organizationId, chatId);
  expect((await chatOf(api, chatId)).replyUntil).toBe(inFuture(DAY));
  pass(MINUTE);
  const { createdAt } = await writeAsContact(organizationId, chatId, "Hello?");
  const until = inFuture(DAY);
  expect(Date.parse(createdAt) + DAY).toBe(Date.parse(until));
  // An answer does not move it.
  pass(MINUTE);
  fakeNetworks();
  await api("POST", `/chats/${chatId}/messages`, { content: "Yes" });
  await report(chatId);
  expect((await chatOf(api, chatId)).replyUntil).toBe(until);
  expect((await listed(api))[0]?.replyUntil).toBe(until);
  expect((await admin("GET", `/chats/${chatId}`)).body.chat.replyUntil).toBe(until);
});

test.each(["telegram", "web"] as const)("a %s chat has no window, and takes ifOpen", async (kind) => {
  fakeNetworks();
  const { api, chatId, organizationId, post } = await scheduledPlace(kind);
  await writeAsContact(organizationId, chatId);
  pass(2 * DAY);
  expect((await chatOf(api, chatId)).replyUntil).toBeNull();
  expect((await post({ ifOpen: true })).status).toBe(201);
});

test("the window outlives the messages that opened it, and the instance", async () => {
  const { api, chatId, organizationId, evict } = await scheduledPlace("whatsapp");
  await writeAsContact(organizationId, chatId);
  const until = inFuture(DAY);
  await report(chatId);
  await evict();
  expect((await chatOf(api, chatId)).replyUntil).toBe(until);
  await runInDurableObject(env.CHATS.getByName(chatId), (_, { storage }) => {
    storage.sql.exec("delete from messages");
    storage.kv.put("floor", { seq: 1, at: Date.now(), queued: 0 });
  });
  await evict();
  expect((await chatOf(api, chatId)).replyUntil).toBe(until);
});

test("a chat whose last report is from an earlier version reads its window from its messages", async () => {
  const { api, chatId, organizationId, evict } = await scheduledPlace("whatsapp");
  await writeAsContact(organizationId, chatId);
  const until = inFuture(DAY);
  pass(MINUTE);
  fakeNetworks();
  await api("POST", `/chats/${chatId}/messages`, { content: "Yes" });
  await report(chatId);
  await runInDurableObject(env.CHATS.getByName(chatId), (_, { storage }) => {
    const reported = storage.kv.get<{ state: { contactWroteAt?: number } }>("reported");
    delete reported?.state.contactWroteAt;
    storage.kv.put("reported", reported);
  });
  await evict();
  expect((await chatOf(api, chatId)).replyUntil).toBe(until);
});

test("a send with ifOpen is stored until the window closes, and refused from then on", async () => {
  fakeNetworks();
  const { post, chatId, organizationId, messages } = await scheduledPlace("whatsapp");
  expectError(await post({ ifOpen: true }), 409, "window_closed");
  await writeAsContact(organizationId, chatId);
  pass(DAY - 1);
  expect((await post({ ifOpen: true })).body.message.seq).toBe(2);
  pass(1);
  expectError(await post({ ifOpen: true }), 409, "window_closed");
  for (const ifOpen of [false, null, undefined]) expect((await post({ ifOpen })).status).toBe(201);
  expect(await messages()).toHaveLength(5);
});

test("ifOpen stands in no fingerprint: a repeated request gets its first message after the window closed", async () => {
  fakeNetworks();
  const { post, chatId, organizationId } = await scheduledPlace("whatsapp");
  await writeAsContact(organizationId, chatId);
  const headers = { "Idempotency-Key": "one" };
  const first = await post({ ifOpen: true }, headers);
  pass(DAY);
  for (const body of [{ ifOpen: true }, {}]) {
    const again = await post(body, headers);
    expect([again.status, again.body.message.id]).toEqual([201, first.body.message.id]);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
  }
});

test("ifSeq is refused before ifOpen", async () => {
  const { post } = await scheduledPlace("whatsapp");
  expectError(await post({ ifOpen: true, ifSeq: 7 }), 409, "chat_moved_on");
});

test.each(["yes", 1, {}])("a send is refused with ifOpen %j", async (ifOpen) => {
  const { post } = await scheduledPlace();
  expectFaults(await post({ ifOpen }), "ifOpen");
});

test("a scheduled message with ifOpen needs an open window when it is accepted", async () => {
  const { post, chatId, organizationId, waiting } = await scheduledPlace("whatsapp");
  expectError(await post({ ifOpen: true, scheduledAt: inFuture(MINUTE) }), 409, "window_closed");
  await writeAsContact(organizationId, chatId);
  // Also one whose time comes later: the contact may write again before.
  expect((await post({ ifOpen: true, scheduledAt: inFuture(2 * DAY) })).status).toBe(201);
  expect(await waiting()).toHaveLength(1);
});

test("a scheduled message with ifOpen takes its place while the window is open, and else fails", async () => {
  fakeNetworks();
  const { schedule, chatId, organizationId, message, messages, ringIn, events, evict } =
    await scheduledPlace("whatsapp");
  await writeAsContact(organizationId, chatId);
  const inTime = await schedule(DAY - 1, { ifOpen: true });
  const late = await schedule(DAY, { ifOpen: true });
  const anyway = await schedule(DAY);
  await evict();
  await ringIn(DAY);
  expect(await message(late.id)).toMatchObject({ seq: null, status: "FAILED", error: { code: "window_closed" } });
  // It is judged when it takes its place, and the alarm was late.
  expect(await message(inTime.id)).toMatchObject({ seq: null, status: "FAILED", error: { code: "window_closed" } });
  expect(await message(anyway.id)).toMatchObject({ seq: 2 });
  expect(await messages()).toHaveLength(2);
  expect((await events()).filter(({ type }) => type === "message.status")).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({
        data: expect.objectContaining({ messageId: late.id, status: "FAILED", error: expect.anything() }),
      }),
    ]),
  );
});

test("a message of the contact before a scheduled one with ifOpen is due lets it go", async () => {
  fakeNetworks();
  const { schedule, chatId, organizationId, message, ringIn } = await scheduledPlace("whatsapp");
  await writeAsContact(organizationId, chatId);
  const { id } = await schedule(DAY + MINUTE, { ifOpen: true });
  pass(DAY);
  await writeAsContact(organizationId, chatId, "Again");
  await ringIn(MINUTE);
  expect(await message(id)).toMatchObject({ status: "SENT" });
});

test("a message with ifOpen that has its place goes, however long it waits for its network", async () => {
  fakeNetworks(status(503));
  const { post, chatId, organizationId, message, ringIn } = await scheduledPlace("whatsapp");
  await writeAsContact(organizationId, chatId);
  pass(DAY - 1);
  const { id } = (await post({ ifOpen: true })).body.message;
  expect(await untilAttempts(chatId, id, 1)).toEqual(["retry"]);
  fakeNetworks();
  await ringIn(10 * MINUTE);
  expect(await message(id)).toMatchObject({ status: "SENT" });
});

test("a scheduled message with ifOpen is not sent now once the window is closed, and stays scheduled", async () => {
  const { schedule, chatId, organizationId, patch, message } = await scheduledPlace("whatsapp");
  await writeAsContact(organizationId, chatId);
  const { id } = await schedule(2 * DAY, { ifOpen: true });
  pass(DAY);
  expectError(await patch(id, { scheduledAt: null }), 409, "window_closed");
  expect((await message(id)).status).toBe("SCHEDULED");
  expect((await patch(id, { scheduledAt: inFuture(DAY / 2) })).status).toBe(200);
});

test("a resend takes ifSeq and ifOpen", async () => {
  fakeNetworks();
  const { api, schedule, chatId, organizationId, ringIn } = await scheduledPlace("whatsapp");
  await writeAsContact(organizationId, chatId);
  const { id } = await schedule(DAY, { ifOpen: true });
  await ringIn(DAY);
  const resend = (body: object) => api("POST", `/chats/${chatId}/messages/${id}/resend`, body);
  expectError(await resend({ ifOpen: true }), 409, "window_closed");
  expectError(await resend({ ifSeq: 0 }), 409, "chat_moved_on");
  expectFaults(await resend({ ifOpen: "yes" }), "ifOpen");
  const { message } = (await resend({ ifSeq: 1 })).body;
  expect(message).toMatchObject({ seq: 2, resendOf: id });
});

test("the window counts from the network's time where it is earlier, and a late message closes nothing", async () => {
  const { api, channel, chats } = await place("whatsapp");
  const contact = newContact();
  const now = Math.floor(Date.now() / 1_000);
  const hears = async (timestamp: number | string) => {
    const { messages, ...value } = whatsappText({ wa_id: contact }, "Hi");
    taken(await fromMeta(channel, [{ ...value, messages: [{ ...messages[0], timestamp: String(timestamp) }] }]));
    const [chat] = await chats();
    return Date.parse((await chatOf(api, chat?.id ?? "")).replyUntil ?? "");
  };
  expect(await hears(now - 3_600)).toBe((now - 3_600) * 1_000 + DAY);
  expect(await hears(now - 7_200)).toBe((now - 3_600) * 1_000 + DAY);
  // A time in the future, and one before WhatsApp existed.
  expect(await hears(now + 3_600)).toBe(Date.now() + DAY);
  expect(await hears(1_970)).toBe(Date.now() + DAY);
});
