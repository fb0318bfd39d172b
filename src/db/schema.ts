import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ChannelStats } from "../channels/attempt-counts.ts";
import type { ChannelKind } from "../channels/kinds.ts";
import type { ChannelSettings } from "../channels/spec.ts";
import type { Jurisdiction } from "../ids.ts";
import type { Permission } from "../keys/permissions.ts";
import type { KeyStats } from "../keys/request-counts.ts";

/**
 * The directory: small rows that say who exists and what belongs to whom. Messages are in the chats' own objects,
 * counts of requests in the keys'. Times are Unix milliseconds. `erasingAt` marks what is being deleted: nothing new
 * may join it, and its row goes last, so that a deletion that broke off can be repeated.
 */

export const REGIONS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;
export type Region = (typeof REGIONS)[number];

/** The caller's own pairs. */
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
  // An organization's first member, and the list of its members.
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
    /** Sealed JSON of the credentials' fields; null on a web channel. */
    credentials: text(),
    /** The network's name of the channel's account; null if each account has a webhook address of its own. */
    account: text(),
    /** The last four characters of each credential, for the eye. */
    credentialHints: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
    /** Sealed; what the network shows us to prove itself; null on a web channel. */
    verifyToken: text(),
    /** Sealed; signs the identities of a site's own users; web channels alone. */
    identitySecret: text(),
    /** Sealed; the one before, which verifies until `identityPreviousUntil`. */
    identityPrevious: text(),
    identityPreviousUntil: integer(),
    healthState: text().$type<"ok" | "broken">().notNull().default("ok"),
    healthReason: text(),
    healthSince: integer().notNull(),
    /** How many chats it has, kept by the statements that insert and delete them. */
    chatCount: integer().notNull().default(0),
    createdAt: integer().notNull(),
    erasingAt: integer(),
    /** Written by the channel's object, every few seconds while it is used. */
    stats: text({ mode: "json" }).$type<ChannelStats>(),
  },
  (table) => [
    // The list of an organization's channels, and the sum of their chats.
    index("channels_by_organization").on(table.organizationId, table.createdAt, table.id),
    // The channels that a webhook's items are for.
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
  // The list of an organization's templates.
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
    /** The channel's kind, which never changes: here so that the filter by kind has an index to walk. */
    channelKind: text().$type<ChannelKind>().notNull(),
    contactAddress: text().notNull(),
    contactName: text(),
    metadata: text({ mode: "json" }).$type<Metadata>().notNull(),
    createdAt: integer().notNull(),
    lastMessageAt: integer(),
    /** When it last had a message, else when it was made: what the list is ordered by. */
    activeAt: integer().notNull(),
    erasingAt: integer(),
  },
  (table) => [
    // GET /chats, latest activity first: all of an organization, those of one kind, those of one channel. Chats that are
    // being erased lie apart in each index, so that a page never walks over them.
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

/** Which chat an address of a channel belongs to. Its primary key settles concurrent first messages. */
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
    // The addresses of a chat that is being deleted.
    index("chat_addresses_by_chat").on(table.chatId),
  ],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    name: text().notNull(),
    /** SHA-256 of the key's text, hex. The text itself is stored nowhere. */
    hash: text().notNull(),
    /** The secret before a rotation, if it was given an overlap. It lives until `previousUntil`, which each rotation sets. */
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
    /** Written by the key's object, once a minute while it is used. */
    stats: text({ mode: "json" }).$type<KeyStats>(),
  },
  // The list of an organization's keys.
  (table) => [index("api_keys_by_organization").on(table.organizationId, table.createdAt, table.id)],
);
