import * as z from "zod";
import type { FoundChat } from "../model/organization.ts";
import { searchQuery } from "../search/search-messages.ts";
import { examples } from "./examples.ts";
import { jsonResponse, tagged } from "./operation.ts";
import { chatSchema, messageSchema } from "./resources.ts";
import { resource } from "./typed-schema.ts";
import { walkPaginationSchema } from "./webhook-resources.ts";

const { chat, message } = examples;

const foundChatSchema = resource<FoundChat>()(
  "FoundChat",
  "The chat of a message that a search found.",
  chatSchema.pick({ id: true, channel: true, contact: true }),
);

/** The search over all messages of an organization. */
export const SEARCH_OPERATIONS = tagged("Messages", [
  {
    route: "GET /messages",
    id: "searchMessages",
    summary: "Search all messages",
    description:
      "Finds the organization's messages that contain a text, newest first, from all its chats. A message is found within 10 seconds after it was stored. A redaction, an edit and a deletion hold at once. Team notes and scheduled messages are not searched. A page examines at most about 200 messages, so it can be short, or empty, while `hasMore` is true. While the organization's `search.state` is `filling`, what was said before may be missing. Case, width and accents make no difference, as in the search of one chat.",
    query: {
      schema: searchQuery,
      descriptions: {
        limit: "The maximum number of messages on a page. Default: 20.",
        before: "The `cursor` of a response. It continues the same search: all other parameters must be the same.",
        search:
          "2 to 100 characters. A message is found if its text contains them in a row, within words too: `fund` finds `Refunds`. Quotes and `*` are ordinary characters.",
        channel: "Only messages of this channel, an id, or of this kind of channels.",
        assignee:
          "Only messages of the chats that are assigned to this member now. `none`: of chats without an assignee.",
        direction: "Only messages in this direction: OUTBOUND (from the organization) or INBOUND (from the contact).",
        since: "Only messages from this time on. RFC 3339.",
        until: "Only messages up to this time. RFC 3339.",
      },
    },
    responses: [
      jsonResponse(
        200,
        "A page of messages, each with its chat.",
        z.object({
          messages: z.array(z.object({ message: messageSchema, chat: foundChatSchema })),
          pagination: walkPaginationSchema,
        }),
        {
          messages: [{ message, chat: { id: chat.id, channel: chat.channel, contact: chat.contact } }],
          pagination: { limit: 20, hasMore: false, cursor: null },
        },
      ),
    ],
    errors: ["missing_field", "search_off"],
  },
]);
