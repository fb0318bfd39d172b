import { pick } from "../model/pick.ts";
import { isoTime, isoTimeOrNull } from "../model/time.ts";
import type { LoggedAttempt, SubscriptionDescription, WebhookDescription } from "../model/webhook.ts";
import type { WebhookRow } from "./webhook-rows.ts";

/** A webhook at `now`, as the API shows it, without its secret. */
export function presentWebhook(row: WebhookRow, description: WebhookDescription, now: number) {
  const { since, disablesAt, pausedUntil, lastSuccessAt } = description;
  const previousLives = row.previousUntil !== null && row.previousUntil > now;
  return {
    ...pick(row, "id", "organizationId", "url", "description", "types", "channels"),
    ...pick(row, "payload", "perSecond", "concurrency"),
    ...pick(description, "state", "reason"),
    since: isoTime(since),
    disablesAt: isoTimeOrNull(disablesAt),
    pausedUntil: isoTimeOrNull(pausedUntil),
    ...pick(description, "waitingChats", "failed"),
    lastSuccessAt: isoTimeOrNull(lastSuccessAt),
    previousSecretExpiresAt: previousLives ? isoTimeOrNull(row.previousUntil) : null,
    createdBy: row.createdBy,
    createdAt: isoTime(row.createdAt),
  };
}

export function presentAttempt(attempt: LoggedAttempt) {
  const { eventId, eventType, lineId: subscriptionId, number, startedAt, httpStatus } = attempt;
  const isOfChat = subscriptionId.startsWith("cht_");
  return {
    eventId,
    type: eventType,
    chatId: isOfChat ? subscriptionId : null,
    number: isOfChat ? number : null,
    startedAt: isoTime(startedAt),
    ...pick(attempt, "durationMs", "outcome"),
    ...(httpStatus !== null && { httpStatus }),
    ...pick(attempt, "code", "message"),
  };
}

/** What a chat sends to a webhook, as the API shows it. */
export function presentSubscription(
  chatId: string,
  { pending, head, nextAttemptAt, attempts }: SubscriptionDescription,
) {
  return {
    pending,
    head: head && { eventId: head.eventId, number: head.number, type: head.eventType, tries: head.tries },
    nextAttemptAt: isoTimeOrNull(nextAttemptAt),
    attempts: attempts.map((attempt) => ({
      ...presentAttempt({ ...attempt, lineId: chatId }),
      response: attempt.response,
    })),
  };
}
