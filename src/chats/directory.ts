import { and, desc, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import { CHANNEL_KINDS, type ChannelKind } from "../channels/kinds.ts";
import type { Directory } from "../db/client.ts";
import { channels, chatAddresses, chats, type Metadata, organizations } from "../db/schema.ts";
import { type CursorPagination, type ListPosition, type Pagination, pagination } from "../http/pagination.ts";
import { fault } from "../http/validation.ts";
import type { ChatIdentity } from "./identity.ts";

/** A chat as the API shows it. */
export interface Chat {
  id: string;
  channel: { id: string; kind: ChannelKind; name: string };
  contact: { address: string; name: string | null };
  metadata: Metadata;
  createdAt: string;
  lastMessageAt: string | null;
}

/** `channel` is the id of a channel or a kind of channels, `contact` an exact address. */
export interface ChatFilter {
  channel?: string | undefined;
  contact?: string | undefined;
}

/** A list of chats has no `after`: an active chat moves to the front, so newer chats have no stable order. */
export type ChatListPosition = Exclude<ListPosition, { after: string }>;

const chatColumns = { ...getTableColumns(chats), channelName: channels.name };

/** The chat that an address of a channel belongs to, or null. */
export async function findByAddress(db: Directory, channelId: string, address: string): Promise<string | null> {
  const row = await db
    .select({ chatId: chatAddresses.chatId })
    .from(chatAddresses)
    .where(and(eq(chatAddresses.channelId, channelId), eq(chatAddresses.address, address)))
    .get();
  return row?.chatId ?? null;
}

/** A chat is hidden while it or its channel is being deleted. */
const isVisible = and(isNull(chats.erasingAt), isNull(channels.erasingAt));

/** A chat of an organization; null if there is none or it is being deleted. */
export async function findChat(db: Directory, organizationId: string, chatId: string): Promise<Chat | null> {
  const row = await db
    .select(chatColumns)
    .from(chats)
    .innerJoin(channels, eq(channels.id, chats.channelId))
    .where(and(eq(chats.id, chatId), eq(chats.organizationId, organizationId), isVisible))
    .get();
  return row ? presentChat(row) : null;
}

/** A chat of any organization, even while it is being deleted, or null. */
export async function findChatToErase(db: Directory, chatId: string): Promise<Chat | null> {
  const row = await db
    .select(chatColumns)
    .from(chats)
    .innerJoin(channels, eq(channels.id, chats.channelId))
    .where(eq(chats.id, chatId))
    .get();
  return row ? presentChat(row) : null;
}

/** The organization of a chat and the region of its objects; null if there is no such chat. */
export async function findOwner(db: Directory, chatId: string) {
  const row = await db
    .select({ organizationId: chats.organizationId, region: organizations.region })
    .from(chats)
    .innerJoin(organizations, eq(organizations.id, chats.organizationId))
    .where(eq(chats.id, chatId))
    .get();
  return row ?? null;
}

/** The identity that a chat's object adopts; null if the organization has no such chat or it is being deleted. */
export async function findIdentity(
  db: Directory,
  organizationId: string,
  chatId: string,
): Promise<ChatIdentity | null> {
  const row = await db
    .select({
      chatId: chats.id,
      organizationId: chats.organizationId,
      channelId: chats.channelId,
      channelKind: chats.channelKind,
      contactAddress: chats.contactAddress,
      createdAt: chats.createdAt,
    })
    .from(chats)
    .innerJoin(channels, eq(channels.id, chats.channelId))
    .where(and(eq(chats.id, chatId), eq(chats.organizationId, organizationId), isVisible))
    .get();
  return row ?? null;
}

/**
 * An organization's chats, latest activity first, in one round trip.
 * @throws ApiError `validation_failed` if the cursor is not a chat of the organization
 */
export async function listChats(
  db: Directory,
  organizationId: string,
  filter: ChatFilter,
  position: ChatListPosition,
): Promise<{ chats: Chat[]; pagination: Pagination | CursorPagination }> {
  const { limit } = position;
  const scope = scopeOf(db, organizationId, filter);
  const rows = db
    .select(chatColumns)
    .from(chats)
    .innerJoin(channels, eq(channels.id, chats.channelId))
    .orderBy(desc(chats.activeAt), desc(chats.id));
  if ("page" in position) {
    const [found, [counted]] = await db.batch([
      rows
        .where(scope.rows)
        .limit(limit)
        .offset((position.page - 1) * limit),
      scope.total,
    ]);
    return { chats: found.map(presentChat), pagination: pagination({ ...position, total: counted?.total ?? 0 }) };
  }
  const cursor = and(eq(chats.id, position.before), eq(chats.organizationId, organizationId));
  const cursorRow = db.select({ activeAt: chats.activeAt, id: chats.id }).from(chats).where(cursor);
  const [found, [counted], [known]] = await db.batch([
    rows.where(and(scope.rows, sql`(${chats.activeAt}, ${chats.id}) < ${cursorRow}`)).limit(limit + 1),
    scope.total,
    cursorRow,
  ]);
  if (!known) throw fault("before", "is no chat of this organization");
  const page = found.slice(0, limit).map(presentChat);
  return { chats: page, pagination: { limit, total: counted?.total ?? 0, hasMore: found.length > limit } };
}

/**
 * The rows that a filter selects, and their number. The number is the sum of the channels' counters, because counting
 * chats would read them all; the counters leave out chats that are being deleted. A `+` before a column stops SQLite from
 * using a less selective index.
 */
function scopeOf(db: Directory, organizationId: string, { channel, contact }: ChatFilter) {
  const kind = CHANNEL_KINDS.find((known) => known === channel);
  const ofChannel = kind ? eq(channels.kind, kind) : channel && eq(channels.id, channel);
  if (contact !== undefined) {
    // An address has at most one chat on each channel, so few rows are counted.
    const addressed = db
      .select({ id: chatAddresses.chatId })
      .from(chatAddresses)
      .innerJoin(channels, eq(channels.id, chatAddresses.channelId))
      .where(
        and(
          eq(channels.organizationId, organizationId),
          isNull(channels.erasingAt),
          eq(chatAddresses.address, contact),
          ofChannel || undefined,
        ),
      );
    const selected = and(sql`${chats.id} in ${addressed}`, isNull(chats.erasingAt));
    return { rows: selected, total: db.select({ total: sql<number>`count(*)` }).from(chats).where(selected) };
  }
  const ofOrganization = eq(chats.organizationId, organizationId);
  let rows: SQL | undefined = ofOrganization;
  if (kind) rows = and(ofOrganization, eq(chats.channelKind, kind));
  else if (channel) rows = and(sql`+${chats.organizationId} = ${organizationId}`, eq(chats.channelId, channel));
  const total = db
    .select({ total: sql<number>`coalesce(sum(${channels.chatCount}), 0)` })
    .from(channels)
    .where(and(eq(channels.organizationId, organizationId), isNull(channels.erasingAt), ofChannel || undefined));
  return { rows: and(rows, isVisible), total };
}

/** A chat's row as the API shows it. */
export function presentChat(
  row: Omit<typeof chats.$inferSelect, "activeAt" | "erasingAt"> & { channelName: string },
): Chat {
  return {
    id: row.id,
    channel: { id: row.channelId, kind: row.channelKind, name: row.channelName },
    contact: { address: row.contactAddress, name: row.contactName },
    metadata: row.metadata,
    createdAt: new Date(row.createdAt).toISOString(),
    lastMessageAt: row.lastMessageAt === null ? null : new Date(row.lastMessageAt).toISOString(),
  };
}
