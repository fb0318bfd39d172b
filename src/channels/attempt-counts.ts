import { causeOf } from "../log.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { added, type Counts } from "../platform/counts.ts";
import type { Outcome } from "./adapter.ts";

/** How many attempts ended in which way; in the words of the log's line `attempt`. */
export type AttemptCounts = Counts<Outcome["outcome"]>;

/** How a chat's line stands, and which attempts it made since it last told. Times are Unix milliseconds. */
export interface LineNews {
  channelId: string;
  /** How many messages wait. */
  depth: number;
  /** When the one that has waited longest was sent; null where none waits. */
  oldest: number | null;
  attempts: AttemptCounts;
  /** Names this report: one that comes again, because its answer was lost, counts once. */
  report: string;
}

/** A channel's numbers, as its row of the directory has them. Attempts are counted since the channel was made. */
export interface ChannelStats {
  depth: number;
  oldest: number | null;
  attempts: AttemptCounts;
  /** When a broken channel is tried next. */
  probeAt: number | null;
  at: number;
}

type Kept = { channelId: string } & Pick<ChannelStats, "depth" | "oldest" | "attempts" | "probeAt">;

/** Kept in memory, as attempts are until they are flushed: a report comes again after 30 s at most, or not at all. */
const MAX_REPORTS = 10_000;
const FLUSH_AFTER_MS = 5_000;
const FLUSH_AGAIN_AFTER_MS = 15_000;
/** Longer than any message waits: a chat that has not told for so long is gone. */
const TOLD_FOR_MS = 9 * 86_400_000;

/**
 * The numbers of a channel's delivery, on their way to the directory: which of its chats have messages waiting, and how
 * attempts ended. Attempts that are not flushed yet are in memory alone: a crash may lose those of a few seconds. What
 * the directory has been told is stored before, so that no count ever falls there.
 */
export class StatsBuffer {
  readonly #storage: DurableObjectStorage;
  #prepared = false;
  #attempts: AttemptCounts = {};
  /** Each chat's last report. */
  readonly #reports = new BoundedMap<string, string>(MAX_REPORTS);
  /** What the directory has, as far as this instance has written it. */
  #written: Kept | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** A chat told of its line. @returns when the numbers should be flushed */
  add(chatId: string, { channelId, depth, oldest, attempts, report }: LineNews, now: number): number {
    this.#prepare();
    if (!this.#kept()) this.#keep({ channelId, ...NOTHING });
    if (depth > 0) {
      this.#storage.sql.exec(
        `insert into queues (chat_id, depth, oldest, told_at) values (?, ?, ?, ?)
         on conflict (chat_id) do update set depth = excluded.depth, oldest = excluded.oldest, told_at = excluded.told_at`,
        chatId,
        depth,
        oldest,
        now,
      );
    } else this.remove(chatId);
    if (this.#reports.get(chatId) !== report) this.#attempts = added(this.#attempts, attempts);
    this.#reports.set(chatId, report);
    return now + FLUSH_AFTER_MS;
  }

  /** A chat was erased with what waited in it. @returns whether it had told of that */
  remove(chatId: string): boolean {
    if (!this.#kept()) return false;
    return this.#storage.sql.exec("delete from queues where chat_id = ?", chatId).rowsWritten > 0;
  }

  /** Everything was erased. */
  forget(): void {
    this.#prepared = false;
    this.#attempts = {};
    this.#written = undefined;
  }

  /** When the numbers should be flushed; null where the directory has them. */
  dueAt(probeAt: number | null, now: number): number | null {
    const kept = this.#kept();
    return kept && isNews(this.#written, this.#current(kept, probeAt)) ? now + FLUSH_AFTER_MS : null;
  }

  /**
   * Writes the numbers to the channel's row where they are news; never throws.
   * @param probeAt when a broken channel is tried next
   * @returns when to be called again, Unix milliseconds; null when nothing is left
   */
  async flush(db: D1Database, probeAt: number | null, now: number): Promise<number | null> {
    const kept = this.#kept();
    if (!kept) return null;
    this.#storage.sql.exec("delete from queues where told_at < ?", now - TOLD_FOR_MS);
    const current = this.#current(kept, probeAt);
    if (!isNews(this.#written, current)) return null;
    if (isNews(kept, current)) this.#keep(current);
    this.#attempts = {};
    const { channelId, ...numbers } = current;
    const stats: ChannelStats = { ...numbers, at: now };
    try {
      await db.prepare("update channels set stats = ? where id = ?").bind(JSON.stringify(stats), channelId).run();
    } catch (error) {
      console.warn({ event: "stats_not_written", channelId, error: causeOf(error) });
      return now + FLUSH_AGAIN_AFTER_MS;
    }
    // Erased in the meantime: nothing is left to tell.
    if (!this.#prepared) return null;
    this.#written = current;
    return this.dueAt(probeAt, now);
  }

  #current({ channelId, attempts }: Kept, probeAt: number | null): Kept {
    const { depth, oldest } = this.#storage.sql
      .exec<{ depth: number; oldest: number | null }>(
        "select coalesce(sum(depth), 0) as depth, min(oldest) as oldest from queues",
      )
      .one();
    return { channelId, depth, oldest, attempts: added(attempts, this.#attempts), probeAt };
  }

  #kept(): Kept | undefined {
    const kept = this.#storage.kv.get<Kept>("stats");
    if (kept) this.#prepare();
    return kept;
  }

  #keep(kept: Kept): void {
    this.#storage.kv.put("stats", kept);
  }

  #prepare(): void {
    if (this.#prepared) return;
    this.#storage.sql.exec(
      `create table if not exists queues
         (chat_id text primary key, depth integer not null, oldest integer, told_at integer not null)`,
    );
    this.#prepared = true;
  }
}

const NOTHING = { depth: 0, oldest: null, attempts: {}, probeAt: null };

function isNews(before: Kept | undefined, current: Kept): boolean {
  return JSON.stringify(before) !== JSON.stringify(current);
}
