import type { StoredReplay } from "../../../src/webhooks/object/replay-run.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { SubscriptionIdentity } from "./chat.ts";
import type { WebhookJudge } from "./judge.ts";
import type { Owner } from "./owner.ts";
import { pass } from "./pass.ts";
import { stateOf } from "./permit-judge.ts";
import type { WebhookWorld } from "./rules.ts";

interface Parts {
  world: WebhookWorld;
  judge: WebhookJudge;
  owner: Owner;
  chats: ReadonlyMap<string, SimulatedObject>;
}

const HOUR = 3_600_000;
/** After this time, another replay may start. */
const STALE_MS = 97 * HOUR;

/**
 * Sends everything to a webhook that works again, while one chat does not answer and another one can't be reached at
 * first.
 * @throws Violation
 */
export async function checkReplay(parts: Parts, webhook: SimulatedObject): Promise<void> {
  const { world, owner, chats } = parts;
  await pass(world, STALE_MS);
  const all = [...chats.values()].filter(({ storage }) => storage.get(`line ${webhook.name}`) !== undefined);
  if (all.length === 0 || stateOf(webhook).name === "disabled") return;
  const silent = all.length > 1 && world.random() < 0.7 ? world.pick(all) : null;
  if (silent) silent.isSilent = true;
  const others = all.filter((chat) => chat !== silent);
  const away = world.random() < 0.5 ? world.pick(others) : null;
  if (away) {
    away.isAway = true;
    world.after(world.between(20, 500), () => {
      away.isAway = false;
    });
  }
  owner.replay(webhook.name, { since: 0 });
  await pass(world, 2 * HOUR);
  const replay = webhook.storage.get<StoredReplay>("replay");
  world.check("replayed", replay !== undefined, () => `${webhook.name} has no replay`);
  if (!replay) return;
  const isOver = replay.search.kind === "done";
  world.check("replayed", isOver, () => `${webhook.name} has not asked each chat for the events of its replay`);
  for (const chat of others) checkReplayed(parts, chat, webhook.name, replay.id);
  if (!silent) return;
  world.count("a replay past a silent chat");
  silent.isSilent = false;
  await pass(world, 2 * HOUR);
  checkReplayed(parts, silent, webhook.name, replay.id);
}

function checkReplayed({ world, judge }: Parts, chat: SimulatedObject, webhookId: string, replayId: string): void {
  const identity = chat.storage.get<SubscriptionIdentity>("identity");
  if (!identity) return;
  const subscription = judge.book.subscription(webhookId, chat.name, identity.life);
  const sent = judge.book.replayedBy(subscription, replayId);
  const left = judge.book.matching(subscription).filter(({ number }) => !sent.has(number));
  const numbers = () => left.map(({ number }) => number).join();
  world.check("replayed", left.length === 0, () => `${chat.name} has not sent ${webhookId} ${numbers()} again`);
}
