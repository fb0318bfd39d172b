import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { admin, send } from "../../support/harness.ts";
import { fakeNetworks } from "../../support/networks.ts";
import { report } from "../chats/inbound.ts";
import { chatOf, conversation, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { taken, tellStatus } from "../inbound/webhook-calls.ts";

stopTheClock();

/** The prices in the newest bucket, and all others that have some. */
async function pricesOf(of: string, by: "hour" | "day" = "hour") {
  const { status, body, text } = await admin("GET", `/stats/history?of=${of}&by=${by}`);
  expect(status, text).toBe(200);
  const prices = body.history.buckets.map((bucket: { prices: object }) => bucket.prices).reverse();
  expect(prices.slice(1).every((each: object) => Object.keys(each).length === 0)).toBe(true);
  return prices[0];
}

test("a message counts once, in the category of its first price, whatever its statuses repeat", async () => {
  fakeNetworks();
  const at = await conversation("whatsapp");
  const other = await chatOf(at, at.channelId);
  expect(await pricesOf(at.channelId)).toEqual({});
  const messages = [at, at, at, at, other];
  const ids: string[] = [];
  for (const { chatId } of messages) ids.push((await send(at.api, chatId)).id);
  await at.run();
  await other.run();
  const tell = async (n: number, status: string, pricing?: object) => {
    const { chatId, address } = messages[n] ?? at;
    taken(await tellStatus({ ...at, chatId, address }, ids[n] ?? "", status, { id: `wamid.p${n}`, pricing }));
  };
  for (const status of ["sent", "delivered", "delivered", "read"]) await tell(0, status, { category: "utility" });
  await tell(1, "sent");
  await tell(1, "delivered", { category: "marketing" });
  await report(at.chatId);
  expect(await pricesOf(at.channelId)).toEqual({ utility: 1, marketing: 1 });
  // The message's price changes, and its count does not, also for a new instance.
  await evictDurableObject(at.object());
  await tell(1, "read", { category: "service" });
  await tell(2, "sent", { category: "authentication-international" });
  await tell(3, "sent", { category: "of another year" });
  await tell(4, "sent", { category: "utility" });
  await report(at.chatId);
  await report(other.chatId);
  const all = { utility: 2, marketing: 1, "authentication-international": 1, other: 1 };
  expect(await pricesOf(at.channelId)).toEqual(all);
  expect(await pricesOf(at.channelId, "day")).toEqual(all);
});

test("a status that may be of another message counts no price", async () => {
  fakeNetworks();
  const at = await conversation("whatsapp");
  await send(at.api, at.chatId);
  await at.run();
  const pricing = { category: "utility" };
  await tellStatus(at, "msg_g0123456789ABCDEFGH1", "sent", { id: "wamid.other", pricing });
  await report(at.chatId);
  expect(await pricesOf(at.channelId)).toEqual({});
});

test("a channel without prices has none, and keys and members have no such field", async () => {
  const at = await conversation("telegram");
  expect(await pricesOf(at.channelId)).toEqual({});
  const { body } = await admin("GET", `/stats/history?of=${at.keyId}`);
  expect(body.history.buckets[0]).not.toHaveProperty("prices");
});
