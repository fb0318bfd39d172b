import type { EventRange, WebhookList } from "../../model/webhook.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import type { ObjectLines } from "../../webhooks/subscription/object-subscriptions.ts";
import { isNoticeLine, type OwnLineParts, ownPart } from "./own-part.ts";

/**
 * The lines that deliver the organization's own events to webhooks. The notices of the webhooks have lines of their own:
 * the deletion of a channel's thousands of chats must not hold up the news that a webhook fails.
 */
export class OwnLines {
  readonly parts: { notices: ObjectLines; events: ObjectLines };

  constructor(parts: OwnLineParts) {
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

  /** See `Lines.wake`. @param lineId which of the webhook's two lines */
  wake(webhookId: string, number: number, startedAt: number, lineId: string): Promise<number | null> {
    const part = isNoticeLine(lineId) ? this.parts.notices : this.parts.events;
    return part.wake(webhookId, number, startedAt);
  }

  /** See `Lines.replay`. @param lineId only this line; the organization's id for both */
  async replay(webhookId: string, replayId: string, ranges: EventRange[], lineId: string): Promise<number> {
    const found = await this.parts.notices.replay(webhookId, replayId, ranges);
    if (isNoticeLine(lineId)) return found;
    // Both look at all events of the ranges: not in one step.
    await SYSTEM_CLOCK.wait(0);
    return found + (await this.parts.events.replay(webhookId, replayId, ranges));
  }
}
