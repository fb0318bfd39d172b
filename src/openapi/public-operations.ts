import * as z from "zod";
import { uploadQuery } from "../chats/upload-media.ts";
import { MAX_FILE_BYTES } from "../model/file.ts";
import {
  answeredRequest,
  chatChange,
  chatsQueryParameters,
  handoverRequest,
  messagesQueryParameters,
  newChat,
  newMessage,
} from "./chat-requests.ts";
import { examples } from "./examples.ts";
import { always } from "./headers.ts";
import { jsonResponse, tagged } from "./operation.ts";
import {
  chatSchema,
  chatsPaginationSchema,
  cursorPaginationSchema,
  keySchema,
  messageSchema,
  oneChat,
  oneMessage,
  paginationSchema,
  usageSchema,
} from "./resources.ts";
import { ERRORS_OF_UPLOADS, idempotencyKey, replayed, storedFile } from "./uploads.ts";
import { walkPaginationSchema } from "./webhook-resources.ts";

const anyPagination = z.union([paginationSchema, cursorPaginationSchema, walkPaginationSchema]);
const { chat, message, pagination } = examples;

const ERRORS_OF_SENDS = [
  "note_not_found",
  "missing_field",
  "sender_not_found",
  "template_not_found",
  "template_not_approved",
  "template_not_supported",
  "handed_over",
  "chat_moved_on",
  "window_closed",
  "opted_out",
  "media_not_found",
  "media_used",
  "schedule_full",
  "chat_backlog",
  "chat_full",
  "idempotency_mismatch",
] as const;

const etagHeader = always(["ETag"]);
const ifNoneMatch = {
  name: "If-None-Match",
  description: "The `ETag` of an earlier response. If nothing has changed since, the response is a 304 without a body.",
  schema: { type: "string" },
  example: '"5f2c1a0d9be84c3f7a6e0d1b2c3a4f5e"',
};
const unchanged = {
  status: 304,
  description: "Nothing has changed since the response that `If-None-Match` names. This counts as a request.",
  headers: etagHeader,
  empty: true,
} as const;

const OF_CHATS = tagged("Chats", [
  {
    route: "GET /chats",
    id: "listChats",
    summary: "List chats",
    description:
      "Lists the organization's chats, latest activity first. To see each chat once, also while chats become active or are deleted, pass the `cursor` of each response as `before` of the next request, with the same filters. Chats that came to the front since the first response are left out, and `hasNewer` is then true. The order can lag by a few seconds, and under heavy load by a minute. With `unanswered`, `scheduled` or `search`, a page examines at most 10,000 chats, so it can be short while `hasMore` is true.",
    query: chatsQueryParameters,
    headers: [ifNoneMatch],
    responses: [
      jsonResponse(
        200,
        "A page of chats. It is empty past the end of the list.",
        z.object({ chats: z.array(chatSchema), pagination: z.union([chatsPaginationSchema, walkPaginationSchema]) }),
        { chats: [chat], pagination: examples.chatsPagination },
        etagHeader,
      ),
      unchanged,
    ],
  },
  {
    route: "POST /chats",
    id: "createChat",
    summary: "Create or find a chat",
    description:
      "Creates the chat with a contact on one of the organization's channels. An address has one chat on each channel: if the chat exists, the response is that chat, with its first contact name and metadata. Its `personId` is set if it has none. A 503 means that this may not be complete: repeat the request.",
    body: newChat,
    responses: [
      jsonResponse(201, "The new chat.", oneChat, { chat: { ...chat, lastMessageAt: null, lastMessage: null } }),
      jsonResponse(200, "The chat that already exists for this address.", oneChat, { chat }),
    ],
    errors: ["missing_field", "channel_not_found", "chat_limit"],
  },
  {
    route: "GET /chats/{id}",
    id: "readChat",
    summary: "Read a chat",
    description: "Returns one chat as it is now, without the lag of the list.",
    responses: [jsonResponse(200, "The chat.", oneChat, { chat })],
  },
  {
    route: "PATCH /chats/{id}",
    id: "updateChat",
    summary: "Update a chat",
    description:
      "Changes the contact's name and `personId`, the chat's metadata, its assignee and its state, and whether the contact takes marketing. Fields that are absent don't change. A change creates the event `chat.updated`, another assignee the event `chat.assigned`, another `marketing` the event `chat.consent`, and another `state` or `snoozedUntil` the event `chat.state`. Sending changes neither the assignee nor the state. A 503 means that the change may not be complete: repeat the request, with `ifAssigneeId` only once you have read the chat.",
    body: chatChange,
    responses: [jsonResponse(200, "The changed chat.", oneChat, { chat })],
    errors: ["missing_field", "member_not_found", "chat_reassigned", "chat_moved_on"],
  },
  {
    route: "PUT /chats/{id}/labels/{labelId}",
    id: "addChatLabel",
    summary: "Give a chat a label",
    description:
      "Gives the chat a label of the organization. A chat that has it stays as it is. A change creates the event `chat.updated`. A 503 means that the list may not know yet: repeat the request.",
    responses: [jsonResponse(200, "The chat.", oneChat, { chat })],
    errors: ["label_limit"],
  },
  {
    route: "DELETE /chats/{id}/labels/{labelId}",
    id: "removeChatLabel",
    summary: "Take a label off a chat",
    description:
      "Takes a label of the organization off the chat. A chat without it stays as it is. A change creates the event `chat.updated`. A 503 means that the list may not know yet: repeat the request.",
    responses: [jsonResponse(200, "The chat.", oneChat, { chat: { ...chat, labels: [] } })],
  },
  {
    route: "POST /chats/{id}/answered",
    id: "markChatAnswered",
    summary: "Mark a chat as answered",
    description:
      "Takes the chat off the list of unanswered chats without a message: `unansweredSince` becomes null. The contact's next message puts the chat on the list again. A 503 means that the list may not know yet: repeat the request.",
    body: answeredRequest,
    responses: [jsonResponse(200, "The chat.", oneChat, { chat })],
    errors: ["chat_moved_on"],
  },
  {
    route: "POST /chats/{id}/handover",
    id: "handOverChat",
    summary: "Hand a chat over",
    description:
      "Hands a chat to people or to the channel's bot, with a last message, a note and an assignee, all or nothing. When people get it, the chat is open, and `unansweredSince` is the contact's first message since a person last wrote, or now. The scheduled messages of the bot are canceled. The event is `chat.handover`. A 503 means that the change is stored, but the list may not know yet: repeat the request with the same `Idempotency-Key`.",
    headers: [
      idempotencyKey(
        "handover-4711",
        "Makes the whole act safe to repeat: the same key in the same chat does it once. The keys of messages and of this act are the same ones.",
      ),
    ],
    body: handoverRequest,
    responses: [
      jsonResponse(
        200,
        "The chat, and the message; null without one.",
        z.object({ chat: chatSchema, message: messageSchema.nullable() }),
        { chat, message },
        replayed("handed the chat over"),
      ),
    ],
    errors: ["drafts_only", "no_bot", "member_not_found", "note_limit", ...ERRORS_OF_SENDS],
  },
  {
    route: "DELETE /chats/{id}/answered",
    id: "markChatUnanswered",
    summary: "Mark a chat as unanswered",
    description:
      "Takes back that the chat was marked as answered: `unansweredSince` is again the time of the contact's first message after the last message to it, among the newest 1,000 messages. The next answer counts in no response time. A chat that already waits stays as it is. The chat is open again. A 503 means that the list may not know yet: repeat the request.",
    responses: [jsonResponse(200, "The chat.", oneChat, { chat: { ...chat, unansweredSince: chat.lastMessageAt } })],
    errors: ["nothing_unanswered"],
  },
]);

const FILE_HEADERS = {
  "Content-Disposition": {
    description:
      "`inline` for pictures, videos and sounds that browsers show, else `attachment`; with the file's name if there is one.",
    required: true,
    schema: { type: "string", pattern: "^(attachment|inline)" },
    example: "attachment; filename*=UTF-8''invoice.pdf",
  },
};

const contentRange = {
  description: "Which bytes the body has, and how many the file has.",
  required: true,
  schema: { type: "string", pattern: "^bytes (\\d+-\\d+|\\*)/\\d+$" },
  example: "bytes 0-1023/48213",
};

const OF_MESSAGES = tagged("Messages", [
  {
    route: "GET /chats/{id}/messages",
    id: "listMessages",
    summary: "List messages",
    description:
      "Lists a chat's messages, newest first. Use `page` to read page by page, or `before` and `after` to continue from a message. A page takes the same time at any depth. With a filter, a page examines at most 10,000 messages, and fewer if they are long, so it can be short while `hasMore` is true. Scheduled messages are not in this list.",
    query: messagesQueryParameters,
    headers: [ifNoneMatch],
    responses: [
      jsonResponse(
        200,
        "A page of messages. It is empty past the end of the list.",
        z.object({ messages: z.array(messageSchema), pagination: anyPagination }),
        { messages: [message], pagination },
        etagHeader,
      ),
      unchanged,
    ],
  },
  {
    route: "POST /chats/{id}/messages",
    id: "sendMessage",
    summary: "Send a message",
    description:
      "Stores a message, and then delivers it through the chat's channel. A chat sends one message at a time, in the order of `seq`. The message's `status` shows the result. If the network refuses the message, the status is `FAILED` and `error` says why.",
    headers: [
      idempotencyKey(
        "order-4711-shipped",
        "Makes a send safe to repeat. The same key in the same chat returns the first message again, also for concurrent requests.",
      ),
    ],
    body: newMessage,
    responses: [jsonResponse(201, "The stored message.", oneMessage, { message }, replayed("sent the message"))],
    errors: ERRORS_OF_SENDS,
  },
  {
    route: "GET /chats/{id}/messages/{messageId}",
    id: "readMessage",
    summary: "Read a message",
    description: "Returns one message with its status.",
    responses: [jsonResponse(200, "The message.", oneMessage, { message: { ...message, status: "DELIVERED" } })],
  },
  {
    route: "POST /chats/{id}/media",
    id: "uploadMedia",
    summary: "Upload a file",
    description: `Stores a file that one message of the chat can send, as its \`mediaId\`. The body is the file itself, of at most ${MAX_FILE_BYTES / 1_048_576} MiB, and needs a \`Content-Length\`. Its first bytes must match \`Content-Type\`. With \`application/octet-stream\`, with no type, or with the type that curl adds to every body, they decide the type. A form is refused. The service does not scan it for viruses. A file that no message names within 24 hours is deleted. With an \`Idempotency-Key\`, a repeated upload returns the first file.`,
    query: { schema: uploadQuery, descriptions: { fileName: "The file's name, as contacts see it." } },
    headers: [idempotencyKey("order-4711-invoice")],
    file: "The file.",
    responses: [storedFile],
    errors: ERRORS_OF_UPLOADS,
  },
  {
    route: "GET /chats/{id}/messages/{messageId}/media",
    id: "readMedia",
    summary: "Download media",
    description:
      "Downloads the file of a message. What a contact of a network sent is streamed from the network. Once a file is permanently gone there, the service no longer asks for it. The `mediaUrl` of a message with a file is the URL of this route. The route supports `Range` (a network without ranges sends the whole file), `If-Match` and `If-None-Match`. A client may cache the file, and must revalidate it before each use.",
    responses: [
      { status: 200, description: "The file.", contentType: "*/*", headers: FILE_HEADERS },
      {
        status: 206,
        description: "The part of the file that `Range` asked for.",
        contentType: "*/*",
        headers: { ...FILE_HEADERS, "Content-Range": contentRange },
      },
      { status: 304, description: "The file is the one that `If-None-Match` names.", empty: true },
      {
        status: 416,
        description: "The file has no such part.",
        empty: true,
        headers: { "Content-Range": { ...contentRange, example: "bytes */48213" } },
      },
    ],
    errors: ["media_not_found", "media_expired", "too_large_at_network", "precondition_failed"],
  },
]);

const OF_KEY = tagged("Key", [
  {
    route: "GET /key",
    id: "readOwnKey",
    summary: "Read your own key",
    description:
      "Returns the key of this request, its permissions and what it has used. Needs no permission. This counts as a request.",
    responses: [
      jsonResponse(200, "The key and its usage.", z.object({ key: keySchema, usage: usageSchema }), {
        key: examples.key,
        usage: examples.usage,
      }),
    ],
  },
]);

/** The routes of the public API, below `/api/v1`. */
export const PUBLIC_OPERATIONS = [...OF_CHATS, ...OF_MESSAGES, ...OF_KEY];
