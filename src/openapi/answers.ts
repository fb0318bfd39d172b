import * as z from "zod";
import type { presentChannel } from "../admin/channels.ts";
import type { readUsage } from "../admin/keys.ts";
import type { presentMember, presentOrganization } from "../admin/organizations.ts";
import type { registerChannel } from "../admin/register-webhook.ts";
import type { Resealed } from "../admin/reseal.ts";
import type { channelStats as presentChannelStats, keyStats as presentKeyStats } from "../admin/stats.ts";
import type { presentTemplate } from "../admin/templates.ts";
import { MEDIA_URL_REQUIRED, MESSAGE_TYPES } from "../channels/adapter.ts";
import { CHANNEL_KINDS } from "../channels/kinds.ts";
import type * as directory from "../chats/directory.ts";
import type * as messages from "../chats/message.ts";
import type { Queue } from "../chats/rpc.ts";
import { PERMISSIONS, REGIONS } from "../db/schema.ts";
import type * as pages from "../http/pagination.ts";
import type { presentKey } from "../keys/key-record.ts";

/**
 * What the routes answer. The Worker does not read these schemas: each is checked, where it is compiled, to be the very
 * type of what a route answers, and in all tests, to be what it answered.
 */

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
type Plain<T> = T extends object ? { -readonly [K in keyof T]: Plain<T[K]> } : T;

/** A schema of exactly what a route answers as `Answered`, named in the documents. */
function answer<Answered>() {
  return <S extends z.ZodType>(
    id: string,
    description: string,
    schema: S & (Same<Plain<z.output<S>>, Plain<Answered>> extends true ? unknown : { differs: Plain<Answered> }),
  ): S => schema.meta({ id, title: id, description });
}

const id = (what: string) => z.string().describe(`The ${what}'s id: opaque`);
const time = (what: string) => z.string().meta({ format: "date-time", description: `${what}; RFC 3339, UTC` });
const timeOrNull = (what: string) => time(what).nullable();

const metadata = z.record(z.string(), z.string()).describe("The caller's own pairs; `{}` when none were given");
const count = z.int().min(0);
const total = count.describe("How many there are in all");
const limit = count.describe("How many a page holds at most");

const FAILURES = [
  `\`${MEDIA_URL_REQUIRED}\` (a media message without a link)`,
  "`outside_messaging_window` (WhatsApp: the contact wrote more than 24 hours ago; send a template)",
  "`template_rejected` (WhatsApp does not have the template as it was sent)",
  "`contact_unreachable` (Telegram: the contact has blocked the bot, or never wrote to it)",
  "`message_refused` (the network refuses this message as if the channel were broken, and accepts those of other chats)",
  "`delivery_timeout` (a day of trying is over)",
  "`redacted` (it was redacted before it was delivered)",
  "`network_error`, or `network_` and the network's own code",
].join(", ");

export const pagination = answer<pages.Pagination>()(
  "Pagination",
  "What a list by page says of itself.",
  z.object({
    page: count.describe("The page that this is, from 1 on"),
    limit,
    total,
    totalPages: count.describe("How many pages there are"),
    hasMore: z.boolean().describe("Whether a page follows this one"),
  }),
);

export const cursorPagination = answer<pages.CursorPagination>()(
  "CursorPagination",
  "What a list from a cursor on says of itself.",
  z.object({
    limit,
    total,
    hasMore: z.boolean().describe("Whether more lie beyond these, in the direction of the walk"),
  }),
);

export const chat = answer<directory.Chat>()(
  "Chat",
  "A talk with one contact on one channel.",
  z.object({
    id: id("chat"),
    channel: z
      .object({
        id: id("channel"),
        kind: z.enum(CHANNEL_KINDS).describe("Which kind of channel it is"),
        name: z.string().describe("What its operator calls it"),
      })
      .describe("The channel that its messages are delivered through"),
    contact: z
      .object({
        address: z.string().describe("Where the contact is reached on the channel; stays the first that was known"),
        name: z.string().nullable().describe("What the contact is called, where that is known"),
      })
      .describe("Whom the chat is with"),
    metadata,
    createdAt: time("When it was made"),
    lastMessageAt: timeOrNull("When it last had a message, null before the first; in lists up to 10 s late"),
  }),
);

export const message = answer<messages.Message>()(
  "Message",
  "One message of a chat, in either direction.",
  z.object({
    id: id("message"),
    chatId: id("chat"),
    seq: count.describe("1, 2, 3 … in the chat, without a gap: the order of its messages"),
    direction: z
      .enum(["OUTBOUND", "INBOUND"])
      .describe("OUTBOUND was sent through this service, INBOUND a contact wrote"),
    type: z.enum(MESSAGE_TYPES).describe("What kind of message it is"),
    content: z.string().describe("Its text, or the caption of its media; empty once it was redacted"),
    mediaUrl: z.string().nullable().describe("Where its media is; of an inbound message this service's `/media` route"),
    senderId: z.string().nullable().describe("The member who sent it; null when a contact wrote it"),
    templateId: z.string().nullable().describe("The template that it was sent with"),
    variables: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .nullable()
      .describe("What the template was filled with"),
    text: z.string().describe("What is delivered: the filled template, else `content`"),
    status: z
      .enum(["QUEUED", "SENT", "DELIVERED", "READ", "FAILED", "RECEIVED"])
      .describe(
        "QUEUED: accepted and stored. SENT: taken by the network. DELIVERED, READ: as the network tells. FAILED: `error` says why. RECEIVED: inbound",
      ),
    error: z
      .object({
        code: z.string().describe(`A stable machine word: ${FAILURES}`),
        message: z.string().describe("What happened, in the network's own words where it said any"),
      })
      .nullable()
      .describe("Why it failed; null unless it did"),
    metadata,
    createdAt: time("When it was stored"),
    updatedAt: time("When it was last changed"),
  }),
);

export const key = answer<ReturnType<typeof presentKey>>()(
  "Key",
  "An API key, without its secret.",
  z.object({
    id: id("key"),
    organizationId: id("organization"),
    name: z.string().describe("What it is for"),
    permissions: z.array(z.enum(PERMISSIONS)).describe("What it may do; with none it may read itself alone"),
    ipAllowlist: z.array(z.string()).describe("The addresses and CIDR ranges that it may be used from; none: any"),
    rateLimit: z
      .object({
        limit: count.describe("How many requests a window admits"),
        windowSeconds: count.describe("How long a window is, in seconds"),
      })
      .describe("A fixed window that starts with its first request"),
    monthlyQuota: count.nullable().describe("How many requests a UTC calendar month admits; null: any number"),
    expiresAt: timeOrNull("From when on it is refused"),
    revokedAt: timeOrNull("When it was revoked"),
    previousSecretExpiresAt: timeOrNull("Until when the secret before the last rotation still lives"),
    createdAt: time("When it was made"),
  }),
);

export const usage = answer<Awaited<ReturnType<typeof readUsage>>>()(
  "Usage",
  "What a key has used.",
  z.object({
    month: z.string().describe("The UTC calendar month that is counted, `2026-11`"),
    used: count.describe("How many requests were admitted in it"),
    quota: count.nullable().describe("How many it may be; null: any number"),
    window: z
      .object({
        limit: count.describe("How many requests a window admits"),
        remaining: count.describe("How many are left in this one"),
        reset: timeOrNull("When it ends; null while none is running"),
      })
      .describe("The rate limit's running window"),
  }),
);

export const organization = answer<ReturnType<typeof presentOrganization>>()(
  "Organization",
  "A customer: what one API key sees belongs to one of these.",
  z.object({
    id: id("organization"),
    name: z.string().describe("What it is called"),
    jurisdiction: z.enum(["eu", "us"]).nullable().describe("Where its objects must live; never changes"),
    region: z.enum(REGIONS).nullable().describe("A hint where they should live"),
    createdAt: time("When it was made"),
  }),
);

export const member = answer<ReturnType<typeof presentMember>>()(
  "Member",
  "A user of an organization, in whose name messages are sent.",
  z.object({
    id: id("member"),
    organizationId: id("organization"),
    name: z.string().describe("What they are called"),
    email: z.string().nullable().describe("Their e-mail address"),
    createdAt: time("When they were added"),
  }),
);

const health = {
  state: z.enum(["ok", "broken"]).describe("Whether the network takes what is sent through it"),
  reason: z.string().nullable().describe("Why it is broken"),
  since: time("Since when it is so"),
};

export const channel = answer<Awaited<ReturnType<typeof presentChannel>>>()(
  "Channel",
  "A way to reach contacts: a number on WhatsApp, a bot on Telegram, or a web chat.",
  z.object({
    id: id("channel"),
    organizationId: id("organization"),
    kind: z.enum(CHANNEL_KINDS).describe("Which kind of channel it is; never changes"),
    name: z.string().describe("What it is called; visitors of a web chat see it"),
    settings: z
      .object({
        allowedOrigins: z.array(z.string()).optional().describe("web: the sites that may embed it; none: any"),
        perSecond: z.number().optional().describe("whatsapp, telegram: how many calls a second go to the network"),
      })
      .describe("The settings of its kind, the defaults included"),
    credentials: z
      .record(z.string(), z.string())
      .exactOptional()
      .describe("whatsapp, telegram: the last four characters of each credential"),
    webhook: z
      .object({
        url: z.string().describe("The address that the network is to call"),
        verifyToken: z
          .string()
          .nullable()
          .describe("Telegram's secret token, WhatsApp's verify token; null where it opens under no configured key"),
      })
      .exactOptional()
      .describe("whatsapp, telegram: what is entered at the network"),
    health: z.object(health).describe("Whether it works"),
    createdAt: time("When it was made"),
  }),
);

export const channelStats = answer<ReturnType<typeof presentChannelStats>>()(
  "ChannelStats",
  "What a channel's delivery comes to. Counts are since it was made, and never fall.",
  z.object({
    id: id("channel"),
    organizationId: id("organization"),
    kind: z.enum(CHANNEL_KINDS).describe("Which kind of channel it is"),
    name: z.string().describe("What it is called"),
    health: z
      .object({ ...health, nextProbeAt: timeOrNull("When a broken channel is tried again") })
      .describe("Whether it works"),
    queue: z
      .object({
        depth: count.describe("How many messages wait in all its chats"),
        oldest: timeOrNull("When the one that waits longest was sent"),
        ageSeconds: count.nullable().describe("How long ago that was"),
      })
      .describe("What waits for its network"),
    attempts: z
      .object({
        sent: count.describe("The network took the message"),
        retry: count.describe("It did not, and is tried again"),
        failed: count.describe("It refused the message for good"),
        unknown: count.describe("Nobody answered"),
        moved: count.describe("The contact has another address, which is tried next"),
        channel_broken: count.describe("It refused the channel itself"),
      })
      .describe("How attempts at delivery ended, in the words of the log"),
    updatedAt: timeOrNull("As of when; null while nothing was to be delivered through it, and on a web channel"),
  }),
);

export const keyStats = answer<ReturnType<typeof presentKeyStats>>()(
  "KeyStats",
  "How often a key was used. Counts are since it was made, and never fall.",
  z.object({
    id: id("key"),
    organizationId: id("organization"),
    name: z.string().describe("What it is for"),
    admitted: count.describe("How many requests were admitted, whatever they were answered"),
    refused: z
      .object({
        invalid_api_key: count.describe("It was revoked or expired, or had another secret since"),
        ip_not_allowed: count.describe("From an address that its list does not have"),
        permission_denied: count.describe("It lacked the permission"),
        rate_limited: count.describe("Its window was used up"),
        quota_exceeded: count.describe("Its month was used up"),
      })
      .describe("How many were refused, by the code of the error"),
    updatedAt: timeOrNull("As of when; null before its first request"),
  }),
);

export const template = answer<ReturnType<typeof presentTemplate>>()(
  "Template",
  "A text with `{{placeholders}}`.",
  z.object({
    id: id("template"),
    organizationId: id("organization"),
    name: z.string().describe("What it is called; on WhatsApp the name under which Meta approved it"),
    language: z.string().describe("Its language; on WhatsApp the one under which Meta approved it"),
    body: z.string().describe("Its text"),
    variables: z.array(z.string()).describe("The names of its placeholders, in the order of their first use"),
    createdAt: time("When it was made"),
    updatedAt: time("When it was last changed"),
  }),
);

export const queue = answer<Queue>()(
  "Queue",
  "What waits in a chat for its network.",
  z.object({
    depth: count.describe("How many messages wait"),
    oldest: timeOrNull("When the one that waits longest was sent"),
    nextAttemptAt: timeOrNull("When the next attempt is due"),
    lastError: z
      .object({ code: z.string().describe("A stable machine word"), message: z.string().describe("What happened") })
      .nullable()
      .describe("Why the last attempt did not succeed"),
  }),
);

export const registration = answer<Awaited<ReturnType<typeof registerChannel>>["webhook"]>()(
  "WebhookRegistration",
  "What a network said when it was asked to call this service.",
  z.object({
    url: z.string().describe("The address that it is to call"),
    ok: z.boolean().describe("Whether it will"),
    code: z.number().nullable().describe("The network's error code; null for a success and where no answer came"),
    description: z.string().describe("The network's words"),
  }),
);

export const resealed = answer<Resealed>()(
  "Resealed",
  "What became of the sealed credentials.",
  z.object({
    resealed: count.describe("How many channels have all that they keep sealed under the current key"),
    unreadable: z.array(z.string()).describe("The ids of the channels that open under no known key"),
  }),
);
