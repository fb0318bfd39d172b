import type { ChatIdentity } from "../../model/chat-answers.ts";
import type { AddressChange } from "../../model/network.ts";
import type { Alike, KnownChannel, OpenRequest } from "../../model/organization.ts";
import type { ChannelTable } from "./channel-table.ts";
import {
  addressesOf,
  botOf,
  CHAT_COLUMNS,
  type ChatRow,
  currentBot,
  handlerIn,
  openOfBot,
  sameAs,
  unansweredNotOpen,
  unansweredOfBot,
} from "./chat-row.ts";
import type { ContactTable } from "./contact-table.ts";
import type { Feed } from "./feed.ts";
import type { LabelTable } from "./label-table.ts";
import type { MemberNumbers } from "./member-numbers.ts";
import type { MentionTable } from "./mention-table.ts";
import type { SearchCleanup } from "./search-cleanup.ts";

/** How long the chats of an organization that an earlier version ran can still be used by that version. */
const ROLLBACK_MS = 7 * 86_400_000;

/** Where it is stored from when on chats are lean, Unix milliseconds. */
const LEAN_FROM = "leanFrom";

/** More addresses than any real contact has. Addresses are never removed. */
const MAX_ADDRESSES = 50;
/** More chats than a contact can have begun before the network said whose they are. */
const MAX_SAME = 10;

const NONE_ALIKE: Alike = { same: [], possible: [] };

interface Parts {
  storage: DurableObjectStorage;
  channels: ChannelTable;
  feed: Feed;
  contacts: ContactTable;
  memberNumbers: MemberNumbers;
  labels: LabelTable;
  searchCleanup: SearchCleanup;
  mentions: MentionTable;
}

/** Addresses of one contact: those that no longer reach it, and those that do. */
type AddressLinks = Pick<AddressChange, "from" | "to">;

/**
 * The chats of an organization, and whose addresses they are. A method that writes several rows is a transaction: if a
 * row can't be written, the object can continue, and would otherwise commit the rows before it.
 */
export class ChatTable {
  readonly #storage: DurableObjectStorage;
  readonly #channels: ChannelTable;
  readonly #feed: Feed;
  readonly #contacts: ContactTable;
  readonly #members: MemberNumbers;
  readonly #labels: LabelTable;
  readonly #search: SearchCleanup;
  readonly #mentions: MentionTable;

  constructor({ storage, channels, feed, contacts, memberNumbers, labels, searchCleanup, mentions }: Parts) {
    this.#storage = storage;
    this.#channels = channels;
    this.#feed = feed;
    this.#contacts = contacts;
    this.#members = memberNumbers;
    this.#labels = labels;
    this.#search = searchCleanup;
    this.#mentions = mentions;
  }

  get(id: string): ChatRow | undefined {
    const [row] = this.#sql.exec<ChatRow>(`select ${CHAT_COLUMNS} from chats where id = ?`, id).toArray();
    return row;
  }

  /**
   * The chat of an address; of several addresses that lead to different chats, the first one's. If none leads to a chat,
   * the chat of a form that is alike.
   */
  byAddress(channelId: string, addresses: string[], { same, possible }: Alike = NONE_ALIKE): ChatRow | undefined {
    const [found] = this.#leadingTo(channelId, [...addresses, ...same]);
    if (found) return found;
    const [single, ...more] = this.#leadingTo(channelId, possible);
    return more.length === 0 ? single : undefined;
  }

  /** The chats to which addresses lead, each once, in the order of the addresses. */
  #leadingTo(channelId: string, addresses: string[]): ChatRow[] {
    const query = `select ${CHAT_COLUMNS} from chats where id =
      (select chat_id from addresses where addresses.channel_id = ? and addresses.address = ?)`;
    const rows = addresses.flatMap((address) => this.#sql.exec<ChatRow>(query, channelId, address).toArray());
    return [...new Map(rows.map((row) => [row.id, row])).values()];
  }

  /** Creates a chat. Its life is later than that of each chat that was deleted before. */
  create(channel: KnownChannel, request: OpenRequest, now: number): ChatRow {
    return this.#storage.transactionSync(() => this.#create(channel, request, now));
  }

  #create(
    channel: KnownChannel,
    { address, others, name, username, metadata, personId, proposedId }: OpenRequest,
    now: number,
  ): ChatRow {
    const life = Math.max(now, this.#floor() + 1);
    this.#noteLeanFrom(now);
    const bot = currentBot(channel);
    this.#sql.exec(
      `insert into chats (id, channel_id, state, life, address, name, username, metadata, person_id, created_at, active_at,
         bot) values (?, ?, 'created', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[proposedId, channel.id, life, address, name, username ?? null, JSON.stringify(metadata), personId ?? null],
      ...[life, life, bot],
    );
    this.#claim(channel.id, proposedId, [address]);
    this.#channels.count(channel.id, { chats: 1, openOfBot: Number(bot !== null) }, { newChats: 1 }, now);
    const row = this.get(proposedId) as ChatRow;
    this.#contacts.add(row);
    return others.length > 0 ? this.learn(row, others) : row;
  }

  /**
   * Adds addresses of a chat's contact, which lead to the chat from now on. An address that leads to another chat keeps it:
   * both chats then name each other.
   * @returns the chat's row
   */
  learn(row: ChatRow, addresses: string[], username?: string | null): ChatRow {
    const known = addressesOf(row);
    const added = [...new Set(addresses)].filter((address) => !known.includes(address));
    const taken = this.#leadingTo(row.channel_id, added);
    const isTaken = (address: string) => taken.some((other) => addressesOf(other).includes(address));
    const free = added.filter((address) => !isTaken(address)).slice(0, Math.max(0, MAX_ADDRESSES - known.length));
    const others = free.length > 0 ? JSON.stringify([...known.slice(1), ...free]) : row.others;
    const learned = { ...row, others, username: username === undefined ? row.username : username };
    this.#storage.transactionSync(() => {
      if (others !== row.others || learned.username !== row.username) {
        this.#claim(row.channel_id, row.id, free);
        this.#sql.exec("update chats set others = ?, username = ? where id = ?", others, learned.username, row.id);
        this.#contacts.add(learned);
      }
      const same = taken.filter(({ state }) => state !== "deleting");
      if (same.length > 0) learned.same_as = this.#unite([learned, ...same]);
    });
    return learned;
  }

  /** Notes that chats are one contact's: each names all others. @returns the first one's `same_as` */
  #unite(rows: [ChatRow, ...ChatRow[]]): string {
    const [{ id: first }] = rows;
    const ids = [...new Set([...rows.map(({ id }) => id), ...rows.flatMap(sameAs)])].slice(0, MAX_SAME);
    const without = (id: string) => JSON.stringify(ids.filter((each) => each !== id));
    for (const id of ids) this.#sql.exec("update chats set same_as = ? where id = ?", without(id), id);
    return without(first);
  }

  /** The contact's addresses have changed. @returns the ids of the contact's chats. Each may send to an old address */
  link(channelId: string, { from, to }: AddressLinks, alike: Alike): string[] {
    const row = this.byAddress(channelId, [...from, ...to], alike);
    if (!row || row.state === "deleting") return [];
    return [row.id, ...sameAs(this.learn(row, [...from, ...to]))];
  }

  /** Its object has adopted the chat. */
  adopted(id: string, life: number): void {
    this.#sql.exec("update chats set state = 'adopted' where id = ? and life = ? and state = 'created'", id, life);
  }

  /** Takes a chat off the lists. Its addresses stay until it is deleted. */
  beginDeletion(row: ChatRow): void {
    if (row.state === "deleting") return;
    this.#storage.transactionSync(() => {
      this.#sql.exec(
        `update chats set state = 'deleting', active_at = null, oldest = null, last_message = null,
           unanswered_since = null, next_scheduled_at = null, next_due_at = null, bot = null where id = ?`,
        row.id,
      );
      this.#contacts.remove(row);
      this.#labels.store(row, []);
      this.#mentions.store(row, {}, 0);
      for (const id of sameAs(row)) this.#unname(id, row.id);
      const now = Date.now();
      const channel = this.#channels.get(row.channel_id);
      this.#members.change({ counts: {}, countsBefore: {}, before: row, after: null }, now);
      const changes = {
        chats: -1,
        depth: -row.depth,
        unanswered: -Number(row.unanswered_since !== null),
        unansweredNotOpen: -unansweredNotOpen(row),
        openOfBot: channel ? -openOfBot(row, channel) : 0,
        unansweredOfBot: channel ? -unansweredOfBot(row, channel) : 0,
        scheduled: -Number(row.next_scheduled_at !== null),
      };
      this.#channels.count(row.channel_id, changes, {}, now);
    });
  }

  #unname(id: string, other: string): void {
    const row = this.get(id);
    if (!row) return;
    const left = sameAs(row).filter((each) => each !== other);
    const text = left.length > 0 ? JSON.stringify(left) : null;
    this.#sql.exec("update chats set same_as = ? where id = ?", text, id);
  }

  /** The chat's object is empty: removes the row and its addresses. A later life of the chat stays. */
  endDeletion(id: string, life: number): void {
    const row = this.get(id);
    if (row?.life !== life) return;
    this.#feed.commit(() => {
      for (const address of addressesOf(row)) {
        const isIt = "channel_id = ? and address = ? and chat_id = ?";
        this.#sql.exec(`delete from addresses where ${isIt}`, row.channel_id, address, id);
      }
      this.#sql.exec("delete from chats where id = ?", id);
      this.#search.chatGone(id, life, Date.now());
      if (life > this.#floor()) this.#storage.kv.put("floor", life);
      const { channel_id: channelId } = row;
      const channelKind = this.#channels.get(channelId)?.kind ?? null;
      this.#feed.append("chat.deleted", { chatId: id, channelId, channelKind }, null, Date.now());
    });
  }

  /** Chats of a channel that are not being deleted. */
  ofChannel(channelId: string, limit: number): ChatRow[] {
    const query = `select ${CHAT_COLUMNS} from chats where channel_id = ? and active_at is not null limit ?`;
    return this.#sql.exec<ChatRow>(query, channelId, limit).toArray();
  }

  /** The identity that a chat's object adopts. */
  identityOf(organizationId: string, channel: KnownChannel, row: ChatRow): ChatIdentity {
    const bot = handlerIn(row, channel) === "bot" ? botOf(channel) : null;
    const leanFrom = this.#storage.kv.get<number>(LEAN_FROM);
    return {
      chatId: row.id,
      organizationId,
      channelId: row.channel_id,
      channelKind: channel.kind,
      contactAddress: row.address,
      createdAt: row.created_at,
      life: row.life,
      addresses: addressesOf(row).slice(1),
      ...(row.username !== null && { username: row.username }),
      ...(bot && { bot }),
      isLean: leanFrom !== undefined && row.created_at >= leanFrom,
    };
  }

  /**
   * Stores, with the first chat that this version creates, from when on chats are lean: at once if it is the first chat
   * of all. Otherwise an earlier version may still run elsewhere, or again if the operator rolls back.
   */
  #noteLeanFrom(now: number): void {
    const { kv } = this.#storage;
    if (kv.get(LEAN_FROM) !== undefined) return;
    const hasChats = this.#sql.exec("select 1 from chats limit 1").toArray().length > 0;
    kv.put(LEAN_FROM, hasChats ? now + ROLLBACK_MS : 0);
  }

  /** The greatest life of all chats that were deleted. */
  #floor(): number {
    return this.#storage.kv.get<number>("floor") ?? 0;
  }

  #claim(channelId: string, chatId: string, addresses: string[]): void {
    for (const address of addresses) {
      const insert = "insert into addresses (channel_id, address, chat_id) values (?, ?, ?)";
      this.#sql.exec(insert, channelId, address, chatId);
    }
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }
}
