import type * as z from "zod/mini";
import { callChat } from "../calls/call-chat.ts";
import { callObject, NEARBY } from "../calls/call-object.ts";
import { findEvent } from "../events/ports.ts";
import { fault } from "../http/validation.ts";
import type { RequestAct } from "../keys/audited.ts";
import { ApiError } from "../model/error.ts";
import type { EventType } from "../model/event.ts";
import { isId } from "../model/id.ts";
import type { WalkPagination } from "../model/list-page.ts";
import type { ReplayProgress, ReplayRequest, SubscriptionDescription } from "../model/webhook.ts";
import type { attemptsQuery, enableBody } from "./fields.ts";
import { presentAttempt, presentSubscription } from "./present-webhook.ts";
import { findActiveWebhook, findWebhook, type WebhookRow, type WebhookScope } from "./webhook-rows.ts";
import { describeWebhook } from "./webhooks.ts";

/** What the clients of a webhook do with it, besides changing its settings. */

/** Enables a webhook. Enabling an enabled one changes nothing. */
export async function enableWebhook(env: Env, scope: WebhookScope, id: string, { from }: z.output<typeof enableBody>) {
  const webhook = await findActiveWebhook(env, scope, id);
  await callObject(env.WEBHOOKS, id, (object) => object.enable(id, from), NEARBY);
  return describeWebhook(env, webhook);
}

/**
 * Tries all events that wait for a webhook: those that wait for the end of a pause, for a failing webhook, or for their
 * next try. @throws ApiError `webhook_disabled`
 */
export async function retryWebhook(env: Env, scope: WebhookScope, id: string) {
  const webhook = await findActiveWebhook(env, scope, id);
  const outcome = await callObject(env.WEBHOOKS, id, (object) => object.retry(id), NEARBY);
  if (outcome !== "retried") throw new ApiError(outcome);
  return describeWebhook(env, webhook);
}

/** Disables a webhook. Its events wait until it is enabled. It never waits for the audit log. */
export async function disableWebhook(env: Env, scope: WebhookScope, { row }: RequestAct, id: string) {
  const webhook = await findActiveWebhook(env, scope, id);
  const reason = scope.actor.type === "operator" ? "operator" : "customer";
  await callObject(env.WEBHOOKS, id, (object) => object.disable(id, reason, { ...row, status: 200 }), NEARBY);
  return describeWebhook(env, webhook);
}

/** Sends a sample event, and waits for the answer. @throws ApiError `unavailable` if another ping was made just now */
export async function sendPing(env: Env, scope: WebhookScope, id: string, type: EventType | undefined) {
  await findActiveWebhook(env, scope, id);
  const attempt = await callObject(env.WEBHOOKS, id, (object) => object.ping(id, type ?? null), NEARBY);
  if (!attempt) throw new ApiError("webhook_not_found");
  if ("retryAfterMs" in attempt) {
    const headers = { "Retry-After": String(Math.ceil(attempt.retryAfterMs / 1_000)) };
    throw new ApiError("unavailable", {
      text: "Another ping is under way, or the webhook's pace allows none now. Try again later",
      headers,
    });
  }
  return presentAttempt(attempt);
}

/** A page of a webhook's last attempts, newest first. @throws ApiError `validation_failed` for an unknown cursor */
export async function listAttempts(
  env: Env,
  scope: WebhookScope,
  id: string,
  { limit, before, outcome, chat }: z.output<typeof attemptsQuery>,
) {
  if (before !== undefined && !/^\d{1,15}$/.test(before)) throw fault("before", "is not a cursor of this list");
  await findWebhook(env, scope, id);
  const page = await callObject(
    env.WEBHOOKS,
    id,
    (object) => object.attempts({ outcome, lineId: chat }, { before: before ?? null, limit }),
    NEARBY,
  );
  const pagination: WalkPagination = { limit, hasMore: page.cursor !== null, cursor: page.cursor };
  return { attempts: page.attempts.map(presentAttempt), pagination };
}

/** What a chat that does not know the webhook yet sends to it. */
const EMPTY_SUBSCRIPTION: SubscriptionDescription = { pending: 0, head: null, nextAttemptAt: null, attempts: [] };

/** What a chat sends to a webhook. @throws ApiError `chat_not_found` */
export async function readSubscription(env: Env, scope: WebhookScope, id: string, chatId: string) {
  return subscriptionOf(env, await findWebhook(env, scope, id), chatId);
}

/**
 * Ends the wait of a chat's first event for its next try. The webhook's own waits stay.
 * @returns what the chat sends to the webhook then
 * @throws ApiError `chat_not_found`
 */
export async function retryEvent(env: Env, scope: WebhookScope, id: string, chatId: string) {
  const webhook = await findActiveWebhook(env, scope, id);
  const { organizationId } = webhook;
  await callChat(env, { organizationId }, chatId, (chat, as) => chat.retryEvent(as, id));
  return subscriptionOf(env, webhook, chatId);
}

/**
 * Gives up the event that a chat must send next to a webhook.
 * @returns what the chat sends to the webhook then
 * @throws ApiError `chat_not_found`, `not_head`
 */
export async function skipEvent(env: Env, scope: WebhookScope, id: string, chatId: string, eventId: string) {
  const webhook = await findActiveWebhook(env, scope, id);
  const { organizationId } = webhook;
  const { outcome } = await callChat(env, { organizationId }, chatId, (chat, as) => chat.skipEvent(as, id, eventId));
  if (outcome !== "skipped") throw new ApiError("not_head");
  return subscriptionOf(env, webhook, chatId);
}

async function subscriptionOf(env: Env, { id, organizationId }: WebhookRow, chatId: string) {
  const answer = await callChat(env, { organizationId }, chatId, (chat, as) => chat.webhookLine(as, id));
  return presentSubscription(chatId, answer.outcome === "ok" ? answer.line : EMPTY_SUBSCRIPTION);
}

/** Starts to send events again. @throws ApiError `replay_running`, `webhook_disabled`, `event_not_found` */
export async function startReplay(
  env: Env,
  scope: WebhookScope,
  id: string,
  request: ReplayRequest,
): Promise<ReplayProgress> {
  const { organizationId } = await findActiveWebhook(env, scope, id);
  // The webhook's object finds the event by its number, which an event of a deleted chat may have too.
  if ("eventId" in request) await findEvent(env, { organizationId }, request.eventId);
  const answer = await callObject(env.WEBHOOKS, id, (object) => object.replay(id, request), NEARBY);
  if (answer.outcome !== "started") throw new ApiError(answer.outcome);
  return answer.replay;
}

/** A replay's progress. @throws ApiError `replay_not_found` */
export async function readReplay(env: Env, scope: WebhookScope, id: string, replayId: string): Promise<ReplayProgress> {
  await findWebhook(env, scope, id);
  const replay = isId("rpl", replayId)
    ? await callObject(env.WEBHOOKS, id, (object) => object.replayState(replayId), NEARBY)
    : null;
  if (!replay) throw new ApiError("replay_not_found");
  return replay;
}
