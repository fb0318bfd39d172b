import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { runAlarm } from "../../support/alarms.ts";
import { admin, client, expectError, newKey, newOrganization, sendMany, statsOf } from "../../support/harness.ts";
import { untilQueueIsEmpty } from "../../support/message-status.ts";
import { accept, fakeNetworks, inTurn, refuse } from "../../support/networks.ts";
import { objectWrites } from "../../support/object-writes.ts";
import { type Conversation, conversation, pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { NO_ATTEMPTS } from "./channel-stats-fixtures.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NO_REFUSALS = { invalid_api_key: 0, ip_not_allowed: 0, permission_denied: 0, rate_limited: 0, quota_exceeded: 0 };

interface Bucket {
  start: string;
  admitted: number;
  refused: Record<string, number>;
  attempts: Record<string, number>;
}

stopTheClock();
beforeEach(() => {
  // Ten minutes before midnight.
  vi.setSystemTime((Math.floor(Date.now() / DAY) + 1) * DAY - 600_000);
});

async function historyOf(id: string, by = "hour"): Promise<Bucket[]> {
  const { status, body, text } = await admin("GET", `/stats/history?of=${id}&by=${by}`);
  expect(status, text).toBe(200);
  return body.history.buckets;
}

/** A key, and what its requests and reports are. */
async function usedKey(settings: Record<string, unknown> = {}) {
  const { organizationId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, settings);
  const api = client(secret);
  const organization = () => env.ORGANIZATIONS.getByName(organizationId);
  return {
    organizationId,
    id: key.id as string,
    organization,
    report: (admitted: number, refused = {}) => organization().reportKey(organizationId, key.id, { admitted, refused }),
    /** Makes requests, and reports them. */
    use: async (requests: number): Promise<void> => {
      for (let n = 0; n < requests; n++) await api("GET", "/key");
      await runAlarm(env.KEYS.getByName(key.id));
    },
  };
}

/** Sends messages and reports how their attempts ended. */
async function deliver(chat: Conversation, messages: number): Promise<void> {
  await sendMany(chat.api, chat.chatId, messages);
  await untilQueueIsEmpty(chat.chatId);
  await chat.run();
  pass(5_000);
  await chat.run();
}

const admitted = (buckets: Bucket[]) => buckets.map((bucket) => bucket.admitted);
const total = (buckets: Bucket[]) => admitted(buckets).reduce((sum, count) => sum + count, 0);
const empty = (count: number) => Array.from({ length: count }, () => 0);

test("a key's requests are counted by the hour and by the day, with zeros for the rest of the window", async () => {
  const { id, use, organizationId } = await usedKey({ rateLimit: { limit: 2, windowSeconds: 60 } });
  const midnight = Date.now() + 600_000;
  await use(3);
  pass(HOUR);
  await use(1);
  pass(HOUR);
  await use(2);
  const hours = await historyOf(id);
  expect(hours.map(({ start }) => Date.parse(start) - midnight)).toEqual(
    Array.from({ length: 48 }, (_, at) => (at - 46) * HOUR),
  );
  expect(admitted(hours)).toEqual([...empty(45), 2, 1, 2]);
  expect(hours.at(-3)).toEqual({
    start: new Date(midnight - HOUR).toISOString(),
    admitted: 2,
    refused: { ...NO_REFUSALS, rate_limited: 1 },
  });
  expect(hours[0]?.refused).toEqual(NO_REFUSALS);
  const days = await historyOf(id, "day");
  expect(admitted(days)).toEqual([...empty(90), 2, 3]);
  expect(days[0]?.start).toBe(new Date(midnight - 91 * DAY).toISOString());
  const { body } = await admin("GET", `/stats/history?of=${id}`);
  expect(body.history).toMatchObject({ id, organizationId, by: "hour" });
});

test("a channel's attempts are counted by their outcome, and add up to its totals", async () => {
  fakeNetworks(inTurn(accept, refuse(400, "Bad Request: no"), accept));
  const chat = await conversation("telegram");
  await deliver(chat, 2);
  pass(DAY);
  await deliver(chat, 1);
  const days = await historyOf(chat.channelId, "day");
  expect(days).toHaveLength(92);
  expect(days.slice(-2).map(({ attempts }) => attempts)).toEqual([
    { ...NO_ATTEMPTS, sent: 1, failed: 1 },
    { ...NO_ATTEMPTS, sent: 1 },
  ]);
  expect(days[0]?.attempts).toEqual(NO_ATTEMPTS);
  const { channels } = await statsOf(chat.organizationId);
  expect(channels.find((each: { id: string }) => each.id === chat.channelId).attempts).toMatchObject({
    sent: 2,
    failed: 1,
  });
  expect((await historyOf(chat.channelId)).map(({ attempts }) => attempts.sent)).toEqual([
    ...empty(23),
    1,
    ...empty(23),
    1,
  ]);
});

test("a bucket falls out of the answer when its time is over, and out of the storage with the next report", async () => {
  const { id, report, organization } = await usedKey();
  await report(1);
  pass(48 * HOUR);
  expect(total(await historyOf(id))).toBe(0);
  expect(total(await historyOf(id, "day"))).toBe(1);
  pass(90 * DAY);
  await report(5);
  expect(total(await historyOf(id, "day"))).toBe(4);
  const stored = await runInDurableObject(organization(), (_object, { storage }) =>
    storage.sql.exec<{ history: string }>("select history from keys where id = ?", id).one(),
  );
  const { hour, day } = JSON.parse(stored.history);
  expect([Object.values(hour), Object.values(day)]).toEqual([[{ admitted: 4 }], [{ admitted: 4 }]]);
});

test("a report that comes twice, late or out of order counts once", async () => {
  const { id, report } = await usedKey();
  await report(3, { rate_limited: 1 });
  await report(3, { rate_limited: 1 });
  pass(HOUR);
  await report(2);
  await report(7, { rate_limited: 1 });
  await report(3, { rate_limited: 1 });
  expect(admitted(await historyOf(id)).slice(-2)).toEqual([3, 4]);
  expect((await historyOf(id)).slice(-2).map(({ refused }) => refused.rate_limited)).toEqual([1, 0]);
});

test("a chat's report that comes twice counts once", async () => {
  fakeNetworks(accept);
  const chat = await conversation("telegram");
  const reports: Parameters<ReturnType<typeof object>["report"]>[0][] = [];
  const object = () => env.ORGANIZATIONS.getByName(chat.organizationId);
  const getByName = env.ORGANIZATIONS.getByName.bind(env.ORGANIZATIONS);
  vi.spyOn(env.ORGANIZATIONS, "getByName").mockImplementation((...given) => {
    const stub = getByName(...given);
    const report: typeof stub.report = (sent) => {
      reports.push(sent);
      return stub.report(sent);
    };
    return new Proxy(stub, { get: (target, name) => (name === "report" ? report : Reflect.get(target, name)) });
  });
  await deliver(chat, 3);
  vi.restoreAllMocks();
  expect(reports.length).toBeGreaterThan(0);
  pass(HOUR);
  for (const report of reports) await object().report(report);
  expect((await historyOf(chat.channelId)).map(({ attempts }) => attempts.sent)).toEqual([...empty(46), 3, 0]);
});

test("a clock that is set back loses no number and counts none twice", async () => {
  const { id, report } = await usedKey();
  await report(2);
  pass(3 * HOUR);
  await report(5);
  pass(-2 * HOUR);
  await report(9);
  // The later hour is shown when its time comes.
  expect(admitted(await historyOf(id)).slice(-2)).toEqual([2, 4]);
  pass(2 * HOUR);
  expect(admitted(await historyOf(id)).slice(-4)).toEqual([2, 4, 0, 3]);
  expect(total(await historyOf(id, "day"))).toBe(9);
});

test("a report writes the rows that it wrote without a history", async () => {
  fakeNetworks(accept);
  const { report, organization } = await usedKey();
  // The first one creates the tables.
  await report(1);
  expect((await objectWrites({ object: organization }, () => report(2))).rows).toBe(1);
  const chat = await conversation("telegram");
  await deliver(chat, 1);
  const object = () => env.ORGANIZATIONS.getByName(chat.organizationId);
  const { rows } = await objectWrites({ object }, () => deliver(chat, 1));
  expect(rows).toBe(ROWS_OF_A_REPORT);
});

/** The chat with its two indexes, the channel, and the pointer to its events. */
const ROWS_OF_A_REPORT = 5;

test("a history without numbers has every bucket, and a deleted channel has none", async () => {
  const { channelId } = await newOrganization();
  expect(await historyOf(channelId, "day")).toHaveLength(92);
  await admin("DELETE", `/channels/${channelId}`);
  expectError(await admin("GET", `/stats/history?of=${channelId}`), 404, "channel_not_found");
  expectError(await admin("GET", `/stats/history?of=${newId("key", null)}`), 404, "key_not_found");
});
