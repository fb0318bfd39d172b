import type { EventRange, WebhookList } from "../../model/webhook.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import type { ObjectSubscriptions } from "../../webhooks/subscription/object-subscriptions.ts";
import { isNoticeSubscription, type OwnSubscriptionParts, ownPart } from "./own-part.ts";

/**
 * The subscriptions that deliver the organization's own events to webhooks. The notices of the webhooks have
 * subscriptions of their own: the deletion of a channel's thousands of chats must not hold up the news that a webhook
 * fails.
 */
export class OwnSubscriptions {
  readonly parts: { notices: ObjectSubscriptions; events: ObjectSubscriptions };

  constructor(parts: OwnSubscriptionParts) {
    this.parts = { notices: ownPart(parts, "notices"), events: ownPart(parts, "events") };
  }

  configure(list: WebhookList, startAfter: number): void {
    for (const part of Object.values(this.parts)) part.configure(list, startAfter);
  }

  /** An event was stored in a transaction, which may still fail. */
  onEvent(): void {
    queueMicrotask(() => {
      for (const part of Object.values(this.parts)) part.start();
    });
  }

  /** See `Subscriptions.wake`. @param subscriptionId which of the webhook's two subscriptions */
  wake(
    webhookId: string,
    number: number,
    startedAt: number,
    subscriptionId: string,
    depth?: number,
  ): Promise<number | null> {
    const part = isNoticeSubscription(subscriptionId) ? this.parts.notices : this.parts.events;
    return part.wake(webhookId, number, startedAt, depth);
  }

  /** See `Subscriptions.replay`. @param subscriptionId only this subscription; the organization's id for both */
  async replay(webhookId: string, replayId: string, ranges: EventRange[], subscriptionId: string): Promise<number> {
    const found = await this.parts.notices.replay(webhookId, replayId, ranges);
    if (isNoticeSubscription(subscriptionId)) return found;
    // Both look at all events of the ranges: not in one step.
    await SYSTEM_CLOCK.wait(0);
    return found + (await this.parts.events.replay(webhookId, replayId, ranges));
  }
}
