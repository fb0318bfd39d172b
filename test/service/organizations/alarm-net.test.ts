import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { alarmAt, runAlarm, workIsDone } from "../../support/alarms.ts";
import { breakObjects, countCalls, countHops, replaceMethod } from "../../support/faults.ts";
import {
  admin,
  client,
  expectError,
  newChannel,
  newChat,
  newKey,
  newOrganization,
  send,
} from "../../support/harness.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { refuseWrites, ringOrGiveUp } from "../../support/refused-writes.ts";
import { until } from "../../support/until.ts";
import { newNetworkChannel, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { retain } from "../chats/object/retention/fixtures.ts";
import { chatPlace } from "../chats/object/scheduled/fixtures.ts";
import { addWebhook, fakeReceiver } from "../webhooks/receiver.ts";
import { checkOf, runCron } from "./cron.ts";
import { checkCallsOf, loseAlarm, overdue } from "./overdue-chats.ts";

stopTheClock();

const MINUTE = 60_000;
/** A round takes 15 runs with this many organizations and more. */
const OTHERS = 40;

/** Organizations that nobody uses, so that a round takes as long as in a large service. */
async function addOthers(): Promise<void> {
  const insert = env.DB.prepare("insert into organizations (id, name, created_at) values (?, 'Other', 0)");
  const ids = Array.from({ length: OTHERS }, (_, index) => `org_${String.fromCharCode(65 + index)}other0000000`);
  await env.DB.batch(ids.map((id) => insert.bind(id)));
}

/** What an object's SQL says, without a call that a client could make. */
function rowsOf(object: DurableObjectStub, query: string): Promise<Record<string, SqlStorageValue>[]> {
  return runInDurableObject(object, (_object, { storage }) => storage.sql.exec(query).toArray());
}

const rowOf = async (organizationId: string, chatId: string) => {
  const rows = await rowsOf(env.ORGANIZATIONS.getByName(organizationId), `select * from chats where id = '${chatId}'`);
  return rows[0];
};

test("after ten minutes without writes, everything that was acknowledged leaves within a round and two minutes", async () => {
  await addOthers();
  const { api, organizationId, channelId } = await newOrganization();
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  let [isNetworkDown, isReceiverDown] = [true, true];
  let accepted = 0;
  fakeReceiver(
    () => {
      if (!isReceiverDown) accepted++;
      return new Response("", { status: isReceiverDown ? 500 : 200 });
    },
    async (url) =>
      isNetworkDown && url.includes("sendMessage")
        ? new Response("", { status: 502 })
        : Response.json({ ok: true, result: { message_id: 7, chat: { id: 4711 } } }),
  );
  const settle = async (objects: DurableObjectStub[]) => {
    for (const object of [...objects, organization, ...objects]) {
      const at = await alarmAt(object);
      if (at !== null && at <= Date.now()) await runAlarm(object);
    }
  };

  // A chat whose messages are deleted after 30 days.
  await retain(channelId, 30);
  const kept = await newChat(api, channelId);
  await send(api, kept.id);
  const ofKept = env.CHATS.getByName(kept.id);
  for (let n = 0; n < 3; n++) {
    pass(5_000);
    await settle([ofKept]);
  }
  const deletedAt = Number((await rowOf(organizationId, kept.id))?.next_due_at);
  expect(deletedAt).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  vi.setSystemTime(deletedAt - 8 * MINUTE);

  // A chat with a queued message, one with a scheduled message, one whose event waits for its fourth try.
  const { id: telegramId } = await newNetworkChannel(organizationId, "telegram");
  const queued = await newChat(api, telegramId, "4711");
  await send(api, queued.id);
  const scheduled = await newChat(api, await newChannel(organizationId, "web"));
  await chatPlace(api, scheduled.id).schedule(5 * MINUTE);
  const unretained = await newChannel(organizationId, "web");
  const told = await newChat(api, unretained);
  const ofQueued = env.CHATS.getByName(queued.id);
  const ofScheduled = env.CHATS.getByName(scheduled.id);
  const ofTold = env.CHATS.getByName(told.id);
  await addWebhook(organizationId, { channels: [unretained] });
  await runAlarm(ofTold);
  await send(api, told.id, { content: "News" });
  await until("the organization knows when the event is tried again", async () => {
    pass(MINUTE / 6);
    await settle([ofQueued, ofScheduled, ofTold]);
    return (await rowOf(organizationId, told.id))?.next_due_at;
  });
  expect(await rowOf(organizationId, queued.id)).toMatchObject({ depth: 1 });
  expect((await rowOf(organizationId, scheduled.id))?.next_scheduled_at).not.toBeNull();

  // A chat that the organization deletes.
  const gone = await newChat(api, channelId, "gone");
  await send(api, gone.id);
  await runAlarm(env.CHATS.getByName(gone.id));
  const unbreak = breakObjects("CHATS", "erase");
  expectError(await admin("DELETE", `/chats/${gone.id}`), 503, "unavailable");
  unbreak();

  const objects = [ofKept, ofQueued, ofScheduled, ofTold, organization];
  const allow = await refuseWrites(organization);
  const ends: string[] = [];
  for (let minute = 0; minute < 10; minute++) {
    pass(MINUTE);
    await runCron();
    for (const object of objects) {
      const at = await alarmAt(object);
      if (at !== null && at <= Date.now()) ends.push(await ringOrGiveUp(object));
    }
  }
  expect(ends).toEqual(objects.map(() => "given up"));
  expect(Date.now()).toBeGreaterThan(deletedAt + MINUTE);
  allow();
  [isNetworkDown, isReceiverDown] = [false, false];

  const left = async () => ({
    queued: (await rowsOf(ofQueued, "select status from messages")).map(({ status }) => status),
    scheduled: (await rowsOf(ofScheduled, "select count(*) as count from scheduled"))[0]?.count,
    kept: (await rowsOf(organization, `select 1 from chats where id = '${kept.id}'`)).length,
    gone: (await rowsOf(organization, `select 1 from chats where id = '${gone.id}'`)).length,
    told: accepted === 0 ? 1 : 0,
  });
  const ringDue = async () => {
    for (const object of objects) {
      const at = await alarmAt(object);
      if (at !== null && at <= Date.now()) await runAlarm(object);
    }
  };
  const all = { queued: ["QUEUED"], scheduled: 1, kept: 1, gone: 1, told: 1 };
  expect(await left()).toEqual(all);
  // Nothing calls the objects, so nothing leaves: the platform rings none of them.
  pass(60 * MINUTE);
  await ringDue();
  expect(await left()).toEqual(all);
  const nothing = { queued: ["SENT"], scheduled: 0, kept: 0, gone: 0, told: 0 };
  for (let half = 0; half < 34 && JSON.stringify(await left()) !== JSON.stringify(nothing); half++) {
    if (half % 2 === 0) await runCron();
    await workIsDone(organization);
    pass(MINUTE / 2);
    await ringDue();
  }
  expect(await left()).toEqual(nothing);
});

/** Counts the calls of overdue chats, and how many were under way at most. */
function countAtOnce() {
  let [calls, underWay, most] = [0, 0, 0];
  replaceMethod("CHATS", "checkAlarm", (original) => async (...given) => {
    calls++;
    most = Math.max(most, ++underWay);
    try {
      return await original(...given);
    } finally {
      underWay--;
    }
  });
  return { calls: () => calls, most: () => most };
}

test("what is overdue only gets an alarm, 20 at once, spread over half a minute", async () => {
  const { organizationId, objects } = await overdue(45);
  const { calls, most } = countAtOnce();
  const now = Date.now();
  await checkOf(organizationId);
  expect([calls(), most()]).toEqual([45, 20]);
  const alarms = await Promise.all(objects.map((object) => alarmAt(object)));
  const seconds = alarms.map((at) => ((at ?? 0) - now) / 1_000);
  expect(Math.min(...seconds)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...seconds)).toBeLessThanOrEqual(30);
  expect(new Set(seconds.map(Math.floor)).size).toBeGreaterThan(5);
  // The first message of a chat creates the table.
  const hasMessages = "select 1 from sqlite_master where name = 'messages'";
  for (const object of objects) expect(await rowsOf(object, hasMessages)).toEqual([]);
});

test("1,200 overdue chats are called 20 at once, each once, also if another run comes meanwhile", () =>
  checkCallsOf(1_200));

test("if nothing is overdue, nothing is called and nothing is written", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await chatPlace(api, id).schedule(10 * MINUTE);
  const [chat, organization] = [env.CHATS.getByName(id), env.ORGANIZATIONS.getByName(organizationId)];
  await runAlarm(chat);
  await runAlarm(organization);
  for (const object of [chat, organization]) {
    const written = await objectWrites({ object: () => object }, async () => {
      const hops = countHops();
      await organization.checkAlarms();
      await workIsDone(organization);
      expect(hops()).toEqual({});
    });
    expect(written).toEqual({ rows: 0, values: 0, alarms: 0 });
    vi.restoreAllMocks();
  }
});

test("a chat that waits for a network that is down is called each time, and writes nothing", async () => {
  fakeReceiver(undefined, async () => new Response("", { status: 502 }));
  const { api, organizationId } = await newOrganization();
  const { id: channelId } = await newNetworkChannel(organizationId, "telegram");
  const { id } = await newChat(api, channelId, "4711");
  const object = env.CHATS.getByName(id);
  await send(api, id);
  while (((await alarmAt(object)) ?? 0) - Date.now() < 5 * MINUTE) {
    vi.setSystemTime(Math.max(Date.now(), (await alarmAt(object)) ?? 0));
    await runAlarm(object);
  }
  pass(3 * MINUTE);
  const written = await objectWrites({ object: () => object }, async () => {
    const calls = countAtOnce().calls;
    await checkOf(organizationId);
    expect(calls()).toBe(1);
  });
  expect(written).toEqual({ rows: 0, values: 0, alarms: 0 });
});

test("a chat that the organization knows wrongly reports again, once", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  await send(api, id);
  const object = env.CHATS.getByName(id);
  await runAlarm(object);
  const organization = env.ORGANIZATIONS.getByName(organizationId);
  await runInDurableObject(organization, (_object, { storage }) => {
    storage.sql.exec("update chats set next_due_at = 1");
  });
  const { calls } = countAtOnce();
  await checkOf(organizationId);
  pass(MINUTE / 10);
  await runAlarm(object);
  expect((await rowOf(organizationId, id))?.next_due_at).toBeNull();
  await checkOf(organizationId);
  expect(calls()).toBe(1);
});

test("an alarm that was lost beside another one is set again: the channel's, the webhook's, the key's and the organization's own", async () => {
  fakeReceiver(() => new Response("", { status: 500 }));
  const { api, organizationId, keyId, objects, organization } = await overdue(1);
  const webhookId = await addWebhook(organizationId);
  const { id: channelId } = await newNetworkChannel(organizationId, "telegram");
  const { id } = await newChat(api, channelId, "4711");
  await send(api, id);
  await runAlarm(env.CHATS.getByName(id));
  await runAlarm(env.KEYS.getByName(keyId));
  // What each has to do: tell of a waiting chat, of a broken webhook, of its numbers.
  await api("GET", "/key");
  const others = [env.CHANNELS.getByName(channelId), env.WEBHOOKS.getByName(webhookId), env.KEYS.getByName(keyId)];
  for (const object of [...objects, ...others, organization]) await loseAlarm(object);
  const asked: string[] = [];
  for (const namespace of ["CHANNELS", "WEBHOOKS", "KEYS"] as const) {
    replaceMethod(namespace, "checkAlarm", (original) => (...given) => {
      asked.push(namespace);
      return original(...given);
    });
  }
  await checkOf(organizationId);
  await runAlarm(organization);
  expect(asked.toSorted()).toEqual(["CHANNELS", "CHANNELS", "KEYS", "WEBHOOKS"]);
  vi.restoreAllMocks();
  expect(await alarmAt(organization)).not.toBeNull();
  expect(await alarmAt(env.KEYS.getByName(keyId))).toBeLessThanOrEqual(Date.now() + MINUTE / 2);
});

test("once any alarm was lost, channels and keys without known work are asked too", async () => {
  const { api, organizationId, keyId, objects, organization } = await overdue(1);
  const { id: channelId } = await newNetworkChannel(organizationId, "telegram");
  await newChat(api, channelId, "4711");
  await runAlarm(env.KEYS.getByName(keyId));
  const checks = (["CHANNELS", "KEYS"] as const).map((namespace) => countCalls(namespace, "checkAlarm"));
  await checkOf(organizationId);
  await runAlarm(organization);
  expect(checks.map((count) => count())).toEqual([2, 1]);
  for (const object of objects) expect(await alarmAt(object)).not.toBeNull();
});

test.each(["messages", "scheduled", "notes", "events"])(
  "who reads a chat's %s makes sure of its alarm",
  async (what) => {
    const { organizationId, objects } = await overdue(1);
    const permissions = ["chats:read", "messages:read", "notes:read", "events:read"];
    const api = client((await newKey(organizationId, { permissions })).secret);
    const [object] = objects as [DurableObjectStub];
    const { id } = (await api("GET", "/chats")).body.chats[0];
    expect(await alarmAt(object)).toBeNull();
    expect((await api("GET", `/chats/${id}/${what}`)).status).toBe(200);
    await workIsDone(object);
    expect(await alarmAt(object)).toBeLessThanOrEqual(Date.now() + MINUTE / 2);
  },
);
