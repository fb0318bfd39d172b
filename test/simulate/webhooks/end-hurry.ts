import type { Subscription } from "../../../src/webhooks/subscription/subscription.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { SubscriptionIdentity } from "./chat.ts";
import type { WebhookJudge } from "./judge.ts";
import type { Owner } from "./owner.ts";
import { pass } from "./pass.ts";
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
}

interface OwedSubscription {
  chat: SimulatedObject;
  subscription: BookedSubscription;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY_S = 86_400;
/** Clocks differ by less. A try that began later may count as one after the act. */
const CLOCKS_MS = MINUTE;
/** How long all subscriptions may take after the act, at a call a second and one at a time. */
const HURRY_MS = 30 * SECOND;

/**
 * Ends the waits of a webhook that works again: those of a pause, and those of events that failed.
 * @throws Violation
 */
export async function checkHurry(parts: Parts, webhook: SimulatedObject): Promise<void> {
  const { world, judge, chats } = parts;
  const { name } = webhook;
  await pass(world, 2 * MINUTE);
  const subscriptions = [...chats.values()].flatMap((chat): OwedSubscription[] => {
    const identity = chat.storage.get<SubscriptionIdentity>("identity");
    const isKnown = identity && chat.storage.get(`line ${name}`) !== undefined;
    return isKnown ? [{ chat, subscription: judge.book.subscription(name, chat.name, identity.life) }] : [];
  });
  const isIdle = subscriptions.every(({ subscription }) => judge.left(subscription).length === 0);
  if (subscriptions.length === 0 || !isIdle || stateOf(webhook).name === "disabled") return;
  if (world.random() < 0.5) await endPause(parts, webhook, subscriptions);
  else await retryAll(parts, webhook, subscriptions);
}

/** One chat's event pauses the webhook for a minute. The events of the others must not wait for it once it is ended. */
async function endPause(parts: Parts, webhook: SimulatedObject, subscriptions: OwedSubscription[]): Promise<void> {
  const { world, owner, receivers } = parts;
  const busy = world.pick(subscriptions);
  receivers.pausing.set(busy.chat.name, DAY_S);
  write(world, busy);
  await pass(world, 5 * SECOND);
  receivers.pausing.clear();
  // Its filter may let no message through.
  if (stateOf(webhook).pausedUntil < webhook.now + 40 * SECOND) return;
  const others = subscriptions.filter((subscription) => subscription !== busy);
  for (const subscription of others) write(world, subscription);
  await pass(world, 5 * SECOND);
  if (world.random() < 0.5) webhook.lose();
  if (world.random() < 0.5) owner.enable(webhook.name);
  else owner.retry(webhook.name);
  world.count("a pause is ended");
  // The busy chat's own event was tried just now.
  await checkNothingWaits(parts, "ended", others);
}

/** The receiver fails for a while. Then all that waits must be sent at one word. */
async function retryAll(parts: Parts, webhook: SimulatedObject, subscriptions: OwedSubscription[]): Promise<void> {
  const { world, owner, receivers } = parts;
  receivers.sick.set(webhook.name, 500);
  for (const subscription of subscriptions) write(world, subscription);
  await pass(world, 3 * MINUTE);
  receivers.sick.delete(webhook.name);
  const lastTryAt = Math.max(
    ...subscriptions.map(({ subscription }) => Math.max(0, ...subscription.plannedAt.values())),
  );
  // Its next try may come first.
  await pass(world, Math.max(0, lastTryAt + CLOCKS_MS - world.now));
  if (world.random() < 0.5) webhook.lose();
  const actedAt = webhook.now;
  owner.retry(webhook.name);
  world.count(`retried: ${stateOf(webhook).name}`);
  await checkNothingWaits(parts, "hurried", subscriptions, (subscription) =>
    isTriedSince(subscription, webhook.name, actedAt),
  );
}

/** Whether an event was tried after the act by its chat's clock, and waits for its own next try. */
function isTriedSince({ chat }: OwedSubscription, webhookId: string, actedAt: number): boolean {
  const last = chat.storage.get<Subscription>(`line ${webhookId}`)?.recent.at(-1);
  return last !== undefined && last.outcome === "retry" && last.startedAt >= actedAt;
}

async function checkNothingWaits(
  { world, judge }: Parts,
  rule: "ended" | "hurried",
  subscriptions: OwedSubscription[],
  mayWait: (subscription: OwedSubscription) => boolean = () => false,
): Promise<void> {
  await pass(world, HURRY_MS);
  for (const owed of subscriptions) {
    const { chat, subscription } = owed;
    if (chat.storage.get<SubscriptionIdentity>("identity")?.life !== subscription.life || mayWait(owed)) continue;
    const left = judge.left(subscription);
    world.check(
      rule,
      left.length === 0,
      () => `${subscription.chatId} lets ${subscription.webhookId} wait for ${left.join()}`,
    );
  }
}

function write(world: WebhookWorld, { chat }: OwedSubscription): void {
  world.after(world.between(0, 50), () => chat.receive("write", [["hurried"]], () => {}));
}
