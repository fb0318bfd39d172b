import type { LineDescription, LoggedAttempt, WebhookDescription } from "./rpc.ts";
import type { WebhookRow } from "./webhook-rows.ts";

/** A webhook at `now`, as the API shows it, without its secret. */
export function presentWebhook(row: WebhookRow, description: WebhookDescription, now: number) {
  const { id, organizationId, url, types, channels, payload, perSecond, concurrency } = row;
  const { state, reason, since, disablesAt, pausedUntil = null, waitingChats, failed, lastSuccessAt } = description;
  const previousLives = row.previousUntil !== null && row.previousUntil > now;
  return {
    id,
    organizationId,
    url,
    description: row.description,
    types,
    channels,
    payload,
    perSecond,
    concurrency,
    state,
    reason,
    since: new Date(since).toISOString(),
    disablesAt: timeOrNull(disablesAt),
    pausedUntil: timeOrNull(pausedUntil),
    waitingChats,
    failed,
    lastSuccessAt: timeOrNull(lastSuccessAt),
    previousSecretExpiresAt: previousLives ? timeOrNull(row.previousUntil) : null,
    createdBy: row.createdBy,
    createdAt: new Date(row.createdAt).toISOString(),
  };
}

/** An attempt, as the API shows it. */
export function presentAttempt(attempt: LoggedAttempt) {
  const { eventId, eventType, lineId, number, startedAt, durationMs, outcome, httpStatus, code, message } = attempt;
  const isOfChat = lineId.startsWith("cht_");
  return {
    eventId,
    type: eventType,
    chatId: isOfChat ? lineId : null,
    number: isOfChat ? number : null,
    startedAt: new Date(startedAt).toISOString(),
    durationMs,
    outcome,
    ...(httpStatus !== null && { httpStatus }),
    code,
    message,
  };
}

/** What a chat sends to a webhook, as the API shows it. */
export function presentLine(chatId: string, { pending, head, nextAttemptAt, attempts }: LineDescription) {
  return {
    pending,
    head: head && { eventId: head.eventId, number: head.number, type: head.eventType, tries: head.tries },
    nextAttemptAt: timeOrNull(nextAttemptAt),
    attempts: attempts.map((attempt) => ({
      ...presentAttempt({ ...attempt, lineId: chatId }),
      response: attempt.response,
    })),
  };
}

function timeOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
