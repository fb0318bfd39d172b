import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, expectFaults, newChat, newOrganization, send } from "../../support/harness.ts";
import { report, writeAsContact } from "../chats/inbound.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 86_400 * SECOND;
const NONE = { medianSeconds: null, p90Seconds: null };

stopTheClock();

/** A chat whose contact asks and gets its answers after some time. */
async function desk() {
  const organization = await newOrganization();
  const { organizationId, channelId, ownerId, api } = organization;
  const { id: chatId } = await newChat(api, channelId);
  return {
    ...organization,
    chatId,
    object: env.ORGANIZATIONS.getByName(organizationId),
    /** The contact is answered after this many milliseconds. @param by who answers */
    answerAfter: async (ms: number, by = ownerId) => {
      await writeAsContact(organizationId, chatId);
      pass(ms);
      await send(api, chatId, { senderId: by });
    },
    report: () => report(chatId),
    historyOf: async (of: string, query = "") => {
      const { status, body, text } = await admin("GET", `/stats/history?of=${of}${query}`);
      expect(status, text).toBe(200);
      return body.history;
    },
  };
}

test("the median and the 90th percentile stand beside the classes: of each bucket, and of all together", async () => {
  const { answerAfter, report, historyOf, channelId, ownerId } = await desk();
  await answerAfter(30 * SECOND);
  for (let n = 0; n < 8; n++) await answerAfter(2 * MINUTE);
  await report();
  pass(DAY);
  await answerAfter(65 * MINUTE);
  await report();
  for (const of of [channelId, ownerId]) {
    const { buckets, responseTimes } = await historyOf(of, "&by=day");
    expect(responseTimes).toEqual({ medianSeconds: 108, p90Seconds: 108 });
    const days = buckets.filter(({ answers }: { answers: number }) => answers > 0);
    expect(days).toMatchObject([
      { answers: 9, responseTimes: { medianSeconds: 108, p90Seconds: 108 } },
      { answers: 1, responseTimes: { medianSeconds: 4_221, p90Seconds: 4_221 } },
    ]);
    expect(buckets[0]).toMatchObject({ answers: 0, responseTimes: NONE });
  }
});

test("last shows only the newest buckets, and the times of the answers in them", async () => {
  const { answerAfter, report, historyOf, channelId } = await desk();
  for (let n = 0; n < 3; n++) await answerAfter(10 * SECOND);
  await report();
  pass(3 * DAY);
  await answerAfter(20 * MINUTE);
  await report();
  const all = await historyOf(channelId, "&by=day");
  expect(all.buckets).toHaveLength(92);
  expect(all.responseTimes).toEqual({ medianSeconds: 12, p90Seconds: 1_055 });
  const newest = await historyOf(channelId, "&by=day&last=2");
  expect(newest.buckets).toEqual(all.buckets.slice(-2));
  expect(newest.responseTimes).toEqual({ medianSeconds: 1_055, p90Seconds: 1_055 });
  expect((await historyOf(channelId, "&last=48")).buckets).toHaveLength(48);
  expect((await historyOf(channelId, "&by=day&last=92")).buckets).toHaveLength(92);
});

test.each(["0", "49", "-1", "x", "", "93&by=day", "1&last=2"])("last=%s is a 400 that names it", async (last) => {
  const { channelId } = await desk();
  expectFaults(await admin("GET", `/stats/history?of=${channelId}&last=${last}`), "last");
});

test("a key's history takes last, and has no response times", async () => {
  const { keyId, historyOf } = await desk();
  const history = await historyOf(keyId, "&last=1");
  expect(history.buckets).toHaveLength(1);
  expect(history).not.toHaveProperty("responseTimes");
  expect(history.buckets[0]).not.toHaveProperty("responseTimes");
});

test("answers that an earlier version counted keep their classes, and count as the middle of their class", async () => {
  const { answerAfter, report, historyOf, channelId, object } = await desk();
  for (let n = 0; n < 4; n++) await answerAfter(2 * MINUTE);
  await report();
  // That version counted no finer classes.
  await runInDurableObject(object, (_object, { storage }) => {
    const [row] = storage.sql
      .exec<{ history: string }>("select history from channels where history is not null")
      .toArray();
    const stored = row?.history.replaceAll(/,?"r\d+":\d+/g, "");
    expect(stored).not.toBe(row?.history);
    storage.sql.exec("update channels set history = ?", stored);
  });
  await evictDurableObject(object);
  expect((await historyOf(channelId)).responseTimes).toEqual({ medianSeconds: 100, p90Seconds: 100 });
  await answerAfter(10 * SECOND);
  await report();
  const { buckets, responseTimes } = await historyOf(channelId);
  expect(responseTimes).toEqual({ medianSeconds: 100, p90Seconds: 100 });
  const sum = (name: string) =>
    buckets.reduce((all: number, { classes }: { classes: Record<string, number> }) => all + (classes[name] ?? 0), 0);
  expect([sum("within1m"), sum("within5m")]).toEqual([1, 4]);
});

test("a chat that an object of an earlier version reports counts in its classes alone", async () => {
  const { object, chatId, historyOf, channelId, report, answerAfter } = await desk();
  await answerAfter(SECOND);
  await report();
  const { life, report: number } = (await runInDurableObject(object, (_object, { storage }) =>
    storage.sql.exec<{ life: number; report: number }>("select life, report from chats").one(),
  )) as { life: number; report: number };
  const nothing = { depth: 0, oldest: null, lastMessage: null, readUpTo: null, assigneeId: null, details: null };
  const times = { lastMessageAt: null, unansweredSince: null, nextScheduledAt: null };
  const attempts = { received: 2, messages: 2, within1m: 1, r0: 1, within1h: 1 };
  await object.report({
    ...{ chatId, life, number: number + 1, events: null, webhooks: null },
    ...{ ...nothing, ...times, attempts },
  });
  expect((await historyOf(channelId)).responseTimes).toEqual({ medianSeconds: 3, p90Seconds: 1_440 });
});
