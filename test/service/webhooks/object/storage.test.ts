import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { eventId } from "../../../../src/model/event.ts";
import type { ReplayAnswer } from "../../../../src/model/webhook.ts";
import type { WebhookObject } from "../../../../src/webhooks/object/webhook-object.ts";
import { objectWrites } from "../../../support/object-writes.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { until, untilLength } from "../../../support/until.ts";
import { pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { attemptOf, fakeOrganization, fakeSubscriptions, newWebhook, subscriptionOf, untilFound } from "./fixtures.ts";

stopTheClock();

test("an attempt of a webhook that works costs one row, and nothing else", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  const writes = await objectWrites(webhook, async () => {
    for (let subscription = 1; subscription <= 20; subscription++) await webhook.attempt(subscription, 200);
  });
  expect(writes).toEqual({ rows: 20, values: 0, alarms: 0 });
});

test("a single failure costs one row too", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  expect(await objectWrites(webhook, () => webhook.attempt(2, 503))).toEqual({ rows: 1, values: 0, alarms: 0 });
});

test("a subscription that must wait costs one row, however often it asks", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  await webhook.object().disable(webhook.webhookId, "customer");
  const writes = await objectWrites(webhook, async () => {
    for (let subscription = 1; subscription <= 20; subscription++) await webhook.permit(subscription);
  });
  expect(writes).toEqual({ rows: 20, values: 0, alarms: 0 });
});

test("the last 1,000 attempts are kept, newest first, for one row each", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  const attempt = (number: number, outcome: "accepted" | "retry") =>
    attemptOf(number % 7, { number, outcome, httpStatus: outcome === "accepted" ? 200 : 503 });
  const count = 2_500;
  const writes = await objectWrites(webhook, () =>
    // Calls within the object: this many from outside take seconds.
    runInDurableObject(webhook.object(), async (object: WebhookObject) => {
      for (let number = 1; number <= count; number++) {
        await object.report(webhook.webhookId, attempt(number, number % 5 === 0 ? "retry" : "accepted"));
      }
    }),
  );
  // Two tables were replaced.
  expect(writes.rows).toBeLessThan(count + 20);
  const read = (filter: object, before: string | null, limit = 3) =>
    webhook.object().attempts(filter, { before, limit });
  const numbers = async (filter: object, before: string | null = null) =>
    (await read(filter, before)).attempts.map(({ number }) => number);
  expect(await numbers({})).toEqual([2_500, 2_499, 2_498]);
  expect(await numbers({}, (await read({}, null)).cursor)).toEqual([2_497, 2_496, 2_495]);
  expect(await numbers({ outcome: "retry" })).toEqual([2_500, 2_495, 2_490]);
  expect(await numbers({ lineId: subscriptionOf(3) })).toEqual([2_495, 2_488, 2_481]);
  expect((await read({}, null, 2_000)).attempts).toHaveLength(1_000);
  expect((await read({ outcome: "retry" }, null, 2_000)).attempts).toHaveLength(200);
  await webhook.evict();
  await webhook.object().report(webhook.webhookId, attempt(count + 1, "accepted"));
  expect(await numbers({})).toEqual([2_501, 2_500, 2_499]);
});

const givenUp = { outcome: "given_up", httpStatus: 400, code: "http_400" } as const;

function replayOf(answer: ReplayAnswer) {
  if (answer.outcome !== "started") throw new Error(`the answer is ${answer.outcome}`);
  return answer.replay;
}

test("the given-up events of a chat that was deleted and created again are kept, although its numbers began again", async () => {
  const webhook = await newWebhook();
  const failed = async () => (await webhook.describe()).failed;
  for (const number of [3, 4, 6]) await webhook.report(1, { ...givenUp, number });
  await webhook.report(1, { ...givenUp, number: 8, first: 2 });
  expect(await failed()).toBe(7);
  await webhook.report(1, { ...givenUp, number: 3, first: 1 });
  expect(await failed()).toBe(8);
});

test("a report of a chat that was deleted and created again counts, although an earlier event had the same number", async () => {
  const webhook = await newWebhook();
  const failed = async () => (await webhook.describe()).failed;
  const old = { number: 4, eventId: eventId(subscriptionOf(1), "0AbCdEf1", 4) };
  await webhook.report(1, { ...givenUp, ...old });
  await webhook.report(1, { ...old, replayId: "rpl_1" });
  await webhook.report(1, { ...givenUp, ...old });
  expect(await failed()).toBe(0);
  await webhook.report(1, { ...givenUp, number: 4, eventId: eventId(subscriptionOf(1), "0AbCdEf2", 4) });
  expect(await failed()).toBe(1);
});

test("how many events were given up is known without reading them, whatever becomes of them", async () => {
  const webhook = await newWebhook();
  const failed = async () => (await webhook.describe()).failed;
  await webhook.attempt(1, 200);
  await runInDurableObject(webhook.object(), (_object, { storage: { sql } }) => {
    sql.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
      insert into failed (line, first, last, at) select '${subscriptionOf(9)}', i * 10, i * 10 + 4, 0 from n`);
  });
  await webhook.evict();
  expect(await failed()).toBe(15_000);
  const read = await rowsRead(webhook.object(), () => webhook.describe());
  expect(read.reduce((sum, rows) => sum + rows, 0)).toBeLessThan(50);
  // A new range, one that grows, and one that covers others.
  await webhook.report(1, { ...givenUp, number: 3 });
  await webhook.report(1, { ...givenUp, number: 4 });
  await webhook.report(9, { ...givenUp, number: 34, first: 10 });
  expect(await failed()).toBe(15_000 + 2 + 10);
  // Accepted after all: at the end, at the beginning and in the middle of a range.
  for (const number of [34, 10, 22]) await webhook.report(9, { number, replayId: "rpl_1" });
  expect(await failed()).toBe(15_000 + 2 + 10 - 3);
  await webhook.object().lineGone(webhook.webhookId, subscriptionOf(9), Date.now());
  expect(await failed()).toBe(2);
});

test("what a chat gave up stays known when the deletion of the chat before it is heard of later", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  const [before, deletedAt] = [Date.now() - 60_000, Date.now() - 30_000];
  await runInDurableObject(webhook.object(), (_object, { storage: { sql } }) => {
    sql.exec("insert into failed (line, first, last, at) values (?, 1, 5, ?)", subscriptionOf(9), before);
  });
  for (const number of [2, 3]) await webhook.report(9, { ...givenUp, number });
  expect((await webhook.describe()).failed).toBe(5);
  const rows = await runInDurableObject(webhook.object(), (_object, { storage: { sql } }) =>
    sql.exec("select first, last from failed order by first").toArray(),
  );
  expect(rows).toEqual([
    { first: 1, last: 1 },
    { first: 2, last: 3 },
    { first: 4, last: 5 },
  ]);
  await webhook.object().lineGone(webhook.webhookId, subscriptionOf(9), deletedAt);
  expect((await webhook.describe()).failed).toBe(2);
});

test("given-up events are kept as ranges, and are replayed once", async () => {
  const webhook = await newWebhook();
  const { replayed } = fakeSubscriptions();
  await webhook.attempt(1, 200);
  for (const number of [3, 4, 5, 9]) await webhook.report(1, { ...givenUp, number });
  await webhook.report(2, { outcome: "given_up", httpStatus: null, code: "expired", first: 10, number: 19 });
  expect((await webhook.describe()).failed).toBe(14);
  const { id, ...replay } = replayOf(await webhook.object().replay(webhook.webhookId, { failed: true }));
  expect(replay).toEqual({ state: "running", found: 0, sent: 0 });
  expect(await webhook.object().replay(webhook.webhookId, { failed: true })).toEqual({ outcome: "replay_running" });
  await webhook.alarm();
  await untilFound(webhook, id, 14);
  expect(replayed).toEqual([
    {
      subscriptionId: subscriptionOf(1),
      replayId: id,
      ranges: [
        [3, 5],
        [9, 9],
      ],
    },
    { subscriptionId: subscriptionOf(2), replayId: id, ranges: [[10, 19]] },
  ]);
  await webhook.evict();
  expect(await webhook.object().replayState(id)).toEqual({ id, state: "running", found: 14, sent: 0 });
  for (const number of [3, 4, 5]) await webhook.report(1, { number, replayId: id });
  await webhook.report(1, { ...givenUp, number: 9, replayId: id });
  for (let number = 10; number < 15; number++) await webhook.report(2, { number, replayId: id });
  // What was counted is read from the log.
  await webhook.evict();
  for (let number = 15; number < 20; number++) await webhook.report(2, { number, replayId: id });
  expect(await webhook.object().replayState(id)).toEqual({ id, state: "done", found: 14, sent: 13 });
  expect((await webhook.describe()).failed).toBe(1);
  expect(await webhook.object().replayState("rpl_g000000000000000")).toBeNull();
  expect(await webhook.object().replay(webhook.webhookId, { failed: true })).toMatchObject({ outcome: "started" });
});

test("a replay of a time goes through the organization's pointers, and repeats a step that failed", async () => {
  const webhook = await newWebhook();
  const { webhookId, organizationId } = webhook;
  await webhook.attempt(1, 200);
  const { replayed } = fakeSubscriptions();
  const warned = vi.spyOn(console, "warn").mockReturnValue();
  const asked: number[] = [];
  fakeOrganization({
    pointers: (since, until, after) => {
      asked.push(after);
      expect([since, until]).toEqual([1_000, 2_000]);
      if (asked.length === 2) throw new Error("the organization does not answer");
      const count = after === 0 ? 200 : 1;
      return Array.from({ length: count }, (_, index) => {
        const chatId = index === 0 ? null : subscriptionOf(index % 3);
        return {
          position: after + index + 1,
          chatId,
          channelId: null,
          first: after + index + 1,
          last: after + index + 1,
        };
      });
    },
  });
  const { id } = replayOf(await webhook.object().replay(webhookId, { since: 1_000, until: 2_000 }));
  await webhook.alarm();
  await until("a warning is logged", () => warned.mock.calls.length);
  expect(replayed).toHaveLength(3);
  expect(await webhook.object().replayState(id)).toMatchObject({ state: "running", found: 199 });
  pass(60_000);
  await webhook.alarm();
  await untilLength(asked, 3);
  expect(asked).toEqual([0, 200, 200]);
  expect(await webhook.object().replayState(id)).toMatchObject({ state: "running", found: 199 });
  expect(organizationId).toMatch(/^org_/);
});

test("a replay of one event finds its chat by the event's id", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  const { replayed } = fakeSubscriptions();
  const replay = (id: string) => webhook.object().replay(webhook.webhookId, { eventId: id });
  expect(await replay("evt_1")).toEqual({ outcome: "event_not_found" });
  const { id, found } = replayOf(await replay(eventId(subscriptionOf(4), "0AbCdEf1", 17)));
  expect(found).toBe(1);
  expect(replayed).toEqual([{ subscriptionId: subscriptionOf(4), replayId: id, ranges: [[17, 17]] }]);
});
