import type { Outcome } from "../channels/adapter.ts";
import type { AttemptCounts } from "../channels/attempt-counts.ts";
import { causeOf } from "../log.ts";
import { callObject } from "../platform/call-object.ts";
import { added } from "../platform/counts.ts";
import type { ChatIdentity, MessageLog } from "./log/message-log.ts";

/** With the channel object's own wait this keeps the list of chats less than 10 s behind. */
export const REPORT_AFTER_MS = 2_000;
const AGAIN_AFTER_MS = 30_000;

/**
 * What a chat tells its channel: when it was last active, which is on its way to the list of chats, and how its line
 * stands. What it told is stored; attempts that it has not told of yet are lost with the instance.
 */
export class ActivityReport {
  readonly #kv: SyncKvStorage;
  readonly #log: MessageLog;
  readonly #depth: () => number;
  #failed = false;
  #attempts: AttemptCounts = {};
  /** The report that is under way, or whose answer was lost: it is repeated as it was. */
  #report: { id: string; attempts: AttemptCounts } | null = null;

  /** @param depth how many messages wait */
  constructor({ kv }: DurableObjectStorage, log: MessageLog, depth: () => number) {
    this.#kv = kv;
    this.#log = log;
    this.#depth = depth;
  }

  /** An attempt at delivery is over. */
  attempted({ outcome }: Outcome): void {
    this.#attempts = added(this.#attempts, { [outcome]: 1 });
  }

  /** When to tell of what the channel does not know; null where it knows all. */
  dueAt(now: number): number | null {
    if (this.#isTold()) return null;
    return now + (this.#failed ? AGAIN_AFTER_MS : REPORT_AFTER_MS);
  }

  /** Tells the channel; never throws. `exists` is false once the chat was erased, opened again or not. */
  async tell(env: Env, { channelId, chatId }: ChatIdentity, exists: () => boolean): Promise<void> {
    if (this.#isTold()) return;
    const newest = this.#log.newest();
    const isActive = newest.seq > this.#toldSeq();
    const depth = this.#depth();
    if (!this.#report) {
      this.#report = { id: crypto.randomUUID(), attempts: this.#attempts };
      this.#attempts = {};
    }
    const report = this.#report;
    const { attempts } = report;
    try {
      const oldest = depth > 0 ? (this.#log.head()?.message.createdAt ?? null) : null;
      const hasLine = depth > 0 || this.#toldDepth() > 0 || Object.keys(attempts).length > 0;
      const line = {
        channelId,
        depth,
        oldest: oldest === null ? null : Date.parse(oldest),
        attempts,
        report: report.id,
      };
      await callObject(env.CHANNELS, channelId, (channel) =>
        channel.active(chatId, isActive ? newest.at : 0, hasLine ? line : undefined),
      );
      // Erased in the meantime: the channel may have been told of that before it heard this.
      if (!exists()) await callObject(env.CHANNELS, channelId, (channel) => channel.gone(chatId));
      this.#failed = false;
      if (this.#report === report) this.#report = null;
    } catch (error) {
      console.warn({ event: "activity_not_reported", chatId, error: causeOf(error) });
      this.#failed = true;
      return;
    }
    if (!exists()) return;
    if (isActive) this.#kv.put("reported", newest.seq);
    if (depth !== this.#toldDepth()) this.#kv.put("reportedDepth", depth);
  }

  #isTold(): boolean {
    if (this.#toldSeq() < this.#log.newest().seq || this.#toldDepth() !== this.#depth()) return false;
    return this.#report === null && Object.keys(this.#attempts).length === 0;
  }

  #toldSeq(): number {
    return this.#kv.get<number>("reported") ?? 0;
  }

  #toldDepth(): number {
    return this.#kv.get<number>("reportedDepth") ?? 0;
  }
}
