import type { Subscription } from "../../../src/webhooks/subscription/subscription.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { WebhookWorld } from "./rules.ts";

/**
 * Checks that a subscription that waits for a webhook will be woken: the webhook's object knows it under the number
 * that the subscription has, or a later one. A wake-up with an earlier number does not end the wait.
 */
export function checkWait(world: WebhookWorld, chat: SimulatedObject, webhook: SimulatedObject): void {
  const waiting = chat.storage.get<Subscription>(`line ${webhook.name}`)?.waiting;
  if (!waiting) return;
  const query = "select number from waiting where line = ?";
  const [row] = webhook.storage.read<{ number: number }>("waiting", query, chat.name);
  const known = row?.number ?? null;
  world.check(
    "wake",
    known !== null && known >= waiting.number,
    () => `${chat.name} waits for ${webhook.name} with the number ${waiting.number}, and its object has ${known}`,
  );
}
