import type { Subscription } from "../../../src/webhooks/subscription/subscription.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { SubscriptionIdentity } from "./chat.ts";
import { checkHurry } from "./end-hurry.ts";
import { checkReplay } from "./end-replay.ts";
import type { WebhookJudge } from "./judge.ts";
import type { Owner } from "./owner.ts";
import { MAX_EVENTS } from "./pass.ts";
import { stateOf } from "./permit-judge.ts";
import type { Receivers } from "./receivers.ts";
import type { WebhookWorld } from "./rules.ts";
import type { BookedSubscription } from "./subscriptions-book.ts";

interface Parts {
  world: WebhookWorld;
  judge: WebhookJudge;
  owner: Owner;
  receivers: Receivers;
  chats: ReadonlyMap<string, SimulatedObject>;
  webhooks: ReadonlyMap<string, SimulatedObject>;
}

const HOUR = 3_600_000;
/** After this time, all that waits for an answer, a lease or an alarm has gone on. */
const SETTLED_MS = 10 * 60_000;
/**
 * How long a subscription may take once nothing makes it wait: the calls of chats that do not answer back off for
 * minutes.
 */
const GRACE_MS = 2 * HOUR;

/** Ends all faults but some that stay, and checks that everything else is delivered. @throws Violation */
export async function checkEnd(parts: Parts): Promise<void> {
  const { world, judge, owner, receivers, webhooks, chats } = parts;
  const [ill] = [...webhooks.keys()];
  const isDead = webhooks.size > 1 && world.random() < 0.2;
  receivers.sick.clear();
  receivers.poisoned.clear();
  for (const chat of chats.values()) chat.isSilent = false;
  if (isDead && ill !== undefined) {
    world.count("a webhook stays dead");
    receivers.sick.set(ill, world.pick([0, -1, 500]));
  }
  await world.run(world.now + SETTLED_MS, MAX_EVENTS);
  for (const webhook of webhooks.values()) if (stateOf(webhook).name === "disabled") owner.enable(webhook.name);
  await world.run(world.now + SETTLED_MS, MAX_EVENTS);
  const subscriptions = [...chats.values()].flatMap((chat) => subscriptionsOf(parts, chat));
  const healthy = subscriptions.filter(({ subscription }) => !isDead || subscription.webhookId !== ill);
  for (const { chat, subscription, dueAt } of healthy.sort((one, other) => one.dueAt - other.dueAt)) {
    await world.run(dueAt + GRACE_MS, MAX_EVENTS);
    const webhook = webhooks.get(subscription.webhookId);
    // It has failed for days, and no subscription was due to find out that it works again.
    if (webhook && stateOf(webhook).name === "disabled") {
      owner.enable(webhook.name);
      await world.run(world.now + GRACE_MS, MAX_EVENTS);
    }
    if (!isAlive(parts, chat, subscription)) continue;
    const left = judge.left(subscription);
    world.check(
      "complete",
      left.length === 0,
      () => `${subscription.chatId} still owes ${subscription.webhookId} the events ${left.join()}`,
    );
    checkKnown(parts, chat, subscription);
  }
  const works = [...webhooks.values()].filter(({ name }) => {
    return !(isDead && name === ill) && judge.book.webhooks.get(name)?.isBeingDeleted === false;
  });
  if (works.length === 0) return;
  await checkHurry(parts, world.pick(works));
  await checkReplay(parts, world.pick(works));
}

/** The subscriptions of a chat, and when nothing makes them wait. */
function subscriptionsOf({ world, judge, webhooks }: Parts, chat: SimulatedObject) {
  const identity = chat.storage.get<SubscriptionIdentity>("identity");
  if (!identity) return [];
  return [...judge.book.webhooks.values()].map(({ id }) => {
    const stored = chat.storage.get<Subscription>(`line ${id}`);
    const webhook = webhooks.get(id);
    const { pausedUntil, probes } = webhook ? stateOf(webhook) : { pausedUntil: 0, probes: null };
    const replays = (stored?.replays ?? []).map(({ head }) => head?.nextAt ?? 0);
    const dueAt = Math.max(world.now, stored?.head?.nextAt ?? 0, pausedUntil, probes?.probeAt ?? 0, ...replays);
    return { chat, subscription: judge.book.subscription(id, chat.name, identity.life), dueAt };
  });
}

function isAlive({ judge }: Parts, chat: SimulatedObject, { webhookId, life }: BookedSubscription): boolean {
  const isSame = chat.storage.get<SubscriptionIdentity>("identity")?.life === life;
  return isSame && !judge.book.webhooks.get(webhookId)?.isDeleted;
}

/** The webhook's object knows what the subscription gave up. */
function checkKnown({ world, webhooks }: Parts, chat: SimulatedObject, subscription: BookedSubscription): void {
  const stored = chat.storage.get<Subscription>(`line ${subscription.webhookId}`);
  const owed = stored?.unreported.length ?? 0;
  world.check(
    "known",
    owed === 0,
    () => `${subscription.chatId} has not told ${subscription.webhookId} what it gave up`,
  );
  const failed = webhooks
    .get(subscription.webhookId)
    ?.storage.read<{ first: number; last: number }>(
      "failed",
      "select first, last from failed where line = ?",
      subscription.chatId,
    );
  for (const [number, end] of subscription.ended) {
    if (end !== "given up" || subscription.replayed.has(number)) continue;
    const isKnown = failed?.some(({ first, last }) => first <= number && number <= last);
    world.check(
      "known",
      isKnown === true,
      () => `${subscription.webhookId} does not know that event ${number} was given up`,
    );
  }
}
