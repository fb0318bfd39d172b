import type { ListAnswer } from "../../model/chat-answers.ts";
import { parseContactPlace, parseSearch, printContactPlace } from "../../model/contact-search.ts";
import { pagination } from "../../model/list-page.ts";
import type {
  ChatFilter,
  ChatPosition,
  ExportedChat,
  KnownChannel,
  WaitingPosition,
} from "../../model/organization.ts";
import type { ChannelTable } from "./channel-table.ts";
import { CHAT_COLUMNS, type ChatRow, printChat } from "./chat-table.ts";
import { ContactPages } from "./contact-pages.ts";
import type { ContactTable } from "./contact-table.ts";
import type { Existence } from "./existence.ts";
import { parsePlace, printPlace, WaitingList } from "./waiting-list.ts";

/** SQLite's limit on the terms of a compound SELECT in the platform's objects. */
const MAX_MERGED = 5;
const WALKED_AT_ONCE = 50;

const UNKNOWN_CURSOR: ListAnswer = { outcome: "unknown_cursor" };

type Cursor = { at: number; id: string };

/** The lists of chats of an organization as they go to the client. */
export class ChatList {
  readonly #sql: SqlStorage;
  readonly #channels: ChannelTable;
  readonly #waiting: WaitingList;
  readonly #contacts: ContactTable;
  readonly #contactPages: ContactPages;
  /** Part of each version: after an eviction, a new instance never repeats an old version. */
  readonly #instance = crypto.randomUUID();
  #changes = 0;

  constructor(sql: SqlStorage, channels: ChannelTable, contacts: ContactTable) {
    this.#sql = sql;
    this.#channels = channels;
    this.#waiting = new WaitingList(sql);
    this.#contacts = contacts;
    this.#contactPages = new ContactPages(sql, contacts);
  }

  /** The answer of an organization without chats. */
  static empty(
    { channel, contact, search, assignee }: ChatFilter,
    position: ChatPosition | WaitingPosition,
  ): ListAnswer {
    const { limit } = position;
    if ("page" in position) return ok([], pagination({ ...position, total: 0 }), "empty");
    if (!("after" in position) || position.after !== null) return UNKNOWN_CURSOR;
    const isAlone = [channel, contact, search, assignee].every((one) => one === undefined);
    return ok([], { limit, ...(isAlone && { total: 0 }), hasMore: false, cursor: null }, "empty");
  }

  /** A chat or a channel changed. */
  changed(): void {
    this.#changes++;
  }

  /** The storage was deleted. */
  forget(): void {
    this.changed();
  }

  /**
   * @param hasLastMessage whether the page shows the last messages
   * @param have the version of this page that the caller holds
   */
  read(
    filter: ChatFilter,
    position: ChatPosition | WaitingPosition,
    hasLastMessage: boolean,
    have: string | undefined,
    organizationId: string,
  ): ListAnswer {
    const version = `${this.#instance} ${this.#changes}`;
    if (have === version) return { outcome: "unchanged" };
    const page =
      "after" in position ? this.#waitingPage(organizationId, filter, position) : this.#page(filter, position);
    return page ? ok(this.#print(page.rows, hasLastMessage), page.pagination, version) : UNKNOWN_CURSOR;
  }

  /** A page of the chats whose contacts a search finds; see `ContactPages.read`. */
  async search(
    { channel, search = "" }: ChatFilter,
    { after, limit }: WaitingPosition,
    hasLastMessage: boolean,
    organization: Pick<Existence, "id" | "isReady">,
  ): Promise<ListAnswer> {
    const { id: organizationId = "" } = organization;
    const place = after === null ? null : parseContactPlace(organizationId, after);
    const parsed = parseSearch(search);
    if (!parsed || (after !== null && !place)) return UNKNOWN_CURSOR;
    const isReady = () => organization.isReady();
    await this.#contacts.run();
    const { rows, next } = await this.#contactPages.read({
      search: parsed,
      channelIds: this.#selected(channel).map(({ id }) => id),
      after: place,
      limit,
      read: (id) => this.#visible(id),
      readAfter: (id, count) => this.#visibleAfter(id, count),
      isReady,
    });
    const cursor = next && printContactPlace(organizationId, next);
    const pagination = { limit, hasMore: cursor !== null, cursor };
    return ok(this.#print(rows, hasLastMessage), pagination, "");
  }

  /** Up to `limit` chats with greater ids than `id`, in the order of their ids. @param only only this one; null for all */
  after(id: string, limit: number, only: string | null): ExportedChat[] {
    const query = `select ${CHAT_COLUMNS} from chats where id > ? and state <> 'deleting' ${only === null ? "" : "and id = ?"}
      and channel_id in (select id from channels where closed = 0) order by id limit ?`;
    const rows = this.#sql.exec<ChatRow>(query, id, ...(only === null ? [] : [only]), limit).toArray();
    return rows.flatMap((row) => {
      const channel = this.#channels.get(row.channel_id);
      return channel ? [{ id: row.id, life: row.life, doc: printChat(row, channel, true) }] : [];
    });
  }

  /** A page of the chats that wait. The cursor of a chat stays valid if the chat waits no longer. */
  #waitingPage(
    organizationId: string,
    { channel, contact, assignee, ...rest }: ChatFilter,
    { after, limit }: WaitingPosition,
  ) {
    const waiting = rest.waiting ?? (assignee === undefined ? "unanswered" : undefined);
    const list = { waiting, assignee };
    const place = after === null ? null : parsePlace(organizationId, list, after);
    if (after !== null && !place) return null;
    const ids = this.#selected(channel).map(({ id }) => id);
    const { rows, next } =
      contact === undefined || waiting === undefined
        ? this.#waiting.page(list, ids, place, limit)
        : this.#waiting.pageOf(this.#ofContact(ids, contact), waiting, place, limit);
    const isAlone = channel === undefined && contact === undefined && assignee === undefined;
    const total = isAlone && { total: this.#channels.countChats(ids, waiting) };
    const cursor = next && printPlace(organizationId, list, next);
    return { rows, pagination: { limit, ...total, hasMore: cursor !== null, cursor } };
  }

  #page({ channel, contact }: ChatFilter, position: ChatPosition) {
    const { limit } = position;
    const channels = this.#selected(channel);
    const ids = channels.map(({ id }) => id);
    const ofContact = contact === undefined ? null : this.#ofContact(ids, contact);
    const total = ofContact ? ofContact.length : this.#channels.countChats(ids);
    const rowsOf = (after: Cursor | null, offset: number, count: number) =>
      ofContact
        ? ofContact.filter((row) => after === null || isBefore(after, cursorOf(row))).slice(offset, offset + count)
        : this.#rows(channel === undefined ? null : channels, after, offset, count);
    if ("page" in position) {
      const rows = rowsOf(null, (position.page - 1) * limit, limit);
      return { rows, pagination: pagination({ ...position, total }) };
    }
    const cursor = this.#cursor(position.before);
    if (!cursor) return null;
    const rows = rowsOf(cursor, 0, limit + 1);
    return { rows: rows.slice(0, limit), pagination: { limit, total, hasMore: rows.length > limit } };
  }

  /** The channels that a filter selects and that are not being deleted. */
  #selected(channel: string | undefined): KnownChannel[] {
    const open = [...this.#channels.all().values()].filter(({ isClosed }) => !isClosed);
    if (channel === undefined) return open;
    return open.filter(({ id, kind }) => id === channel || kind === channel);
  }

  #visible(id: string): ChatRow | undefined {
    const query = `select ${CHAT_COLUMNS} from chats where id = ? and state <> 'deleting'`;
    return this.#sql.exec<ChatRow>(query, id).toArray()[0];
  }

  #visibleAfter(id: string, limit: number): ChatRow[] {
    const query = `select ${CHAT_COLUMNS} from chats where id > ? and state <> 'deleting' order by id limit ?`;
    return this.#sql.exec<ChatRow>(query, id, limit).toArray();
  }

  #cursor(id: string): Cursor | null {
    const query = "select id, coalesce(active_at, created_at) as at from chats where id = ?";
    return this.#sql.exec<Cursor>(query, id).toArray()[0] ?? null;
  }

  /** @param channels null for all */
  #rows(channels: KnownChannel[] | null, after: Cursor | null, offset: number, limit: number): ChatRow[] {
    if (channels === null) return this.#joined(select(null, after, limit, offset));
    if (channels.length === 0) return [];
    const [only] = channels;
    if (only && channels.length === 1) return this.#joined(select(only.id, after, limit, offset));
    return channels.length <= MAX_MERGED
      ? this.#joined(union(channels, after, limit, offset))
      : this.#merged(channels, after, offset, limit);
  }

  /** The rows of a query of ids. Only the index is read for the chats before the page. */
  #joined({ query, values }: Select): ChatRow[] {
    const joined = `select ${CHAT_COLUMNS} from (${query}) as page join chats on chats.id = page.id
      order by active_at desc, chats.id desc`;
    return this.#sql.exec<ChatRow>(joined, ...values).toArray();
  }

  /** Merges the lists of many channels. Each list is read only as far as it is needed. */
  #merged(channels: KnownChannel[], after: Cursor | null, offset: number, limit: number): ChatRow[] {
    const heads = channels.map((channel) => {
      const rows = this.#walk(channel.id, after);
      return { rows, row: rows.next().value };
    });
    const ids: string[] = [];
    while (ids.length < offset + limit) {
      const first = heads.reduce((best, head) => (isBefore(head.row, best.row) ? head : best));
      if (!first.row) break;
      ids.push(first.row.id);
      first.row = first.rows.next().value;
    }
    const query = `select ${CHAT_COLUMNS} from chats where id in (select value from json_each(?))
      order by active_at desc, id desc`;
    return this.#sql.exec<ChatRow>(query, JSON.stringify(ids.slice(offset))).toArray();
  }

  /**
   * The ids of a channel's chats, a few at a time. Not one cursor: while one is open that is not read to its end, SQLite
   * can't drop a table.
   */
  *#walk(channelId: string, after: Cursor | null): Generator<Cursor, undefined> {
    for (let last = after; ; ) {
      const { query, values } = select(channelId, last, WALKED_AT_ONCE, 0);
      const rows = this.#sql.exec<Cursor>(query, ...values).toArray();
      yield* rows;
      last = rows.at(-1) ?? null;
      if (rows.length < WALKED_AT_ONCE) return;
    }
  }

  /** All chats of a contact. An address has at most one chat in each channel, so these are few rows. */
  #ofContact(channelIds: string[], contact: string): ChatRow[] {
    const query = `select ${CHAT_COLUMNS} from chats where active_at is not null and id in
        (select chat_id from json_each(?) as selected join addresses
         on addresses.channel_id = selected.value and addresses.address = ?)
      order by active_at desc, id desc`;
    return this.#sql.exec<ChatRow>(query, JSON.stringify(channelIds), contact).toArray();
  }

  /** Leaves out the chats of a channel that is being deleted: until then a page can be short. */
  #print(rows: ChatRow[], hasLastMessage: boolean): string[] {
    return rows.flatMap((row) => {
      const channel = this.#channels.get(row.channel_id);
      return channel && !channel.isClosed ? [printChat(row, channel, hasLastMessage)] : [];
    });
  }
}

/** @param chats the JSON of each */
function ok(chats: string[], pagination: object, version: string): ListAnswer {
  const page = `{"chats":[${chats.join()}],"pagination":${JSON.stringify(pagination)}}`;
  return { outcome: "ok", body: new TextEncoder().encode(page), version };
}

/** A query of ids and times of activity, latest first. */
interface Select {
  query: string;
  values: (string | number)[];
}

/** @param channelId null for all channels */
function select(channelId: string | null, after: Cursor | null, limit: number, offset: number): Select {
  const { query, values } = part(channelId, after);
  return { query: `${query} order by active_at desc, id desc limit ? offset ?`, values: [...values, limit, offset] };
}

/** SQLite merges the parts, because the index has the order of each. */
function union(channels: KnownChannel[], after: Cursor | null, limit: number, offset: number): Select {
  const parts = channels.map(({ id }) => part(id, after));
  return {
    query: `${parts.map(({ query }) => query).join(" union all ")} order by at desc, id desc limit ? offset ?`,
    values: [...parts.flatMap(({ values }) => values), limit, offset],
  };
}

function part(channelId: string | null, after: Cursor | null): Select {
  return {
    query: `select id, active_at as at from chats where active_at is not null
      ${channelId === null ? "" : "and channel_id = ?"} ${after === null ? "" : "and (active_at, id) < (?, ?)"}`,
    values: [...(channelId === null ? [] : [channelId]), ...(after === null ? [] : [after.at, after.id])],
  };
}

function cursorOf({ active_at, id }: ChatRow): Cursor {
  return { at: active_at ?? 0, id };
}

/** Whether a row is listed before another. Undefined comes last. */
function isBefore(row: Cursor | undefined, other: Cursor | undefined): boolean {
  if (!row || !other) return row !== undefined;
  return row.at > other.at || (row.at === other.at && row.id > other.id);
}
