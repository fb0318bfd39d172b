import type { ListAnswer } from "../../model/chat-answers.ts";
import { parseSearch } from "../../model/contact-search.ts";
import { isId } from "../../model/id.ts";
import { pagination, type WalkPagination } from "../../model/list-page.ts";
import type {
  ChatFilter,
  ChatPosition,
  ExportedChat,
  KnownChannel,
  WaitingPosition,
} from "../../model/organization.ts";
import { WORK_STATES } from "../../model/work-state.ts";
import { isBefore, rangesOf, readRanges, type Select, unionOf } from "./activity-ranges.ts";
import type { ChannelTable, ChatCount } from "./channel-table.ts";
import { type Place, parseCursor, parseSearchCursor, printCursor, type Walk } from "./chat-cursor.ts";
import { CHAT_COLUMNS, type ChatRow, printChat } from "./chat-row.ts";
import { ContactPages } from "./contact-pages.ts";
import type { ContactTable } from "./contact-table.ts";
import type { Existence } from "./existence.ts";
import type { LabelTable } from "./label-table.ts";
import { MAX_EXAMINED_CHATS, WaitingList } from "./waiting-list.ts";

/** What is read of a chat to find its place. */
const PLACE = "id, active_at as at";

const UNKNOWN_CURSOR: ListAnswer = { outcome: "unknown_cursor" };

/** The lists of chats of an organization as they go to the client. */
export class ChatList {
  readonly #sql: SqlStorage;
  readonly #channels: ChannelTable;
  readonly #waiting: WaitingList;
  readonly #labels: LabelTable;
  readonly #contacts: ContactTable;
  readonly #contactPages: ContactPages;
  /** Part of each version: after an eviction, a new instance never repeats an old version. */
  readonly #instance = crypto.randomUUID();
  #changes = 0;

  constructor(sql: SqlStorage, channels: ChannelTable, labels: LabelTable, contacts: ContactTable) {
    this.#sql = sql;
    this.#channels = channels;
    this.#labels = labels;
    this.#waiting = new WaitingList(sql, channels, labels);
    this.#contacts = contacts;
    this.#contactPages = new ContactPages(sql, contacts);
  }

  /** The answer of an organization without chats. */
  static empty(filter: ChatFilter, position: ChatPosition | WaitingPosition): ListAnswer {
    const { limit } = position;
    if ("page" in position) return ok([], { ...pagination({ ...position, total: 0 }), cursor: null }, "empty");
    if (!("after" in position) || position.after !== null) return UNKNOWN_CURSOR;
    const total = countOf(filter) && { total: 0 };
    return ok([], { limit, ...total, hasMore: false, cursor: null }, "empty");
  }

  /** A chat or a channel changed. */
  changed(): void {
    this.#changes++;
  }

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
      "after" in position
        ? this.#waitingPage(organizationId, filter, position)
        : this.#page(organizationId, filter, position);
    if (!page) return UNKNOWN_CURSOR;
    return ok(this.#print(page.rows, hasLastMessage, filter.mentioned), page.pagination, version);
  }

  async search(
    filter: ChatFilter,
    { after, limit }: WaitingPosition,
    hasLastMessage: boolean,
    organization: Pick<Existence, "id" | "isReady">,
  ): Promise<ListAnswer> {
    const { id: organizationId = "" } = organization;
    const walk = after === null ? null : parseSearchCursor(organizationId, filter, after);
    const search = parseSearch(filter.search ?? "");
    if (!search || (after !== null && !walk)) return UNKNOWN_CURSOR;
    const isReady = () => organization.isReady();
    await this.#contacts.run();
    const { rows, next, hasNewer } = await this.#contactPages.read({
      search,
      channelIds: this.#selected(filter.channel).map(({ id }) => id),
      walk: walk ?? { place: null, start: this.#channels.lastMove, hasNewer: false },
      limit,
      read: (id) => this.#visible(id),
      readAfter: (id, count) => this.#visibleAfter(id, count),
      isReady,
    });
    const cursor = next && printCursor(organizationId, filter, next);
    return ok(this.#print(rows, hasLastMessage), walked({ limit }, cursor, hasNewer), "");
  }

  /** Up to `limit` chats with greater ids than `id`, in the order of their ids. @param only only this one; null for all */
  after(id: string, limit: number, only: string | null): ExportedChat[] {
    const query = `select ${CHAT_COLUMNS} from chats where id > ? and state <> 'deleting' ${only === null ? "" : "and id = ?"}
      and channel_id in (select id from channels where closed = 0) order by id limit ?`;
    const rows = this.#sql.exec<ChatRow>(query, id, ...(only === null ? [] : [only]), limit).toArray();
    return rows.flatMap((row) => {
      const channel = this.#channels.get(row.channel_id);
      return channel ? [{ id: row.id, life: row.life, doc: printChat(row, channel, this.#labels, true) }] : [];
    });
  }

  /** A page of a list that is read with a cursor only, but of no search. */
  #waitingPage(organizationId: string, filter: ChatFilter, { after, limit }: WaitingPosition) {
    const { channel, contact, waiting, label, mentioned } = filter;
    const walk = after === null ? null : parseCursor(organizationId, filter, after);
    if (after !== null && !walk) return null;
    if (label !== undefined && !this.#labels.find(label)) {
      return { rows: [], pagination: walked({ limit }, null, false) };
    }
    const channels = this.#selected(channel);
    const ids = channels.map(({ id }) => id);
    const { lastMove } = this.#channels;
    const isByMove = waiting !== undefined || mentioned !== undefined;
    const begun = walk ?? { place: null, start: isByMove ? lastMove : this.#latest(), hasNewer: false };
    const { rows, next, hasNewer } =
      contact === undefined || waiting === undefined
        ? this.#waiting.page(filter, ids, begun, limit)
        : this.#waiting.pageOf(this.#ofContact(ids, contact, filter.contactForms), waiting, walk, limit, lastMove);
    const counted = countOf(filter);
    const total = counted && { total: this.#channels.countChats(ids, counted) };
    const isNewer = hasNewer || (waiting === undefined && this.#hasNewer(walk, channels, filter));
    const cursor = next && printCursor(organizationId, filter, { ...next, hasNewer: isNewer });
    return { rows, pagination: walked({ limit, ...total }, cursor, isNewer) };
  }

  #page(organizationId: string, filter: ChatFilter, position: ChatPosition) {
    const { channel, contact } = filter;
    const { limit } = position;
    const channels = this.#selected(channel);
    const ids = channels.map(({ id }) => id);
    const ofContact = contact === undefined ? null : this.#ofContact(ids, contact, filter.contactForms);
    const total = ofContact ? ofContact.length : this.#channels.countChats(ids);
    const some = this.#narrowed(channels);
    const rowsOf = (after: Place | null, offset: number, count: number) =>
      ofContact
        ? ofContact.filter((row) => after === null || isBefore(after, placeOf(row))).slice(offset, offset + count)
        : this.#rows(some, after, offset, count);
    const cursorOf = (row: ChatRow | undefined, start: number, hasNewer: boolean) =>
      row ? printCursor(organizationId, filter, { place: placeOf(row), start, hasNewer }) : null;
    if ("page" in position) {
      const rows = rowsOf(null, (position.page - 1) * limit, limit);
      const page = pagination({ ...position, total });
      const start = () => (page.page === 1 ? rows[0]?.active_at : null) ?? this.#latest();
      return { rows, pagination: { ...page, cursor: page.hasMore ? cursorOf(rows.at(-1), start(), false) : null } };
    }
    const isChat = isId("cht", position.before);
    const walk = isChat ? null : parseCursor(organizationId, filter, position.before);
    const place = isChat ? this.#placeOf(position.before) : walk?.place;
    if (!place) return null;
    const found = rowsOf(place, 0, limit + 1);
    const rows = found.slice(0, limit);
    const isNewer = ofContact
      ? ofContact.some((row) => walk !== null && placeOf(row).at > walk.start)
      : this.#hasNewer(walk, channels, {});
    const cursor = found.length > limit ? cursorOf(rows.at(-1), walk?.start ?? this.#latest(), isNewer) : null;
    return { rows, pagination: walked({ limit, total }, cursor, isNewer) };
  }

  /**
   * Whether a list in the order of activity has chats that were active since a walk began. Nobody's chats have no index:
   * of those that were active since, it examines as many as a page does, and says yes if there are more. With a handler, a
   * person, a label or an opt-out it examines the first chats of the list.
   */
  #hasNewer(walk: Walk | null, selected: KnownChannel[], filter: ChatFilter): boolean {
    if (!walk || walk.hasNewer) return walk !== null;
    const { assignee, state, handler, person, label, optedOut, mentioned } = filter;
    const selectedIds = selected.map(({ id }) => id);
    if (mentioned !== undefined) return this.#waiting.hasMoved(filter, selectedIds, walk.start);
    if ([handler, person, label, optedOut].some((one) => one !== undefined)) {
      if (this.#latest() <= walk.start) return false;
      const begun = { place: null, start: 0, hasNewer: false };
      const { rows, next } = this.#waiting.page(filter, selectedIds, begun, 1);
      return (rows[0]?.active_at ?? next?.place.at ?? 0) > walk.start;
    }
    const channels = state === undefined ? this.#narrowed(selected) : selected;
    const ofChannels = channels === null ? "" : "and channel_id in (select value from json_each(?))";
    const ids = channels === null ? [] : [JSON.stringify(channels.map(({ id }) => id))];
    // The indexes that the other conditions need have the state before the time.
    const states = (state === undefined ? WORK_STATES : [state]).map((each) => `'${each}'`).join();
    const inStates = channels === null && assignee === undefined ? "" : `and work_state in (${states})`;
    const exists = (query: string, ...values: unknown[]) => this.#sql.exec(query, ...values).toArray().length > 0;
    if (assignee !== null) {
      const whose = assignee === undefined ? "" : "and assignee = ?";
      const query = `select 1 from chats where active_at > ? ${ofChannels} ${inStates} ${whose} limit 1`;
      return exists(query, walk.start, ...ids, ...(assignee === undefined ? [] : [assignee]));
    }
    const [inner, outer] = state === undefined ? ["", ofChannels] : [`${ofChannels} ${inStates}`, ""];
    const [innerIds, outerIds] = state === undefined ? [[], ids] : [ids, []];
    const newer = `from chats where active_at > ? ${inner} order by active_at limit ?`;
    const found = `select 1 from (select assignee, channel_id ${newer}) where assignee is null ${outer} limit 1`;
    if (exists(found, walk.start, ...innerIds, MAX_EXAMINED_CHATS, ...outerIds)) return true;
    return exists(`select 1 ${newer} offset ?`, walk.start, ...innerIds, 1, MAX_EXAMINED_CHATS);
  }

  /** When a chat was last active. */
  #latest(): number {
    const query = "select active_at as at from chats where active_at is not null order by active_at desc limit 1";
    return this.#sql.exec<{ at: number }>(query).toArray()[0]?.at ?? 0;
  }

  /** The channels that a filter selects and that are not being deleted. */
  #selected(channel: string | undefined): KnownChannel[] {
    const open = [...this.#channels.all().values()].filter(({ isClosed }) => !isClosed);
    if (channel === undefined) return open;
    return open.filter(({ id, kind }) => id === channel || kind === channel);
  }

  /** Null if no other channel has chats, so that a query needs no condition. The row of a deleted channel stays. */
  #narrowed(channels: KnownChannel[]): KnownChannel[] | null {
    const all = this.#channels.all();
    if (channels.length === all.size) return null;
    const selected = new Set(channels.map(({ id }) => id));
    const others = [...all.keys()].filter((id) => !selected.has(id));
    return this.#channels.countChats(others) === 0 ? null : channels;
  }

  #visible(id: string): ChatRow | undefined {
    const query = `select ${CHAT_COLUMNS} from chats where id = ? and state <> 'deleting'`;
    return this.#sql.exec<ChatRow>(query, id).toArray()[0];
  }

  #visibleAfter(id: string, limit: number): ChatRow[] {
    const query = `select ${CHAT_COLUMNS} from chats where id > ? and state <> 'deleting' order by id limit ?`;
    return this.#sql.exec<ChatRow>(query, id, limit).toArray();
  }

  #placeOf(id: string): Place | null {
    const query = "select id, coalesce(active_at, created_at) as at from chats where id = ?";
    return this.#sql.exec<Place>(query, id).toArray()[0] ?? null;
  }

  /** @param channels null for all */
  #rows(channels: KnownChannel[] | null, after: Place | null, offset: number, limit: number): ChatRow[] {
    if (channels === null) return this.#joined(latest(after, limit, offset));
    const ids = channels.map(({ id }) => id);
    const ranges = rangesOf("channel_id", ids, undefined);
    if (ranges.length === 0) return [];
    const union = unionOf(PLACE, ranges, { after }, limit, offset);
    if (union) return this.#joined(union);
    const places = readRanges(this.#sql, PLACE, ranges, { after }, limit, offset);
    const query = `select ${CHAT_COLUMNS} from chats where id in (select value from json_each(?))
      order by active_at desc, id desc`;
    return this.#sql.exec<ChatRow>(query, JSON.stringify(places.map(({ id }) => id))).toArray();
  }

  /** The rows of a query of ids. Only the index is read for the chats before the page. */
  #joined({ query, values }: Select): ChatRow[] {
    const joined = `select ${CHAT_COLUMNS} from (${query}) as page join chats on chats.id = page.id
      order by active_at desc, chats.id desc`;
    return this.#sql.exec<ChatRow>(joined, ...values).toArray();
  }

  /**
   * All chats of a contact, also those of the other form of a phone number. An address has at most one chat in each
   * channel, so these are few rows.
   */
  #ofContact(channelIds: string[], contact: string, contactForms: ChatFilter["contactForms"]): ChatRow[] {
    const query = `select ${CHAT_COLUMNS} from chats where active_at is not null and id in
        (select chat_id from json_each(?) as selected join addresses
         on addresses.channel_id = selected.value ->> 0 and addresses.address = selected.value ->> 1)
      order by active_at desc, id desc`;
    const formsOf = (id: string) => {
      const kind = this.#channels.get(id)?.kind;
      return (kind && contactForms?.[kind]) ?? [contact];
    };
    const selected = channelIds.flatMap((id) => formsOf(id).map((address) => [id, address]));
    return this.#sql.exec<ChatRow>(query, JSON.stringify(selected)).toArray();
  }

  /** Leaves out the chats of a channel that is being deleted: until then a page can be short. */
  #print(rows: ChatRow[], hasLastMessage: boolean, mentioned?: string): string[] {
    return rows.flatMap((row) => {
      const channel = this.#channels.get(row.channel_id);
      return channel && !channel.isClosed ? [printChat(row, channel, this.#labels, hasLastMessage, mentioned)] : [];
    });
  }
}

/** Which number of chats the length of a list is; undefined if it is not counted. */
function countOf({ state, handler, waiting, ...others }: ChatFilter): ChatCount | undefined {
  if (Object.values(others).some((one) => one !== undefined)) return undefined;
  if (state === undefined && handler === undefined) return waiting;
  if (waiting !== "unanswered" || state !== "open") return undefined;
  if (handler === undefined) return "unansweredOpen";
  return handler === "people" ? "unansweredOfPeople" : undefined;
}

/** @param chats the JSON of each */
function ok(chats: string[], pagination: object, version: string): ListAnswer {
  const page = `{"chats":[${chats.join()}],"pagination":${JSON.stringify(pagination)}}`;
  return { outcome: "ok", body: new TextEncoder().encode(page), version };
}

/** The query of the chats of all channels, latest activity first. */
function latest(after: Place | null, limit: number, offset: number): Select {
  return {
    query: `select ${PLACE} from chats where active_at is not null
      ${after === null ? "" : "and (active_at, id) < (?, ?)"} order by active_at desc, id desc limit ? offset ?`,
    values: [...(after === null ? [] : [after.at, after.id]), limit, offset],
  };
}

/** @param known what else is known of the list */
function walked(known: { limit: number; total?: number }, cursor: string | null, hasNewer: boolean): WalkPagination {
  return { ...known, hasMore: cursor !== null, cursor, ...(hasNewer && { hasNewer }) };
}

function placeOf({ active_at, id }: ChatRow): Place {
  return { at: active_at ?? 0, id };
}
