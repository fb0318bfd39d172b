import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ChannelObject } from "../../../../src/channels/object/channel-object.ts";
import type { PermitAnswer } from "../../../../src/channels/object/permits.ts";
import { newId } from "../../../../src/model/id.ts";
import { runAlarm } from "../../../support/alarms.ts";
import { countRoundTrips } from "../../../support/faults.ts";
import { admin, newOrganization } from "../../../support/harness.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { visit } from "../../../support/sockets.ts";
import { alarmOf, newNetworkChannel, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";

stopTheClock();

const MINUTE = 60_000;

type Attempt = Omit<PermitAnswer & { outcome: "granted" }, "credentials" | "permit">;

/** A channel's object as its chats see it; a stub is of no more use after an eviction, so each call has its own. */
async function channel(perSecond = 1_000) {
  const { organizationId } = await newOrganization();
  const { id: channelId } = await newNetworkChannel(organizationId, "telegram", { settings: { perSecond } });
  const object = () => env.CHANNELS.getByName(channelId);
  const permit = async (chat: number, reservedAt: number | null = null) => {
    const answer = await object().permit({ channelId, chatId: `cht_${chat}`, reservedAt, brokenEpoch: null });
    return answer.outcome === "granted" ? { ...answer, credentials: null } : answer;
  };
  const go = async (chat: number) => {
    const answer = await permit(chat);
    if (answer.outcome !== "granted") throw new Error(`it is ${answer.outcome}`);
    return answer;
  };
  const tell = ({ probe, epoch, trial }: Attempt, works: boolean) =>
    object().reportProbe({ channelId, works, probe, epoch, trial });
  const broke = ({ probe, epoch }: Attempt, chat: number) =>
    object().reportBroken({ channelId, chatId: `cht_${chat}`, reason: "Bad token", probe, epoch });
  const repair = () => admin("PATCH", `/channels/${channelId}`, { credentials: { botToken: "123456:good-token" } });
  /** Lets 10,000 chats ask, a thousand at the same time, by calls within the object. @returns who may go */
  const crowd = () =>
    runInDurableObject(object(), async (channel: ChannelObject) => {
      const mayGo: Attempt[] = [];
      for (let from = 0; from < 10_000; from += 1_000) {
        const answers = await all(from, from + 1_000, (chat) =>
          channel.permit({ channelId, chatId: `cht_${chat}`, reservedAt: null, brokenEpoch: null }),
        );
        for (const answer of answers) if (answer.outcome === "granted") mayGo.push(answer);
      }
      return mayGo;
    });
  return { object, channelId, permit, go, tell, broke, repair, crowd };
}

/** How many chats wait to be woken. */
function waiting(object: DurableObjectStub): Promise<number> {
  return runInDurableObject(object, (_object, { storage }) => [...storage.kv.list({ prefix: "waiting:" })].length);
}

/** Puts chats in place that only say when they are woken. */
function fakeChats(): string[] {
  const woken: string[] = [];
  vi.spyOn(env.CHATS, "getByName").mockImplementation(
    (name) => ({ wake: async () => void woken.push(name) }) as unknown as ReturnType<typeof env.CHATS.getByName>,
  );
  return woken;
}

const all = <T>(from: number, to: number, ask: (chat: number) => Promise<T>) =>
  Promise.all(Array.from({ length: to - from }, (_, i) => ask(from + i)));

test("10,000 chats of a broken channel: one probe at a time, and they are woken in bounded runs once it is replaced", async () => {
  const { object, permit, go, tell, broke, repair, crowd } = await channel();
  await broke(await go(0), 0);
  const trips = countRoundTrips();
  expect(await crowd()).toEqual([]);
  expect(await waiting(object())).toBe(10_000);
  pass(5 * MINUTE);
  const probes = await crowd();
  expect(probes).toMatchObject([{ probe: 1 }]);
  for (const probe of probes) await broke(probe, 0);
  pass(10 * MINUTE - 1);
  expect(await crowd()).toEqual([]);
  // The channel itself, each time its record was old.
  expect(trips()).toBeLessThanOrEqual(2);

  await repair();
  const woken = fakeChats();
  await runAlarm(object());
  expect([woken.length, await waiting(object())]).toEqual([200, 9_800]);
  // One goes first; the others begin when it has shown that the channel works, and the rest are woken then.
  const answers = await all(0, 200, (chat) =>
    permit(chat).then(async (answer) => {
      if (answer.outcome === "granted" && answer.trial !== null) await tell(answer, true);
      return answer;
    }),
  );
  expect(answers.filter((answer) => answer.outcome === "granted")).toHaveLength(200);
  const trials = answers.filter((answer) => answer.outcome === "granted" && answer.trial !== null);
  expect(trials).toMatchObject([{ probe: null }]);
  for (let runs = 1; runs < 50; runs++) {
    expect(woken).toHaveLength(200 * runs);
    const alarm = (await alarmOf(object())) ?? 0;
    expect(alarm).toBeLessThanOrEqual(Date.now() + 1_000);
    vi.setSystemTime(Math.max(alarm, Date.now()));
    await runAlarm(object());
  }
  await runAlarm(object());
  expect(new Set(woken).size).toBe(10_000);
  expect(woken).toHaveLength(10_000);
  expect(await waiting(object())).toBe(0);
  expect(await alarmOf(object())).toBeNull();
});

test("chats that come while an unproven channel is tried wait for the end of that one attempt", async () => {
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
