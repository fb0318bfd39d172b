import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { FollowedEvent } from "../../../client/event.ts";
import type { Chat, ParleyError } from "../api.ts";
import type { Api } from "../api-client.ts";
import { usePlace } from "../organization.ts";
import { asParleyError } from "../resource.ts";
import { afterEvent, type Filter, isScheduling, withChat } from "./chat-rows.ts";
import { listen } from "./live.ts";

const PAGE = 50;

/** The chats by a filter, as long as they are shown. */
export function useChats(filter: Filter): ChatListStore {
  const { api } = usePlace();
  const { view, channel, assignee, search } = filter;
  const store = useMemo(() => new ChatListStore(api, filter), [api, view, channel, assignee, search]);
  useEffect(() => {
    void store.load();
    return listen((event) => (event ? store.take(event) : void store.load()));
  }, [store]);
  return store;
}

/** The chats of the inbox by one filter. It stays true to what happens without loading the list again. */
export class ChatListStore {
  readonly rows = signal<Chat[]>([]);
  readonly state = signal<"loading" | "ready">("loading");
  readonly error = signal<ParleyError | null>(null);
  readonly hasMore = signal(false);
  /** The chat that is open beside the list. */
  openId: string | null = null;
  readonly #api: Api;
  readonly #filter: Filter;
  #cursor: string | null = null;
  #isLoadingMore = false;
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
      this.#setCursor(cursor);
      this.state.value = "ready";
      this.error.value = null;
    } catch (error) {
      this.error.value = asParleyError(error);
      this.state.value = "ready";
    }
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    if (this.#isLoadingMore || this.#cursor === null) return;
    this.#isLoadingMore = true;
    try {
      const { chats, cursor } = await this.#page(this.#cursor);
      const known = new Set(this.rows.value.map(({ id }) => id));
      this.rows.value = [...this.rows.value, ...chats.filter(({ id }) => !known.has(id))];
      this.#setCursor(cursor);
      this.error.value = null;
    } catch (error) {
      this.error.value = asParleyError(error);
    } finally {
      this.#isLoadingMore = false;
    }
  }

  /** Takes what happened. Only a chat that is not in the list is asked for. */
  take(event: FollowedEvent): void {
    const { chatId, type, channelId } = event;
    if (chatId === null) return;
    if (type === "chat.deleted") {
      this.rows.value = this.rows.value.filter(({ id }) => id !== chatId);
      return;
    }
    const { view, search, channel } = this.#filter;
    const known = this.rows.value.find(({ id }) => id === chatId);
    const isWanted = search === "" && (channel === null || channel === channelId);
    const isOther = view === "scheduled" && isScheduling(event);
    if (known && !isOther) this.put(afterEvent(known, event));
    else if (event.data.chat && isWanted) this.put(event.data.chat);
    else if (known || isWanted) void this.ask(chatId);
  }

  /** A chat is known to be so now. */
  put(chat: Chat): void {
    const rows = this.rows.value;
    if (this.#filter.search === "") this.rows.value = withChat(rows, chat, this.#filter, this.openId);
    else this.rows.value = rows.map((row) => (row.id === chat.id ? chat : row));
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
