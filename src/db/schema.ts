import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ChannelStats } from "../channels/attempt-counts.ts";
import type { ChannelKind } from "../channels/kinds.ts";
import type { ChannelSettings } from "../channels/spec.ts";
import type { Jurisdiction } from "../ids.ts";
import type { KeyStats } from "../keys/key-stats.ts";
import type { Permission } from "../keys/permissions.ts";

/**
 * The directory: organizations and what belongs to them. Messages are in the chats' objects, and counts of requests in
 * the keys' objects. Times are Unix milliseconds. `erasingAt` marks a row that is being deleted: nothing new can be
 * added to it, and the row is deleted last, so an interrupted deletion can be repeated.
 */

export const REGIONS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;
export type Region = (typeof REGIONS)[number];

/** The client's own key-value pairs. */
export type Metadata = Record<string, string>;

export const organizations = sqliteTable("organizations", {
  id: text().primaryKey(),
  name: text().notNull(),
  jurisdiction: text().$type<Jurisdiction>(),
  region: text().$type<Region>(),
  createdAt: integer().notNull(),
  erasingAt: integer(),
});

const organizationId = () =>
  text()
    .notNull()
    .references(() => organizations.id);

export const members = sqliteTable(
  "members",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    name: text().notNull(),
    email: text(),
    createdAt: integer().notNull(),
  },
  // Finds an organization's first member, and lists its members.
  (table) => [index("members_by_organization").on(table.organizationId, table.createdAt, table.id)],
);

export const channels = sqliteTable(
  "channels",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    kind: text().$type<ChannelKind>().notNull(),
    name: text().notNull(),
    settings: text({ mode: "json" }).$type<ChannelSettings>().notNull(),
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
    healthState: text().$type<"ok" | "broken">().notNull().default("ok"),
    healthReason: text(),
    healthSince: integer().notNull(),
    /** The number of its chats, updated by the statements that insert and delete chats. */
    chatCount: integer().notNull().default(0),
    createdAt: integer().notNull(),
    erasingAt: integer(),
    /** Written by the channel's object every few seconds while the channel is used. */
    stats: text({ mode: "json" }).$type<ChannelStats>(),
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
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  // Lists an organization's templates.
  (table) => [index("templates_by_organization").on(table.organizationId, table.createdAt, table.id)],
);

export const chats = sqliteTable(
  "chats",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    channelId: text()
      .notNull()
      .references(() => channels.id),
    /** A copy of the channel's kind, which never changes, for an index. */
    channelKind: text().$type<ChannelKind>().notNull(),
    contactAddress: text().notNull(),
    contactName: text(),
    metadata: text({ mode: "json" }).$type<Metadata>().notNull(),
    createdAt: integer().notNull(),
    lastMessageAt: integer(),
    /** The time of the last message, or of the creation if there is none. The list is ordered by it. */
    activeAt: integer().notNull(),
    erasingAt: integer(),
  },
  (table) => [
    // GET /chats, latest activity first: by organization, by kind, by channel. `erasingAt` keeps chats that are being
    // deleted out of the range that a page reads.
    index("chats_by_activity").on(table.organizationId, table.erasingAt, table.activeAt, table.id),
    index("chats_by_kind_and_activity").on(
      table.organizationId,
      table.channelKind,
      table.erasingAt,
      table.activeAt,
      table.id,
    ),
    index("chats_by_channel_and_activity").on(table.channelId, table.erasingAt, table.activeAt, table.id),
  ],
);

/**
 * The chat of each address of a channel. The primary key lets only one of several concurrent first messages create it.
 */
export const chatAddresses = sqliteTable(
  "chat_addresses",
  {
    channelId: text()
      .notNull()
      .references(() => channels.id),
    address: text().notNull(),
    chatId: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.channelId, table.address] }),
    // Finds the addresses of a chat that is being deleted.
    index("chat_addresses_by_chat").on(table.chatId),
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
    expiresAt: integer(),
    revokedAt: integer(),
    createdAt: integer().notNull(),
    /** Written by the key's object once a minute while the key is used. */
    stats: text({ mode: "json" }).$type<KeyStats>(),
  },
  // Lists an organization's keys.
  (table) => [index("api_keys_by_organization").on(table.organizationId, table.createdAt, table.id)],
);
