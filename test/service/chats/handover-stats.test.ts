import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../support/alarms.ts";
import { admin, statsOf } from "../../support/harness.ts";
import { botPlace, handoverPlace, inChat, SILENT_AFTER } from "./handover-fixtures.ts";
import { writeAsContact } from "./inbound.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { MINUTE } from "./object/scheduled/fixtures.ts";

stopTheClock();

type Place = Pick<Awaited<ReturnType<typeof botPlace>>, "organizationId" | "channelId">;

const NO_HANDOVERS = { bot_asked: 0, asked: 0, took_over: 0, bot_silent: 0, bot_gone: 0 };
const NO_TIMES = { within1m: 0, within5m: 0, within15m: 0, within1h: 0, within4h: 0, within24h: 0, later: 0 };

async function numbersOf({ organizationId, channelId }: Place) {
  const { channels } = await statsOf(organizationId);
  const { withBot, handovers } = channels.find(({ id }: { id: string }) => id === channelId);
  return { withBot, handovers };
}

/** What the channel's history has of the handovers. */
async function historyOf({ channelId }: Place) {
  const { body } = await admin("GET", `/stats/history?of=${channelId}&by=day&last=1`);
  const [{ handovers, held }] = body.history.buckets;
  return { handovers, held };
}

test("each handover to people is counted by its reason, and by how long the bot dealt with the contact", async () => {
  const place = await handoverPlace();
  const { says, answers, handOver, bot, personWrites, ann, ringIn, report } = place;
  await says();
  await answers();
  pass(6 * MINUTE);
  await handOver({ to: "people" }, bot);
  await handOver({ to: "bot" });
  await says();
  await ringIn(SILENT_AFTER);
  await handOver({ to: "bot" });
  await personWrites(ann);
  await handOver({ to: "bot" });
  await handOver({ to: "people" });
  await handOver({ to: "people" });
  await report();
  const handovers = { ...NO_HANDOVERS, bot_asked: 1, bot_silent: 1, took_over: 1, asked: 1 };
  expect(await numbersOf(place)).toEqual({ withBot: 0, handovers });
  // The last one had no message of the contact.
  const held = { ...NO_TIMES, within1m: 1, within5m: 1, within15m: 1 };
  expect(await historyOf(place)).toEqual({ handovers, held });
});

test("a handover whose report an evicted object did not make is counted once", async () => {
  const place = await handoverPlace();
  const { says, handOver, object, report } = place;
  await says();
  await handOver({ to: "people" });
  await evictDurableObject(object());
  await report();
  await evictDurableObject(object());
  await report();
  const handovers = { ...NO_HANDOVERS, asked: 1 };
  expect(await historyOf(place)).toEqual({ handovers, held: { ...NO_TIMES, within1m: 1 } });
});

test("the time of a chat that was closed counts from the contact's next message", async () => {
  const place = await handoverPlace();
  const { says, handOver, api, chatId, report } = place;
  await handOver({ to: "people" });
  await api("PATCH", `/chats/${chatId}`, { state: "closed" });
  pass(48 * 60 * MINUTE);
  await says();
  pass(2 * MINUTE);
  await handOver({ to: "people" });
  await report();
  expect((await historyOf(place)).held).toEqual({ ...NO_TIMES, within5m: 1 });
});

test("the chats that the bot has now are counted as long as they are open, there, and its own", async () => {
  const place = await botPlace();
  const { api, newChat, setBot, organizationId } = place;
  const withBot = async () => (await numbersOf(place)).withBot;
  const [one, two, three] = [await newChat(), await newChat(), await newChat()].map(({ id }) => id);
  expect(await withBot()).toBe(3);
  await writeAsContact(organizationId, one ?? "");
  await inChat(place, one ?? "").handOver({ to: "people" });
  expect(await withBot()).toBe(2);
  await inChat(place, one ?? "").handOver({ to: "bot" });
  await api("PATCH", `/chats/${two}`, { state: "closed" });
  expect(await withBot()).toBe(2);
  await writeAsContact(organizationId, two ?? "");
  await inChat(place, two ?? "").report();
  expect(await withBot()).toBe(3);
  await admin("DELETE", `/chats/${three}`);
  expect(await withBot()).toBe(2);
  await setBot(null);
  expect(await withBot()).toBe(0);
});

test("the chats of a bot that is gone are counted with this reason, and a closed one in no class of time", async () => {
  const place = await botPlace();
  const [open, closed] = [await place.newChat(), await place.newChat()].map(({ id }) => id);
  await writeAsContact(place.organizationId, open ?? "");
  await place.api("PATCH", `/chats/${closed}`, { state: "closed" });
  expect(await historyOf(place)).toEqual({ handovers: NO_HANDOVERS, held: NO_TIMES });
  await place.setBot(null);
  await runAlarm(env.ORGANIZATIONS.getByName(place.organizationId));
  const handovers = { ...NO_HANDOVERS, bot_gone: 2 };
  expect(await historyOf(place)).toEqual({ handovers, held: { ...NO_TIMES, within1m: 1 } });
});
