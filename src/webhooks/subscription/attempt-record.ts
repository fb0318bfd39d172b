import type { EventFact } from "../../model/event.ts";
import type { WebhookAttempt } from "../../model/webhook.ts";
import type { CallResult } from "./call-webhook.ts";

/** The event of an attempt, and the subscription that sends it. */
export interface AttemptedEvent {
  subscriptionId: string;
  eventId: string;
  fact: Pick<EventFact, "number" | "type">;
  replayId: string | null;
}

/** How an attempt ended. */
export type AttemptEnd = Pick<WebhookAttempt, "outcome" | "permit"> & Omit<CallResult, "class" | "counts" | "response">;

/** An attempt as the webhook's object gets it. */
export function attemptRecord(
  { subscriptionId, eventId, fact: { number, type: eventType }, replayId }: AttemptedEvent,
  { outcome, permit, startedAt, durationMs, httpStatus, code, message, retryAfterMs }: AttemptEnd,
): WebhookAttempt {
  const event = { lineId: subscriptionId, number, eventId, eventType, replayId };
  return { permit, ...event, startedAt, durationMs, outcome, httpStatus, code, message, retryAfterMs };
}
