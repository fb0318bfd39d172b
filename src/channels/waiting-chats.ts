import type { Clock } from "../platform/clock.ts";
import { type ChannelPace, wakeMoreAt } from "./pace.ts";

const MAX_PER_RUN = 200;
const BATCH = 20;
const PREFIX = "waiting:";

/** The chats that tried to send while the channel was broken. Each is woken when the channel works again. */
export class WaitingChats {
  readonly #kv: Pick<SyncKvStorage, "get" | "put" | "delete" | "list">;
  readonly #clock: Pick<Clock, "now">;
  readonly #wakeChat: (chatId: string) => Promise<void>;

  constructor(
    kv: Pick<SyncKvStorage, "get" | "put" | "delete" | "list">,
    clock: Pick<Clock, "now">,
    wakeChat: (chatId: string) => Promise<void>,
  ) {
    this.#kv = kv;
    this.#clock = clock;
    this.#wakeChat = wakeChat;
  }

  add(chatId: string): void {
    const key = `${PREFIX}${chatId}`;
    if (!this.#kv.get(key)) this.#kv.put(key, true);
  }

  /**
   * Wakes as many chats as can start soon; never throws.
   * @param pace the channel's current pace: the channel may break again during the call
   * @returns when to wake more, Unix milliseconds; null if none are left or the channel is broken
   */
  async wake(pace: () => ChannelPace): Promise<number | null> {
    if (pace().breaker) return null;
    const waiting = [...this.#kv.list<true>({ prefix: PREFIX, limit: MAX_PER_RUN })].map(([key]) => key);
    for (let from = 0; from < waiting.length && !pace().breaker; from += BATCH) {
      const keys = waiting.slice(from, from + BATCH);
      // Deleted before the calls: a woken chat may find the channel broken again and be added again.
      for (const key of keys) this.#kv.delete(key);
      // A chat that can't be reached wakes later by its own alarm.
      await Promise.allSettled(keys.map((key) => this.#wakeChat(key.slice(PREFIX.length))));
    }
    return waiting.length === MAX_PER_RUN ? wakeMoreAt(pace(), this.#clock.now()) : null;
  }
}
