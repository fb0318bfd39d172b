import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { WebhookAttempt } from "../../../../src/model/webhook.ts";
import type { WebhookObject } from "../../../../src/webhooks/object/webhook-object.ts";
import { stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { attemptOf, expectState, fakeOrganization, newWebhook, subscriptionOf, type TestWebhook } from "./fixtures.ts";

stopTheClock();

/** Logs attempts that were accepted, within the object: this many calls from outside take seconds. */
function logAccepted({ object, webhookId }: TestWebhook, from: number, to: number): Promise<void> {
  return runInDurableObject(object(), async (instance: WebhookObject) => {
    for (let number = from; number <= to; number++) {
      await instance.report(webhookId, attemptOf(1, { number, permit: `1.call.${number}` }));
    }
  });
}

/** The numbers of the events whose attempts are kept, oldest first. */
async function loggedNumbers({ object }: TestWebhook): Promise<number[]> {
  const { attempts } = await object().attempts({}, { before: null, limit: 2_000 });
  return attempts.map(({ number }) => number).reverse();
}

const upTo = (last: number) => Array.from({ length: Math.min(last, 1_000) }, (_, index) => last - index).reverse();

test("an object that sleeps between its calls grants and logs each of 3,000 attempts, in order", async () => {
  const webhook = await newWebhook();
  let report: WebhookAttempt | null = null;
  for (const thousand of [1_000, 2_000, 3_000]) {
    await logAccepted(webhook, thousand - 999, thousand - 4);
    for (let number = thousand - 3; number <= thousand; number++) {
      await webhook.evict();
      const { permit } = await webhook.granted(2, { number, report });
      report = { ...attemptOf(2, { number }), permit };
      if (number % 2 === 0) {
        await webhook.report(2, report);
        report = null;
      }
    }
    expect(await loggedNumbers(webhook)).toEqual(upTo(thousand));
  }
  await expectState(webhook, { state: "ok", failed: 0, lastSuccessAt: Date.now() });
});

test("failures from the 1,000th attempt on count, although the object sleeps between them", async () => {
  const webhook = await newWebhook();
  fakeOrganization();
  await logAccepted(webhook, 1, 998);
  await webhook.attempt(2, 200, { number: 999 });
  for (let number = 1_000; number < 1_005; number++) {
    await webhook.evict();
    await webhook.attempt(number, 503, { number });
  }
  expect(await loggedNumbers(webhook)).toEqual(upTo(1_004));
  await expectState(webhook, { state: "failing" });
});

test("an event that is given up as the 1,000th attempt is counted and can be replayed", async () => {
  const webhook = await newWebhook();
  await logAccepted(webhook, 1, 999);
  await webhook.evict();
  await webhook.attempt(1, 400, { number: 1_000, outcome: "given_up" });
  await expectState(webhook, { failed: 1 });
  expect((await webhook.object().attempts({ outcome: "given_up" }, { before: null, limit: 5 })).attempts).toMatchObject(
    [{ lineId: subscriptionOf(1), number: 1_000 }],
  );
});
