import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { directory, isOutage } from "../../../../src/db/client.ts";
import { webhooks } from "../../../../src/db/schema.ts";
import { breakDirectory } from "../../../support/faults.ts";
import { heldBy, NOTHING } from "../../../support/stored.ts";
import { until, untilLength } from "../../../support/until.ts";
import { alarmOf, pass, stopTheClock } from "../../chats/object/delivery/conversation.ts";
import {
  breakWebhook,
  expectState,
  fakeOrganization,
  fakeSubscriptions,
  newWebhook,
  SECRET,
  subscriptionOf,
  type TestWebhook,
  waitingSubscriptions,
} from "./fixtures.ts";

stopTheClock();

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test("a permit has what a call needs, and a new webhook is on trial until its first 2xx", async () => {
  const webhook = await newWebhook();
  const { permit, ...answer } = await webhook.granted(1);
  expect(answer).toEqual({
    outcome: "granted",
    url: "https://customer.test/hook",
    secrets: [SECRET],
    payload: "full",
  });
  await expectState(webhook, { state: "trial", reason: null, lastSuccessAt: null, waitingChats: 0 });
  await webhook.report(1, { permit });
  await expectState(webhook, { state: "ok", lastSuccessAt: Date.now() });
});

test("a subscription with an old filter gets the new one, and a newer subscription makes the object read its row again", async () => {
  const webhook = await newWebhook({ version: 3, types: ["message.*"] });
  const filter = { id: webhook.webhookId, version: 3, types: ["message.*"], channels: null };
  expect(await webhook.permit(1, { version: 2 })).toEqual({ outcome: "changed", filter });
  await directory(env).update(webhooks).set({ version: 4, url: "https://new.test" }).where(eq(webhooks.version, 3));
  pass(SECOND);
  expect(await webhook.granted(1, { version: 4 })).toMatchObject({ url: "https://new.test" });
});

test("a deleted webhook's subscriptions are told so, and it has nothing stored", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  await directory(env).delete(webhooks).where(eq(webhooks.id, webhook.webhookId));
  await webhook.object().erase();
  expect(await webhook.permit(1)).toEqual({ outcome: "gone" });
  expect(await webhook.object().describe(webhook.webhookId)).toBeNull();
  expect(await webhook.object().attempts({}, { before: null, limit: 10 })).toEqual({ attempts: [], cursor: null });
  expect(await heldBy(webhook.object())).toEqual(NOTHING);
});

test("an outage of the directory stops no calls, even of an object that was evicted", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  await webhook.evict();
  breakDirectory("bare");
  expect(await webhook.granted(1)).toMatchObject({ url: "https://customer.test/hook", secrets: [SECRET] });
});

test("during an outage, an object that never read its row grants no call and stores nothing", async () => {
  const webhook = await newWebhook();
  breakDirectory("bare");
  for (const call of await Promise.allSettled([webhook.permit(1), webhook.report(1, {})])) {
    expect(call.status === "rejected" && isOutage(call.reason)).toBe(true);
  }
  expect(await heldBy(webhook.object())).toEqual(NOTHING);
  vi.restoreAllMocks();
  await webhook.attempt(1, 200);
  await expectState(webhook, { state: "ok" });
});

test("an evicted object goes on with its state, its failures in a row and its waiting subscriptions", async () => {
  const webhook = await newWebhook();
  fakeSubscriptions();
  for (let subscription = 1; subscription <= 4; subscription++) await webhook.attempt(subscription, 503);
  await webhook.evict();
  await expectState(webhook, { state: "trial" });
  await webhook.attempt(5, 503);
  const since = Date.now();
  await expectState(webhook, { state: "failing", since, disablesAt: since + 5 * DAY });
  expect(await webhook.permit(6)).toMatchObject({ outcome: "later", isWaiting: true });
  await webhook.evict();
  await expectState(webhook, { state: "failing", since, waitingChats: 6 });
});

async function untilNoneWaits({ object }: TestWebhook): Promise<void> {
  await until(
    "no subscription waits",
    () => waitingSubscriptions(object()),
    ({ length }) => length === 0,
  );
}

test("a webhook that fails is probed by one waiting subscription after another, and drains in order once it works", async () => {
  const webhook = await newWebhook();
  const { woken } = fakeSubscriptions();
  await breakWebhook(webhook);
  for (let subscription = 6; subscription <= 9; subscription++) {
    expect(await webhook.permit(subscription)).toMatchObject({ outcome: "later", isWaiting: true });
  }
  expect(await alarmOf(webhook.object())).toBe(Date.now() + 5 * SECOND);
  pass(5 * SECOND);
  await webhook.alarm();
  expect(woken).toEqual([subscriptionOf(6)]);
  await webhook.attempt(6, 503);
  await webhook.permit(6);
  pass(15 * SECOND);
  await webhook.alarm();
  expect(woken).toEqual([6, 7].map(subscriptionOf));
  await webhook.attempt(7, 200);
  await expectState(webhook, { state: "ok" });
  await untilNoneWaits(webhook);
  expect(woken).toEqual([6, 7, 8, 9, 6].map(subscriptionOf));
});

test("a subscription that is refused while it is woken keeps its row, because its number is another", async () => {
  const webhook = await newWebhook();
  const answers: unknown[] = [];
  fakeSubscriptions({
    onWake: async () => {
      await webhook.object().disable(webhook.webhookId, "customer");
      answers.push(await webhook.permit(6));
    },
  });
  await breakWebhook(webhook);
  await webhook.permit(6);
  pass(5 * SECOND);
  await webhook.alarm();
  await untilLength(answers, 1);
  expect(answers).toMatchObject([{ outcome: "later", isWaiting: true }]);
  expect(await waitingSubscriptions(webhook.object())).toEqual([subscriptionOf(6)]);
});

test("a webhook that answers 410 is disabled, and people are told; enabled, its subscriptions are woken", async () => {
  const webhook = await newWebhook();
  const { woken } = fakeSubscriptions();
  let isDown = true;
  const events = fakeOrganization({ fails: () => isDown });
  await webhook.attempt(1, 410);
  const since = Date.now();
  await expectState(webhook, { state: "disabled", reason: "gone", since, disablesAt: null });
  expect(await webhook.permit(1)).toMatchObject({ outcome: "later", isWaiting: true });
  await webhook.alarm();
  expect(events).toEqual([]);
  isDown = false;
  pass(15 * SECOND);
  await webhook.alarm();
  await webhook.alarm();
  const { webhookId } = webhook;
  const note = { webhookId, reason: "gone", since: new Date(since).toISOString() };
  expect(events).toEqual([
    { type: "webhook.disabled", note, source: expect.stringContaining(`${webhookId}:disabled:`) },
  ]);
  expect(await alarmOf(webhook.object())).toBeNull();
  await webhook.object().enable(webhookId, "pending");
  await expectState(webhook, { state: "trial", reason: null });
  expect(woken).toEqual([subscriptionOf(1)]);
});

test("a pause that two chats ask for is shown, and enabling the webhook ends it and brings their next tries forward", async () => {
  const webhook = await newWebhook();
  await webhook.attempt(1, 200);
  const startedAts: unknown[] = [];
  const { woken } = fakeSubscriptions({ onWake: (_subscriptionId, _number, startedAt) => startedAts.push(startedAt) });
  await webhook.attempt(2, 503, { retryAfterMs: DAY });
  await expectState(webhook, { state: "ok", pausedUntil: Date.now() + MINUTE });
  pass(MINUTE);
  await expectState(webhook, { state: "ok", pausedUntil: null });
  await webhook.attempt(3, 503, { retryAfterMs: HOUR });
  await expectState(webhook, { state: "ok", pausedUntil: Date.now() + HOUR });
  expect(await webhook.permit(4)).toMatchObject({ outcome: "later", isWaiting: true });
  await webhook.evict();
  await expectState(webhook, { state: "ok", pausedUntil: Date.now() + HOUR });
  await webhook.object().enable(webhook.webhookId, "pending");
  await expectState(webhook, { state: "ok", pausedUntil: null });
  await untilLength(woken, 3);
  expect(woken.toSorted()).toEqual([2, 3, 4].map(subscriptionOf));
  expect(startedAts).toEqual(Array(3).fill(Date.now()));
});

test("subscriptions that wait for the next try of an event are woken when the webhook is enabled, and others are not", async () => {
  const webhook = await newWebhook({ concurrency: 200 });
  const { woken } = fakeSubscriptions();
  await breakWebhook(webhook);
  await webhook.report(3, { outcome: "given_up", httpStatus: null, code: "skipped" });
  await webhook.object().disable(webhook.webhookId, "customer");
  await webhook.evict();
  await webhook.object().enable(webhook.webhookId, "pending");
  await expectState(webhook, { state: "trial" });
  expect(woken).toEqual([subscriptionOf(1)]);
  await webhook.attempt(1, 200);
  await untilNoneWaits(webhook);
  expect(woken).toEqual([1, 2, 4, 5].map(subscriptionOf));
});
