import { causeOf } from "../log.ts";
import { callObject } from "../objects.ts";
import type { ChatIdentity } from "./message-log.ts";

/** With the channel object's own wait this keeps the list of chats less than 10 s behind. */
export const REPORT_AFTER_MS = 2_000;
const AGAIN_AFTER_MS = 30_000;

/** What a chat has told its channel of its activity, which is on its way to the list of chats. */
export class ActivityReport {
  readonly #kv: SyncKvStorage;
  #failed = false;

  constructor({ kv }: DurableObjectStorage) {
    this.#kv = kv;
  }

  /** When to tell of a message that is the `newest`; null where that is done. */
  dueAt(newest: number, now: number): number | null {
    if (this.#told() >= newest) return null;
    return now + (this.#failed ? AGAIN_AFTER_MS : REPORT_AFTER_MS);
  }

  /** Tells the channel when the chat was last active; never throws. `exists` is false once the chat was erased, opened again or not. */
  async tell(
    env: Env,
    { channelId, chatId }: ChatIdentity,
    newest: { seq: number; at: number },
    exists: () => boolean,
  ): Promise<void> {
    if (this.#told() >= newest.seq) return;
    try {
      await callObject(env.CHANNELS, channelId, (channel) => channel.active(chatId, newest.at));
      this.#failed = false;
    } catch (error) {
      console.warn({ event: "activity_not_reported", chatId, error: causeOf(error) });
      this.#failed = true;
      return;
    }
    if (exists()) this.#kv.put("reported", newest.seq);
  }

  #told(): number {
    return this.#kv.get<number>("reported") ?? 0;
  }
}
