import type { StoredLine } from "../../../src/webhooks/subscription/subscription.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { LineIdentity } from "./chat.ts";
import type { WebhookJudge } from "./judge.ts";
import type { Owner } from "./owner.ts";
import { pass } from "./pass.ts";
import { stateOf } from "./permit-judge.ts";
import type { Receivers } from "./receivers.ts";
import type { WebhookWorld } from "./rules.ts";
import type { BookedLine } from "./subscriptions-book.ts";

interface Parts {
  world: WebhookWorld;
  judge: WebhookJudge;
  owner: Owner;
  receivers: Receivers;
  chats: ReadonlyMap<string, SimulatedObject>;
}

interface OwedLine {
  chat: SimulatedObject;
  line: BookedLine;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY_S = 86_400;
/** Clocks differ by less. A try that began later may count as one after the act. */
const CLOCKS_MS = MINUTE;
/** How long all lines may take after the act, at a call a second and one at a time. */
const HURRY_MS = 30 * SECOND;

/** Ends the waits of a webhook that works again: those of a pause, and those of events that failed. @throws Violation */
export async function checkHurry(parts: Parts, webhook: SimulatedObject): Promise<void> {
  const { world, judge, chats } = parts;
  const { name } = webhook;
  await pass(world, 2 * MINUTE);
  const lines = [...chats.values()].flatMap((chat): OwedLine[] => {
    const identity = chat.storage.get<LineIdentity>("identity");
    const isKnown = identity && chat.storage.get(`line ${name}`) !== undefined;
    return isKnown ? [{ chat, line: judge.book.line(name, chat.name, identity.life) }] : [];
  });
  const isIdle = lines.every(({ line }) => judge.left(line).length === 0);
  if (lines.length === 0 || !isIdle || stateOf(webhook).name === "disabled") return;
  if (world.random() < 0.5) await endPause(parts, webhook, lines);
  else await retryAll(parts, webhook, lines);
}

/** One chat's event pauses the webhook for a minute. The events of the others must not wait for it once it is ended. */
async function endPause(parts: Parts, webhook: SimulatedObject, lines: OwedLine[]): Promise<void> {
  const { world, owner, receivers } = parts;
  const busy = world.pick(lines);
  receivers.pausing.set(busy.chat.name, DAY_S);
  write(world, busy);
  await pass(world, 5 * SECOND);
  receivers.pausing.clear();
  // Its filter may let no message through.
  if (stateOf(webhook).pausedUntil < webhook.now + 40 * SECOND) return;
  const others = lines.filter((line) => line !== busy);
  for (const line of others) write(world, line);
  await pass(world, 5 * SECOND);
  if (world.random() < 0.5) webhook.lose();
  if (world.random() < 0.5) owner.enable(webhook.name);
  else owner.retry(webhook.name);
  world.count("a pause is ended");
  // The busy chat's own event was tried just now.
  await checkNothingWaits(parts, "ended", others);
}

/** The receiver fails for a while. Then all that waits must be sent at one word. */
async function retryAll(parts: Parts, webhook: SimulatedObject, lines: OwedLine[]): Promise<void> {
  const { world, owner, receivers } = parts;
  receivers.sick.set(webhook.name, 500);
  for (const line of lines) write(world, line);
  await pass(world, 3 * MINUTE);
  receivers.sick.delete(webhook.name);
  const lastTryAt = Math.max(...lines.map(({ line }) => Math.max(0, ...line.plannedAt.values())));
  // Its next try may come first.
  await pass(world, Math.max(0, lastTryAt + CLOCKS_MS - world.now));
  if (world.random() < 0.5) webhook.lose();
  const actedAt = webhook.now;
  owner.retry(webhook.name);
  world.count(`retried: ${stateOf(webhook).name}`);
  await checkNothingWaits(parts, "hurried", lines, (line) => isTriedSince(line, webhook.name, actedAt));
}

/** Whether an event was tried after the act by its chat's clock, and waits for its own next try. */
function isTriedSince({ chat }: OwedLine, webhookId: string, actedAt: number): boolean {
  const last = chat.storage.get<StoredLine>(`line ${webhookId}`)?.recent.at(-1);
  return last !== undefined && last.outcome === "retry" && last.startedAt >= actedAt;
}

async function checkNothingWaits(
  { world, judge }: Parts,
  rule: "ended" | "hurried",
  lines: OwedLine[],
  mayWait: (line: OwedLine) => boolean = () => false,
): Promise<void> {
  await pass(world, HURRY_MS);
  for (const owed of lines) {
    const { chat, line } = owed;
    if (chat.storage.get<LineIdentity>("identity")?.life !== line.life || mayWait(owed)) continue;
    const left = judge.left(line);
    world.check(rule, left.length === 0, () => `${line.chatId} lets ${line.webhookId} wait for ${left.join()}`);
  }
}

function write(world: WebhookWorld, { chat }: OwedLine): void {
  world.after(world.between(0, 50), () => chat.receive("write", [["hurried"]], () => {}));
}
