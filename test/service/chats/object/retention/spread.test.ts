import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../../../support/alarms.ts";
import { breakDirectory, breakObject, breakObjects, countCalls } from "../../../../support/faults.ts";
import { admin, expectError, newChat, send } from "../../../../support/harness.ts";
import { untilLength } from "../../../../support/until.ts";
import { report } from "../../inbound.ts";
import { alarmOf, pass, stopTheClock } from "../delivery/conversation.ts";
import { DAY } from "../scheduled/fixtures.ts";
import { retain, retainedPlace, ringDue } from "./fixtures.ts";

stopTheClock();

/** How long a chat keeps its messages, as its object knows it; undefined if it was never told. */
function knownBy(chatId: string): Promise<number | null | undefined> {
  return runInDurableObject(env.CHATS.getByName(chatId), (_object, { storage }) => {
    return storage.kv.get<{ days: number | null }>("retention")?.days;
  });
}

/** A channel without a retention, and idle chats in it. */
async function idleChats(count: number) {
  const place = await retainedPlace("web", null);
  const ids = [place.chatId];
  while (ids.length < count) {
    pass(1_000);
    ids.push((await newChat(place.api, place.channelId)).id);
  }
  for (const id of ids) await report(id);
  pass(60_000);
  for (const id of ids) await ringDue(env.CHATS.getByName(id));
  await ringDue(place.organization());
  const known = () => Promise.all(ids.map(knownBy));
  return { ...place, ids, known };
}

test("a chat that is active learns of the retention with its report", async () => {
  const place = await retainedPlace("web", null);
  const mend = breakObjects("CHATS", "retain");
  await retain(place.channelId, 7);
  mend();
  expect(await knownBy(place.chatId)).toBeUndefined();
  await place.sendSome("one");
  await report(place.chatId);
  expect(await knownBy(place.chatId)).toBe(7);
});

test("a chat of a channel that was created with a retention learns of it", async () => {
  const { organizationId, api } = await retainedPlace("web", null);
  const body = { kind: "web", name: "Site", retentionDays: 3 };
  const { channel } = (await admin("POST", `/organizations/${organizationId}/channels`, body)).body;
  const { id } = await newChat(api, channel.id);
  await report(id);
  expect(await knownBy(id)).toBe(3);
});

test("idle chats are told once, 20 in a second, and then each has its alarm", async () => {
  const { channelId, organization, ids, known } = await idleChats(45);
  const calls = countCalls("CHATS", "retain");
  await retain(channelId, 7);
  const told: number[] = [];
  for (let seconds = 0; seconds < 10; seconds++) {
    await runAlarm(organization());
    told.push(calls());
    pass(1_000);
  }
  vi.restoreAllMocks();
  expect(told.slice(0, 4)).toEqual([20, 40, 45, 45]);
  expect(told.at(-1)).toBe(45);
  expect(new Set(await known())).toEqual(new Set([7]));
  expect(await alarmOf(organization())).toBeNull();
  for (const id of ids) {
    // Its report of when it deletes messages comes first.
    await ringDue(env.CHATS.getByName(id));
    const at = (await alarmOf(env.CHATS.getByName(id))) ?? 0;
    expect(at).toBeGreaterThan(Date.now());
    expect(at).toBeLessThan(Date.now() + 8 * DAY);
  }
});

test("a second alarm within the second tells nobody", async () => {
  const { channelId, organization } = await idleChats(25);
  const calls = countCalls("CHATS", "retain");
  await retain(channelId, 7);
  await runAlarm(organization());
  await runAlarm(organization());
  expect(calls()).toBe(20);
});

test("an instance that is lost goes on where the one before stood, and a later change begins again", async () => {
  const { channelId, organization, known } = await idleChats(30);
  await retain(channelId, 7);
  await runAlarm(organization());
  expect((await known()).filter((days) => days === 7)).toHaveLength(20);
  await evictDurableObject(organization());
  await retain(channelId, 9);
  for (let seconds = 0; seconds < 4; seconds++) {
    await evictDurableObject(organization());
    pass(1_000);
    await runAlarm(organization());
  }
  expect(new Set(await known())).toEqual(new Set([9]));
});

test("chats that can't be told are told about half a minute later", async () => {
  const { channelId, organization, known } = await idleChats(25);
  const object = organization();
  await retain(channelId, 7);
  const mend = breakObjects("CHATS", "retain", (call) => call === 3);
  for (const ms of [0, 1_000, 36_000, 1_000, 1_000]) {
    pass(ms);
    await runAlarm(object);
  }
  mend();
  expect(new Set(await known())).toEqual(new Set([7]));
});

test("chats that can never be told are left out after ten tries, and learn of it with their report", async () => {
  const { api, channelId, organization, ids, known } = await idleChats(25);
  const object = organization();
  await retain(channelId, 7);
  const calls = breakObject("CHATS", ids.slice(0, 20), "retain", "throws");
  for (let at = await alarmOf(object); at !== null; at = await alarmOf(object)) {
    vi.setSystemTime(Math.max(Date.now(), at));
    await runAlarm(object);
  }
  vi.restoreAllMocks();
  expect(calls()).toBe(200);
  expect((await known()).filter((days) => days === 7)).toHaveLength(5);
  const [idle = ""] = ids;
  expect(await knownBy(idle)).toBeUndefined();
  await send(api, idle);
  await report(idle);
  expect(await knownBy(idle)).toBe(7);
});

test("a late call with an earlier retention changes nothing, and neither does one for another life", async () => {
  const { organizationId, chatId, channelId, organization, object } = await retainedPlace("web", 7);
  const identity = await organization().identity(chatId);
  const life = identity?.life ?? 0;
  await object().retain(organizationId, life, { days: 1, version: 1 });
  await object().retain(organizationId, life + 1, { days: 1, version: Date.now() + DAY });
  await object().retain("org_gaaaaaaaaaaaaaaa", life, { days: 1, version: Date.now() + DAY });
  expect(await knownBy(chatId)).toBe(7);
  await retain(channelId, 8);
  pass(1_000);
  await runAlarm(organization());
  expect(await knownBy(chatId)).toBe(8);
});

test("a deleted organization tells nobody", async () => {
  const { organizationId, channelId, organization } = await idleChats(3);
  await retain(channelId, 7);
  const calls = countCalls("CHATS", "retain");
  expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
  pass(60_000);
  await runAlarm(organization());
  expect(calls()).toBe(0);
  expectError(await admin("GET", `/channels/${channelId}`), 404, "channel_not_found");
});

test("a read of D1 that ends late does not bring an earlier retention back", async () => {
  const { channelId, organization, organizationId } = await retainedPlace("web", 7);
  const held = Promise.withResolvers<void>();
  const batch = env.DB.batch.bind(env.DB);
  const spy = vi.spyOn(env.DB, "batch").mockImplementationOnce(async (statements) => {
    const rows = await batch(statements);
    await held.promise;
    return rows as never;
  });
  const late = organization().refresh();
  await untilLength(spy.mock.calls, 1);
  await retain(channelId, null);
  held.resolve();
  await late;
  const days = await runInDurableObject(organization(), (_object, { storage }) =>
    storage.sql.exec<{ retention: string }>("select retention from channels where id = ?", channelId).one(),
  );
  expect(JSON.parse(days.retention)).toMatchObject({ days: null });
  expect(organizationId).toBeDefined();
});

test("while D1 is down, chats keep the retention that they know", async () => {
  const place = await retainedPlace("web", 7);
  await place.sendSome("one");
  pass(60_000);
  await place.settle();
  breakDirectory("bare");
  pass(9 * DAY);
  await ringDue(place.object());
  vi.restoreAllMocks();
  expectError(await place.get(), 404, "chat_not_found");
});
