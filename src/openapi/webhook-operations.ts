import * as z from "zod";
import { afterQuery } from "../http/pagination.ts";
import {
  attemptsQuery,
  enableBody,
  newWebhookBody,
  pingBody,
  replayBody,
  skipBody,
  WEBHOOK_DEFAULTS,
  webhookPatch,
  webhookRotation,
} from "../webhooks/fields.ts";
import { jsonResponse, type OperationSpec, tagged } from "./operation.ts";
import { walkResponse } from "./operator/lists.ts";
import type { Side } from "./operator/side.ts";
import {
  attemptSchema,
  replaySchema,
  subscriptionSchema,
  webhookExamples,
  webhookSchema,
} from "./webhook-resources.ts";

const { webhook, attempt, subscription, replay, secret } = webhookExamples;
const oneWebhook = z.object({ webhook: webhookSchema });
const withSecret = z.object({
  webhook: webhookSchema,
  secret: z.string().describe("The secret that signs the calls: `whsec_` and base64. It is shown only once"),
});
const limit = "The maximum number of rows on a page.";

const descriptions = {
  url: "The URL to call: `https`, port 443, a public host name, no user name and no fragment.",
  types:
    "The types of events to send. A family such as `message.*` has all of its types, also future ones. Default: all.",
  channels: "The ids of the channels whose events to send. Events without a channel are always sent. Default: all.",
  payload: `\`thin\` leaves out the message, the chat and the contact's address. Default: \`${WEBHOOK_DEFAULTS.payload}\`.`,
  perSecond: `The maximum number of calls per second. Default: ${WEBHOOK_DEFAULTS.perSecond}.`,
  concurrency: `The maximum number of calls at a time. Default: ${WEBHOOK_DEFAULTS.concurrency}.`,
  description: "What the webhook is for.",
};

export function webhookOperations({ isOperator, prefix, whose }: Side): readonly OperationSpec[] {
  return tagged("Webhooks", [
    {
      route: `POST ${prefix}/webhooks`,
      id: "createWebhook",
      summary: "Create a webhook",
      description:
        "Creates a webhook. Events that happen after the response are sent to it, in order within each chat. The response is the only one that contains its `secret`. An organization can have 10 webhooks, each with another URL.",
      body: {
        name: "NewWebhook",
        description: "The webhook to create.",
        schema: newWebhookBody,
        descriptions,
        example: { url: webhook.url, types: ["message.*"] },
      },
      responses: [
        jsonResponse(201, "The webhook and its secret.", withSecret, {
          webhook: { ...webhook, state: "trial", lastSuccessAt: null },
          secret,
        }),
      ],
      errors: ["missing_field", "webhook_exists", "webhook_limit"],
    },
    {
      route: `GET ${prefix}/webhooks`,
      id: "listWebhooks",
      summary: "List webhooks",
      description: `Lists ${whose} webhooks, oldest first.`,
      query: {
        schema: afterQuery,
        descriptions: { limit, after: "The `cursor` of the previous page. Default: the oldest webhooks." },
      },
      responses: walkResponse("webhooks", webhookSchema, webhook),
    },
    {
      route: "GET /webhooks/{id}",
      id: "readWebhook",
      summary: "Read a webhook",
      description: "Returns one webhook and its state.",
      responses: [jsonResponse(200, "The webhook.", oneWebhook, { webhook })],
    },
    {
      route: "PATCH /webhooks/{id}",
      id: "changeWebhook",
      summary: "Change a webhook",
      description:
        "Changes the fields that the body has. Null restores a default. Filters apply to the next attempt of each event. With a new URL, the state is `trial`, and pending events go to that URL.",
      body: {
        name: "WebhookPatch",
        description: "The fields to change.",
        schema: webhookPatch,
        descriptions,
        example: { types: ["message.received"], perSecond: 100 },
      },
      responses: [jsonResponse(200, "The changed webhook.", oneWebhook, { webhook })],
      errors: ["missing_field", "webhook_exists"],
    },
    {
      route: "DELETE /webhooks/{id}",
      id: "deleteWebhook",
      summary: "Delete a webhook",
      description:
        "Deletes a webhook with its attempts and its pending events. A 503 means that more is left: repeat the request. After the 200, another request is a 404.",
      responses: [jsonResponse(200, "The deleted webhook.", oneWebhook, { webhook })],
    },
    {
      route: "POST /webhooks/{id}/rotate",
      id: "rotateWebhook",
      summary: "Rotate a webhook's secret",
      description:
        "Creates a new secret. During the overlap, the old secret signs each call too. If the response is lost, repeat the rotation: during an overlap, a rotation replaces the newest secret, and the one before it keeps its end, or ends earlier if the new overlap is shorter. With `overlapSeconds: 0`, only the new secret signs.",
      body: {
        name: "WebhookRotation",
        description: "How long the old secret signs too.",
        schema: webhookRotation,
        descriptions: {
          overlapSeconds: "How long the old secret signs too, in seconds: at most 7 days. Default: 86400.",
        },
        example: { overlapSeconds: 86_400 },
        mayBeEmpty: true,
      },
      responses: [jsonResponse(201, "The webhook and its new secret.", withSecret, { webhook, secret })],
    },
    {
      route: "POST /webhooks/{id}/ping",
      id: "pingWebhook",
      summary: "Ping a webhook",
      description:
        "Calls the webhook once with a sample event and waits for its response. The event has `sample: true`, and is not sent again. One ping is made at a time, at the webhook's pace, and one per second unless its state is `ok`: sooner is a 503 with `Retry-After`.",
      body: {
        name: "WebhookPing",
        description: "The sample event.",
        schema: pingBody,
        descriptions: { type: "The type of the sample. Default: ping." },
        example: { type: "message.received" },
        mayBeEmpty: true,
      },
      responses: [jsonResponse(200, "The call.", z.object({ attempt: attemptSchema }), { attempt })],
    },
    {
      route: "POST /webhooks/{id}/enable",
      id: "enableWebhook",
      summary: "Enable a webhook",
      description:
        "Enables a disabled webhook, and ends the waits of one that is failing or paused. Changes nothing of another.",
      body: {
        name: "WebhookEnabling",
        description: "Where it continues.",
        schema: enableBody,
        descriptions: {
          from: "`pending`: with the events that wait, unless they are older than 30 days. `now`: with the next events. Default: pending.",
        },
        example: { from: "pending" },
        mayBeEmpty: true,
      },
      responses: [jsonResponse(200, "The webhook.", oneWebhook, { webhook })],
    },
    {
      route: "POST /webhooks/{id}/disable",
      id: "disableWebhook",
      summary: "Disable a webhook",
      description: "Stops all calls. Events wait until the webhook is enabled. Safe to repeat.",
      responses: [
        jsonResponse(200, "The webhook.", oneWebhook, {
          webhook: { ...webhook, state: "disabled", reason: isOperator ? "operator" : "customer" },
        }),
      ],
    },
    {
      route: "POST /webhooks/{id}/retry",
      id: "retryWebhook",
      summary: "Try all waiting events now",
      description:
        "Sends the events that wait now, each as one of its tries: also those that wait for the end of a pause, for a failing webhook, or for their next try. A failing webhook begins again as `trial`. Use it when your receiver works again after an outage.",
      responses: [jsonResponse(200, "The webhook.", oneWebhook, { webhook })],
      errors: ["webhook_disabled"],
    },
    {
      route: "GET /webhooks/{id}/attempts",
      id: "listWebhookAttempts",
      summary: "List attempts",
      description: "Lists the webhook's last 1,000 calls, newest first, without their bodies.",
      query: {
        schema: attemptsQuery,
        descriptions: {
          limit,
          before: "The `cursor` of the previous page. Default: the newest calls.",
          outcome: "Only calls with this outcome.",
          chat: "Only calls with events of this chat, by its id.",
        },
      },
      responses: walkResponse("attempts", attemptSchema, attempt),
    },
    {
      route: "GET /webhooks/{id}/chats/{chatId}",
      id: "readWebhookChat",
      summary: "Read a chat's deliveries",
      description:
        "Returns which events of a chat wait for the webhook, and the chat's last 20 calls of it. The chat learns of a new webhook within seconds; until then nothing waits.",
      responses: [jsonResponse(200, "What the chat sends to the webhook.", subscriptionSchema, subscription)],
    },
    {
      route: "POST /webhooks/{id}/chats/{chatId}/retry",
      id: "retryWebhookEvent",
      summary: "Try an event now",
      description:
        "Tries the chat's first waiting event now, instead of at `nextAttemptAt`. It counts as a try. If the webhook itself is disabled, paused or failing, the event waits on: enable or retry the webhook. If nothing waits, nothing changes.",
      responses: [jsonResponse(200, "What the chat sends to the webhook.", subscriptionSchema, subscription)],
    },
    {
      route: "POST /webhooks/{id}/chats/{chatId}/skip",
      id: "skipWebhookEvent",
      summary: "Skip an event",
      description:
        "Gives up the event that the chat sends next, so that later events of the chat are sent. It counts as given up and can be replayed.",
      body: {
        name: "WebhookSkip",
        description: "The event to skip.",
        schema: skipBody,
        descriptions: { eventId: "The `eventId` of the chat's `head`." },
        example: { eventId: subscription.head?.eventId ?? "" },
      },
      responses: [
        jsonResponse(200, "What the chat sends to the webhook now.", subscriptionSchema, {
          ...subscription,
          pending: 1,
          head: { eventId: "evt_gT2sYbQ0aLw9XcRk00VqX1a29", number: 9, type: "message.status", tries: 0 },
        }),
      ],
      errors: ["missing_field", "not_head"],
    },
    {
      route: "POST /webhooks/{id}/replays",
      id: "createReplay",
      summary: "Send events again",
      description:
        "Sends one event again, all events that were given up, or all events of a period. New events don't wait for the replay. One replay of a webhook runs at a time.",
      body: {
        name: "NewReplay",
        description: "The events to send again: exactly one of `eventId`, `failed` and `since`.",
        schema: replayBody,
        descriptions: {
          eventId: "The event to send.",
          failed: "True: the events that were given up.",
          since: "Events from this time on, RFC 3339.",
          until: "With `since`: events up to this time, RFC 3339. Default: now.",
        },
        example: { failed: true },
      },
      responses: [jsonResponse(202, "The replay has started.", z.object({ replay: replaySchema }), { replay })],
      errors: ["event_not_found", "webhook_disabled", "replay_running"],
    },
    {
      route: "GET /webhooks/{id}/replays/{replayId}",
      id: "readReplay",
      summary: "Read a replay",
      description: "Returns a replay's progress.",
      responses: [
        jsonResponse(200, "The replay.", z.object({ replay: replaySchema }), {
          replay: { ...replay, state: "done", sent: 120 },
        }),
      ],
    },
  ]);
}
