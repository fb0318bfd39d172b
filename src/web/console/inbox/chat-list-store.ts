import { signal } from "@preact/signals";
import type { FollowedEvent } from "../../../client/event.ts";
import { asParleyError, type Chat, type ParleyError } from "../api.ts";
import type { Api } from "../api-client.ts";
import { afterEvent, type Filter, inOrder, isScheduling, withChat } from "./chat-rows.ts";

const PAGE = 50;
/** If more chats than this come into the list at once, they are not asked for one by one. */
const MOST_ASKED = 5;
/** Then the first page is read instead, at most so often. */
const READ_EVERY_MS = 2_000;

/** The chats of the inbox by one filter. It stays true to what happens without loading the list again. */
export class ChatListStore {
  readonly rows = signal<Chat[]>([]);
  readonly state = signal<"loading" | "ready">("loading");
  readonly error = signal<ParleyError | null>(null);
  readonly hasMore = signal(false);
  /** The chat that is open beside the list. */
  openId: string | null = null;
  /** Whether something happened in a chat that its row does not show yet. */
  isBehind = (_row: Chat): boolean => false;
  readonly #api: Api;
  readonly #filter: Filter;
  #cursor: string | null = null;
  #isLoadingMore = false;
  /** How many rows were loaded by pages. */
  #loaded = PAGE;
  #reading: ReturnType<typeof setTimeout> | undefined;
  /** Chats that are being asked for, and whether they changed meanwhile. Several events of one chat ask at most twice. */
  readonly #asked = new Map<string, boolean>();

  constructor(api: Api, filter: Filter) {
    this.#api = api;
    this.#filter = filter;
  }

  /** Loads the first page. Rows that were loaded before stay until it is there. */
  async load(): Promise<void> {
    try {
      const { chats, cursor } = await this.#page(null);
      const openRow = this.rows.value.find(({ id }) => id === this.openId);
      const kept = openRow && !chats.some(({ id }) => id === openRow.id) && this.#filter.search === "" ? [openRow] : [];
      // What was loaded beyond the first page is loaded again when the reader gets there.
      this.rows.value = [...chats, ...kept];
      this.#loaded = PAGE;
      this.#setCursor(cursor);
      this.state.value = "ready";
      this.error.value = null;
    } catch (error) {
      this.error.value = asParleyError(error);
      this.state.value = "ready";
    }
  }

  /** Whether the list has all chats, the latest activity first. */
  get #hasAll(): boolean {
    const { view, assignee, search } = this.#filter;
    return view === "all" && assignee === null && search === "";
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    if (this.#isLoadingMore || this.#cursor === null) return;
    this.#isLoadingMore = true;
    try {
      const { chats, cursor } = await this.#page(this.#cursor);
      const known = new Set(this.rows.value.map(({ id }) => id));
      const rows = [...this.rows.value, ...chats.filter(({ id }) => !known.has(id))];
      // The open chat may stand below what was loaded.
      this.rows.value = this.#hasAll ? inOrder(rows, "all") : rows;
      this.#loaded = this.rows.value.length;
      this.#setCursor(cursor);
      this.error.value = null;
    } catch (error) {
      this.error.value = asParleyError(error);
    } finally {
      this.#isLoadingMore = false;
    }
  }

  /** Takes what happened. Only a chat that is not in the list is asked for. */
  take(events: FollowedEvent[]): void {
    const { view, search, channel } = this.#filter;
    const known = new Map(this.rows.value.map((row) => [row.id, row]));
    const changed = new Map<string, Chat>();
    const gone = new Set<string>();
    const asked = new Set<string>();
    for (const event of events) {
      const { chatId, type, channelId } = event;
      if (chatId === null) continue;
      if (type === "chat.deleted") {
        changed.delete(chatId);
        gone.add(chatId);
        continue;
      }
      const chat = changed.get(chatId) ?? known.get(chatId);
      const isWanted = search === "" && (channel === null || channel === channelId);
      const isOther = view === "scheduled" && isScheduling(event);
      if (chat && !isOther && !gone.has(chatId)) changed.set(chatId, afterEvent(chat, event));
      else if (event.data.chat && isWanted) {
        gone.delete(chatId);
        changed.set(chatId, event.data.chat);
      } else if (chat || (isWanted && this.#mayBring(event))) asked.add(chatId);
    }
    let rows: Chat[] = this.rows.value;
    for (const [id, chat] of changed) if (chat !== known.get(id)) rows = this.#with(rows, chat);
    if (gone.size > 0) rows = rows.filter(({ id }) => !gone.has(id));
    this.rows.value = this.#cut(rows);
    const wanted = [...asked].filter((id) => !gone.has(id));
    // A page tells nothing of the rows that are scheduled again.
    if (wanted.length > MOST_ASKED && view !== "scheduled") this.#readSoon();
    else for (const id of wanted) void this.ask(id);
  }

  /** Whether an event brings a chat that is not in the list to the rows that are loaded. */
  #mayBring(event: FollowedEvent): boolean {
    const { view } = this.#filter;
    if (view === "scheduled") return isScheduling(event);
    // The chat that waits since now comes last.
    return view === "all" || (event.type === "message.received" && this.#cursor === null);
  }

  /** The list is no longer shown. */
  stop(): void {
    clearTimeout(this.#reading);
  }

  /** A chat is known to be so now. */
  put(chat: Chat): void {
    this.rows.value = this.#with(this.rows.value, chat);
  }

  #with(rows: Chat[], chat: Chat): Chat[] {
    if (this.#filter.search === "") return withChat(rows, chat, this.#filter, this.openId);
    return rows.map((row) => (row.id === chat.id ? chat : row));
  }

  /** The rows without those that newer ones pushed far below what was loaded. They are loaded when the reader gets there. */
  #cut(rows: Chat[]): Chat[] {
    // The other lists continue after a cursor of the service.
    if (!this.#hasAll || rows.length <= this.#loaded + PAGE) return rows;
    const kept = rows.slice(0, this.#loaded);
    this.#setCursor(kept.at(-1)?.id ?? null);
    return [...kept, ...rows.slice(this.#loaded).filter(({ id }) => id === this.openId)];
  }

  #readSoon(): void {
    this.#reading ??= setTimeout(() => void this.#readFirstPage(), READ_EVERY_MS);
  }

  /** Reads the first page for the chats that are not in the list. Those that are follow their events, which are newer. */
  async #readFirstPage(): Promise<void> {
    try {
      const { chats, cursor } = await this.#page(null);
      const known = new Set(this.rows.value.map(({ id }) => id));
      let rows: Chat[] = this.rows.value;
      // There may be more than a page now.
      if (this.#cursor === null) this.#setCursor(cursor);
      for (const chat of chats) if (!known.has(chat.id)) rows = this.#with(rows, chat);
      this.rows.value = this.#cut(rows);
    } catch {
      // What happens next asks again.
    } finally {
      this.#reading = undefined;
    }
  }

  /** Reads a chat, and puts it where it belongs. */
  async ask(chatId: string): Promise<void> {
    const isBusy = this.#asked.has(chatId);
    this.#asked.set(chatId, isBusy);
    if (isBusy) return;
    try {
      this.put((await this.#api.GET("/chats/{id}", { path: { id: chatId } })).chat);
    } catch (error) {
      // It is gone again, or the next event asks again.
      if (asParleyError(error).status === 404) this.rows.value = this.rows.value.filter(({ id }) => id !== chatId);
    } finally {
      const hasChanged = this.#asked.get(chatId);
      this.#asked.delete(chatId);
      if (hasChanged) void this.ask(chatId);
    }
  }

  async #page(cursor: string | null): Promise<{ chats: Chat[]; cursor: string | null }> {
    const { view, channel, assignee, search } = this.#filter;
    const waits = view === "all" ? {} : { [view]: "true" as const };
    const by = search !== "" ? { search } : { ...waits, ...(assignee !== null && { assignee }) };
    const isNewestFirst = search === "" && view === "all";
    const from = cursor === null ? {} : isNewestFirst ? { before: cursor } : { after: cursor };
    const query = { ...by, ...from, ...(channel && { channel }), limit: PAGE };
    const { chats, pagination } = await this.#api.GET("/chats", { query });
    const next = "cursor" in pagination ? pagination.cursor : (chats.at(-1)?.id ?? null);
    return { chats, cursor: pagination.hasMore ? (next as string | null) : null };
  }

  #setCursor(cursor: string | null): void {
    this.#cursor = cursor;
    this.hasMore.value = cursor !== null;
  }
}
