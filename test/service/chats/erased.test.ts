import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { aroundCall, aroundQueries, beforeNextRun } from "../../support/faults.ts";
import { newChat, newKey, newOrganization, send } from "../../support/harness.ts";
import { heldBy, NOTHING } from "../../support/stored.ts";
import { stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

const TOMBSTONE = { values: [["erased", expect.any(Number)]], tables: [] };

async function lastMessageAt(chatId: string) {
  return env.DB.prepare("select last_message_at as at from chats where id = ?").bind(chatId).first<number>("at");
}

async function usedChat() {
  const organization = await newOrganization();
  const { id: chatId } = await newChat(organization.api, organization.channelId);
  await send(organization.api, chatId);
  const { organizationId, channelId } = organization;
  const adoption = {
    chatId,
    organizationId,
    channelId,
    channelKind: "web" as const,
    contactAddress: "someone",
    createdAt: Date.now(),
  };
  return { ...organization, chatId, adoption, object: env.CHATS.getByName(chatId) };
}

test("a deleted chat stores only a tombstone, and after ten minutes nothing", async () => {
  const { object } = await usedChat();
  await object.erase();
  expect(await heldBy(object)).toEqual({ ...TOMBSTONE, alarm: Date.now() + 600_000 });
  await runDurableObjectAlarm(object);
  expect(await heldBy(object)).toEqual(NOTHING);
});

test("a caller who read the directory before the deletion can't recreate the chat, even after an eviction", async () => {
  const { object, organizationId, adoption } = await usedChat();
  await object.erase();
  expect(await object.state(organizationId, adoption)).toEqual({ outcome: "unknown" });
  await evictDurableObject(object);
  expect(await object.list(organizationId, { page: 1, limit: 20 }, adoption)).toEqual({ outcome: "unknown" });
  expect(await heldBy(object)).toMatchObject(TOMBSTONE);
});

test("a chat that is deleted while it reports its activity keeps its tombstone and the tombstone's alarm", async () => {
  const { object, chatId } = await usedChat();
  aroundCall("CHANNELS", "reportActivity", { after: () => env.CHATS.getByName(chatId).erase() });
  await runDurableObjectAlarm(object);
  expect(await heldBy(object)).toEqual({ ...TOMBSTONE, alarm: Date.now() + 600_000 });
});

test("a chat that is deleted and created again during a report reports its own activity", async () => {
  const { api, object, chatId, channelId, organizationId, adoption } = await usedChat();
  await send(api, chatId);
  const channel = env.CHANNELS.getByName(channelId);
  const old = Date.now();
  async function after() {
    await env.CHATS.getByName(chatId).erase();
    vi.setSystemTime(old + 60_000);
    await env.DB.prepare("update chats set created_at = ?, active_at = ?, last_message_at = null where id = ?")
      .bind(Date.now(), Date.now(), chatId)
      .run();
    const again = { ...adoption, createdAt: Date.now() };
    await env.CHATS.getByName(chatId).list(organizationId, { page: 1, limit: 20 }, again);
  }
  aroundCall("CHANNELS", "reportActivity", { after });
  await runDurableObjectAlarm(object);
  // The report of the deleted chat.
  await runDurableObjectAlarm(channel);
  expect(await lastMessageAt(chatId)).toBeNull();
  const { createdAt } = await send(api, chatId);
  await runDurableObjectAlarm(object);
  await runDurableObjectAlarm(channel);
  expect(await lastMessageAt(chatId)).toBe(Date.parse(createdAt));
});

test("a channel that is deleted while it writes its chats' activity stays empty", async () => {
  const { object, channelId } = await usedChat();
  const channel = env.CHANNELS.getByName(channelId);
  await runDurableObjectAlarm(object);
  beforeNextRun(() => env.CHANNELS.getByName(channelId).erase());
  await runDurableObjectAlarm(channel);
  expect(await heldBy(channel)).toEqual(NOTHING);
});

test("a deleted channel and a deleted key store nothing, and deleting them again succeeds", async () => {
  const { object, channelId, keyId } = await usedChat();
  const channel = env.CHANNELS.getByName(channelId);
  const key = env.KEYS.getByName(keyId);
  await runDurableObjectAlarm(object);
  for (const _ of [1, 2]) {
    await channel.erase();
    await key.erase();
    expect(await heldBy(channel)).toEqual(NOTHING);
    expect(await heldBy(key)).toEqual(NOTHING);
  }
});

test("a request that reads the directory while its key is deleted is refused, and stores nothing", async () => {
  const { organizationId } = await newOrganization();
  const { key } = await newKey(organizationId);
  const object = env.KEYS.getByName(key.id);
  const { hash } = (await env.DB.prepare("select hash from api_keys where id = ?").bind(key.id).first<{
    hash: string;
  }>()) ?? { hash: "" };
  aroundQueries(async (_query, run) => {
    const read = await run();
    await env.KEYS.getByName(key.id).erase();
    return read;
  });
  const answer = await object.admit(key.id, {
    call: crypto.randomUUID(),
    hash,
    address: null,
    permission: null,
    units: 1,
  });
  expect(answer).toEqual({ outcome: "refused", reason: "invalid_api_key", window: null, final: true });
  await object.beginChange("late");
  expect(await heldBy(object)).toEqual(NOTHING);
});
