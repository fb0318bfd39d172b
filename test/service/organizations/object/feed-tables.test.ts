import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../../src/model/id.ts";
import { Feed } from "../../../../src/organizations/object/feed.ts";
import { FEED_LIMITS, type FeedTable, mayGoAt } from "../../../../src/organizations/object/feed-tables.ts";
import { ORGANIZATION_SCHEMA } from "../../../../src/organizations/object/schema.ts";
import { prepareSchema } from "../../../../src/platform/object/schema-steps.ts";
import { runAlarm, runOneAlarm } from "../../../support/alarms.ts";
import { send } from "../../../support/harness.ts";
import { alarmOf, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { nameOf, newListenerWithChat, pageOf, report } from "../../events/fixtures.ts";

stopTheClock();

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const MIDNIGHT = Date.parse("2026-12-01T00:00:00Z");
const BURST = { first: 1, last: 1, types: ["message.created" as const] };
const OWNER = { chatId: "cht_gaaaaaaaaaaaaaaa", life: 1, channelId: "chn_gaaaaaaaaaaaaaaa" };

/** Does work with the storage of an organization's object that has the current schema. */
function withStorage<T>(work: (storage: DurableObjectStorage) => T | Promise<T>): Promise<T> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(newId("org", null)), (_object, { storage }) => {
    prepareSchema(storage, ORGANIZATION_SCHEMA);
    return work(storage);
  });
}

test("around midnight, a reader that is less than a day behind loses nothing at 300 pointers a second", async () => {
  // A thousandth of the pointers, in tables of a thousandth of the size.
  const limits = { inTable: 100, usual: 8_000, most: 32_000 };
  const everyMs = 1_000 / 0.3;
  const start = MIDNIGHT - 30 * HOUR_MS;
  const { lost, left } = await withStorage((storage) => {
    const feed = new Feed(storage, { onPointer: () => {}, standBy: () => {} }, limits);
    const lost: number[] = [];
    for (let position = 1, now = start; now < MIDNIGHT + 26 * HOUR_MS; position++, now = start + position * everyMs) {
      feed.commit(() => feed.point(OWNER, BURST, Math.floor(now)));
      if (position % 50 > 0) continue;
      if ((feed.dueAt(now) ?? Number.POSITIVE_INFINITY) <= now) feed.run(now);
      const behind = Math.max(0, position - Math.floor((DAY_MS - SECOND_MS) / everyMs));
      const { oldest, pointers } = feed.read(behind, 1);
      if (oldest > behind + 1 || pointers[0]?.position !== behind + 1) lost.push(position);
    }
    return { lost, left: feed.newest - feed.read(0, 0).oldest + 1 };
  });
  expect(lost).toEqual([]);
  // Of more than 50 hours, those of a day are left.
  expect(left).toBeLessThanOrEqual(DAY_MS / everyMs + 2 * limits.inTable);
});

/** The tables after `days` of this many pointers a second, and the age of the youngest pointer that was dropped. */
function after(days: number, perSecond: number) {
  const tables: FeedTable[] = [];
  let [newest, youngest] = [0, Number.POSITIVE_INFINITY];
  const everyMs = (FEED_LIMITS.inTable / perSecond) * SECOND_MS;
  for (let now = 0; now < days * DAY_MS; now += Math.min(everyMs, DAY_MS)) {
    tables.push({ number: tables.length, first: newest + 1, since: now });
    for (let at = mayGoAt(tables, newest, FEED_LIMITS); at !== null && at <= now; ) {
      tables.shift();
      youngest = Math.min(youngest, now - (tables[0]?.since ?? 0));
      at = mayGoAt(tables, newest, FEED_LIMITS);
    }
    newest += Math.min(FEED_LIMITS.inTable, (perSecond * DAY_MS) / SECOND_MS);
  }
  return { youngest, count: newest - (tables[0]?.first ?? 0) + 1, largest: FEED_LIMITS.inTable };
}

test.each([
  ["1 a second: 30 days", 1, 30 * DAY_MS, 3_000_000],
  ["90 a second: a day at least", 90, DAY_MS, 8_100_000],
  ["300 a second: a day", 300, DAY_MS, 26_100_000],
  ["2,000 a second: 4 GB", 2_000, 4 * HOUR_MS, 32_100_000],
])("pointers stay, at %s", (_, perSecond, ageMs, most) => {
  const { youngest, count } = after(40, perSecond);
  expect(youngest).toBeGreaterThanOrEqual(ageMs);
  expect(count).toBeLessThanOrEqual(most);
});

/** Runs statements in the storage of an organization's object, whose instance is lost afterward. */
async function inStorage(organizationId: string, work: (storage: DurableObjectStorage) => void): Promise<void> {
  const object = env.ORGANIZATIONS.getByName(organizationId);
  await runInDurableObject(object, (_object, { storage }) => work(storage));
  await evictDurableObject(object);
}

interface Table extends Record<string, SqlStorageValue> {
  day: number;
  first: number;
  since: number;
}

function tablesOf(organizationId: string): Promise<Table[]> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) =>
    storage.sql.exec<Table>("select day, first, since from feed_days order by day").toArray(),
  );
}

test("an old table is dropped by one alarm, and the next table by the next one", async () => {
  const { api, chat, organizationId } = await newListenerWithChat();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  for (let day = 1; day <= 2; day++) {
    pass(DAY_MS);
    await send(api, chat.id);
    await report(chat.id);
  }
  const [first, second, third] = await tablesOf(organizationId);
  await runAlarm(object);
  expect(await alarmOf(object)).toBe((second?.since ?? 0) + 30 * DAY_MS);
  pass(31 * DAY_MS);
  await runOneAlarm(object);
  expect(await tablesOf(organizationId)).toEqual([second, third]);
  expect(await alarmOf(object)).toBeLessThanOrEqual(Date.now());
  await runAlarm(object);
  expect(await tablesOf(organizationId)).toEqual([third]);
  expect(await alarmOf(object)).toBeGreaterThan(Date.now() + 30 * DAY_MS);
  expect(first?.day).toBeLessThan(second?.day ?? 0);
  expect((await pageOf(api)).events.map(nameOf)).toEqual([`${chat.id} 3 message.created`]);
});

test("10,000 old events of the organization are deleted by ten alarms, and the newest stays", async () => {
  const { organizationId } = await newListenerWithChat();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  await inStorage(organizationId, ({ sql }) => {
    sql.exec(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 10001)
       insert into own_events (n, type, note, at) select n, 'channel.health', '{}', ? from numbers`,
      Date.now() - 31 * DAY_MS,
    );
  });
  const counts: number[] = [];
  for (let alarms = 0; alarms < 10; alarms++) {
    await runInDurableObject(object, (_object, { storage }) => storage.setAlarm(Date.now()));
    await runOneAlarm(object);
    counts.push(
      await runInDurableObject(
        object,
        (_object, { storage }) => storage.sql.exec<{ n: number }>("select count(*) as n from own_events").one().n,
      ),
    );
    expect(await alarmOf(object)).toBe(alarms < 9 ? Date.now() : null);
  }
  expect([counts[0], counts[8], counts[9]]).toEqual([9_001, 1_001, 1]);
});

test("a table that can't be dropped is tried again an hour later, and holds up nothing else", async () => {
  const { api, chat, organizationId } = await newListenerWithChat();
  const object = env.ORGANIZATIONS.getByName(organizationId);
  pass(DAY_MS);
  await send(api, chat.id);
  await report(chat.id);
  const [oldest] = await tablesOf(organizationId);
  await inStorage(organizationId, ({ sql }) => void sql.exec(`alter table feed_${oldest?.day} rename to gone`));
  pass(31 * DAY_MS);
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  await runAlarm(object);
  expect(errors).toHaveBeenCalledWith(expect.objectContaining({ event: "feed_not_purged" }));
  expect(await alarmOf(object)).toBe(Date.now() + HOUR_MS);
});

test("the clock going back neither ends a table nor gives a pointer a time before its table", async () => {
  const times = await withStorage((storage) => {
    const feed = new Feed(storage, { onPointer: () => {}, standBy: () => {} });
    for (const now of [MIDNIGHT, MIDNIGHT - HOUR_MS, MIDNIGHT + HOUR_MS]) {
      feed.commit(() => feed.point(OWNER, BURST, now));
    }
    return feed.between(MIDNIGHT, MIDNIGHT + DAY_MS, 0, 10).map(({ at }) => at);
  });
  expect(times).toEqual([MIDNIGHT, MIDNIGHT, MIDNIGHT + HOUR_MS]);
});

test("a range of times is read over several tables, from a position on", async () => {
  const found = await withStorage((storage) => {
    const feed = new Feed(storage, { onPointer: () => {}, standBy: () => {} }, { ...FEED_LIMITS, inTable: 3 });
    for (let n = 0; n < 20; n++) feed.commit(() => feed.point(OWNER, BURST, MIDNIGHT + n * HOUR_MS));
    const range = (from: number, to: number, after: number, limit: number) =>
      feed.between(MIDNIGHT + from * HOUR_MS, MIDNIGHT + to * HOUR_MS, after, limit).map(({ position }) => position);
    return [range(4, 9, 0, 100), range(4, 9, 7, 100), range(4, 9, 0, 3), range(30, 40, 0, 9), range(-9, -1, 0, 9)];
  });
  expect(found).toEqual([[5, 6, 7, 8, 9, 10], [8, 9, 10], [5, 6, 7], [], []]);
});
