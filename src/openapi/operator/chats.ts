import * as z from "zod";
import { chatsQueryParameters, newChat } from "../chat-requests.ts";
import { examples } from "../examples.ts";
import { jsonResponse, type OperationSpec, tagged } from "../operation.ts";
import { chatSchema, chatsPaginationSchema, oneChat, oneMessage } from "../resources.ts";
import { walkPaginationSchema } from "../webhook-resources.ts";
import { queueSchema } from "./resources.ts";
import type { Side } from "./side.ts";

const { chat, message, chatsPagination: pagination } = examples;

export const chatOperations = tagged("Chats", [
  {
    route: "POST /organizations/{id}/chats",
    id: "createChat",
    summary: "Create or find a chat",
    description: "Creates or finds a chat for an organization, like the public `POST /chats`.",
    body: newChat,
    responses: [
      jsonResponse(201, "The new chat.", oneChat, { chat: { ...chat, lastMessageAt: null, lastMessage: null } }),
      jsonResponse(200, "The chat that already exists for this address.", oneChat, { chat }),
    ],
    errors: ["missing_field", "channel_not_found", "chat_limit"],
  },
  {
    route: "GET /organizations/{id}/chats",
    id: "listChats",
    summary: "List chats",
    description: "Lists an organization's chats, latest activity first, like the public `GET /chats`.",
    query: chatsQueryParameters,
    responses: [
      jsonResponse(
        200,
        "A page of chats. It is empty past the end of the list.",
        z.object({
          chats: z.array(chatSchema),
          pagination: z.union([chatsPaginationSchema, walkPaginationSchema]),
        }),
        { chats: [chat], pagination },
      ),
    ],
  },
  {
    route: "GET /chats/{id}",
    id: "readChat",
    summary: "Read a chat",
    description: "Returns a chat of any organization, and its messages that wait for delivery.",
    responses: [
      jsonResponse(200, "The chat and its queue.", z.object({ chat: chatSchema, queue: queueSchema }), {
        chat,
        queue: examples.queue,
      }),
    ],
  },
]);

/** Deletes chats, and redacts messages. */
export function erasureOperations({ isOperator }: Side): readonly OperationSpec[] {
  return [
    ...tagged("Chats", [
      {
        route: "DELETE /chats/{id}",
        id: "deleteChat",
        summary: "Delete a chat",
        description:
          "Deletes a chat with its messages. After a 503, repeat the request: until it succeeds, the address gets no new chat. After the 200, another request is a 404.",
        responses: [jsonResponse(200, "The deleted chat.", oneChat, { chat })],
      },
    ]),
    ...tagged(isOperator ? "Chats" : "Messages", [
      {
        route: "POST /chats/{id}/messages/{messageId}/redact",
        id: "redactMessage",
        summary: "Redact a message",
        description:
          "Deletes `content`, `text`, `variables`, `mediaUrl`, `metadata` and the network's error text from a message. Its id, `seq` and times stay. A message that still waits becomes `FAILED` with the code `redacted`.",
        responses: [
          jsonResponse(200, "The redacted message.", oneMessage, {
            message: { ...message, content: "", text: "", status: "DELIVERED" },
          }),
        ],
      },
    ]),
  ];
}
