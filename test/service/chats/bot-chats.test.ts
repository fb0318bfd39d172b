import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { runAlarm } from "../../support/alarms.ts";
import { admin, expectFaults, newChannel, newKey, newOrganization } from "../../support/harness.ts";
import { botPlace, handoverPlace, inChat } from "./handover-fixtures.ts";
import { writeAsContact } from "./inbound.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

type Place = Awaited<ReturnType<typeof botPlace>>;

/** Chats of the bot, the first of which was created first. */
async function botChats(place: Place, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const { id } = await place.newChat();
    await writeAsContact(place.organizationId, id);
    await inChat(place, id).report();
    ids.push(id);
    pass(1);
  }
  return ids;
}

const ringOf = ({ organizationId }: Place) => runAlarm(env.ORGANIZATIONS.getByName(organizationId));

async function handlersOf({ api }: Place): Promise<string[]> {
  return (await api("GET", "/chats?limit=100")).body.chats.map(({ handler }: Chat) => handler);
}

async function idsOf({ api }: Place, query: string): Promise<string[]> {
  const answer = await api("GET", `/chats?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.chats.map(({ id }: Chat) => id);
}

test("settings.bot names a living key of the organization that may send, on every kind of channel", async () => {
  const { organizationId, setBot, botKey, channelId } = await botPlace();
  const stranger = await newOrganization();
  const reader = await newKey(organizationId, { permissions: ["chats:read"] });
  const drafter = await newKey(organizationId, { draftsOnly: true });
  const revoked = await newKey(organizationId);
  await admin("DELETE", `/keys/${revoked.key.id}`);
  const patch = (bot: unknown) => admin("PATCH", `/channels/${channelId}`, { settings: { bot } });
  for (const keyId of [stranger.keyId, reader.key.id, drafter.key.id, revoked.key.id, "key_nothing"]) {
    expectFaults(await patch({ keyId }), "settings.bot.keyId");
  }
  for (const handOverAfterSeconds of [9, 3_601, 60.5, "60"]) {
    expectFaults(await patch({ keyId: botKey.id, handOverAfterSeconds }), "settings.bot.handOverAfterSeconds");
  }
  expectFaults(await patch("bot"), "settings.bot");
  expect((await setBot({ keyId: botKey.id })).settings.bot).toEqual({ keyId: botKey.id, handOverAfterSeconds: 120 });
  const telegram = await newChannel(organizationId, "telegram");
  expect((await setBot({ keyId: botKey.id, handOverAfterSeconds: 10 }, telegram)).settings.bot).toMatchObject({
    handOverAfterSeconds: 10,
  });
  expect((await setBot(null)).settings.bot).toBeUndefined();
});

test("a new channel can have a bot", async () => {
  const { organizationId, botKey, api } = await botPlace();
  const create = (keyId: string) =>
    admin("POST", `/organizations/${organizationId}/channels`, {
      kind: "web",
      name: "Shop",
      settings: { bot: { keyId } },
    });
  expectFaults(await create("key_nothing"), "settings.bot.keyId");
  const { channel } = (await create(botKey.id)).body;
  const made = await api("POST", "/chats", { channelId: channel.id, contact: { address: "visitor" } });
  expect(made.body.chat.handler).toBe("bot");
});

test("a removed bot's chats are people's in the lists at once, and are handed over 20 in a second", async () => {
  const place = await botPlace();
  const ids = await botChats(place, 25);
  expect(await handlersOf(place)).toEqual(Array(25).fill("bot"));
  await place.setBot(null);
  expect(await handlersOf(place)).toEqual(Array(25).fill("people"));
  expect(await idsOf(place, "handler=bot")).toEqual([]);
  expect((await place.api("GET", `/chats/${ids[0]}`)).body.chat.handler).toBe("people");
  const handedOver = async () =>
    (await Promise.all(ids.map(async (id) => (await inChat(place, id).handovers()).length))).filter(Boolean).length;
  await ringOf(place);
  expect(await handedOver()).toBe(20);
  pass(1_000);
  await ringOf(place);
  expect(await handedOver()).toBe(25);
  expect(await inChat(place, ids[0] ?? "").handovers()).toEqual([{ to: "people", by: null, reason: "bot_gone" }]);
});

test("another bot gets the new chats, and not those of the one before", async () => {
  const place = await handoverPlace();
  const { key } = await newKey(place.organizationId, { name: "Second" });
  await place.setBot({ keyId: key.id });
  expect((await place.shown()).handler).toBe("people");
  expect((await place.newChat()).handler).toBe("bot");
  await ringOf(place);
  expect(await place.handovers()).toEqual([{ to: "people", by: null, reason: "bot_gone" }]);
});

test("a chat learns with its report that its bot is gone", async () => {
  const place = await handoverPlace();
  await place.says();
  await place.setBot(null);
  await place.says();
  await place.report();
  expect(await place.handovers()).toEqual([{ to: "people", by: null, reason: "bot_gone" }]);
});

test("a closed chat of a removed bot stays closed", async () => {
  const place = await handoverPlace();
  await place.says();
  await place.api("PATCH", `/chats/${place.chatId}`, { state: "closed" });
  await place.setBot(null);
  await ringOf(place);
  expect(await place.shown()).toMatchObject({ handler: "people", state: "closed", unansweredSince: null });
});

test.for([
  ["is revoked", async (id: string) => admin("DELETE", `/keys/${id}`)],
  ["gets draftsOnly", async (id: string) => admin("PATCH", `/keys/${id}`, { draftsOnly: true })],
  ["loses messages:send", async (id: string) => admin("PATCH", `/keys/${id}`, { permissions: ["chats:read"] })],
] as const)("a bot whose key %s no longer has chats", async ([, end]) => {
  const place = await handoverPlace();
  await place.says();
  await place.report();
  expect((await end(place.botKey.id)).status).toBe(200);
  expect(await handlersOf(place)).toEqual(["people"]);
  expect((await place.newChat()).handler).toBe("people");
  await ringOf(place);
  expect(await place.handovers()).toEqual([{ to: "people", by: null, reason: "bot_gone" }]);
});

test("a bot whose key expires has no chats from then on", async () => {
  const place = await handoverPlace();
  await place.says();
  await place.report();
  const expiresAt = new Date(Date.now() + 30_000).toISOString();
  await admin("PATCH", `/keys/${place.botKey.id}`, { expiresAt });
  expect(await handlersOf(place)).toEqual(["bot"]);
  pass(30_000);
  expect(await idsOf(place, "handler=people")).toEqual([place.chatId]);
  expect((await place.newChat()).handler).toBe("people");
  await ringOf(place);
  expect(await place.handovers()).toEqual([{ to: "people", by: null, reason: "bot_gone" }]);
});

test("a key that is the bot again gets new chats", async () => {
  const place = await handoverPlace();
  await admin("PATCH", `/keys/${place.botKey.id}`, { permissions: ["chats:read"] });
  expect((await place.newChat()).handler).toBe("people");
  await admin("PATCH", `/keys/${place.botKey.id}`, { permissions: null });
  expect((await place.newChat()).handler).toBe("bot");
});

test("GET /chats lists the chats of a handler, with each of the other filters", async () => {
  const place = await botPlace();
  const [first = "", second = "", third = ""] = await botChats(place, 3);
  await inChat(place, second).handOver({ to: "people", assigneeId: place.ann });
  await place.api("POST", `/chats/${third}/answered`);
  expect(await idsOf(place, "handler=bot")).toEqual([third, first]);
  expect(await idsOf(place, "handler=people")).toEqual([second]);
  expect(await idsOf(place, "handler=bot&unanswered=true")).toEqual([first]);
  expect(await idsOf(place, "handler=people&unanswered=true&state=open")).toEqual([second]);
  expect(await idsOf(place, `handler=people&assignee=${place.ann}`)).toEqual([second]);
  expect(await idsOf(place, `handler=bot&assignee=${place.ann}`)).toEqual([]);
  expect(await idsOf(place, "handler=bot&channel=web&state=open")).toEqual([third, first]);
  expect(await idsOf(place, "handler=bot&channel=telegram")).toEqual([]);
  expect(await idsOf(place, "unanswered=true")).toEqual([first, second]);
  const { pagination } = (await place.api("GET", "/chats?handler=bot&limit=1")).body;
  expect(await idsOf(place, `handler=bot&limit=1&before=${pagination.cursor}`)).toEqual([first]);
  expectFaults(await place.api("GET", `/chats?handler=people&before=${pagination.cursor}`), "before");
  expectFaults(await place.api("GET", "/chats?handler=nobody"), "handler");
  for (const other of ["contact=1", "search=ab", "scheduled=true"]) {
    expectFaults(await place.api("GET", `/chats?handler=bot&${other}`), "handler");
  }
});

test("the list of the open unanswered chats that people have says how many they are", async () => {
  const place = await botPlace();
  const total = async () =>
    (await place.api("GET", "/chats?unanswered=true&state=open&handler=people&limit=1")).body.pagination.total;
  const [first = "", second = ""] = await botChats(place, 4);
  expect(await total()).toBe(0);
  await inChat(place, first).handOver({ to: "people" });
  await inChat(place, second).handOver({ to: "people" });
  expect(await total()).toBe(2);
  await inChat(place, second).handOver({ to: "bot" });
  expect(await total()).toBe(1);
  await place.setBot(null);
  expect(await total()).toBe(4);
  await ringOf(place);
  expect(await total()).toBe(4);
  await place.api("PATCH", `/chats/${first}`, { state: "closed" });
  expect(await total()).toBe(3);
  await admin("DELETE", `/chats/${second}`);
  expect(await total()).toBe(2);
});

test("a chat that no object has adopted yet is people's when its bot goes", async () => {
  const place = await botPlace();
  const { id } = await place.newChat();
  await place.setBot(null);
  await ringOf(place);
  expect(await idsOf(place, "handler=people")).toEqual([id]);
  await writeAsContact(place.organizationId, id);
  expect((await place.api("GET", `/chats/${id}`)).body.chat.handler).toBe("people");
});
