import { callObject } from "../platform/call-object.ts";
import { type ChannelPace, wakeMoreAt } from "./pace.ts";

const WOKEN_A_RUN = 200;
const WOKEN_AT_ONCE = 20;
const PREFIX = "waiting:";

/** The chats that met the broken channel: each is woken when it works again. */
export class WaitingChats {
  readonly #kv: SyncKvStorage;
  readonly #env: Env;

  constructor({ kv }: DurableObjectStorage, env: Env) {
    this.#kv = kv;
    this.#env = env;
  }

  /** A chat met the broken channel. */
  add(chatId: string): void {
    const key = `${PREFIX}${chatId}`;
    if (!this.#kv.get(key)) this.#kv.put(key, true);
  }

  /**
   * Wakes as many chats as begin soon: others that have something to send come between. Never throws.
   * @param pace the channel as it is by then: it may break again meanwhile
   * @returns when to wake more, Unix milliseconds; null if nobody is left, or the channel is broken
   */
  async wake(pace: () => ChannelPace): Promise<number | null> {
    if (pace().breaker) return null;
    const waiting = [...this.#kv.list<true>({ prefix: PREFIX, limit: WOKEN_A_RUN })].map(([key]) => key);
    for (let from = 0; from < waiting.length && !pace().breaker; from += WOKEN_AT_ONCE) {
      const keys = waiting.slice(from, from + WOKEN_AT_ONCE);
      // Deleted first: a chat that is woken may find the channel broken once more, and wait again.
      for (const key of keys) this.#kv.delete(key);
      const calls = keys.map((key) => callObject(this.#env.CHATS, key.slice(PREFIX.length), (chat) => chat.wake()));
      // A chat that could not be woken wakes by its own alarm, later.
      await Promise.allSettled(calls);
    }
    return waiting.length === WOKEN_A_RUN ? wakeMoreAt(pace(), Date.now()) : null;
  }
}
