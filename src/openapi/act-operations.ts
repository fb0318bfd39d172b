import * as z from "zod";
import { reactionBody, readBody, typingBody } from "../chats/acts.ts";
import { examples } from "./examples.ts";
import { jsonResponse, tagged } from "./operation.ts";
import { oneMessage } from "./resources.ts";
import { yesOrNo } from "./typed-schema.ts";

const shown = z.object({ shown: yesOrNo("Whether the contact's app was notified") });
const { message } = examples;
const reactions = [{ by: "organization" as const, emoji: "👍", at: "2026-11-20T10:01:00.000Z" }];

const NOW =
  "The service calls the network once, while the request waits. If the channel is broken, too busy for the next 3 seconds, or does not respond, the response is 503 with `Retry-After`: repeat the request.";
const ERRORS_OF_ACTS = ["not_supported_by_channel", "refused_by_network"] as const;

/** What a client does beside sending, below `/api/v1`. */
export const ACT_OPERATIONS = tagged("Messages", [
  {
    route: "PUT /chats/{id}/messages/{messageId}/reaction",
    id: "reactToMessage",
    summary: "React to a message",
    description: `Reacts to a message with one emoji, which replaces the organization's earlier reaction. Repeating the request changes nothing. ${NOW}`,
    body: {
      name: "NewReaction",
      description: "The reaction.",
      schema: reactionBody,
      descriptions: {
        emoji: "One emoji. A network may take only some.",
      },
      example: { emoji: "👍" },
    },
    responses: [jsonResponse(200, "The message.", oneMessage, { message: { ...message, reactions } })],
    errors: ["missing_field", "not_sent", "redacted", "chat_full", ...ERRORS_OF_ACTS],
  },
  {
    route: "DELETE /chats/{id}/messages/{messageId}/reaction",
    id: "removeReaction",
    summary: "Remove a reaction",
    description: `Takes the organization's reaction back. Without one, nothing changes. ${NOW}`,
    responses: [jsonResponse(200, "The message.", oneMessage, { message })],
    errors: ["not_sent", "redacted", ...ERRORS_OF_ACTS],
  },
  {
    route: "POST /chats/{id}/read",
    id: "markRead",
    summary: "Mark messages as read",
    description: `Marks the contact's messages up to this one as read, and moves the chat's \`readUpTo\`, which never moves back. Whether the contact sees it depends on the network, and a network may have no read marks. ${NOW}`,
    body: {
      name: "ReadUpTo",
      description: "The last message that was read.",
      schema: readBody,
      descriptions: { messageId: "The id of a message in this chat." },
      example: { messageId: message.id },
    },
    responses: [jsonResponse(200, "It is marked.", shown, { shown: true })],
    errors: ["missing_field", "message_not_found", "not_sent", ...ERRORS_OF_ACTS],
  },
  {
    route: "POST /chats/{id}/typing",
    id: "showTyping",
    summary: "Show a typing indicator",
    description: `Shows the contact a typing indicator for a few seconds. Nothing is stored. A network may need a message of the contact for it, and mark that message as read. ${NOW}`,
    body: {
      name: "Typing",
      description: "No fields. Optional.",
      schema: typingBody,
      descriptions: {},
      example: {},
      mayBeEmpty: true,
    },
    responses: [jsonResponse(200, "Whether it is shown.", shown, { shown: true })],
    errors: [...ERRORS_OF_ACTS],
  },
]);
