import { signal } from "@preact/signals";
import type { FollowedEvent } from "../../../client/event.ts";
import { asParleyError, type Chat, type ParleyError } from "../api.ts";
import type { Api } from "../api-client.ts";
import {
  afterEvent,
  belongs,
  type Filter,
  inOrder,
  isNewestFirst,
  isScheduling,
  isUnclear,
  type Row,
  viewQuery,
  withChat,
} from "./chat-rows.ts";
import { countSoon } from "./live.ts";

const PAGE = 50;
/** The maximum number of rows that are loaded again at once, if the reader had them. */
const MOST_AGAIN = 200;
/** If more chats than this come into the list at once, they are not asked for one by one. */
const MOST_ASKED = 5;
/** The minimum time between two such reloads of the list. */
const LOAD_EVERY_MS = 2_000;

/** The list is also reloaded once this many rows have come one by one since a page was loaded. */
const MOST_ADDED = 200;

/** Rows, and where the next ones begin; null if there are none. */
interface Page {
  chats: Chat[];
  cursor: string | null;
}

/** The chats of the inbox by one filter. It stays true to what happens, and is loaded again only if much happens. */
export class ChatListStore {
  readonly rows = signal<Row[]>([]);
  readonly state = signal<"loading" | "ready">("loading");
  readonly error = signal<ParleyError | null>(null);
  readonly hasMore = signal(false);
  /** The chat that is open beside the list. */
  openId: string | null = null;
  /** Whether something happened in a chat that its row does not show yet. */
  isBehind = (_row: Chat): boolean => false;
  readonly #api: Api;
  readonly #filter: Filter;
  readonly #own: string | undefined;
  #cursor: string | null = null;
  #isLoadingMore = false;
  #isShown = true;
  /** How many rows pages have brought. */
  #loaded = 0;
  /** How often the first page was asked for. */
  #loads = 0;
  /** Which of these loads the rows are from. An earlier one that comes later is dropped. */
  #shownLoad = 0;
  /** What happened while a page is on its way, for each such page. */
  readonly #meanwhile = new Set<FollowedEvent[]>();
  #loadingAgain: ReturnType<typeof setTimeout> | undefined;
  /** Chats that are being asked for, and whether they changed meanwhile. Several events of one chat ask at most twice. */
  readonly #asked = new Map<string, boolean>();
  /** Chats that the bot has. The event with which people get one shows it. */
  readonly #ofBot = new Set<string | null>();

  /** @param own the id of the person; undefined for the operator */
  constructor(api: Api, filter: Filter, own?: string) {
    this.#api = api;
    this.#filter = filter;
    this.#own = own;
  }

  /**
   * Loads the first page, and as many others as were loaded: else the list would move under the reader's hand. Rows that
   * were loaded before stay until all are there.
   */
  async load(): Promise<void> {
    const load = ++this.#loads;
    const isLate = () => load < this.#shownLoad;
    await this.#read(this.#first(), isLate, (chats, cursor, changed) => {
      this.#shownLoad = load;
      // What was loaded beyond them is loaded again when the reader gets there. A chat that moved from the second page to the
      // first one while the second was read is in neither.
      const { search, view } = this.#filter;
      // A mention that is not on the pages may be gone.
      const isTrue = search === "" && view !== "mentions";
      const isKept = ({ id }: Chat) => isTrue && (id === this.openId || changed.has(id));
      this.#took(this.#joined(chats, this.rows.value.filter(isKept)), cursor);
      this.#loaded = chats.length;
    });
    this.state.value = "ready";
  }

  /** The first page, with as many others as were loaded. */
  async #first(): Promise<Page> {
    let page = await this.#page(null);
    while (page.cursor !== null && page.chats.length < Math.min(this.#loaded, MOST_AGAIN)) {
      const { chats, cursor } = await this.#page(page.cursor);
      page = { chats: this.#joined(page.chats, chats), cursor };
    }
    return page;
  }

  /** The rows with those of the next page, in order. A chat that moved meanwhile, and the open one, can be in both. */
  #joined(rows: Chat[], next: Chat[]): Chat[] {
    const { search, view } = this.#filter;
    const known = new Set(rows.map(({ id }) => id));
    const joined = [...rows, ...next.filter(({ id }) => !known.has(id))];
    return search === "" ? inOrder(joined, view) : joined;
  }

  async more(): Promise<void> {
    if (this.#isLoadingMore || this.#cursor === null) return;
    const load = this.#shownLoad;
    // It goes on from rows that are there no longer.
    const isLate = () => load !== this.#shownLoad;
    this.#isLoadingMore = true;
    await this.#read(this.#page(this.#cursor), isLate, (chats, cursor) => {
      this.#took(this.#joined(this.rows.value, chats), cursor);
    });
    this.#isLoadingMore = false;
    if (isLate()) void this.more();
  }

  /**
   * Takes a page, which need not show what happens while it is on its way. If it can't be read, the list says why.
   * @param isLate whether it is no longer wanted
   * @param took puts it in the list. `changed` are the ids of chats in which something happened meanwhile
   */
  async #read(
    reading: Promise<Page>,
    isLate: () => boolean,
    took: (chats: Chat[], cursor: string | null, changed: Set<string | null>) => void,
  ): Promise<void> {
    const meanwhile: FollowedEvent[] = [];
    this.#meanwhile.add(meanwhile);
    try {
      const page = await reading;
      if (isLate()) return;
      const before = new Set(this.rows.value);
      took(page.chats, page.cursor, new Set(meanwhile.map(({ chatId }) => chatId)));
      // The rows that stay have taken it already.
      const stay = new Set<string | null>(this.rows.value.filter((row) => before.has(row)).map(({ id }) => id));
      this.#apply(meanwhile.filter(({ chatId }) => !stay.has(chatId)));
    } catch (error) {
      if (!isLate()) this.error.value = asParleyError(error);
    } finally {
      this.#meanwhile.delete(meanwhile);
    }
  }

  #took(rows: Chat[], cursor: string | null): void {
    this.rows.value = rows;
    this.#loaded = rows.length;
    this.#cursor = cursor;
    this.hasMore.value = cursor !== null;
    this.error.value = null;
  }

  /** Applies what happened. Requests only chats whose row is missing or can't be derived from the event. */
  take(events: FollowedEvent[]): void {
    for (const each of this.#meanwhile) each.push(...events);
    this.#apply(events);
  }

  #apply(events: FollowedEvent[]): void {
    const { view, search, channel } = this.#filter;
    const known = new Map(this.rows.value.map((row) => [row.id, row]));
    const changed = new Map<string, Chat>();
    const gone = new Set<string>();
    const asked = new Set<string>();
    for (const event of events) {
      const { chatId, type, channelId, data } = event;
      if (chatId === null) continue;
      if (data.chat) this.#learn(data.chat);
      // A note that is deleted may leave an older mention, which only the list knows.
      if (view === "mentions" && data.note?.mentions.includes(this.#own ?? "")) this.#loadSoon();
      // The answer that is on its way may be older.
      if (this.#asked.has(chatId)) this.#asked.set(chatId, true);
      if (type === "chat.deleted") {
        changed.delete(chatId);
        gone.add(chatId);
        continue;
      }
      const chat = changed.get(chatId) ?? known.get(chatId);
      const isWanted = search === "" && (channel === null || channel === channelId);
      const isOther = (view === "scheduled" && isScheduling(event)) || (chat !== undefined && isUnclear(chat, event));
      if (chat && !isOther && !gone.has(chatId)) changed.set(chatId, afterEvent(chat, event));
      else if (event.data.chat && isWanted) {
        gone.delete(chatId);
        changed.set(chatId, event.data.chat);
      } else if (chat || (isWanted && this.#mayBring(event))) asked.add(chatId);
    }
    let rows: Chat[] = this.rows.value;
    for (const [id, chat] of changed) if (chat !== known.get(id)) rows = this.#with(rows, chat);
    if (gone.size > 0) rows = rows.filter(({ id }) => !gone.has(id));
    this.rows.value = rows;
    const wanted = [...asked].filter((id) => !gone.has(id));
    if (wanted.length > MOST_ASKED || rows.length > this.#loaded + MOST_ADDED) this.#loadSoon();
    else for (const id of wanted) void this.#ask(id);
  }

  /** Whether an event brings a chat that is not in the list to the rows that are loaded. */
  #mayBring(event: FollowedEvent): boolean {
    const { view, assignee, label } = this.#filter;
    const hasAll = this.#cursor === null;
    if (view === "scheduled") return isScheduling(event);
    if (view === "mentions") return false;
    if ((view === "unanswered" || view === "open") && this.#ofBot.has(event.chatId)) return false;
    // The chat that waits since now comes last.
    if (view === "unanswered") return hasAll && event.type === "message.received";
    // An event that changes a chat's state, assignee or labels shows the chat.
    const isOfMost = assignee === null && label === null && (view === "open" || view === "all");
    return isOfMost || !hasAll;
  }

  /** Another chat is open, or none: what stayed only because it was open goes. */
  left(): void {
    const shown = this.#filter;
    if (shown.search !== "") return;
    this.rows.value = this.rows.value.filter((row) => row.id === this.openId || belongs(row, shown));
  }

  /** The list is no longer shown. */
  stop(): void {
    this.#isShown = false;
    clearTimeout(this.#loadingAgain);
  }

  #learn({ id, handler }: Chat): void {
    if (handler === "bot") this.#ofBot.add(id);
    else this.#ofBot.delete(id);
  }

  /** A chat is known to be so now. */
  put(chat: Chat): void {
    this.#learn(chat);
    const known = this.rows.value.find(({ id }) => id === chat.id);
    if ((known?.unansweredSince === null) !== (chat.unansweredSince === null)) countSoon();
    this.rows.value = this.#with(this.rows.value, chat);
  }

  #with(rows: Chat[], chat: Chat): Chat[] {
    if (this.#filter.search === "") return withChat(rows, chat, this.#filter, this.openId);
    return rows.map((row) => (row.id === chat.id ? chat : row));
  }

  #loadSoon(): void {
    if (!this.#isShown) return;
    this.#loadingAgain ??= setTimeout(() => {
      this.#loadingAgain = undefined;
      // `useChats` repeats what fails.
      void this.load();
    }, LOAD_EVERY_MS);
  }

  /** Reads a chat, and puts it where it belongs. */
  async #ask(chatId: string): Promise<void> {
    const isBusy = this.#asked.has(chatId);
    this.#asked.set(chatId, isBusy);
    if (isBusy) return;
    try {
      this.put((await this.#api.GET("/chats/{id}", { path: { id: chatId } })).chat);
    } catch (error) {
      // It is gone again, or the list is loaded in its place.
      if (asParleyError(error).status === 404) this.rows.value = this.rows.value.filter(({ id }) => id !== chatId);
      else this.#loadSoon();
    } finally {
      const hasChanged = this.#asked.get(chatId);
      this.#asked.delete(chatId);
      if (hasChanged) void this.#ask(chatId);
    }
  }

  async #page(cursor: string | null): Promise<Page> {
    const { view, channel, assignee, label, search } = this.#filter;
    const whose = { ...(assignee !== null && { assignee }), ...(label !== null && { label }) };
    const by = search !== "" ? { search } : { ...viewQuery(view, this.#own), ...whose };
    const isBefore = search === "" && isNewestFirst(view);
    const from = cursor === null ? {} : isBefore ? { before: cursor } : { after: cursor };
    const query = { ...by, ...from, ...(channel && { channel }), limit: PAGE };
    const { chats, pagination } = await this.#api.GET("/chats", { query });
    return { chats, cursor: pagination.cursor };
  }
}
