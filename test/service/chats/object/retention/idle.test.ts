import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../../../support/alarms.ts";
import { breakObjects } from "../../../../support/faults.ts";
import { admin, created, expectError } from "../../../../support/harness.ts";
import { acceptAs, fakeNetworks } from "../../../../support/networks.ts";
import { newToken, objectOf, visit } from "../../../../support/sockets.ts";
import { heldBy, NOTHING, storedBy, storedChat } from "../../../../support/stored.ts";
import { until } from "../../../../support/until.ts";
import { fromMeta, taken, whatsappText } from "../../../inbound/webhook-calls.ts";
import { addWebhook, fakeReceiver } from "../../../webhooks/receiver.ts";
import { alarmOf, pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY } from "../scheduled/fixtures.ts";
import { retain, retainedPlace, ringDue, toAlarmOf } from "./fixtures.ts";

stopTheClock();

/** A chat in which nothing happens deletes itself. Its organization's object is away until `mend`. */
async function deleteWhileAway(place: Awaited<ReturnType<typeof retainedPlace>>) {
  pass(60_000);
  await place.settle();
  pass(40 * DAY);
  const object = place.object();
  const mend = breakObjects("ORGANIZATIONS", "chatGone");
  await runAlarm(object);
  return { object, mend };
}

test("an empty chat in which nothing happens is deleted, with its contact and its events", async () => {
  const place = await retainedPlace();
  const { api, chatId, channelId, address, organizationId } = place;
  await place.sendSome("one");
  await place.passDays(32);
  expectError(await api("GET", `/chats/${chatId}`), 404, "chat_not_found");
  expectError(await place.get(), 404, "chat_not_found");
  expectError(await place.post(), 404, "chat_not_found");
  expect((await api("GET", "/chats")).body).toMatchObject({ chats: [], pagination: { total: 0 } });
  expect(await storedBy(place.organization())).not.toContain(address);
  const { events } = (await api("GET", "/events")).body;
  expect(events.at(-1)).toMatchObject({ type: "chat.deleted", data: {}, chatId });
  expect((await heldBy(place.object())).values).toEqual([
    ["tombstone", { organizationId, life: expect.any(Number), until: Date.now() + 600_000 }],
  ]);
  pass(600_000);
  await runAlarm(place.object());
  expect(await heldBy(place.object())).toEqual(NOTHING);

  const again = created(await api("POST", "/chats", { channelId, contact: { address } })).chat;
  expect(again).toMatchObject({ id: chatId, createdAt: new Date().toISOString(), lastMessage: null });
  expect((await place.get()).body.messages).toEqual([]);
});

test("a chat that never had a message is deleted too", async () => {
  const place = await retainedPlace();
  await place.passDays(29);
  expect((await place.get()).status).toBe(200);
  await place.passDays(3);
  expectError(await place.get(), 404, "chat_not_found");
});

test("a chat whose messages were deleted stays while something happened in it lately", async () => {
  const place = await retainedPlace();
  await place.sendSome("one");
  await place.passDays(20);
  expect((await place.api("PATCH", `/chats/${place.chatId}`, { contact: { name: "Maya" } })).status).toBe(200);
  await place.passDays(12);
  expect((await place.get()).body.messages).toEqual([]);
  await place.passDays(20);
  expectError(await place.get(), 404, "chat_not_found");
});

test("a chat with a scheduled message stays", async () => {
  const place = await retainedPlace();
  const { id } = await place.schedule(100 * DAY);
  await place.passDays(60);
  expect((await place.get()).status).toBe(200);
  expect((await place.api("POST", `/chats/${place.chatId}/messages/${id}/cancel`)).status).toBe(200);
  await place.passDays(32);
  // The canceled message is removed first.
  await place.passDays(1);
  expectError(await place.get(), 404, "chat_not_found");
});

test("a chat stays while one of its events waits for a webhook", async () => {
  const place = await retainedPlace("web", 1);
  let isUp = false;
  fakeReceiver(() => new Response(null, { status: isUp ? 200 : 500 }));
  const webhookId = await addWebhook(place.organizationId);
  await place.sendSome("one");
  await place.settle();
  await place.passDays(2);
  expect((await place.get()).body.messages).toEqual([]);
  const { pending } = (await admin("GET", `/webhooks/${webhookId}/chats/${place.chatId}`)).body;
  expect(pending).toBeGreaterThan(0);
  isUp = true;
  const aDayLater = async () => {
    await place.passDays(1);
    return (await place.get()).status;
  };
  await until("the chat is deleted", aDayLater, (status) => status === 404);
  expectError(await place.get(), 404, "chat_not_found");
});

test("a chat stays while a visitor is online, and the visitor then gets a new one", async () => {
  const place = await retainedPlace();
  const token = newToken();
  const { page } = await visit(place.channelId, { token });
  await page.write("Hello");
  const object = await objectOf(place.channelId, token);
  await ringDue(object);
  pass(60_000);
  await ringDue(object);
  pass(40 * DAY);
  await ringDue(object);
  expect(await storedBy(object)).toContain('"floor"');
  expect(await storedBy(object)).not.toContain("Hello");
  await page.close();
  pass(DAY);
  await ringDue(object);
  expect(await storedBy(object)).toContain("tombstone");
  const back = await visit(place.channelId, { token });
  expect(back.ready).toMatchObject({ messages: [], lastSeq: 0 });
  expect(await back.page.write("Again")).toMatchObject({ type: "stored", seq: 1 });
  expect(await storedBy(object)).toContain("Again");
});

test("while the organization's object is away, the deleted chat tells it again and again", async () => {
  const place = await retainedPlace();
  const { organizationId, chatId } = place;
  const { object, mend } = await deleteWhileAway(place);
  pass(60_000);
  await runAlarm(object);
  expectError(await place.post(), 404, "chat_not_found");
  mend();
  expect(await storedChat(organizationId, chatId)).toMatchObject({ state: "adopted" });
  expect((await heldBy(object)).values).toEqual([["tombstone", expect.objectContaining({ untoldId: chatId })]]);
  await evictDurableObject(object);
  pass(3_600_000);
  await runAlarm(object);
  expect(await storedChat(organizationId, chatId)).toBeUndefined();
  expect((await place.api("GET", "/chats")).body.pagination.total).toBe(0);
});

test("a deleted chat tells an organization's object that stays away ever later", async () => {
  const place = await retainedPlace();
  const { object, mend } = await deleteWhileAway(place);
  const waits: number[] = [];
  for (let n = 0; n < 9; n++) {
    waits.push(((await alarmOf(object)) ?? 0) - Date.now());
    await toAlarmOf(object);
    await runAlarm(object);
  }
  expect(waits.map((ms) => ms / 60_000)).toEqual([1, 1, 2, 4, 8, 16, 32, 60, 60]);
  mend();
  await toAlarmOf(object);
  await runAlarm(object);
  expect(await storedChat(place.organizationId, place.chatId)).toBeUndefined();
});

test("what a contact writes while the chat deletes itself is stored in a new chat, once the organization knows", async () => {
  fakeNetworks(acceptAs("wamid.1"));
  const place = await retainedPlace("whatsapp");
  const { organizationId, chatId, channelId, address } = place;
  const channel = (await admin("GET", `/channels/${channelId}`)).body.channel;
  const write = (id: string) => fromMeta(channel, [whatsappText({ wa_id: address }, `Text ${id}`, { id })]);
  taken(await write("wamid.in1"));
  await place.settle();
  const { object, mend } = await deleteWhileAway(place);
  expectError(await write("wamid.in2"), 503, "unavailable");
  mend();
  pass(60_000);
  await runAlarm(object);
  taken(await write("wamid.in2"));
  const [chat] = (await place.api("GET", "/chats")).body.chats;
  expect(chat.id).not.toBe(chatId);
  expect((await place.api("GET", `/chats/${chat.id}/messages`)).body.messages).toMatchObject([
    { content: "Text wamid.in2", seq: 1 },
  ]);
  expect(await storedChat(organizationId, chatId)).toBeUndefined();
});

test("an operator who deletes the chat while it deletes itself ends with the same", async () => {
  const place = await retainedPlace();
  const { object, mend } = await deleteWhileAway(place);
  mend();
  expect((await admin("DELETE", `/chats/${place.chatId}`)).status).toBe(200);
  expect((await place.api("GET", "/chats")).body.pagination.total).toBe(0);
  await toAlarmOf(object);
  await ringDue(object);
  expect(await heldBy(object)).toEqual(NOTHING);
});

test("the end of an earlier life leaves a later chat alone", async () => {
  const place = await retainedPlace();
  const { organization, chatId } = place;
  const life = (await storedChat(place.organizationId, chatId))?.life ?? 0;
  await organization().chatGone(chatId, life - 1);
  await organization().chatGone("cht_gaaaaaaaaaaaaaaa", life);
  expect((await place.get()).status).toBe(200);
  await env.ORGANIZATIONS.getByName("org_gaaaaaaaaaaaaaaa").chatGone(chatId, life);
  expect(await storedChat(place.organizationId, chatId)).toMatchObject({ state: "adopted" });
});

test("without a retention, no chat deletes itself", async () => {
  const place = await retainedPlace();
  await retain(place.channelId, null);
  await ringDue(place.organization());
  await place.passDays(4_000);
  expect((await place.get()).status).toBe(200);
  expect(await alarmOf(place.object())).toBeNull();
});
