import { messagePatch } from "../chats/cancel-and-resend.ts";
import { MAX_SCHEDULED } from "../chats/object/scheduled/decisions.ts";
import { afterQuery } from "../http/pagination.ts";
import { MAX_AHEAD_DAYS } from "../model/schedule.ts";
import { examples } from "./examples.ts";
import { jsonResponse, tagged } from "./operation.ts";
import { walkResponse } from "./operator/lists.ts";
import { messageSchema, oneMessage } from "./resources.ts";

const scheduledAt = "2026-11-21T09:00:00.000Z";
const scheduled = { ...examples.message, seq: null, status: "SCHEDULED" as const, scheduledAt };

export const SCHEDULE_OPERATIONS = tagged("Messages", [
  {
    route: "GET /chats/{id}/scheduled",
    id: "listScheduledMessages",
    summary: "List scheduled messages",
    description: `Lists a chat's scheduled messages, soonest first. A chat has at most ${MAX_SCHEDULED.toLocaleString("en")}.`,
    query: {
      schema: afterQuery,
      descriptions: {
        limit: "The maximum number of rows on a page.",
        after: "The `cursor` of the previous page.",
      },
    },
    responses: walkResponse("messages", messageSchema, scheduled, "scheduled messages"),
  },
  {
    route: "PATCH /chats/{id}/messages/{messageId}",
    id: "moveMessage",
    summary: "Move a scheduled message",
    description:
      "Changes when a scheduled message is sent, or when it expires. A message that is to be sent now, or at a time in the past, is stored in the chat before the response: its `status` is no longer SCHEDULED. Nothing else of a message can change.",
    body: {
      name: "MessagePatch",
      description: "The message's new times. Absent times don't change.",
      schema: messagePatch,
      descriptions: {
        scheduledAt: `When to send the message: RFC 3339 with an offset, at most ${MAX_AHEAD_DAYS} days ahead. Null: now.`,
        expiresAt:
          "Don't try to deliver the message after this time: RFC 3339 with an offset, later than now and than `scheduledAt`. Null: never.",
      },
      example: { scheduledAt },
    },
    responses: [jsonResponse(200, "The message.", oneMessage, { message: scheduled })],
    errors: ["not_scheduled", "window_closed", "opted_out", "chat_backlog", "chat_full"],
  },
]);
