import * as z from "zod";
import { EVENT_TYPES } from "../model/event.ts";
import type * as pages from "../model/list-page.ts";
import { ATTEMPT_OUTCOMES, DISABLED_REASONS, PAYLOADS, type ReplayProgress, WEBHOOK_STATES } from "../model/webhook.ts";
import type { presentAttempt, presentSubscription, presentWebhook } from "../webhooks/present-webhook.ts";
import {
  count,
  countOrNull,
  id,
  oneOf,
  resource,
  text,
  textOrNull,
  time,
  timeOrNull,
  yesOrNo,
} from "./typed-schema.ts";

export const webhookSchema = resource<ReturnType<typeof presentWebhook>>()(
  "Webhook",
  "A URL that the service calls with events.",
  z.object({
    id: id("webhook"),
    organizationId: id("organization"),
    url: text("The URL, in its normalized form"),
    description: textOrNull("What it is for, in the client's own words"),
    types: z.array(z.string()).nullable().describe("The types of events that it gets. Null: all"),
    channels: z.array(z.string()).nullable().describe("The ids of the channels whose events it gets. Null: all"),
    payload: oneOf(
      PAYLOADS,
      "`thin` events have ids and facts, but no message, chat, contact's address or name of a person",
    ),
    perSecond: count.describe("The maximum number of calls per second"),
    concurrency: count.describe("The maximum number of calls at a time"),
    state: oneOf(
      WEBHOOK_STATES,
      "`trial`: one call at a time until the first 2xx. `ok`: it works. `failing`: the last calls failed, and single calls test whether it works again. `disabled`: no calls; its events wait",
    ),
    reason: z
      .enum(DISABLED_REASONS)
      .nullable()
      .describe(
        "Why it is disabled. `failing`: no 2xx for five days. `gone`: it answered 410. `customer`, `operator`: who disabled it",
      ),
    since: time("When the state last changed"),
    disablesAt: timeOrNull("When a failing webhook will be disabled"),
    pausedUntil: timeOrNull("It is not called before then, because it asked for a pause with `Retry-After`"),
    waitingChats: count.describe("The number of chats whose events wait for it, or for their next try"),
    failed: count.describe("The number of events that were given up"),
    lastSuccessAt: timeOrNull("When it last answered with a 2xx"),
    previousSecretExpiresAt: timeOrNull(
      "When the secret before the last rotation stops signing. Null: only one secret signs",
    ),
    createdBy: text("The id of the key that created it, or `operator`"),
    createdAt: time("When it was created"),
  }),
);

const attemptFields = {
  eventId: id("event"),
  type: oneOf(EVENT_TYPES, "The event's type"),
  chatId: textOrNull("The event's chat. Null for an event of the organization"),
  number: countOrNull("The event's number in its chat. Null for an event of the organization"),
  startedAt: time("When the call began"),
  durationMs: count.describe("How long it took, in milliseconds"),
  outcome: oneOf(ATTEMPT_OUTCOMES, "`accepted`: a 2xx. `retry`: the event is sent again. `given_up`: it is not"),
  httpStatus: count.exactOptional().describe("The status of the response. Absent without a response"),
  code: text("A stable code, such as `ok`, `timeout`, `connection`, `redirect` or `http_503`"),
  message: text("What happened, for people"),
};

export const attemptSchema = resource<ReturnType<typeof presentAttempt>>()(
  "WebhookAttempt",
  "One call of a webhook.",
  z.object(attemptFields),
);

type Subscription = ReturnType<typeof presentSubscription>;

const subscriptionAttemptSchema = resource<Subscription["attempts"][number]>()(
  "WebhookChatAttempt",
  "One call of a webhook with an event of a chat.",
  z.object({
    ...attemptFields,
    response: textOrNull(
      "The first 1,024 bytes of the response's body. Null if it was empty, or after a redaction in the chat, because it may quote the message",
    ),
  }),
);

const subscriptionHeadSchema = resource<NonNullable<Subscription["head"]>>()(
  "WebhookChatHead",
  "The event that a chat sends next to a webhook. Later events of the chat wait for it.",
  z.object({
    eventId: id("event"),
    number: count.describe("Its number in the chat"),
    type: oneOf(EVENT_TYPES, "Its type"),
    tries: count.describe("The number of calls with it so far"),
  }),
);

export const subscriptionSchema = resource<Subscription>()(
  "WebhookChat",
  "What a chat sends to a webhook.",
  z.object({
    pending: count.describe("The number of events that wait, including `head`"),
    head: subscriptionHeadSchema.nullable().describe("The event that is sent next. Null if no event waits"),
    nextAttemptAt: timeOrNull(
      "When the next call is due. Null if no event waits, or if the chat waits until the webhook can be called",
    ),
    attempts: z.array(subscriptionAttemptSchema).describe("The chat's last 20 calls, newest first"),
  }),
);

export const replaySchema = resource<ReplayProgress>()(
  "Replay",
  "Events that are sent to a webhook again.",
  z.object({
    id: id("replay"),
    state: oneOf(["running", "done"], "Whether all of its events have ended"),
    found: count.describe("The number of events that it sends"),
    sent: count.describe("The number of events that the webhook accepted"),
  }),
);

export const walkPaginationSchema = resource<pages.WalkPagination>()(
  "WalkPagination",
  "The position in a list that is walked with a cursor.",
  z.object({
    limit: count.describe("The maximum number of rows on a page"),
    total: count.optional().describe("How many rows the list has. Only in some lists"),
    hasMore: yesOrNo("Whether more rows follow"),
    cursor: textOrNull("Continues the list, with the same filters. Null if nothing follows"),
    hasNewer: z
      .boolean()
      .optional()
      .describe(
        "True if the walk is known to leave out rows because they came or moved since it began. A new walk has them. Absent otherwise, and in lists whose rows don't move",
      ),
  }),
);

const at = "2026-11-20T10:00:17.062Z";

const webhook: z.output<typeof webhookSchema> = {
  id: "whk_gN5cVr82KpZx0TdQ",
  organizationId: "org_gB71nqYx0sKd5JtV",
  url: "https://shop.example/parley",
  description: "Order bot",
  types: ["message.*"],
  channels: null,
  payload: "full",
  perSecond: 50,
  concurrency: 20,
  state: "ok",
  reason: null,
  since: at,
  disablesAt: null,
  pausedUntil: null,
  waitingChats: 0,
  failed: 0,
  lastSuccessAt: "2026-11-20T11:42:03.518Z",
  previousSecretExpiresAt: null,
  createdBy: "key_gR5tUo92MxEw4CbN",
  createdAt: at,
};

const attempt: z.output<typeof attemptSchema> = {
  eventId: "evt_gT2sYbQ0aLw9XcRk00VqX1a27",
  type: "message.status",
  chatId: "cht_gT2sYbQ0aLw9XcRk",
  number: 7,
  startedAt: at,
  durationMs: 84,
  outcome: "accepted",
  httpStatus: 200,
  code: "ok",
  message: "OK",
};

const subscription: z.output<typeof subscriptionSchema> = {
  pending: 2,
  head: { eventId: "evt_gT2sYbQ0aLw9XcRk00VqX1a28", number: 8, type: "message.status", tries: 1 },
  nextAttemptAt: "2026-11-20T10:00:25.400Z",
  attempts: [
    {
      ...attempt,
      eventId: "evt_gT2sYbQ0aLw9XcRk00VqX1a28",
      number: 8,
      startedAt: "2026-11-20T10:00:20.316Z",
      outcome: "retry",
      httpStatus: 503,
      code: "http_503",
      message: "The webhook answered 503",
      response: "overloaded",
    },
  ],
};

const replay: z.output<typeof replaySchema> = { id: "rpl_gV83kXo1mQzT0aYb", state: "running", found: 120, sent: 0 };

export const webhookExamples = { webhook, attempt, subscription, replay, secret: "whsec_…" };
