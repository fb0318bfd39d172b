import { answerWithin, callObject, NEARBY } from "../../calls/call-object.ts";
import { MAX_CONCURRENT, settleEach } from "../../platform/concurrency.ts";
import { warnIfFails } from "../../platform/log.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import { wakeMoreAt } from "./pace.ts";
import type { Permits } from "./permits.ts";

const MAX_PER_RUN = 200;
const WAKE_TIMEOUT_MS = 5_000;
const PREFIX = "waiting:";

interface Parts {
  env: Env;
  kv: Pick<SyncKvStorage, "get" | "put" | "delete" | "list">;
  permits: Permits;
}

/** The chats that tried to send while the channel was broken. Each is woken when the channel works again. */
export class WaitingChats implements DuePart {
  readonly #parts: Parts;
  /** The channel recovered, and no chat was woken since. */
  #isRecovered = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  add(chatId: string): void {
    const key = `${PREFIX}${chatId}`;
    if (!this.#parts.kv.get(key)) this.#parts.kv.put(key, true);
  }

  /** The channel works again: the next run is due at once. */
  recovered(): void {
    this.#isRecovered = true;
  }

  /** Wakes as many chats as can start soon. */
  async run(): Promise<void> {
    const { kv, permits } = this.#parts;
    this.#isRecovered = false;
    if (permits.pace.breaker) return;
    const waiting = [...kv.list<true>({ prefix: PREFIX, limit: MAX_PER_RUN })].map(([key]) => key);
    for (let from = 0; from < waiting.length && !permits.pace.breaker; from += MAX_CONCURRENT) {
      const keys = waiting.slice(from, from + MAX_CONCURRENT);
      // Deleted before the calls: a woken chat may find the channel broken again and be added again.
      for (const key of keys) kv.delete(key);
      // A chat that can't be reached wakes later by its own alarm.
      await settleEach(keys, (key) => this.#wakeChat(key.slice(PREFIX.length)));
    }
  }

  /** When the alarm must wake more, Unix milliseconds; null if none are left or the channel is broken. */
  dueAt(now: number): number | null {
    const isAnyLeft = [...this.#parts.kv.list<true>({ prefix: PREFIX, limit: 1 })].length > 0;
    const pace = this.#parts.permits.pace;
    if (!isAnyLeft || pace.breaker) return null;
    return this.#isRecovered ? now : wakeMoreAt(pace, now);
  }

  async #wakeChat(chatId: string): Promise<void> {
    const wake = () => callObject(this.#parts.env.CHATS, chatId, (chat) => chat.wake(), NEARBY);
    await warnIfFails({ event: "chat_not_woken", chatId }, () => answerWithin(WAKE_TIMEOUT_MS, wake));
  }
}
