import * as z from "zod";
import { afterQuery } from "../../http/pagination.ts";
import { newReplyBody, replyPatch } from "../../management/replies.ts";
import { MAX_REPLIES } from "../../model/reply.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "../operation.ts";
import { walkResponse } from "./lists.ts";
import { replySchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { reply } = examples;
const oneReply = z.object({ reply: replySchema });
const { name, shortcut, content } = reply;

const descriptions = {
  name: "What the picker shows.",
  shortcut:
    "A short form that finds it: letters of any language, digits, `-` and `_`. Unique in the organization; case, width and accents make no difference.",
  content:
    "The text. `{{contact.name}}`, `{{member.name}}` and `{{metadata.<key>}}` are filled in from the chat and the member who writes; `{{metadata.<key>|words}}` has words for an empty value, and so can the others.",
};

export function replyOperations({ prefix, whose }: Side): readonly OperationSpec[] {
  return tagged("Saved replies", [
    {
      route: `GET ${prefix}/replies`,
      id: "listReplies",
      summary: "List saved replies",
      description: `Lists ${whose} saved replies, oldest first.`,
      query: {
        schema: afterQuery,
        descriptions: {
          limit: "The maximum number of rows on a page.",
          after: "The `cursor` of the previous page. Default: the oldest saved replies.",
        },
      },
      responses: walkResponse("replies", replySchema, reply, "saved replies"),
    },
    {
      route: `POST ${prefix}/replies`,
      id: "createReply",
      summary: "Create a saved reply",
      description: `Creates a saved reply. An organization can have ${MAX_REPLIES.toLocaleString("en")}.`,
      body: {
        name: "NewReply",
        description: "The saved reply to create.",
        schema: newReplyBody,
        descriptions,
        example: { name, shortcut, content },
      },
      responses: [jsonResponse(201, "The saved reply.", oneReply, { reply })],
      errors: ["missing_field", "reply_exists", "reply_limit"],
    },
    {
      route: "PATCH /replies/{id}",
      id: "changeReply",
      summary: "Change a saved reply",
      description:
        "Changes the fields that the body has, at least one. A `shortcut` that is null is removed. Sent messages don't change.",
      body: {
        name: "ReplyPatch",
        description: "The fields to change.",
        schema: replyPatch,
        descriptions,
        example: { content },
      },
      responses: [jsonResponse(200, "The changed saved reply.", oneReply, { reply })],
      errors: ["missing_field", "reply_exists"],
    },
    {
      route: "DELETE /replies/{id}",
      id: "deleteReply",
      summary: "Delete a saved reply",
      description: "Deletes a saved reply. Sent messages don't change.",
      responses: [jsonResponse(200, "The deleted saved reply.", oneReply, { reply })],
    },
  ]);
}
