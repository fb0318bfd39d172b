import * as z from "zod";
import * as schemas from "../answers.ts";
import { chatsQueryParameters, newChat } from "../chat-requests.ts";
import * as examples from "../examples.ts";
import { answered, type Operation } from "../operation.ts";

const { chat, message, pagination } = examples;
const tag = "Chats";
const oneChat = z.object({ chat: schemas.chat });

/** Chats, as their organization sees them, and what an operator may do to them. */
export const chatOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/organizations/{id}/chats",
    id: "createChat",
    tag,
    summary: "Make or find a chat",
    description: "As the organization itself may, by the public `POST /chats`.",
    body: newChat,
    answers: [
      answered(201, "The chat, made now.", oneChat, { chat: { ...chat, lastMessageAt: null } }),
      answered(200, "The chat that the address has already.", oneChat, { chat }),
    ],
    errors: ["missing_field", "organization_not_found", "channel_not_found"],
  },
  {
    method: "get",
    path: "/organizations/{id}/chats",
    id: "listChats",
    tag,
    summary: "List chats",
    description: "As the organization itself may, by the public `GET /chats`: latest activity first.",
    query: chatsQueryParameters,
    answers: [
      answered(
        200,
        "A page of chats; empty past the end.",
        z.object({
          chats: z.array(schemas.chat),
          pagination: z.union([schemas.pagination, schemas.cursorPagination]),
        }),
        { chats: [chat], pagination },
      ),
    ],
    errors: ["organization_not_found"],
  },
  {
    method: "get",
    path: "/chats/{id}",
    id: "readChat",
    tag,
    summary: "Read a chat",
    description: "A chat of whatever organization, and what waits in it for its network.",
    answers: [
      answered(200, "The chat and its queue.", z.object({ chat: schemas.chat, queue: schemas.queue }), {
        chat,
        queue: examples.queue,
      }),
    ],
    errors: ["chat_not_found"],
  },
  {
    method: "delete",
    path: "/chats/{id}",
    id: "deleteChat",
    tag,
    summary: "Erase a chat",
    description:
      "Erases a chat with its messages. After a 503 repeat it: until then its address gets no new chat. Once it was answered 200, a repetition is 404.",
    answers: [answered(200, "The chat, as it was.", oneChat, { chat })],
    errors: ["chat_not_found"],
  },
  {
    method: "post",
    path: "/chats/{id}/messages/{messageId}/redact",
    id: "redactMessage",
    tag,
    summary: "Redact a message",
    description:
      "Blanks what a message said: `content`, `text`, `variables`, `mediaUrl` and `metadata`. Its id, `seq` and times stay. One that still waited is `FAILED` with the code `redacted`.",
    answers: [
      answered(200, "The message, blanked.", z.object({ message: schemas.message }), {
        message: { ...message, content: "", text: "", status: "DELIVERED" },
      }),
    ],
    errors: ["chat_not_found", "message_not_found"],
  },
];
