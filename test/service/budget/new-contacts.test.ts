import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { client, created, newChat, newKey, newOrganization, send } from "../../support/harness.ts";
import { alarmOf, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { chatPlace, DAY } from "../chats/object/scheduled/fixtures.ts";
import { newContact, place } from "../inbound/fixtures.ts";
import { fromMeta, fromTelegram, taken, telegramText, whatsappText } from "../inbound/webhook-calls.ts";
import { meter, watchNewChats } from "./meter.ts";

stopTheClock();

const MINUTE_MS = 60_000;
const KIB = 1_024;

/** The size of an object's SQLite file, in KiB. */
function sizeOf(object: DurableObjectStub): Promise<number> {
  return runInDurableObject(object, (_object, { storage }) => storage.sql.databaseSize / KIB);
}

/** Counts what new contacts of a channel cost: it has a chat, and nothing is under way. */
async function metered(channelId: string, { api, organizationId, keyId }: Awaited<ReturnType<typeof newOrganization>>) {
  const ofKey = env.KEYS.getByName(keyId);
  const ofOrganization = env.ORGANIZATIONS.getByName(organizationId);
  const { id } = await newChat(api, channelId, newContact());
  const rest = async (objects: DurableObjectStub[], ring: (object: DurableObjectStub) => Promise<unknown>) => {
    pass(MINUTE_MS);
    for (const object of objects) {
      const at = await alarmOf(object);
      if (at !== null && at <= Date.now()) await ring(object);
    }
  };
  const objects = [ofKey, ofOrganization];
  await rest([env.CHATS.getByName(id), ...objects], runAlarm);
  const newChats = watchNewChats();
  const { ring, read } = await meter([...objects, env.CHANNELS.getByName(channelId)]);
  return { read, newChats, rest: (chat: DurableObjectStub) => rest([chat, ...objects], ring) };
}

test("a chat that the company creates", async () => {
  const organization = await newOrganization();
  const { api, channelId } = organization;
  const { read, rest } = await metered(channelId, organization);
  const { chat } = created(await api("POST", "/chats", { channelId, contact: { address: "ada@example.com" } }));
  // Rows: the key's count and alarm. In the organization's object four of the chat with its indexes, its address, the term under
  // which it is found, the channel's number of chats, and the alarm that adopts it if its creation was interrupted. In
  // the chat's object its identity and the alarm.
  expect(read()).toEqual({ calls: 3, rows: 2 + 8 + 2, directory: 0 });
  const object = env.CHATS.getByName(chat.id);
  await rest(object);
  // The chat's state as reported; in the organization's object the chat, the feed's pointer, the key's numbers, and the
  // alarm that it had before.
  expect(read()).toEqual({ calls: 6, rows: 1 + 4, directory: 0 });
  expect(await sizeOf(object)).toBe(12);
});

test("chats that the company creates in quick succession share five of these rows", async () => {
  const organization = await newOrganization();
  const { api, channelId, organizationId, keyId } = organization;
  const first = await newChat(api, channelId, newContact());
  const shared = [env.KEYS.getByName(keyId), env.ORGANIZATIONS.getByName(organizationId)];
  pass(MINUTE_MS);
  for (const object of [env.CHATS.getByName(first.id), ...shared]) await runAlarm(object);
  const newChats = watchNewChats();
  const { ring, read } = await meter([...shared, env.CHANNELS.getByName(channelId)]);
  const COUNT = 50;
  for (let n = 0; n < COUNT; n++) {
    created(await api("POST", "/chats", { channelId, contact: { address: newContact() } }));
    pass(100);
  }
  expect(newChats()).toHaveLength(COUNT);
  pass(MINUTE_MS);
  for (const object of [...newChats().map((id) => env.CHATS.getByName(id)), ...shared]) {
    const at = await alarmOf(object);
    if (at !== null && at <= Date.now()) await ring(object);
  }
  const { rows } = read();
  expect(rows).toBeGreaterThan(12 * COUNT);
  expect(rows).toBeLessThan(12.5 * COUNT);
});

test.for(["telegram", "whatsapp"] as const)("a new contact's first message through %s", async (kind) => {
  const at = await place(kind);
  const { read, newChats, rest } = await metered(at.channel.id, at);
  const contact = newContact();
  const told = kind === "telegram" ? fromTelegram(at.channel, telegramText(contact, "Hi")) : null;
  taken(await (told ?? fromMeta(at.channel, [whatsappText({ wa_id: contact }, "Hi")])));
  const object = env.CHATS.getByName(newChats()[0] ?? "");
  await rest(object);
  // Half of the rows are in the chat's object: its identity, the tables of messages and events with two indexes, the message with its index, two events, the state as reported and the alarm. The others are
  // what the organization's object writes of a new chat and of its report. A name has a term of its own.
  expect(read()).toEqual({ calls: 6, rows: kind === "telegram" ? 28 : 27, directory: 0 });
  expect(await sizeOf(object)).toBe(28);
});

test("the first row of a table costs the table too", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const { id } = await newChat(api, channelId);
  const { schedule, cancel, object } = chatPlace(api, id);
  const notes = client((await newKey(organizationId, { permissions: ["notes:write"] })).secret);
  const { read } = await meter([object()]);
  const upload = (idempotencyKey?: string) =>
    api("POST", `/chats/${id}/media`, "Hello", {
      "Content-Type": "text/plain",
      "Content-Length": "5",
      ...(idempotencyKey && { "Idempotency-Key": idempotencyKey }),
    });
  const acts: Record<string, (n: number) => Promise<unknown>> = {
    message: () => send(api, id),
    scheduled: () => schedule(DAY),
    canceled: async () => cancel((await schedule(DAY)).id),
    file: () => upload(),
    upload: (n) => upload(String(n)),
    note: () => notes("POST", `/chats/${id}/notes`, { content: "A note" }),
  };
  const costs: Record<string, number[]> = {};
  for (const [what, act] of Object.entries(acts)) {
    costs[what] = [];
    for (const n of [1, 2]) {
      read();
      await act(n);
      costs[what].push(read().rows);
    }
  }
  expect(costs).toEqual({
    // Also the table of events, and the event of the chat's creation.
    message: [2 + 4 + 2 + 1, 2],
    scheduled: [2 + 2, 2],
    canceled: [6 + 4, 6],
    // Also that the chat has files.
    file: [2 + 2 + 1, 2],
    upload: [4 + 2, 4],
    note: [3 + 4, 3],
  });
});
