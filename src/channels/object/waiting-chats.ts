import { MAX_CONCURRENT, settleEach } from "../../platform/concurrency.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import { type ChannelPace, wakeMoreAt } from "./pace.ts";

const MAX_PER_RUN = 200;
const PREFIX = "waiting:";

/** The chats that tried to send while the channel was broken. Each is woken when the channel works again. */
export class WaitingChats implements DuePart {
  readonly #kv: Pick<SyncKvStorage, "get" | "put" | "delete" | "list">;
  readonly #pace: () => ChannelPace;
  readonly #wakeChat: (chatId: string) => Promise<void>;
  /** The channel recovered, and no chat was woken since. */
  #isRecovered = false;

  /** @param pace the channel's current pace: the channel may break again during a call */
  constructor(
    kv: Pick<SyncKvStorage, "get" | "put" | "delete" | "list">,
    pace: () => ChannelPace,
    wakeChat: (chatId: string) => Promise<void>,
  ) {
    this.#kv = kv;
    this.#pace = pace;
    this.#wakeChat = wakeChat;
  }

  add(chatId: string): void {
    const key = `${PREFIX}${chatId}`;
    if (!this.#kv.get(key)) this.#kv.put(key, true);
  }

  /** The channel works again: the next run is due at once. */
  recovered(): void {
    this.#isRecovered = true;
  }

  /** Wakes as many chats as can start soon. */
  async run(): Promise<void> {
    this.#isRecovered = false;
    if (this.#pace().breaker) return;
    const waiting = [...this.#kv.list<true>({ prefix: PREFIX, limit: MAX_PER_RUN })].map(([key]) => key);
    for (let from = 0; from < waiting.length && !this.#pace().breaker; from += MAX_CONCURRENT) {
      const keys = waiting.slice(from, from + MAX_CONCURRENT);
      // Deleted before the calls: a woken chat may find the channel broken again and be added again.
      for (const key of keys) this.#kv.delete(key);
      // A chat that can't be reached wakes later by its own alarm.
      await settleEach(keys, (key) => this.#wakeChat(key.slice(PREFIX.length)));
    }
  }

  /** When the alarm must wake more, Unix milliseconds; null if none are left or the channel is broken. */
  dueAt(now: number): number | null {
    const isAnyLeft = [...this.#kv.list<true>({ prefix: PREFIX, limit: 1 })].length > 0;
    const pace = this.#pace();
    if (!isAnyLeft || pace.breaker) return null;
    return this.#isRecovered ? now : wakeMoreAt(pace, now);
  }
}
