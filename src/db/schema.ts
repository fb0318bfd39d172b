import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ChannelSettings } from "../model/channel.ts";
import type { ChannelKind } from "../model/channel-kind.ts";
import type { Jurisdiction } from "../model/id.ts";
import type { PublicKey } from "../model/passkey.ts";
import type { Permission } from "../model/permission.ts";
import type { Region } from "../model/region.ts";
import { PARAMETER_FORMATS, type StoredTemplateState, type TemplateComponent } from "../model/template.ts";
import type { Payload } from "../model/webhook.ts";

/**
 * The directory: organizations and what belongs to them. Messages are in the chats' objects, and counts of requests in
 * the keys' objects. Times are Unix milliseconds. `erasingAt` marks a row that is being deleted: nothing new can be
 * added to it, and the row is deleted last, so an interrupted deletion can be repeated.
 */

/** What the operator caps in an organization. An absent number of chats means no limit; the others have a default. */
export interface Limits {
  chats?: number | undefined;
  members?: number | undefined;
  templates?: number | undefined;
  channels?: number | undefined;
}

/** What the operator caps in a channel: its chats, and the entries of a web channel's `allowedOrigins`. */
export interface ChannelLimits {
  chats?: number | undefined;
  origins?: number | undefined;
}

/** What keys that manage keys may give to an organization's keys. Absent: 1,000 keys, and no other ceiling. */
export interface SelfService {
  /** How many keys there may be that are not revoked. */
  maxKeys?: number | undefined;
  /** How many requests per second the rate limit of a key may allow, on average over its window. */
  maxPerSecond?: number | undefined;
  /** What the monthly quotas of all keys may add up to. */
  monthlyQuota?: number | undefined;
}

export const organizations = sqliteTable("organizations", {
  id: text().primaryKey(),
  name: text().notNull(),
  jurisdiction: text().$type<Jurisdiction>(),
  region: text().$type<Region>(),
  limits: text({ mode: "json" }).$type<Limits>().notNull().default(sql`'{}'`),
  /** Null: only the operator manages the keys. */
  selfService: text({ mode: "json" }).$type<SelfService>(),
  /** In the console, a chat that is nobody's becomes the chat of the member who answers it. */
  assignOnAnswer: integer({ mode: "boolean" }).notNull().default(false),
  /** It is for a test. `parley doctor --smoke` deletes those that a run has left. */
  temporary: integer({ mode: "boolean" }).notNull().default(false),
  createdAt: integer().notNull(),
  erasingAt: integer(),
});

const organizationId = () =>
  text()
    .notNull()
    .references(() => organizations.id);

/** The id of the key or member that created the row, or `operator`. */
const createdBy = () => text().notNull().default("operator");

/** Likewise, who last gave it what lets somebody in; null if nobody did since its creation. */
const setBy = () => text();

export const members = sqliteTable(
  "members",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    name: text().notNull(),
    /** The name that contacts see; null: the name. */
    publicName: text(),
    email: text(),
    /** What the member may do in the console. */
    permissions: text({ mode: "json" })
      .$type<Permission[]>()
      .notNull()
      .default(sql`'["chats:read","chats:write","messages:read","messages:send"]'`),
    /** Sessions of the console that began earlier have ended. */
    sessionsSince: integer().notNull().default(0),
    /** SHA-256 of the code of the member's sign-in link, in hex; null if there is none. The code is never stored. */
    signInHash: text(),
    signInUntil: integer(),
    /** Who made the link: the id of a key or a member, or `operator`. */
    signInBy: text(),
    /** How many passkeys it has. */
    passkeys: integer().notNull().default(0),
    createdBy: createdBy(),
    /** Of its permissions. */
    setBy: setBy(),
    emailBy: setBy(),
    createdAt: integer().notNull(),
    /** When the member signed in or used the console, to the hour; null if it never did. */
    lastSeenAt: integer(),
  },
  (table) => [
    // Finds an organization's first member, and lists its members.
    index("members_by_organization").on(table.organizationId, table.createdAt, table.id),
    // Finds the members whom Cloudflare Access signs in.
    index("members_by_email").on(sql`lower(${table.email})`).where(sql`${table.email} is not null`),
  ],
);

/** What members sign in with instead of a link. The passkeys of a member are deleted with it. */
export const passkeys = sqliteTable(
  "passkeys",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    memberId: text()
      .notNull()
      .references(() => members.id, { onDelete: "cascade" }),
    /** The id that the authenticator gave it, in base64url. */
    credentialId: text().notNull(),
    /** The host name of the console that it was made for. Browsers offer it nowhere else. */
    host: text().notNull(),
    publicKey: text({ mode: "json" }).$type<PublicKey>().notNull(),
    /** The highest number that the authenticator gave a signature; 0 if it does not count them. */
    counter: integer().notNull(),
    name: text().notNull(),
    /** Who made the sign-in link that led to it: the id of a key or a member, or `operator`. Null if none did. */
    linkBy: text(),
    createdAt: integer().notNull(),
    lastUsedAt: integer(),
  },
  (table) => [
    // Finds the passkey of a sign-in.
    uniqueIndex("passkeys_by_credential").on(table.credentialId),
    // Lists a member's passkeys, and counts them.
    index("passkeys_by_member").on(table.memberId, table.createdAt, table.id),
    // Finds what a key or a member leaves behind.
    index("passkeys_by_link").on(table.organizationId, table.linkBy).where(sql`${table.linkBy} is not null`),
  ],
);

export const channels = sqliteTable(
  "channels",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    kind: text().$type<ChannelKind>().notNull(),
    name: text().notNull(),
    settings: text({ mode: "json" }).$type<ChannelSettings>().notNull(),
    limits: text({ mode: "json" }).$type<ChannelLimits>().notNull().default(sql`'{}'`),
    /** After how many days messages are deleted; null for never. */
    retentionDays: integer(),
    /** Sealed JSON of the credentials; null for a web channel. */
    credentials: text(),
    /** The network's id of the channel's account; null if each account has its own webhook address. */
    account: text(),
    /** The last four characters of each credential, for display. */
    credentialHints: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
    /** Sealed. The network proves its identity with this token; null for a web channel. */
    verifyToken: text(),
    /** Sealed. Signs the identities of a site's own users; only for web channels. */
    identitySecret: text(),
    /** Sealed. The previous secret, valid until `identityPreviousUntil`. */
    identityPrevious: text(),
    identityPreviousUntil: integer(),
    /** Who got the two secrets: the id of a key or a member, or `operator`. */
    identityBy: text(),
    identityPreviousBy: text(),
    createdAt: integer().notNull(),
    erasingAt: integer(),
  },
  (table) => [
    // Lists an organization's channels, and sums their chats.
    index("channels_by_organization").on(table.organizationId, table.createdAt, table.id),
    // Finds the channels of a webhook's items.
    index("channels_by_account").on(table.organizationId, table.account),
  ],
);

export const templates = sqliteTable(
  "templates",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    name: text().notNull(),
    language: text().notNull(),
    body: text().notNull(),
    /** The account at the network that the template belongs to. Null, like the next three, if it was never synced. */
    wabaId: text(),
    components: text({ mode: "json" }).$type<TemplateComponent[]>(),
    parameterFormat: text({ enum: PARAMETER_FORMATS }),
    network: text({ mode: "json" }).$type<StoredTemplateState>(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    // Lists an organization's templates.
    index("templates_by_organization").on(table.organizationId, table.createdAt, table.id),
    // Finds the templates that a network names. Those that were never synced can have the same name.
    uniqueIndex("templates_by_account").on(table.organizationId, table.wabaId, table.name, table.language),
  ],
);

/**
 * Texts that people fill in and send. They are here and not in the organization's object, because they are
 * configuration that no message reads: sends never wait for them.
 */
export const replies = sqliteTable(
  "replies",
  {
    id: text().primaryKey(),
    /** They are deleted with it, by a Worker of an earlier version too, which does not know them. */
    organizationId: text()
      .notNull()
      .references(() => organizations.id, { onDelete: "cascade" }),
    name: text().notNull(),
    shortcut: text(),
    /** What `folded` made of the shortcut when it was set. Another version of the folding changes no row. */
    foldedShortcut: text(),
    content: text().notNull(),
    createdBy: createdBy(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    // Lists an organization's replies, and counts them.
    index("replies_by_organization").on(table.organizationId, table.createdAt, table.id),
    // Finds the reply of a shortcut.
    uniqueIndex("replies_by_shortcut").on(table.organizationId, table.foldedShortcut),
  ],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    name: text().notNull(),
    /** SHA-256 of the key's text, in hex. The text itself is never stored. */
    hash: text().notNull(),
    /**
     * The hash before the last rotation, valid until `previousUntil`; null without an overlap. Each rotation sets both.
     */
    previousHash: text(),
    previousUntil: integer(),
    permissions: text({ mode: "json" }).$type<Permission[]>().notNull(),
    /** IPv4, IPv6 and CIDR rules; empty: any address. */
    ipAllowlist: text({ mode: "json" }).$type<string[]>().notNull().default(sql`'[]'`),
    rateLimit: integer().notNull(),
    windowSeconds: integer().notNull(),
    monthlyQuota: integer(),
    /** Whether it only writes drafts: nothing that it does reaches a contact. */
    draftsOnly: integer({ mode: "boolean" }).notNull().default(false),
    /** Where its object was created; null: near its first call. */
    region: text().$type<Region>(),
    /** The highest quota of a month in which the quota changed, and when that month ends. It may be used already. */
    quotaPeak: integer(),
    quotaPeakUntil: integer(),
    expiresAt: integer(),
    revokedAt: integer(),
    createdBy: createdBy(),
    /** Of its permissions, `draftsOnly`, its end and its addresses. */
    setBy: setBy(),
    secretBy: setBy(),
    /** Who gave it the old secret of an overlap. */
    previousBy: setBy(),
    createdAt: integer().notNull(),
  },
  // Lists an organization's keys.
  (table) => [index("api_keys_by_organization").on(table.organizationId, table.createdAt, table.id)],
);

export const webhooks = sqliteTable(
  "webhooks",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    url: text().notNull(),
    description: text(),
    /** Sealed. Signs the calls. */
    secret: text().notNull(),
    /** Sealed. The previous secret, which signs too until `previousUntil`. */
    previousSecret: text(),
    previousUntil: integer(),
    /** Types of events, or families such as `message.*`; null for all. */
    types: text({ mode: "json" }).$type<string[]>(),
    /** Ids of channels; null for all. */
    channels: text({ mode: "json" }).$type<string[]>(),
    payload: text().$type<Payload>().notNull(),
    perSecond: integer().notNull(),
    concurrency: integer().notNull(),
    /** Grows with each change of the settings, but not with a rotation of the secret. */
    version: integer().notNull(),
    /** The id of the key or member that created it, or `operator`. */
    createdBy: text().notNull(),
    /** Of its secret. */
    setBy: setBy(),
    urlBy: setBy(),
    createdAt: integer().notNull(),
    erasingAt: integer(),
  },
  // Lists an organization's webhooks, and finds one by its URL.
  (table) => [index("webhooks_by_organization").on(table.organizationId, table.createdAt, table.id)],
);

/** Rows of audit logs, from the commits of acts that don't wait for the log. A row is deleted once the log has it. */
export const waitingActs = sqliteTable(
  "waiting_acts",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    /** An `EndedAct`. */
    act: text({ mode: "json" }).notNull(),
  },
  // Finds an organization's rows.
  (table) => [index("waiting_acts_by_organization").on(table.organizationId, table.id)],
);

/** How far the net under all alarms has come. It has one row. */
export const alarmNet = sqliteTable("alarm_net", {
  /** Always 1. */
  id: integer().primaryKey(),
  /** When the last run began: the scheduled time of its cron trigger. */
  at: integer().notNull(),
  /** The last organization that it called; empty if the next run begins a round. */
  place: text().notNull(),
  /** How many organizations each run of the round calls. */
  page: integer().notNull(),
});

/** The operator's one-time codes and the challenges of passkeys that were used. A row is deleted a minute after its end. */
export const usedCodes = sqliteTable("used_codes", {
  /** SHA-256 of the code or challenge, in hex. */
  hash: text().primaryKey(),
  until: integer().notNull(),
});

/**
 * Which members have sessions that began with a link, by who made it: what a key or a member leaves behind. The rows of
 * sessions that are over are deleted with the next sign-in.
 */
export const signIns = sqliteTable(
  "sign_ins",
  {
    organizationId: organizationId(),
    /** The id of a key or a member, or `operator`. */
    madeBy: text().notNull(),
    memberId: text().notNull(),
    /** When the last of these sessions began, and when it ends. */
    at: integer().notNull(),
    until: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.madeBy, table.memberId] }),
    // Finds the sessions that are over.
    index("sign_ins_by_end").on(table.until),
  ],
);

/** The sessions that the operator ended. A row is deleted once its session would have ended anyway. */
export const endedSessions = sqliteTable("ended_sessions", {
  id: text().primaryKey(),
  until: integer().notNull(),
});
