import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ChannelObject } from "../../../../src/channels/object/channel-object.ts";
import { SHORT_WAIT_MS } from "../../../../src/channels/object/pace.ts";
import { newId } from "../../../../src/model/id.ts";
import { newOrganization } from "../../../support/harness.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { visit } from "../../../support/sockets.ts";
import { holdWaits } from "../../../support/waits.ts";
import { pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { all, channel } from "./crowd.ts";

stopTheClock();

test("chats that come while an unproven channel is tried wait for the end of that one attempt", async () => {
  holdWaits(SHORT_WAIT_MS);
  const { permit, go, broke } = await channel();
  const trial = await go(0);
  const others = all(1, 100, permit);
  await broke(trial, 0);
  const answers = await others;
  expect(answers.every((answer) => answer.outcome === "later" && answer.broken?.reason === "Bad token")).toBe(true);

  const second = await channel();
  const good = await second.go(0);
  const more = all(1, 100, second.permit);
  await second.tell(good, true);
  expect((await more).filter((answer) => answer.outcome === "granted")).toHaveLength(99);
});

test("a chat waits a second for the end of another's attempt, and then comes again", async () => {
  const { permit, go } = await channel();
  await go(0);
  const waits = vi.spyOn(scheduler, "wait").mockImplementation(async () => {});
  expect(await permit(1)).toEqual({ outcome: "later", at: Date.now() + 1_000, broken: null });
  expect(waits.mock.calls).toEqual([[1_000]]);
});

test("the chat of an earlier trial does not end that of another, which waits for its start", async () => {
  holdWaits(SHORT_WAIT_MS);
  const { object, channelId, go, tell } = await channel(10);
  await tell(await go(0), false);
  const [trial, next] = await runInDurableObject(object(), async (channel: ChannelObject) => {
    const ask = (chat: number) =>
      channel.permit({ channelId, chatId: `cht_${chat}`, reservedAt: null, brokenEpoch: null });
    const [first, second] = [ask(1), ask(0)];
    const granted = await first;
    if (granted.outcome === "granted") await channel.reportProbe({ ...granted, channelId, works: true });
    return [granted, await second];
  });
  expect(trial).toMatchObject({ trial: expect.any(Number) });
  expect(next).toMatchObject({ trial: null });
});

test("a start that is waited for is void at once when the channel breaks, or is told to rest", async () => {
  holdWaits(SHORT_WAIT_MS);
  const { object, permit, go, tell, broke } = await channel(1);
  await tell(await go(0), true);
  const next = permit(1);
  await object().slowDown(60_000);
  expect(await next).toEqual({ outcome: "later", at: Date.now() + 60_000, broken: null });
  pass(61_000);
  const running = await go(2);
  await tell(running, true);
  const near = permit(3);
  await broke(running, 2);
  expect(await near).toMatchObject({ outcome: "later", broken: { reason: "Bad token" } });
});

test("a channel object without memory tries the channel again", async () => {
  const { object, go, tell } = await channel();
  // That it works for the first time is stored.
  await tell(await go(0), true);
  pass(61_000);
  await tell(await go(1), true);
  expect(await go(2)).toMatchObject({ trial: null });
  await evictDurableObject(object());
  expect(await go(3)).toMatchObject({ probe: null, trial: expect.any(Number) });
});

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
  const { page: neighbor } = await visit(channelId, { from: "2001:db8:8::1" });
  expect(await neighbor.write("a")).toMatchObject({ type: "stored" });
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
  const ask = () =>
    runInDurableObject(object, (channel: ChannelObject) => channel.admitNewChat("198.51.100.7", newId("cht", null)));
  const cost = async () => (await rowsRead(object, ask)).reduce((sum, rows) => sum + rows, 0);
  const read = [await cost(), await cost(), await cost()];
  expect(read[0]).toBeGreaterThan(PER_CHANNEL);
  expect(read[0]).toBeLessThanOrEqual(2 * PER_CHANNEL + 10);
  expect(Math.max(...read.slice(1))).toBeLessThanOrEqual(5);
});
