import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { addressOfToken } from "../../../../src/channels/web/identity.ts";
import type { ChatObject } from "../../../../src/chats/object/chat-object.ts";
import { newId } from "../../../../src/model/id.ts";
import { webChatId } from "../../../../src/model/visitor.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { asOwner } from "../../../support/as-owner.ts";
import { identity } from "../../../support/drafts.ts";
import { aroundCall, aroundQueries } from "../../../support/faults.ts";
import { admin, created, newChat, newKey, newOrganization, send } from "../../../support/harness.ts";
import { newSite, newToken, visit } from "../../../support/sockets.ts";
import { heldBy, NOTHING, storedChat } from "../../../support/stored.ts";
import { newNetworkChannel, stopTheClock } from "./delivery/conversation.ts";

stopTheClock();

async function usedChat() {
  const organization = await newOrganization();
  const { id: chatId, contact } = await newChat(organization.api, organization.channelId);
  await send(organization.api, chatId);
  const { organizationId, channelId } = organization;
  const object = env.CHATS.getByName(chatId);
  const life = (await storedChat(organizationId, chatId))?.life ?? 0;
  return {
    ...organization,
    chatId,
    life,
    adoption: identity({ chatId, organizationId, channelId }, { contactAddress: contact.address, life }),
    tombstone: { values: [["tombstone", { organizationId, life, until: Date.now() + 600_000 }]], tables: [] },
    object,
    stored: () => storedChat(organizationId, chatId),
  };
}

test("a deleted chat stores only a tombstone, and after ten minutes nothing", async () => {
  const { object, organizationId, life, tombstone } = await usedChat();
  await object.erase(organizationId, life);
  expect(await heldBy(object)).toEqual({ ...tombstone, alarm: Date.now() + 600_000 });
  expect(await object.owner()).toEqual({ organizationId });
  vi.setSystemTime(Date.now() + 600_000);
  await runAlarm(object);
  expect(await heldBy(object)).toEqual(NOTHING);
  expect(await object.owner()).toBeNull();
});

test("an alarm that is repeated after the deletion leaves the tombstone alone", async () => {
  const { object, organizationId, life, tombstone } = await usedChat();
  await object.erase(organizationId, life);
  await runAlarm(object);
  expect(await heldBy(object)).toEqual({ ...tombstone, alarm: Date.now() + 600_000 });
});

test("a tombstone that can't be deleted is tried again ever later, and stays deleted meanwhile", async () => {
  const { object, chatId, organizationId, life, tombstone, adoption } = await usedChat();
  const warned = vi.spyOn(console, "error").mockReturnValue();
  await object.erase(organizationId, life);
  const restore = await runInDurableObject(object, (_object, { storage }) => {
    const spy = vi.spyOn(storage, "deleteAll").mockRejectedValue(new Error("disk I/O error: SQLITE_IOERR"));
    return () => spy.mockRestore();
  });
  const waits: number[] = [];
  const ring = async () => {
    const { alarm } = await heldBy(object);
    waits.push((alarm ?? 0) - Date.now());
    vi.setSystemTime(alarm ?? 0);
    await runAlarm(object);
  };
  for (let n = 0; n < 10; n++) await ring();
  expect(waits.map((ms) => ms / 60_000)).toEqual([10, 1, 1, 2, 4, 8, 16, 32, 60, 60]);
  const lines = warned.mock.calls.filter(([line]) => line.event === "tombstone_not_deleted");
  expect(lines).toHaveLength(10);
  expect(warned).toHaveBeenCalledWith(expect.objectContaining({ event: "tombstone_not_deleted", organizationId }));
  expect((await heldBy(object)).values).toEqual(tombstone.values);
  expect(await env.CHATS.getByName(chatId).state(asOwner(organizationId, adoption))).toEqual({ outcome: "unknown" });
  restore();
  await ring();
  expect(await heldBy(object)).toEqual(NOTHING);
});

test("a chat that is created while its tombstone is deleted has an alarm of its own at once", async () => {
  const { object, organizationId, life, adoption } = await usedChat();
  await object.erase(organizationId, life);
  const alarms: (number | null)[] = [];
  await runInDurableObject(object, (chat: ChatObject, { storage }) => {
    const deleteAll = storage.deleteAll.bind(storage);
    vi.spyOn(storage, "deleteAll").mockImplementation(async () => {
      await deleteAll();
      await chat.adopt({ ...adoption, life: life + 1 });
      alarms.push(await storage.getAlarm());
    });
  });
  vi.setSystemTime(Date.now() + 600_000);
  await runAlarm(object);
  // The platform does not repeat the alarm that is under way, because it was deleted too.
  expect(alarms).toEqual([Date.now() + 2_000]);
  await object.erase(organizationId, life + 1);
});

test("a caller who got the identity before the deletion can't recreate the chat, even after an eviction", async () => {
  const { object, organizationId, life, adoption, tombstone } = await usedChat();
  await object.erase(organizationId, life);
  expect(await object.state(asOwner(organizationId, adoption))).toEqual({ outcome: "unknown" });
  await evictDurableObject(object);
  expect(await object.list(asOwner(organizationId, adoption), { page: 1, limit: 20 })).toEqual({ outcome: "unknown" });
  await object.adopt(adoption);
  expect(await heldBy(object)).toMatchObject(tombstone);
});

test("a late deletion of an earlier life leaves the chat alone", async () => {
  const { api, object, organizationId, chatId, life, adoption } = await usedChat();
  await object.erase(organizationId, life);
  await object.adopt({ ...adoption, life: life + 1 });
  await object.erase(organizationId, life);
  expect(await object.state(asOwner(organizationId))).toMatchObject({
    outcome: "ok",
    activity: { lastMessageAt: null },
  });
  // The caller has the identity of the earlier life.
  expect(await object.state(asOwner(organizationId, adoption))).toEqual({ outcome: "unknown" });
  expect((await api("GET", `/chats/${chatId}/messages`)).body.messages).toEqual([]);
  await object.erase(organizationId, life + 1);
  expect((await heldBy(object)).values).toEqual([
    ["tombstone", { organizationId, life: life + 1, until: Date.now() + 600_000 }],
  ]);
});

test("a chat that is deleted while it reports its activity keeps its tombstone and the tombstone's alarm", async () => {
  const { object, chatId, organizationId, life, tombstone } = await usedChat();
  // The chat's report will be answered with a greater number, which the chat would store.
  const ahead = {
    lastMessageAt: null,
    lastMessage: null,
    unansweredSince: null,
    nextScheduledAt: null,
    readUpTo: null,
    assigneeId: null,
    details: null,
    depth: 0,
    oldest: null,
    attempts: {},
  };
  await env.ORGANIZATIONS.getByName(organizationId).report({
    chatId,
    life,
    number: 9,
    events: null,
    webhooks: null,
    ...ahead,
  });
  aroundCall("ORGANIZATIONS", "report", { after: () => env.CHATS.getByName(chatId).erase(organizationId, life) });
  await runAlarm(object);
  expect(await heldBy(object)).toEqual({ ...tombstone, alarm: Date.now() + 600_000 });
});

test("a chat that is deleted and created again during a report reports its own activity", async () => {
  const { api, object, chatId, channelId, adoption, stored } = await usedChat();
  await send(api, chatId);
  const path = `/chats/${chatId}`;
  async function after() {
    vi.setSystemTime(Date.now() + 60_000);
    expect((await admin("DELETE", path)).status).toBe(200);
    const body = { channelId, contact: { address: adoption.contactAddress } };
    expect(created(await api("POST", "/chats", body)).chat.id).toBe(chatId);
  }
  aroundCall("ORGANIZATIONS", "report", { after });
  await runAlarm(object);
  vi.restoreAllMocks();
  expect(await stored()).toMatchObject({ last_message_at: null, last_message: null });
  expect((await stored())?.life).toBeGreaterThan(adoption.life);
  await runAlarm(object);
  expect(await stored()).toMatchObject({ state: "adopted", last_message_at: null });
  const { createdAt, seq } = await send(api, chatId);
  expect(seq).toBe(1);
  await runAlarm(object);
  expect(await stored()).toMatchObject({ last_message_at: Date.parse(createdAt) });
});

test("a report of a deleted chat that arrives after the chat was created again changes nothing", async () => {
  const { api, object, chatId, channelId, adoption, stored } = await usedChat();
  async function before() {
    expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
    created(await api("POST", "/chats", { channelId, contact: { address: adoption.contactAddress } }));
  }
  aroundCall("ORGANIZATIONS", "report", { before });
  await runAlarm(object);
  vi.restoreAllMocks();
  expect(await stored()).toMatchObject({ state: "created", last_message_at: null, last_message: null, report: 0 });
});

/** The object of a network's channel, and a call that reports the channel broken. */
async function breakableChannel() {
  const { organizationId, keyId, api } = await newOrganization();
  const { id: channelId } = await newNetworkChannel(organizationId, "telegram");
  const channel = () => env.CHANNELS.getByName(channelId);
  const report = { channelId, chatId: newId("cht", null), reason: "unauthorized", probe: null, epoch: 0 };
  return { keyId, api, channel, breakIt: () => channel().reportBroken(report) };
}

/** What a deleted channel leaves: a mark, so that calls that come late store nothing. */
const CHANNEL_MARK = { ...NOTHING, values: [["erased", true]] };

test("a channel that is deleted while it reports its health stores nothing afterward", async () => {
  const { channel, breakIt } = await breakableChannel();
  aroundCall("ORGANIZATIONS", "reportHealth", { after: () => channel().erase() });
  await breakIt();
  expect(await heldBy(channel())).toEqual(CHANNEL_MARK);
});

test("a deleted channel and a deleted key store nothing, and deleting them again succeeds", async () => {
  const { keyId, api, channel, breakIt } = await breakableChannel();
  await breakIt();
  await api("GET", "/key");
  const key = env.KEYS.getByName(keyId);
  for (const object of [channel(), key]) expect((await heldBy(object)).values).not.toEqual([]);
  for (const _ of [1, 2]) {
    await channel().erase();
    await key.erase();
    expect(await heldBy(channel())).toEqual(CHANNEL_MARK);
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

test("an organization that is deleted while its object reads D1 gets no chat", async () => {
  const { organizationId, channelId } = await newOrganization();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  aroundQueries(async (query, run) => {
    const read = await run();
    if (query === 1) expect((await admin("DELETE", `/organizations/${organizationId}`)).status).toBe(200);
    return read;
  });
  const contact = { address: "late", others: [], name: null, metadata: {} };
  const proposedId = newId("cht", null);
  const answer = await object.open({ organizationId, channelId, ...contact, proposedId, isLimited: false });
  expect(answer).toEqual({ outcome: "no_channel" });
  expect(await heldBy(object)).toEqual(NOTHING);
});

test("two requests that delete the same organization both succeed", async () => {
  const { organizationId, chatId } = await usedChat();
  const path = `/organizations/${organizationId}`;
  const object = env.CHATS.getByName(chatId);
  aroundCall("CHATS", "erase", {
    after: async () => expect((await admin("DELETE", path)).status).toBe(200),
  });
  expect((await admin("DELETE", path)).status).toBe(200);
  expect(await heldBy(env.ORGANIZATIONS.getByName(organizationId))).toEqual(NOTHING);
  expect(await object.owner()).toEqual({ organizationId });
});

test("a chat whose messages were read only in part can be deleted at once", async () => {
  const { channelId } = await newSite();
  const token = newToken();
  const { page } = await visit(channelId, { token });
  for (let n = 1; n <= 30; n++) {
    vi.setSystemTime(Date.now() + 60_000);
    expect((await page.write(`message ${n}`)).type).toBe("stored");
  }
  // The visitor's rate looked at the messages of an hour, and not at those before.
  vi.setSystemTime(Date.now() + 3_600_000);
  expect((await page.write("last")).type).toBe("stored");
  const chatId = await webChatId(channelId, await addressOfToken(token));
  expect((await admin("DELETE", `/chats/${chatId}`)).status).toBe(200);
});
