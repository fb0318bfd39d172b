import { expect, test } from "vitest";
import { attemptBy, FakeSubscriptions, FakeWebhook } from "./fake-webhook.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 1_440 * MINUTE;

async function permitOf(webhook: FakeWebhook, subscriptionId: string): Promise<string> {
  const answer = await webhook.ask(subscriptionId);
  if (answer.outcome !== "granted") throw new Error(`the answer is ${JSON.stringify(answer)}`);
  return answer.permit;
}

/** A webhook that works, and that a subscription's answer has paused for a minute. */
async function pausedWebhook() {
  const webhook = new FakeWebhook();
  const subscriptions = new FakeSubscriptions(webhook);
  subscriptions.add("first");
  await webhook.run(SECOND);
  const report = attemptBy("busy", await permitOf(webhook, "busy"), 429, webhook.clock.now());
  await webhook.permits.report({ ...report, retryAfterMs: DAY });
  subscriptions.calls.length = 0;
  return { webhook, subscriptions };
}

test("a subscription that asks during a pause is called at once when the pause is ended, also by the next instance", async () => {
  for (const end of ["enable", "retry"] as const) {
    for (const isEvicted of [false, true]) {
      const { webhook, subscriptions } = await pausedWebhook();
      subscriptions.add("other");
      await webhook.run(5 * SECOND);
      expect(subscriptions.calls).toEqual([]);
      expect((await webhook.permits.describe())?.waitingChats).toBe(1);
      if (isEvicted) webhook.evict();
      await (end === "enable" ? webhook.permits.enable("pending") : webhook.permits.retry());
      await webhook.run(SECOND);
      expect(subscriptions.calls.map(({ subscriptionId }) => subscriptionId)).toEqual(["other"]);
    }
  }
});

test("a pause that nobody ends lasts as long as it was asked for, and then the subscriptions start at the webhook's pace", async () => {
  const { webhook, subscriptions } = await pausedWebhook();
  const until = (await webhook.permits.describe())?.pausedUntil ?? 0;
  for (let n = 0; n < 100; n++) subscriptions.add(`chat ${n}`);
  await webhook.run(until - webhook.clock.now() - 1);
  expect(subscriptions.calls).toEqual([]);
  await webhook.run(2 * SECOND);
  expect(subscriptions.calls).toHaveLength(100);
  for (const { startedAt } of subscriptions.calls) expect(startedAt).toBeGreaterThanOrEqual(until);
});

test("subscriptions that had reserved their starts before a pause wait for its end like the others", async () => {
  const webhook = new FakeWebhook({ perSecond: 1 });
  const subscriptions = new FakeSubscriptions(webhook);
  subscriptions.add("first");
  await webhook.run(2 * SECOND);
  const busy = await permitOf(webhook, "busy");
  for (const name of ["a", "b", "c", "d", "e"]) subscriptions.add(name);
  await webhook.run(10);
  const report = attemptBy("busy", busy, 429, webhook.clock.now());
  await webhook.permits.report({ ...report, retryAfterMs: 30 * SECOND });
  await webhook.run(20);
  expect((await webhook.permits.describe())?.waitingChats).toBeGreaterThanOrEqual(4);
});

test("a raised pace is felt at once by the subscriptions that have their starts already", async () => {
  const webhook = new FakeWebhook({ perSecond: 1 });
  const subscriptions = new FakeSubscriptions(webhook);
  subscriptions.add("first");
  await webhook.run(2 * SECOND);
  for (let n = 0; n < 100; n++) subscriptions.add(`chat ${n}`);
  await webhook.run(SECOND);
  expect(subscriptions.pending).toBeGreaterThan(90);
  webhook.config = { ...webhook.config, perSecond: 100 };
  await webhook.permits.refresh();
  await webhook.run(3 * SECOND);
  expect(subscriptions.pending).toBe(0);
});

test("a chat that did not answer its wake-up is woken again when somebody enables the webhook", async () => {
  const { webhook, subscriptions } = await pausedWebhook();
  subscriptions.add("other");
  subscriptions.isDeaf = true;
  await webhook.permits.enable("pending");
  await webhook.run(SECOND);
  subscriptions.isDeaf = false;
  expect(webhook.warnings).toMatchObject([{ event: "line_not_woken" }]);
  await webhook.permits.retry();
  await webhook.run(SECOND);
  expect(subscriptions.calls.map(({ subscriptionId }) => subscriptionId)).toEqual(["other"]);
});

test("a retry wakes the subscriptions that wait for the next try of an event, whatever the webhook's state but disabled", async () => {
  const { webhook } = await pausedWebhook();
  const woken: [string, number][] = [];
  webhook.onWake = (subscriptionId, _number, startedAt) => void woken.push([subscriptionId, startedAt]);
  webhook.toRetry = ["a", "b"];
  expect(await webhook.permits.retry()).toBe("retried");
  await webhook.run(SECOND);
  expect(woken.map(([subscriptionId]) => subscriptionId)).toEqual(["a", "b"]);
  for (const [, startedAt] of woken) expect(startedAt).toBeGreaterThanOrEqual(webhook.clock.now() - 2 * SECOND);
  woken.length = 0;
  await webhook.permits.disable("customer");
  expect(await webhook.permits.retry()).toBe("webhook_disabled");
  await webhook.run(SECOND);
  expect(woken).toEqual([]);
  expect(await webhook.permits.describe()).toMatchObject({ state: "disabled" });
});
