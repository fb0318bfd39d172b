import { database } from "../db/client.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { addCounts, type Counts } from "../platform/counts.ts";
import { WriteBehind } from "../platform/write-behind.ts";
import type { Outcome } from "./adapter.ts";

/** How many attempts ended with each outcome. The names are those of the log event `attempt`. */
export type AttemptCounts = Counts<Outcome["outcome"]>;

/** A chat's waiting messages, and its attempts since its last report. Times are Unix milliseconds. */
export interface QueueReport {
  /** A repeated report has the same id, so that its attempts count once. */
  id: string;
  channelId: string;
  /** How many messages wait. */
  depth: number;
  /** When the oldest waiting message was sent; null if none waits. */
  oldest: number | null;
  attempts: AttemptCounts;
}

/** A channel's statistics, as in its row of the directory. Attempts are counted since the channel was created. */
export interface ChannelStats {
  depth: number;
  oldest: number | null;
  attempts: AttemptCounts;
  /** When a broken channel is probed next; null while the channel works. */
  probeAt: number | null;
  at: number;
}

type StoredStats = { channelId: string } & Omit<ChannelStats, "at">;

/** How many chats' last reports are remembered. A report is repeated within 30 s or never. */
const MAX_REPORTS = 10_000;
/** Longer than any message waits: a chat that has not reported for so long is deleted. */
const REPORT_VALID_MS = 9 * 86_400_000;

/**
 * A channel's delivery statistics: the chats with waiting messages, and the outcomes of attempts. A crash may lose the
 * attempts of a few seconds, because they are in memory until they are flushed. The statistics are stored before they are
 * written to the directory, so that a count in the directory never decreases.
 */
export class StatsBuffer extends WriteBehind<StoredStats> {
  protected readonly delayMs = 5_000;
  protected readonly retryMs = 15_000;
  readonly #storage: DurableObjectStorage;
  readonly #env: Env;
  readonly #probeAt: () => number | null;
  #attempts: AttemptCounts = {};
  /** The id of each chat's last report. */
  readonly #reports = new BoundedMap<string, string>(MAX_REPORTS);

  /** @param probeAt when a broken channel is probed next */
  constructor(storage: DurableObjectStorage, env: Env, probeAt: () => number | null) {
    super();
    this.#storage = storage;
    this.#env = env;
    this.#probeAt = probeAt;
  }

  /** Adds a chat's report. @returns when to flush */
  add(chatId: string, { id, channelId, depth, oldest, attempts }: QueueReport): number {
    if (!this.#stored()) {
      this.#storage.sql.exec(
        "create table if not exists queues (chat_id text primary key, depth integer not null, oldest integer, reported_at integer not null)",
      );
      this.#store({ channelId, depth: 0, oldest: null, attempts: {}, probeAt: null });
    }
    if (depth > 0) {
      this.#storage.sql.exec(
        `insert into queues (chat_id, depth, oldest, reported_at) values (?, ?, ?, ?) on conflict (chat_id)
         do update set depth = excluded.depth, oldest = excluded.oldest, reported_at = excluded.reported_at`,
        chatId,
        depth,
        oldest,
        Date.now(),
      );
    } else this.remove(chatId);
    if (this.#reports.get(chatId) !== id) this.#attempts = addCounts(this.#attempts, attempts);
    this.#reports.set(chatId, id);
    return this.changed();
  }

  /** Removes a chat that was erased or has no waiting messages. @returns whether it had waiting messages */
  remove(chatId: string): boolean {
    if (!this.#stored()) return false;
    return this.#storage.sql.exec("delete from queues where chat_id = ?", chatId).rowsWritten > 0;
  }

  override forget(): void {
    super.forget();
    this.#attempts = {};
  }

  protected current(): StoredStats | null {
    const stored = this.#stored();
    if (!stored) return null;
    const queues = this.#storage.sql
      .exec<{ depth: number; oldest: number | null }>(
        "select coalesce(sum(depth), 0) as depth, min(oldest) as oldest from queues where reported_at >= ?",
        Date.now() - REPORT_VALID_MS,
      )
      .one();
    const { channelId, attempts } = stored;
    return { channelId, ...queues, attempts: addCounts(attempts, this.#attempts), probeAt: this.#probeAt() };
  }

  protected write(stats: StoredStats): Promise<unknown> {
    this.#storage.sql.exec("delete from queues where reported_at < ?", Date.now() - REPORT_VALID_MS);
    if (JSON.stringify(stats) !== JSON.stringify(this.#stored())) this.#store(stats);
    this.#attempts = {};
    const { channelId, ...rest } = stats;
    const row: ChannelStats = { ...rest, at: Date.now() };
    return database(this.#env)
      .prepare("update channels set stats = ? where id = ?")
      .bind(JSON.stringify(row), channelId)
      .run();
  }

  protected failure({ channelId }: StoredStats) {
    return { event: "stats_not_written", channelId };
  }

  /** The stored statistics; undefined before the first report, when the table `queues` does not exist. */
  #stored(): StoredStats | undefined {
    return this.#storage.kv.get<StoredStats>("stats");
  }

  #store(stats: StoredStats): void {
    this.#storage.kv.put("stats", stats);
  }
}
