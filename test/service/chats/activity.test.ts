import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { draft } from "../../support/drafts.ts";
import { aroundCall, beforeNextRun, breakDirectory, breakObjects, OUTAGES } from "../../support/faults.ts";
import { type Client, newChat, newOrganization, send } from "../../support/harness.ts";
import { stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

/** A chat with one message that was not reported to the directory yet. */
async function activeChat({ api, channelId }: { api: Client; channelId: string }) {
  const chat = await newChat(api, channelId);
  const message = await send(api, chat.id);
  return { id: chat.id, at: message.createdAt, object: env.CHATS.getByName(chat.id) };
}

async function lastMessageAt(chatId: string): Promise<string | null> {
  const query = env.DB.prepare("select last_message_at as at, active_at as active from chats where id = ?").bind(
    chatId,
  );
  const row = await query.first<{ at: number | null; active: number }>();
  if (row?.at) expect(row.active).toBe(row.at);
  return row?.at ? new Date(row.at).toISOString() : null;
}

function collected(channel: DurableObjectStub) {
  return runInDurableObject(channel, async (_object, { storage }) => ({
    rows: storage.sql.exec("select chat_id as id, at from activity order by chat_id").toArray(),
    alarm: await storage.getAlarm(),
  }));
}

const alarmOf = (object: DurableObjectStub) => runInDurableObject(object, (_object, { storage }) => storage.getAlarm());

test("a message's time reaches the directory through the channel in less than 10 s", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  const channel = env.CHANNELS.getByName(organization.channelId);
  const ofChat = ((await alarmOf(chat.object)) ?? 0) - Date.now();
  expect(await lastMessageAt(chat.id)).toBeNull();
  await runDurableObjectAlarm(chat.object);
  const ofChannel = ((await alarmOf(channel)) ?? 0) - Date.now();
  expect(await collected(channel)).toMatchObject({ rows: [{ id: chat.id, at: Date.parse(chat.at) }] });
  await runDurableObjectAlarm(channel);
  expect(await lastMessageAt(chat.id)).toBe(chat.at);
  expect(ofChat + ofChannel).toBeLessThan(10_000);
});

test("after all activity is written, the channel keeps no rows and no alarm", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  const channel = env.CHANNELS.getByName(organization.channelId);
  await runDurableObjectAlarm(chat.object);
  await runDurableObjectAlarm(channel);
  expect(await collected(channel)).toEqual({ rows: [], alarm: null });
  expect(await alarmOf(chat.object)).toBeNull();
});

test("the activity of thirty chats is written in one statement", async () => {
  const organization = await newOrganization();
  const chats = await Promise.all(Array.from({ length: 30 }, () => activeChat(organization)));
  for (const chat of chats) await runDurableObjectAlarm(chat.object);
  const statements = vi.spyOn(env.DB, "prepare");
  await runDurableObjectAlarm(env.CHANNELS.getByName(organization.channelId));
  expect(statements).toHaveBeenCalledTimes(1);
  vi.restoreAllMocks();
  for (const chat of chats) expect(await lastMessageAt(chat.id)).toBe(chat.at);
});

test("if there are more chats than fit in one statement, an immediate alarm writes the rest", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  const channel = env.CHANNELS.getByName(organization.channelId);
  await runDurableObjectAlarm(chat.object);
  await runInDurableObject(channel, (_object, { storage }) => {
    storage.sql.exec(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < 500)
       insert into activity (chat_id, at) select 'cht_of_long_ago_' || i, i from n`,
    );
  });
  await runDurableObjectAlarm(channel);
  expect(await collected(channel)).toEqual({ rows: [{ id: chat.id, at: Date.parse(chat.at) }], alarm: Date.now() });
  await runDurableObjectAlarm(channel);
  expect(await lastMessageAt(chat.id)).toBe(chat.at);
});

test.each(OUTAGES)(
  "activity that the directory rejects is kept for the next alarm, even across an eviction (%s error)",
  async (outage) => {
    const organization = await newOrganization();
    const chat = await activeChat(organization);
    const channel = env.CHANNELS.getByName(organization.channelId);
    await runDurableObjectAlarm(chat.object);
    breakDirectory(outage);
    await runDurableObjectAlarm(channel);
    vi.restoreAllMocks();
    expect(await lastMessageAt(chat.id)).toBeNull();
    expect(await collected(channel)).toEqual({
      rows: [{ id: chat.id, at: Date.parse(chat.at) }],
      alarm: Date.now() + 15_000,
    });
    await evictDurableObject(channel);
    await runDurableObjectAlarm(channel);
    expect(await lastMessageAt(chat.id)).toBe(chat.at);
  },
);

test("a chat repeats a failed report to its channel, even after an eviction", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  breakObjects("CHANNELS", "reportActivity");
  await runDurableObjectAlarm(chat.object);
  vi.restoreAllMocks();
  expect(await alarmOf(chat.object)).toBe(Date.now() + 30_000);
  await evictDurableObject(chat.object);
  await runDurableObjectAlarm(chat.object);
  await runDurableObjectAlarm(env.CHANNELS.getByName(organization.channelId));
  expect(await lastMessageAt(chat.id)).toBe(chat.at);
});

test("the latest time wins, whatever the order of the reports", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  const channel = env.CHANNELS.getByName(organization.channelId);
  const latest = Date.parse(chat.at) + 5_000;
  await channel.reportActivity(chat.id, latest);
  await evictDurableObject(channel);
  await channel.reportActivity(chat.id, latest - 3_000);
  await runDurableObjectAlarm(channel);
  await channel.reportActivity(chat.id, latest - 1_000);
  await runDurableObjectAlarm(channel);
  expect(await lastMessageAt(chat.id)).toBe(new Date(latest).toISOString());
});

test("the directory learns of a message even if the clock was set back after the chat was created", async () => {
  const organization = await newOrganization();
  const made = await newChat(organization.api, organization.channelId);
  vi.setSystemTime(Date.now() - 500);
  const message = await send(organization.api, made.id);
  expect(message.createdAt).toBe(made.createdAt);
  await runDurableObjectAlarm(env.CHATS.getByName(made.id));
  await runDurableObjectAlarm(env.CHANNELS.getByName(organization.channelId));
  expect(await lastMessageAt(made.id)).toBe(message.createdAt);
});

test("activity during the channel's write is written again", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  const channel = env.CHANNELS.getByName(organization.channelId);
  await runDurableObjectAlarm(chat.object);
  const later = Date.parse(chat.at) + 1_000;
  beforeNextRun(() => env.CHANNELS.getByName(organization.channelId).reportActivity(chat.id, later));
  await runDurableObjectAlarm(channel);
  expect(await lastMessageAt(chat.id)).toBe(chat.at);
  expect(await collected(channel)).toEqual({ rows: [{ id: chat.id, at: later }], alarm: Date.now() + 5_000 });
});

test("a message that arrives during a report keeps the chat's alarm", async () => {
  const organization = await newOrganization();
  const chat = await activeChat(organization);
  async function before() {
    await env.CHATS.getByName(chat.id).redact(organization.organizationId, "msg_gaaaaaaaaaaaaaaa", null, "req_1");
    await env.CHATS.getByName(chat.id).send(organization.organizationId, [draft("In between")], null);
  }
  aroundCall("CHANNELS", "reportActivity", { before });
  await runDurableObjectAlarm(chat.object);
  expect(await alarmOf(chat.object)).toBe(Date.now() + 2_000);
});
