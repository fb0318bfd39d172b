import * as z from "zod";
import { CHANNEL_KINDS } from "../channels/kinds.ts";
import type { readUsage } from "../management/keys.ts";
import { FAILURES, NETWORKS, type NetworkKind } from "../model/channel-kind.ts";
import { WARNING_CODES } from "../model/channel-warning.ts";
import type * as directory from "../model/chat.ts";
import { MESSAGE_TYPES } from "../model/content.ts";
import { MEDIA_GONE } from "../model/file.ts";
import { HANDLERS } from "../model/handover.ts";
import type { presentKey } from "../model/key.ts";
import type * as pages from "../model/list-page.ts";
import * as messages from "../model/message.ts";
import { MEDIA_URL_REQUIRED } from "../model/network.ts";
import type { Note } from "../model/note.ts";
import { PERMISSIONS } from "../model/permission.ts";
import { REGIONS } from "../model/region.ts";
import { WORK_STATES } from "../model/work-state.ts";
import { contentFields } from "./content-resources.ts";
import {
  count,
  countOrNull,
  group,
  groupOrNull,
  groups,
  id,
  oneOf,
  resource,
  text,
  textIfSet,
  textOrNull,
  time,
  timeIfSet,
  timeOrNull,
  yesOrNo,
} from "./typed-schema.ts";

/** What a network reports about a channel that works. */
export const channelWarnings = groups("What the network reports about the channel while it works, oldest first", {
  code: oneOf(WARNING_CODES, "What it is about. Ignore codes that you don't know: there will be more"),
  since: time("When it was first reported"),
  count: count.describe("How often it was reported since"),
  text: text("What the network says, for people"),
});

const metadata = z.record(z.string(), z.string()).describe("The client's own pairs of strings. `{}` if there are none");
const total = count.describe("How many rows the list has");
const limit = count.describe("The maximum number of rows on a page");

const ERROR_CODES = [
  `\`${MEDIA_URL_REQUIRED}\` (a media message has no \`mediaUrl\`, and its \`content\` is not an https URL)`,
  `\`${MEDIA_GONE}\` (its file no longer exists)`,
  ...Object.entries(NETWORKS).flatMap(([kind, { label }]) =>
    Object.entries(FAILURES[kind as NetworkKind] ?? {}).map(([code, meaning]) => `\`${code}\` (${label}: ${meaning})`),
  ),
  "`message_refused` (the network refuses this message with an error about the channel, while other chats get through)",
  "`delivery_timeout` (the service tried for a day)",
  "`expired` (`expiresAt` passed before it was delivered)",
  "`window_closed` (a scheduled message with `ifOpen` was due after the chat's `replyUntil`)",
  "`opted_out` (a scheduled message has a marketing template, and the contact has opted out of marketing)",
  "`redacted` (the message was redacted before it was delivered)",
  "`network_error`, or `network_` followed by the network's own code",
].join(", ");

export const paginationSchema = resource<pages.Pagination>()(
  "Pagination",
  "The position of a page in its list.",
  z.object({
    page: count.describe("The number of this page, starting at 1"),
    limit,
    total,
    totalPages: count.describe("The number of pages"),
    hasMore: yesOrNo("Whether more pages follow"),
  }),
);

export const chatsPaginationSchema = resource<pages.ChatsPagination>()(
  "ChatsPagination",
  "The position of a page of chats.",
  z.object({
    ...paginationSchema.shape,
    cursor: textOrNull("Continues behind this page, as `before`, with the same filters. Null if nothing follows"),
  }),
);

export const cursorPaginationSchema = resource<pages.CursorPagination>()(
  "CursorPagination",
  "The position of a page that was read with `before` or `after`.",
  z.object({
    limit,
    total,
    hasMore: yesOrNo("Whether more rows follow in this direction"),
  }),
);

export const marketingSchema = z.object({
  optedOut: yesOrNo("Whether the contact wants no marketing"),
  at: time("When that was said"),
  by: oneOf(
    ["contact", "network", "key", "member"],
    "Who said it. `contact`: the contact told its network, or wrote one of the channel's `stopWords`. `network`: the network refused a message for this reason. `key`, `member`: a change of the chat",
  ),
});

export const chatSchema = resource<directory.Chat>()(
  "Chat",
  "A conversation with one contact on one channel. Without `chats:read`, the answer of a change has ids and times: names and the address are empty, and there is no metadata.",
  z.object({
    id: id("chat"),
    channel: group("The channel that delivers the chat's messages", {
      id: id("channel"),
      kind: oneOf(CHANNEL_KINDS, "The kind of channel"),
      name: text("The channel's name"),
    }),
    contact: group("The person outside the organization", {
      address: text("The contact's first known address on the channel. It never changes"),
      name: textOrNull("The contact's name, if known"),
      username: textOrNull("The contact's public name on the network, without an @. It can change hands"),
      personId: textOrNull(
        "Your own key of the person, which the person's other chats have too. Null: you have given none. A contact never sets it",
      ),
      addresses: z
        .array(z.string())
        .describe("All addresses that lead to this chat, the first one first: numbers, user ids, earlier ones"),
      sameAs: z
        .array(z.string())
        .optional()
        .describe(
          "Other chats of the same contact on this channel: they began before the network said so, and stay apart. Absent if there are none",
        ),
    }),
    metadata,
    createdAt: time("When it was created"),
    lastMessageAt: timeOrNull(
      "The time of the last message, or null before the first one. In lists, this and the next four fields can lag by a few seconds, and under heavy load by a minute",
    ),
    lastMessage: z
      .object({
        id: id("message"),
        seq: count.describe("The message's number in the chat"),
        direction: oneOf(["OUTBOUND", "INBOUND"], "OUTBOUND: from the organization. INBOUND: from the contact"),
        type: oneOf(MESSAGE_TYPES, "The kind of message"),
        text: text("The first 160 characters of the message's `text`. Empty after a redaction"),
        status: oneOf(messages.MESSAGE_STATUSES, "The message's status"),
        createdAt: time("When the message was stored"),
      })
      .nullable()
      .describe("The last message, shortened. Null before the first one, and if the key lacks `messages:read`"),
    unansweredSince: timeOrNull(
      "When the contact wrote the first message that nobody has answered. A message with `standby` counts once the network's agent has given the conversation back. Null: nothing is unanswered",
    ),
    nextScheduledAt: timeOrNull("When the next scheduled message is due. Null: none is scheduled"),
    readUpTo: countOrNull("The `seq` of the last message that a client has marked as read. Null: none was"),
    assigneeId: textOrNull(
      "The member to whom the chat is assigned. Null: nobody. A removed member's id stays for a while",
    ),
    replyUntil: timeOrNull(
      "Until when the network takes free text, and not only templates: 24 hours after the contact last wrote. If the contact never wrote, this is `createdAt`. Null on channels that always take it",
    ),
    marketing: marketingSchema
      .nullable()
      .describe(
        "Whether the contact takes marketing templates. What was said last holds. Null: nobody has said anything",
      ),
    state: oneOf(
      WORK_STATES,
      "`open`: somebody works on it, or will. `snoozed`: put off until `snoozedUntil`. `closed`: done. The contact's next message opens it",
    ),
    snoozedUntil: timeOrNull("When the snooze ends. Null unless `state` is `snoozed`"),
    handler: oneOf(HANDLERS, "Who answers the chat: the channel's bot, or people"),
    labels: groups("The chat's labels, in the order in which it got them", {
      id: id("label"),
      name: text("The label's name"),
    }),
    mention: group("The newest note that mentions the member. Only in the list of `mentioned`", {
      noteId: id("note"),
      afterSeq: count.describe("The `seq` of the message behind which the note stands; 0 if there is none"),
      createdAt: time("When the note was written"),
    }).optional(),
  }),
);

export const messageSchema = resource<messages.ShownMessage>()(
  "Message",
  "A message of a chat, inbound or outbound. Without `messages:read`, the answer of a change has ids, status and times: texts are empty, and nothing else says what the message is. The answer of a send shows what the request says.",
  z.object({
    id: id("message"),
    chatId: id("chat"),
    seq: countOrNull(
      "The message's number in the chat: 1, 2, 3 … without a gap above the deleted messages. Null while the message is scheduled, and if it ended before it was sent",
    ),
    direction: oneOf(
      ["OUTBOUND", "INBOUND"],
      "OUTBOUND: from the organization, see `origin`. INBOUND: written by the contact",
    ),
    type: oneOf(MESSAGE_TYPES, "The kind of message"),
    content: text("The text, or the caption of the media. Empty after a redaction"),
    mediaUrl: textOrNull(
      "The URL of the media. For a file that a contact sent or that you uploaded, this is the `/media` route of this API",
    ),
    senderId: textOrNull("The member who sent the message. Null if no member did: see `direction` and `origin`"),
    templateId: textOrNull("The template that the message was sent with"),
    variables: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .nullable()
      .describe("The values for the template's placeholders"),
    text: text("The text that is delivered: the filled template, or `content`"),
    status: oneOf(
      messages.MESSAGE_STATUSES,
      "SCHEDULED: waits for `scheduledAt`. QUEUED: stored, and waiting for delivery. SENT: accepted by the network. DELIVERED, READ: reported by the network. FAILED: not delivered, see `error`. CANCELED: taken back before it was delivered. RECEIVED: inbound",
    ),
    error: groupOrNull("Why the message failed. Null unless the status is FAILED", {
      code: text(`A stable code: ${ERROR_CODES}`),
      message: text("What happened, in the network's own words if it gave any"),
    }),
    metadata,
    createdAt: time("When the message was stored"),
    updatedAt: time("When it last changed"),
    sentAt: timeIfSet("When the network accepted it; for a web chat, when it was stored. Absent if unknown or not yet"),
    deliveredAt: timeIfSet("When the network or the visitor's page reported it as delivered"),
    readAt: timeIfSet("When the network or the visitor's page reported it as read"),
    failedAt: timeIfSet("When its delivery failed"),
    scheduledAt: timeIfSet("When to send it. Absent: at once"),
    expiresAt: timeIfSet("Delivery is not tried after this time. Absent: it does not expire"),
    resendOf: textIfSet("The failed message that this one repeats"),
    ...contentFields,
  }),
);

export const oneChat = z.object({ chat: chatSchema });
export const oneMessage = z.object({ message: messageSchema });

export const callerName = z.object({
  type: oneOf(["operator", "key", "member"], "Who made the request"),
  id: text("The key's or the member's id, or OPERATOR"),
  name: text("The name at that time"),
});

export const noteSchema = resource<Note>()(
  "Note",
  "A note about a chat, which only the organization sees. Without `notes:read`, the author's name is empty in an answer about somebody else's note.",
  z.object({
    id: id("note"),
    chatId: id("chat"),
    author: callerName.describe("Who wrote it"),
    content: text("What it says. Empty once it is deleted"),
    mentions: z.array(z.string()).describe("The ids of the members whom it is for"),
    afterSeq: count.describe("The `seq` of the chat's newest message when it was written. 0: there was none"),
    createdAt: time("When it was written"),
    draft: z.literal(true).optional().describe("It is a draft of a message, which a person sends"),
    deletedAt: timeIfSet("When it was deleted"),
  }),
);

export const keySchema = resource<ReturnType<typeof presentKey>>()(
  "Key",
  "An API key, without its secret.",
  z.object({
    id: id("key"),
    organizationId: id("organization"),
    name: text("The key's name"),
    permissions: z
      .array(z.enum(PERMISSIONS))
      .describe("The key's permissions. Without any, the key can only read itself"),
    ipAllowlist: z
      .array(z.string())
      .describe("The IP addresses and CIDR blocks that can use the key. An empty list allows every address"),
    rateLimit: group("The rate limit. A window starts with its first request", {
      limit: count.describe("The maximum number of requests in a window"),
      windowSeconds: count.describe("The length of a window in seconds"),
    }),
    monthlyQuota: countOrNull("The maximum number of requests in a calendar month in UTC. Null: no quota"),
    draftsOnly: z.boolean().describe("Whether the key only writes drafts: nothing that it does reaches a contact"),
    region: z
      .enum(REGIONS)
      .nullable()
      .describe("A hint for where its requests are counted. Null: near its first request"),
    expiresAt: timeOrNull("When the key expires. Null: never"),
    revokedAt: timeOrNull("When it was revoked"),
    previousSecretExpiresAt: timeOrNull(
      "When the secret before the last rotation stops working. Null: only one secret works",
    ),
    createdBy: text("The id of the key that created it, or `operator`"),
    createdAt: time("When it was created"),
  }),
);

export const usageSchema = resource<Awaited<ReturnType<typeof readUsage>>>()(
  "Usage",
  "What a key has used in this month and in its window.",
  z.object({
    month: text("The calendar month in UTC, such as `2026-11`"),
    used: count.describe("The number of accepted requests in this month"),
    quota: countOrNull("The month's quota. Null: no quota"),
    window: group("The current window of the rate limit", {
      limit: count.describe("The maximum number of requests in a window"),
      remaining: count.describe("The number of requests left in this window"),
      reset: timeOrNull("When the window ends. Null if no window is running"),
    }),
  }),
);
