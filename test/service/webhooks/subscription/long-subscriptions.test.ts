import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { CHAT_TABLES } from "../../../../src/chats/object/log/schema.ts";
import type { EventRange } from "../../../../src/model/webhook.ts";
import type { Subscription } from "../../../../src/webhooks/subscription/subscription.ts";
import { newChat, newOrganization } from "../../../support/harness.ts";
import { until } from "../../../support/until.ts";
import { stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { report } from "../../events/fixtures.ts";
import { addWebhook, chatWithWebhook, fakeReceiver } from "../receiver.ts";

stopTheClock();

const DAY = 86_400_000;
/** The most that one step may read: about 20 ms of work. */
const STEP = { rows: 25_000, statements: 1_500 };

/**
 * What the SQL of an object does while `work` runs: the rows that it reads and its statements, in all and in the
 * longest step. A step ends when anything has waited for the event loop, for others could run then. Only one task may be
 * under way: the steps of two would be counted as one.
 */
async function workOf(object: DurableObjectStub, work: () => Promise<unknown>) {
  const steps = [{ rows: 0, statements: 0 }];
  const cursors: (() => void)[] = [];
  let longest = 0;
  const wait = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, "wait").mockImplementation(async (...given) => {
    await wait(...given);
    steps.push({ rows: 0, statements: 0 });
  });
  await runInDurableObject(object, (_object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    vi.spyOn(storage.sql, "exec").mockImplementation(((...given: Parameters<typeof exec>) => {
      const cursor = exec(...given);
      const step = steps.at(-1);
      if (step) step.statements++;
      cursors.push(() => {
        longest = Math.max(longest, cursor.rowsRead);
        if (step) step.rows += cursor.rowsRead;
      });
      return cursor;
    }) as typeof exec);
  });
  await work();
  for (const count of cursors) count();
  const most = (of: "rows" | "statements") => Math.max(...steps.map((step) => step[of]));
  return {
    rows: steps.reduce((sum, { rows }) => sum + rows, 0),
    statements: steps.reduce((sum, { statements }) => sum + statements, 0),
    longestStatement: longest,
    longest: { rows: most("rows"), statements: most("statements") },
  };
}

function expectShort({ longest }: Awaited<ReturnType<typeof workOf>>): void {
  expect(longest.rows).toBeLessThan(STEP.rows);
  expect(longest.statements).toBeLessThan(STEP.statements);
}

/** Changes an object's rows, and the next instance begins with them. */
async function rewrite(object: () => DurableObjectStub, change: (storage: DurableObjectStorage) => void) {
  await runInDurableObject(object(), (_object, { storage }) => change(storage));
  await evictDurableObject(object());
}

function changeSubscription({ kv }: DurableObjectStorage, webhookId: string, change: Partial<Subscription>): void {
  const subscription = kv.get<Subscription>(`line ${webhookId}`);
  if (!subscription) throw new Error("no such subscription");
  kv.put(`line ${webhookId}`, { ...subscription, ...change });
}

const storedSubscription = (object: DurableObjectStub, webhookId: string) =>
  runInDurableObject(object, (_object, { storage }) => storage.kv.get<Subscription>(`line ${webhookId}`));

/** A chat with this many events, every other one a received message, all sent to a webhook that is disabled. */
async function longChat(events: number, settings: Parameters<typeof chatWithWebhook>[0] = {}) {
  const chat = await chatWithWebhook(settings);
  const { webhookId, object } = chat;
  await env.WEBHOOKS.getByName(webhookId).disable(webhookId, "customer");
  await rewrite(object, (storage) => {
    storage.sql.exec(CHAT_TABLES.events);
    storage.sql.exec("insert into events (n, type, at) values (1, 'chat.created', ?)", Date.now());
    storage.sql.exec(
      `with recursive numbers(n) as (select max(n) + 1 from events union all select n + 1 from numbers where n < ?)
       insert into events (n, type, seq, note, at)
       select n, iif(n % 2, 'message.received', 'message.status'), 1, '{}', ? from numbers`,
      events,
      Date.now(),
    );
    changeSubscription(storage, webhookId, { cursor: events, previous: events, head: null });
  });
  return chat;
}

const LONG = 40_000;
/** Ranges between which events are left out, so that none can be joined. */
const ranges = (count: number, apart: number): EventRange[] =>
  Array.from({ length: count }, (_, index) => [index * apart + 1, index * apart + apart / 2]);

test("a replay of many ranges of a long chat reads each event a few times, in short steps", async () => {
  fakeReceiver();
  const { object, webhookId } = await longChat(LONG, { types: ["message.received"] });
  let found: number | null = 0;
  const work = await workOf(object(), async () => {
    found = await object().replayEvents(webhookId, "rpl_1", ranges(200, 200));
  });
  // Event 1 is the chat's creation.
  expect(found).toBe(200 * 50 - 1);
  expect(work.rows).toBeLessThan(2 * LONG);
  expectShort(work);
});

test("a replay of a whole long chat is counted in short steps", async () => {
  fakeReceiver();
  const { object, webhookId } = await longChat(LONG, { types: ["message.status"] });
  const work = await workOf(object(), async () => {
    expect(await object().replayEvents(webhookId, "rpl_1", [[1, 10 * LONG]])).toBe(LONG / 2);
  });
  expect(work.rows).toBeLessThan(2 * LONG);
  expectShort(work);
});

test("a replay of events that no longer match the filter is looked through once, in short steps, and ends", async () => {
  fakeReceiver();
  const { object, webhookId } = await longChat(LONG, { types: ["message.received"] });
  const stored = () => storedSubscription(object(), webhookId);
  await object().replayEvents(webhookId, "rpl_1", [...ranges(150, 200), [30_001, LONG]]);
  await until("the subscription waits", stored, (seen) => seen?.waiting);
  await rewrite(object, (storage) => {
    const filter = storage.kv.get<Subscription>(`line ${webhookId}`)?.filter;
    if (filter) changeSubscription(storage, webhookId, { filter: { ...filter, types: ["chat.updated"] } });
  });
  const work = await workOf(object(), async () => {
    await object().wakeWebhook(webhookId, Date.now() + DAY);
    await until("the replay is over", stored, (seen) => seen?.replays.length === 0);
  });
  expect(work.rows).toBeLessThan(3 * LONG);
  expectShort(work);
});

test("the subscription of a long chat is described in short steps", async () => {
  fakeReceiver();
  const { object, webhookId, subscription } = await longChat(LONG, { types: ["message.received"] });
  await rewrite(object, (storage) => changeSubscription(storage, webhookId, { cursor: 1, previous: 1 }));
  const work = await workOf(object(), async () => {
    expect(await subscription()).toMatchObject({ pending: LONG / 2 - 1, head: { number: 3 } });
  });
  expectShort(work);
});

test("a chat whose events do not match the filter of a new webhook is looked through in short steps", async () => {
  fakeReceiver();
  const { object, webhookId, subscription } = await longChat(LONG, { types: ["chat.updated"] });
  const stored = () => storedSubscription(object(), webhookId);
  await rewrite(object, (storage) => changeSubscription(storage, webhookId, { cursor: 1, waiting: null }));
  const work = await workOf(object(), async () => {
    await object().wakeWebhook(webhookId, Date.now() + DAY);
    await until("all events are searched", stored, (seen) => seen?.cursor === LONG);
  });
  expect(await subscription()).toMatchObject({ pending: 0, head: null });
  expect(work.rows).toBeLessThan(3 * LONG);
  expectShort(work);
});

test("a webhook that is enabled from now on skips the events of a long chat in short steps", async () => {
  const calls = fakeReceiver();
  const { api, chatId, object, webhookId, subscription } = await longChat(LONG);
  // No statement, because those of the chat are counted.
  const stored = () => storedSubscription(object(), webhookId);
  await rewrite(object, (storage) => changeSubscription(storage, webhookId, { cursor: 1, previous: 1, waiting: null }));
  vi.setSystemTime(Date.now() + 1_000);
  await env.WEBHOOKS.getByName(webhookId).enable(webhookId, "now");
  const work = await workOf(object(), async () => {
    await object().wakeWebhook(webhookId, Date.now() + DAY);
    await until("all events are passed", stored, (seen) => seen?.cursor === LONG);
  });
  expect(await subscription()).toMatchObject({ pending: 0 });
  // Each step asks the webhook's object.
  expect(work.longestStatement).toBeLessThan(STEP.rows);
  expect(work.statements).toBeLessThan(STEP.statements);
  expect((await api("PATCH", `/chats/${chatId}`, { metadata: { a: "1" } })).status).toBe(200);
  await until(
    "the last event is sent",
    () => calls.at(-1)?.event.number,
    (number) => number === LONG + 1,
  );
  // The first was sent before the webhook was disabled.
  expect(calls.length).toBeLessThanOrEqual(2);
});

test("the events of a long chat that are too old are given up in short steps, and each batch is reported", async () => {
  fakeReceiver();
  const { object, webhookId, subscription } = await longChat(LONG);
  // No statement, because those of the chat are counted.
  const stored = () => storedSubscription(object(), webhookId);
  await rewrite(object, (storage) => changeSubscription(storage, webhookId, { cursor: 1, previous: 1, waiting: null }));
  vi.setSystemTime(Date.now() + 31 * DAY);
  const sizes: number[] = [];
  await runInDurableObject(object(), (_object, { storage }) => {
    const put = storage.kv.put.bind(storage.kv);
    vi.spyOn(storage.kv, "put").mockImplementation((key: string, value: unknown) => {
      if (key.startsWith("line ")) sizes.push((value as Subscription).unreported.length);
      put(key, value);
    });
  });
  const work = await workOf(object(), async () => {
    await object().wakeWebhook(webhookId, Date.now() + DAY);
    await until("all events are passed", stored, (seen) => seen?.cursor === LONG);
  });
  expect(await subscription()).toMatchObject({ pending: 0 });
  // Each step asks the webhook's object.
  expect(work.longestStatement).toBeLessThan(STEP.rows);
  expect(work.statements).toBeLessThan(STEP.statements);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2);
  // The last batch is reported after the subscription has stored it.
  const described = async () => await env.WEBHOOKS.getByName(webhookId).describe(webhookId);
  await until("all are given up", described, (seen) => seen?.failed === LONG - 1);
});

const OWN = 20_000;

/** An organization with this many events of its own, sent to a webhook for some of them that is disabled. */
async function longOrganization() {
  const { organizationId, api, channelId } = await newOrganization();
  const webhookId = await addWebhook(organizationId, { types: ["chat.deleted"], channels: [channelId] });
  await env.WEBHOOKS.getByName(webhookId).disable(webhookId, "customer");
  await report((await newChat(api, channelId)).id);
  const object = () => env.ORGANIZATIONS.getByName(organizationId);
  await rewrite(object, (storage) => {
    storage.sql.exec(
      `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)
       insert into own_events (n, type, note, at) select n, 'chat.deleted', iif(n % 2, ?, ?), ? from numbers`,
      ...[OWN, JSON.stringify({ channelId }), JSON.stringify({ channelId: "chn_other" }), Date.now()],
    );
    changeSubscription(storage, webhookId, { cursor: OWN, previous: OWN, head: null });
  });
  return { object, webhookId };
}

test("a replay of many ranges of an organization's own events reads each a few times, in short steps", async () => {
  fakeReceiver();
  const { object, webhookId } = await longOrganization();
  const work = await workOf(object(), async () => {
    expect(await object().replayEvents(webhookId, "rpl_1", ranges(200, 100), "")).toBe(200 * 25);
  });
  // Each of the two subscriptions looks at all of them.
  expect(work.rows).toBeLessThan(3 * OWN);
  expectShort(work);
});

test("a replay joins the ranges that touch", async () => {
  fakeReceiver();
  const { object, webhookId } = await longChat(1_000);
  const each = Array.from({ length: 200 }, (_, index): EventRange => [index + 1, index + 1]);
  await object().replayEvents(webhookId, "rpl_1", each);
  await object().replayEvents(webhookId, "rpl_1", [
    [201, 300],
    [290, 310],
    [312, 312],
  ]);
  const stored = await storedSubscription(object(), webhookId);
  expect(stored?.replays).toMatchObject([
    {
      ranges: [
        [1, 310],
        [312, 312],
      ],
    },
  ]);
});
