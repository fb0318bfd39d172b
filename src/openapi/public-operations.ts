import * as z from "zod";
import { MAX_IDEMPOTENCY_KEY } from "../chats/routes.ts";
import * as schemas from "./answers.ts";
import { chatsQueryParameters, messagesQueryParameters, newChat, newMessage } from "./chat-requests.ts";
import * as examples from "./examples.ts";
import { always } from "./headers.ts";
import { answered, type Operation } from "./operation.ts";

const anyPagination = z.union([schemas.pagination, schemas.cursorPagination]);
const oneChat = z.object({ chat: schemas.chat });
const oneMessage = z.object({ message: schemas.message });
const { chat, message, pagination } = examples;

const tagged = always(["ETag"]);
const ifNoneMatch = {
  name: "If-None-Match",
  description:
    "The `ETag` of an answer that the client has: while nothing has changed the answer is a 304 without a body.",
  schema: { type: "string" },
  example: '"5f2c1a0d9be84c3f7a6e0d1b2c3a4f5e"',
};
const unchanged = {
  status: 304,
  description: "Nothing has changed since the answer that `If-None-Match` names. Counts as a request too.",
  headers: tagged,
  empty: true,
} as const;

/** The routes of the public API, below `/api/v1`. */
export const PUBLIC_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/chats",
    id: "listChats",
    tag: "Chats",
    summary: "List chats",
    description:
      "The organization's chats, latest activity first: page by page, or with `before` from one row on, for clients that must not see a row twice while messages arrive. The order may lag by 10 seconds.",
    permission: "chats:read",
    query: chatsQueryParameters,
    headers: [ifNoneMatch],
    answers: [
      answered(
        200,
        "A page of chats; empty past the end.",
        z.object({ chats: z.array(schemas.chat), pagination: anyPagination }),
        { chats: [chat], pagination },
        tagged,
      ),
      unchanged,
    ],
  },
  {
    method: "post",
    path: "/chats",
    id: "createChat",
    tag: "Chats",
    summary: "Make or find a chat",
    description:
      "The chat with a contact on one of the organization's channels. An address has one chat on a channel: asked for again, it is answered with its first name and metadata.",
    permission: "chats:write",
    body: newChat,
    answers: [
      answered(201, "The chat, made now.", oneChat, { chat: { ...chat, lastMessageAt: null } }),
      answered(200, "The chat that the address has already.", oneChat, { chat }),
    ],
    errors: ["missing_field", "channel_not_found"],
  },
  {
    method: "get",
    path: "/chats/{id}",
    id: "readChat",
    tag: "Chats",
    summary: "Read a chat",
    description: "One chat; its `lastMessageAt` is exact.",
    permission: "chats:read",
    answers: [answered(200, "The chat.", oneChat, { chat })],
    errors: ["chat_not_found"],
  },
  {
    method: "get",
    path: "/chats/{id}/messages",
    id: "listMessages",
    tag: "Messages",
    summary: "List messages",
    description:
      "A chat's messages, most recent first: page by page, or with `before` or `after` from one row on. A page costs the same at any depth.",
    permission: "messages:read",
    query: messagesQueryParameters,
    headers: [ifNoneMatch],
    answers: [
      answered(
        200,
        "A page of messages; empty past the end.",
        z.object({ messages: z.array(schemas.message), pagination: anyPagination }),
        { messages: [message], pagination },
        tagged,
      ),
      unchanged,
    ],
    errors: ["chat_not_found"],
  },
  {
    method: "post",
    path: "/chats/{id}/messages",
    id: "sendMessage",
    tag: "Messages",
    summary: "Send a message",
    description:
      "Stores a message and delivers it through the chat's channel, in the order of `seq`, one at a time in each chat. What became of it is the message's `status`; a message that its network refuses is `FAILED`, and `error` says why.",
    permission: "messages:send",
    headers: [
      {
        name: "Idempotency-Key",
        description:
          "Makes a send safe to repeat: the same key in the same chat answers with the first message again, however often, however concurrently and however late. With another body it is a 422. A key in quotes and the same key bare are two keys. A key has no comma: HTTP joins two headers of a name with one.",
        schema: { type: "string", minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY, pattern: "^[^,]+$" },
        example: "order-4711-shipped",
      },
    ],
    body: newMessage,
    answers: [
      answered(
        201,
        "The message, which is on disk.",
        oneMessage,
        { message },
        {
          "Idempotent-Replayed": {
            description: "The message was sent by an earlier request with this `Idempotency-Key`.",
            required: false,
            schema: { type: "string", const: "true" },
            example: "true",
          },
        },
      ),
    ],
    errors: [
      "missing_field",
      "chat_not_found",
      "sender_not_found",
      "template_not_found",
      "chat_backlog",
      "chat_full",
      "idempotency_mismatch",
    ],
  },
  {
    method: "get",
    path: "/chats/{id}/messages/{messageId}",
    id: "readMessage",
    tag: "Messages",
    summary: "Read a message",
    description: "One message, with its status.",
    permission: "messages:read",
    answers: [answered(200, "The message.", oneMessage, { message: { ...message, status: "DELIVERED" } })],
    errors: ["chat_not_found", "message_not_found"],
  },
  {
    method: "get",
    path: "/chats/{id}/messages/{messageId}/media",
    id: "readMedia",
    tag: "Messages",
    summary: "Download media",
    description:
      "The bytes of what a contact sent, streamed from the network as a download: this is where the `mediaUrl` of an inbound message leads.",
    permission: "messages:read",
    answers: [
      {
        status: 200,
        description: "The bytes, with the content type that the network names.",
        contentType: "*/*",
        headers: {
          "Content-Disposition": {
            description: "Always `attachment`, with the file's name where the contact's message had one.",
            required: true,
            schema: { type: "string", pattern: "^attachment" },
            example: "attachment; filename*=UTF-8''invoice.pdf",
          },
        },
      },
    ],
    errors: ["chat_not_found", "message_not_found", "media_not_found", "media_expired"],
  },
  {
    method: "get",
    path: "/key",
    id: "readOwnKey",
    tag: "Key",
    summary: "Read the key itself",
    description: "What this key is, may do and has used. Any valid key may ask; that counts as a request too.",
    permission: null,
    answers: [
      answered(200, "The key and its counts.", z.object({ key: schemas.key, usage: schemas.usage }), {
        key: examples.key,
        usage: examples.usage,
      }),
    ],
  },
];
