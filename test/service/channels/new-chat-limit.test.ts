import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ChannelObject } from "../../../src/channels/channel-object.ts";
import { newId } from "../../../src/ids.ts";
import { newOrganization } from "../../support/harness.ts";
import { visit } from "../../support/sockets.ts";
import { pass, stopTheClock } from "../delivery/conversation.ts";

stopTheClock();

const PER_BLOCK = 50;
const PER_CHANNEL = 600;

/** Asks a channel's object for a new chat from each network, one after the other. */
async function open(channelId: string, networks: string[]) {
  return runInDurableObject(env.CHANNELS.getByName(channelId), async (channel: ChannelObject) => {
    const answers = [];
    for (const network of networks) answers.push(await channel.admitNewChat(network, newId("cht", null)));
    return answers;
  });
}

/** IPv6 networks of 64 bits within one of 48, in the form that the Worker gives them. */
const within = (block: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${block}${n.toString(16).padStart(4, "0")}::/64`);

test("50 new chats a minute come from one /48, and those of the next /48 do not count", async () => {
  const { channelId } = await newOrganization();
  const from = (n: number) => `2001:db8:7:${n.toString(16)}::1`;
  await open(channelId, within("20010db80007", PER_BLOCK));
  const { page } = await visit(channelId, { from: from(1_000) });
  expect(await page.write("a")).toMatchObject({ code: "rate_limited", message: "Too many new chats", retryAfter: 60 });
  const { page: neighbour } = await visit(channelId, { from: "2001:db8:8::1" });
  expect(await neighbour.write("a")).toMatchObject({ type: "stored" });
  pass(60_000);
  expect(await page.write("a")).toMatchObject({ type: "stored" });
});

test("600 new chats a minute begin in one channel, wherever they come from, and another channel's do not count", async () => {
  const { channelId } = await newOrganization();
  const other = (await newOrganization()).channelId;
  await open(
    channelId,
    Array.from({ length: PER_CHANNEL }, (_, n) => `192.0.${n >> 8}.${n & 255}`),
  );
  await evictDurableObject(env.CHANNELS.getByName(channelId));
  const { page } = await visit(channelId, { from: "198.51.100.1" });
  expect(await page.write("a")).toMatchObject({ code: "rate_limited", retryAfter: 60 });
  expect(await (await visit(other, { from: "198.51.100.1" })).page.write("a")).toMatchObject({ type: "stored" });
  pass(60_000);
  expect(await page.write("a")).toMatchObject({ type: "stored" });
});

test("with 20,000 rows the first call after an eviction reads 600 of them, and those that follow read none", async () => {
  const { channelId } = await newOrganization();
  await open(channelId, ["192.0.2.1"]);
  const object = env.CHANNELS.getByName(channelId);
  await runInDurableObject(object, (_channel, { storage }) => {
    storage.sql.exec(
      `with recursive n (n) as (select 1 union all select n + 1 from n where n < 20000)
       insert into openings (chat_id, network, at) select 'cht_' || n, '10.0.0.' || n, ? from n`,
      Date.now(),
    );
  });
  await evictDurableObject(object);
  const read = await runInDurableObject(object, async (channel: ChannelObject, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    const cursors: { rowsRead: number }[] = [];
    vi.spyOn(storage.sql, "exec").mockImplementation(((query: string, ...given: unknown[]) => {
      const cursor = exec(query, ...given);
      cursors.push(cursor);
      return cursor;
    }) as never);
    const cost = async () => {
      cursors.length = 0;
      await channel.admitNewChat("198.51.100.7", newId("cht", null));
      return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
    };
    const costs = [await cost(), await cost(), await cost()];
    vi.restoreAllMocks();
    return costs;
  });
  expect(read[0]).toBeLessThanOrEqual(2 * PER_CHANNEL + 10);
  expect(Math.max(...read.slice(1))).toBeLessThanOrEqual(5);
});
