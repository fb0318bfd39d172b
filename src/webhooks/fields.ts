import * as z from "zod/mini";
import { beforeQuery } from "../http/pagination.ts";
import { fault } from "../http/validation.ts";
import { EVENT_TYPES } from "../model/event.ts";
import { TYPE_PATTERNS } from "../model/event-filter.ts";
import { atMost, instant, notBlankIfGiven, notEmpty, optional, requiredText, wellFormed } from "../model/field.ts";
import { ATTEMPT_OUTCOMES, PAYLOADS, type ReplayRequest } from "../model/webhook.ts";
import { MAX_WEBHOOK_URL } from "../model/webhook-url.ts";

export const WEBHOOK_DEFAULTS = { payload: "full", perSecond: 50, concurrency: 20 } as const;
export const WEBHOOK_MOST = { perSecond: 500, concurrency: 200 } as const;

/** How many entries `types` and `channels` of a webhook can have. */
export const MAX_FILTERS = 100;
export const MAX_WEBHOOK_OVERLAP_SECONDS = 7 * 86_400;
const DEFAULT_OVERLAP_SECONDS = 86_400;

const id = requiredText(64);

const fields = {
  url: requiredText(MAX_WEBHOOK_URL),
  types: z.array(z.enum(TYPE_PATTERNS)).check(z.minLength(1), z.maxLength(MAX_FILTERS)),
  channels: z.array(z.string().check(notEmpty, ...atMost(64))).check(z.minLength(1), z.maxLength(MAX_FILTERS)),
  payload: z.enum(PAYLOADS),
  perSecond: z.int().check(z.gte(1), z.lte(WEBHOOK_MOST.perSecond)),
  concurrency: z.int().check(z.gte(1), z.lte(WEBHOOK_MOST.concurrency)),
  description: z.string().check(notBlankIfGiven, wellFormed, ...atMost(1_000)),
};

/** The body of `POST /webhooks`. `webhookUrlFault` checks the URL. */
export const newWebhookBody = z.object({
  url: fields.url,
  types: optional(fields.types),
  channels: optional(fields.channels),
  payload: optional(fields.payload),
  perSecond: optional(fields.perSecond),
  concurrency: optional(fields.concurrency),
  description: optional(fields.description),
});

/** The body of `PATCH /webhooks/{id}`. Absent fields don't change. Null restores the default. */
export const webhookPatch = z.object({
  url: z.optional(fields.url),
  types: z.nullish(fields.types),
  channels: z.nullish(fields.channels),
  payload: z.nullish(fields.payload),
  perSecond: z.nullish(fields.perSecond),
  concurrency: z.nullish(fields.concurrency),
  description: z.nullish(fields.description),
});

/** The body of a rotation: how long the old secret signs too. */
export const webhookRotation = z.object({
  overlapSeconds: z.pipe(
    optional(z.int().check(z.gte(0), z.lte(MAX_WEBHOOK_OVERLAP_SECONDS))),
    z.transform((seconds) => seconds ?? DEFAULT_OVERLAP_SECONDS),
  ),
});

/** The body of a ping: the type of the sample event. Without one, an event of the type `ping`. */
export const pingBody = z.object({ type: optional(z.enum(EVENT_TYPES)) });

/** The body of `POST /webhooks/{id}/enable`: whether the pending events are sent, or only those from now on. */
export const enableBody = z.object({
  from: z.pipe(
    optional(z.enum(["pending", "now"])),
    z.transform((from) => from ?? ("pending" as const)),
  ),
});

/** The body of `POST /webhooks/{id}/chats/{chatId}/skip`. */
export const skipBody = z.object({ eventId: id });

/** The body of `POST /webhooks/{id}/replays`. `replayRequest` reads it. */
export const replayBody = z.object({
  eventId: optional(id),
  failed: optional(z.boolean().check(z.refine((failed) => failed, "must be true"))),
  since: optional(instant),
  until: optional(instant),
});

/** The query of `GET /webhooks/{id}/attempts`. */
export const attemptsQuery = z.extend(beforeQuery, {
  outcome: z.optional(z.enum(ATTEMPT_OUTCOMES)),
  chat: z.optional(z.string().check(notEmpty, ...atMost(64))),
});

/** Which events a replay sends. @throws ApiError `validation_failed` unless exactly one way to choose them is given */
export function replayRequest({ eventId, failed, since, until }: z.output<typeof replayBody>): ReplayRequest {
  const given = [eventId, failed, since].filter((each) => each !== undefined);
  if (given.length !== 1) throw fault("", "must have exactly one of eventId, failed and since");
  if (until !== undefined && since === undefined) throw fault("until", "can only be given with since");
  if (until !== undefined && since !== undefined && until < since) throw fault("until", "must not be before since");
  if (eventId !== undefined) return { eventId };
  return since === undefined ? { failed: true } : { since, until };
}
