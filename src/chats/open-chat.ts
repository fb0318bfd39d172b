import type { ChannelKind } from "../channels/kinds.ts";
import { webChatId } from "../channels/web/chat-id.ts";
import { database } from "../db/client.ts";
import type { Metadata } from "../db/schema.ts";
import { jurisdictionOf, newId } from "../ids.ts";
import { type Chat, presentChat } from "./directory.ts";
import type { ChatIdentity } from "./identity.ts";

/** A request for the chat of a contact's address. */
export interface NewChat {
  channel: { id: string; organizationId: string; kind: ChannelKind };
  address: string;
  /** Further addresses of the same contact. A chat of any of them is the contact's chat. */
  others?: string[];
  name: string | null;
  metadata: Metadata;
}

/** The result. The chat's object can adopt `identity`, which spares a query. */
export type Opened =
  | { outcome: "opened"; chat: Chat; identity: ChatIdentity; created: boolean }
  /** The address's chat is being deleted. After that the address can get a new chat. */
  | { outcome: "erasing"; chatId: string }
  | { outcome: "no_channel" };

/** A row of the last statement. The columns of `chats` are null if only the address is left of a deleted chat. */
type Row = {
  chat_id: string;
  id: string | null;
  organization_id: string;
  channel_id: string;
  channel_kind: ChannelKind;
  contact_address: string;
  contact_name: string | null;
  metadata: string;
  created_at: number;
  last_message_at: number | null;
  active_at: number;
  erasing_at: number | null;
  channel_name: string;
  channel_erasing_at: number | null;
};

/**
 * Creates the chat of a contact's address, or finds it, in one round trip. The batch is one transaction, and the primary
 * key of `chat_addresses` decides between concurrent calls.
 */
export async function openChat(env: Env, request: NewChat, now: number): Promise<Opened> {
  const { channel, address, others = [], name, metadata } = request;
  const isWeb = channel.kind === "web";
  const id = isWeb ? await webChatId(channel.id, address) : newId("cht", jurisdictionOf(channel.organizationId));
  const addresses = [address, ...others];
  const known = JSON.stringify(addresses);
  // A web chat's id is derived from the address, so the first condition alone does not show that the chat is new.
  const isNew = `exists (select 1 from chat_addresses where channel_id = ?1 and address = ?2 and chat_id = ?3)
    and not exists (select 1 from chats where id = ?3)`;
  const isKnown = "chat_addresses.channel_id = ?1 and chat_addresses.address in (select value from json_each(?4))";
  // If the addresses lead to two chats, the first address decides.
  const chat = `select chat_id from chat_addresses where ${isKnown} order by address = ?2 desc limit 1`;
  // Drizzle's batch does not accept raw statements with parameters.
  const db = database(env);
  const [, , made, , found] = await db.batch<Row>([
    db
      .prepare(
        `insert into chat_addresses (channel_id, address, chat_id)
       select id, ?2, ?3 from channels where id = ?1 and erasing_at is null
       and not exists (select 1 from chat_addresses where ${isKnown})`,
      )
      .bind(channel.id, address, id, known),
    db
      .prepare(`update channels set chat_count = chat_count + 1 where id = ?1 and ${isNew}`)
      .bind(channel.id, address, id),
    db
      .prepare(
        `insert into chats (id, organization_id, channel_id, channel_kind, contact_address, contact_name, metadata,
         created_at, active_at)
       select ?3, organization_id, id, kind, ?2, ?4, ?5, ?6, ?6 from channels where id = ?1 and ${isNew}`,
      )
      .bind(channel.id, address, id, name, JSON.stringify(metadata), now),
    // From now on each of the addresses leads to the chat.
    db
      .prepare(
        `insert into chat_addresses (channel_id, address, chat_id)
       select ?1, others.value, chat.chat_id from json_each(?4) as others, (${chat}) as chat where true
       on conflict do nothing`,
      )
      .bind(channel.id, address, null, known),
    db
      .prepare(
        `select opened.chat_id, chats.*, channels.name as channel_name, channels.erasing_at as channel_erasing_at
       from (${chat}) as opened join channels on channels.id = ?1 left join chats on chats.id = opened.chat_id`,
      )
      .bind(channel.id, address, null, known),
  ]);
  const row = found?.results[0];
  if (!row || row.channel_erasing_at !== null) return { outcome: "no_channel" };
  if (row.id === null || row.erasing_at !== null) return { outcome: "erasing", chatId: row.chat_id };
  const columns = {
    id: row.id,
    organizationId: row.organization_id,
    channelId: row.channel_id,
    channelKind: row.channel_kind,
    channelName: row.channel_name,
    contactAddress: row.contact_address,
    contactName: row.contact_name,
    metadata: JSON.parse(row.metadata) as Metadata,
    createdAt: row.created_at,
    lastMessageAt: row.last_message_at,
  };
  const { organizationId, channelId, channelKind, contactAddress, createdAt } = columns;
  return {
    outcome: "opened",
    chat: presentChat(columns),
    identity: { chatId: row.id, organizationId, channelId, channelKind, contactAddress, createdAt, addresses },
    created: made?.meta.changes === 1,
  };
}
