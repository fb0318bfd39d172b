import * as z from "zod";
import type { ShownHistory } from "../model/chat-answers.ts";
import { resendBody } from "../model/message.ts";
import { MAX_AHEAD_DAYS } from "../model/schedule.ts";
import { examples } from "./examples.ts";
import { jsonResponse, type RequestBodySpec, tagged } from "./operation.ts";
import { oneMessage } from "./resources.ts";
import { count, countOrNull, oneOf, resource, textOrNull, time, timeOrNull } from "./typed-schema.ts";
import { replayed } from "./uploads.ts";

const { message } = examples;

const resend: RequestBodySpec = {
  name: "Resend",
  description: "What differs from the first message. Optional.",
  schema: resendBody,
  descriptions: {
    senderId: "The member who sends the message. Default: the sender of the failed message.",
    scheduledAt: `When to send the message: RFC 3339 with an offset, at most ${MAX_AHEAD_DAYS} days ahead. A time in the past means at once. Default: at once.`,
    expiresAt:
      "Don't try to deliver the message after this time: RFC 3339 with an offset, later than now and than `scheduledAt`. Default: never.",
    ifSeq: "As in a send.",
    ifOpen: "As in a send.",
  },
  example: { expiresAt: "2026-11-20T12:00:00.000Z" },
  mayBeEmpty: true,
};

const attemptSchema = z.object({
  number: z.int().min(1).describe("1, 2, 3 … for the message"),
  startedAt: time("When it began"),
  durationMs: countOrNull("How long it took, in milliseconds. Null if the service was interrupted during the attempt"),
  outcome: oneOf(
    ["sent", "retry", "failed", "unknown", "moved", "channel_broken"],
    "`sent`: the network accepted the message. `retry`: it may accept it later. `failed`: it never will. `unknown`: it did not answer, so the message may have been sent. `moved`: the contact has another address. `channel_broken`: the network refused the channel itself",
  ),
  code: textOrNull("A stable code, as in `error` of a message. Null if it was sent"),
  message: textOrNull("What the network said, at most 200 characters. Null if it was sent. A redaction deletes it"),
});

const historySchema = resource<ShownHistory>()(
  "MessageAttempts",
  "The attempts to deliver a message.",
  z.object({
    attempts: z
      .array(attemptSchema)
      .describe("The attempts that have ended, oldest first: the first one, and the last 20"),
    dropped: count.describe("How many attempts between the first one and the last 20 are not kept"),
    nextAttemptAt: timeOrNull(
      "When the next attempt begins, if the channel allows it then. For a scheduled message: when it takes its place. Null if none is planned, if one is under way, or while the message waits behind another one",
    ),
  }),
);

/** What clients do with a message that is stored. */
export const MESSAGE_OPERATIONS = tagged("Messages", [
  {
    route: "POST /chats/{id}/messages/{messageId}/cancel",
    id: "cancelMessage",
    summary: "Cancel a message",
    description:
      "Cancels a message that is `SCHEDULED` or `QUEUED`. Its status becomes `CANCELED`, and it is never sent. This works until the first attempt to send it begins, and again between attempts that the network refused. Canceling a canceled message changes nothing.",
    responses: [
      jsonResponse(200, "The canceled message.", oneMessage, { message: { ...message, status: "CANCELED" } }),
    ],
    errors: ["not_cancelable"],
  },
  {
    route: "POST /chats/{id}/messages/{messageId}/resend",
    id: "resendMessage",
    summary: "Send a failed message again",
    description:
      "Sends a `FAILED` message again, as a new message with a new `seq`: with the same text, template values, media and metadata. Its `resendOf` is the id of the failed message. Each message can be sent again once; if the new one fails too, send that one again. A repeated request returns the same new message.",
    body: resend,
    responses: [
      jsonResponse(
        201,
        "The new message.",
        oneMessage,
        { message: { ...message, id: "msg_gZ0pRt7mWc2VbKs3", seq: 2, resendOf: message.id } },
        replayed("sent the message again", "request"),
      ),
    ],
    errors: [
      "sender_not_found",
      "not_failed",
      "redacted",
      "handed_over",
      "chat_moved_on",
      "window_closed",
      "opted_out",
      "schedule_full",
      "chat_backlog",
      "chat_full",
    ],
  },
  {
    route: "GET /chats/{id}/messages/{messageId}/attempts",
    id: "listAttempts",
    summary: "List a message's attempts",
    description:
      "Lists the attempts to deliver a message through its network. A web chat's message and an inbound message have none.",
    responses: [
      jsonResponse(200, "The attempts.", historySchema, {
        attempts: [
          {
            number: 1,
            startedAt: message.createdAt,
            durationMs: 212,
            outcome: "retry",
            code: "http_503",
            message: "WhatsApp responded with 503",
          },
        ],
        dropped: 0,
        nextAttemptAt: "2026-11-20T10:00:19.400Z",
      }),
    ],
  },
]);
