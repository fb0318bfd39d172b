import type { Limits } from "../../db/schema.ts";
import type { ChannelKind } from "../../model/channel-kind.ts";
import { shownWarnings } from "../../model/channel-warning.ts";
import type { ChatRetention } from "../../model/chat-answers.ts";
import { addCounts } from "../../model/counts.ts";
import { addToHistory, type History } from "../../model/history.ts";
import type {
  ChannelCounts,
  ChannelHealth,
  ChannelNumbers,
  KnownBot,
  KnownChannel,
  Waiting,
} from "../../model/organization.ts";

/** A channel's row in D1. */
interface DirectoryChannel {
  id: string;
  kind: ChannelKind;
  name: string;
  limits: Limits;
  retentionDays: number | null;
  bot: KnownBot | null;
  createdAt: number;
  /** Not null while it is being deleted. */
  erasingAt: number | null;
}

type ChannelRow = Omit<KnownChannel, "isClosed" | "retention" | "bot"> & {
  closed: number;
  retention: string | null;
  bot: string | null;
};
type NumbersRow = Omit<ChannelNumbers, "health" | "attempts"> & { health: string | null; attempts: string };

/**
 * What is counted of the chats of a channel: all of them, those in a list, the unanswered ones that are open, and those of
 * them that people have.
 */
const CHAT_COUNTS = {
  chats: "chats",
  unanswered: "unanswered",
  scheduled: "scheduled",
  unansweredOpen: "unanswered - unanswered_not_open",
  unansweredOfPeople: "unanswered - unanswered_not_open - unanswered_of_bot",
} as const satisfies Record<"chats" | "unansweredOpen" | "unansweredOfPeople" | Waiting, string>;
export type ChatCount = keyof typeof CHAT_COUNTS;

/**
 * How the sums of a channel change. `depth`: the messages that wait; `chats`: all chats; `unansweredNotOpen`: those that
 * wait for an answer and are snoozed or closed; `openOfBot`: those that are open and the bot has; `unansweredOfBot`: those of
 * them that wait; the others: those in `Waiting`.
 */
type Sum = "chats" | "depth" | "unansweredNotOpen" | "openOfBot" | "unansweredOfBot" | Waiting;
type ChannelChanges = Partial<Record<Sum, number>> & {
  /** The number of a move of one of its chats; null if none moved. See `lastMove`. */
  move?: number | null;
};

const KEPT_FOR_EVER: ChatRetention = { days: null, version: 0 };

function codesOf(health: ChannelHealth | null): string {
  return (health?.warnings ?? []).map(({ code }) => code).join();
}

/** The channels that have chats or numbers in an organization's object. Copies of their rows are in memory. */
export class ChannelTable {
  readonly #sql: SqlStorage;
  #known: Map<string, KnownChannel> | undefined;
  #lastMove: number | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  forget(): void {
    this.#known = undefined;
    this.#lastMove = undefined;
  }

  /**
   * The number of the last move: 1, 2, 3 … in the organization; 0 if no chat moved yet. A chat moves if it comes to a
   * later place in a list whose walks begin with the earliest: to one that a walk may have yet to reach.
   */
  get lastMove(): number {
    const query = "select coalesce(max(moves), 0) as last from channels";
    this.#lastMove ??= this.#sql.exec<{ last: number }>(query).one().last;
    return this.#lastMove;
  }

  /** A move is committed. */
  moved(move: number): void {
    this.#lastMove = move;
  }

  get(id: string): KnownChannel | undefined {
    return this.all().get(id);
  }

  all(): Map<string, KnownChannel> {
    if (!this.#known) {
      const query =
        "select id, kind, name, closed, chat_limit as chatLimit, retention, bot, bot_version as botVersion from channels order by created_at, id";
      const channels = this.#sql
        .exec<ChannelRow>(query)
        .toArray()
        .map(({ closed, retention, bot, ...channel }) => ({
          ...channel,
          isClosed: closed === 1,
          retention: retention === null ? KEPT_FOR_EVER : (JSON.parse(retention) as ChatRetention),
          bot: bot === null ? null : (JSON.parse(bot) as KnownBot),
        }));
      this.#known = new Map(channels.map((channel) => [channel.id, channel]));
    }
    return this.#known;
  }

  add({ id, kind, name, limits, retentionDays: days, bot, createdAt, erasingAt }: DirectoryChannel): void {
    const retention = days === null ? null : JSON.stringify({ days, version: Date.now() } satisfies ChatRetention);
    const isClosed = Number(erasingAt !== null);
    this.#sql.exec(
      `insert into channels (id, kind, name, chat_limit, retention, bot, bot_version, created_at, closed)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
      ...[id, kind, name, limits.chats ?? null, retention, bot && JSON.stringify(bot), bot ? Date.now() : 0],
      ...[createdAt, isClosed],
    );
    this.#known = undefined;
  }

  /** Takes no more chats in a channel, ever. */
  close(id: string): void {
    this.#sql.exec("update channels set closed = 1 where id = ? and closed = 0", id);
    this.#known = undefined;
  }

  closeAll(): void {
    this.#sql.exec("update channels set closed = 1 where closed = 0");
    this.#known = undefined;
  }

  /** Replaces names and limits that changed. @returns whether one did */
  configure(rows: Pick<DirectoryChannel, "id" | "name" | "limits">[]): boolean {
    const changed = rows.filter(({ id, name, limits }) => {
      const known = this.get(id);
      return known && (known.name !== name || known.chatLimit !== (limits.chats ?? null));
    });
    for (const { id, name, limits } of changed) {
      this.#sql.exec("update channels set name = ?, chat_limit = ? where id = ?", name, limits.chats ?? null, id);
    }
    if (changed.length > 0) this.#known = undefined;
    return changed.length > 0;
  }

  /** Replaces retentions that changed. @returns the ids of their channels */
  retain(rows: Pick<DirectoryChannel, "id" | "retentionDays">[]): string[] {
    const changed = rows.filter(({ id, retentionDays: days }) => {
      const known = this.get(id);
      return known && known.retention.days !== days;
    });
    for (const { id, retentionDays: days } of changed) {
      // Its versions grow even if the clock was set back.
      const version = Math.max(Date.now(), (this.get(id)?.retention.version ?? 0) + 1);
      const retention: ChatRetention = { days, version };
      this.#sql.exec("update channels set retention = ? where id = ?", JSON.stringify(retention), id);
    }
    if (changed.length > 0) this.#known = undefined;
    return changed.map(({ id }) => id);
  }

  /** Replaces bots that changed. With another bot, the chats of the one before are people's. @returns whether one did */
  setBots(rows: Pick<DirectoryChannel, "id" | "bot">[]): boolean {
    const changed = rows.filter(({ id, bot }) => {
      const known = this.get(id);
      return known && JSON.stringify(known.bot) !== JSON.stringify(bot);
    });
    for (const { id, bot } of changed) {
      const known = this.get(id);
      const isOther = known?.bot?.keyId !== bot?.keyId;
      // Its versions grow even if the clock was set back.
      const version = isOther ? Math.max(Date.now(), (known?.botVersion ?? 0) + 1) : null;
      this.#sql.exec(
        `update channels set bot = ?1, bot_version = coalesce(?2, bot_version),
           open_of_bot = case when ?2 is null then open_of_bot else 0 end,
           unanswered_of_bot = case when ?2 is null then unanswered_of_bot else 0 end where id = ?3`,
        ...[bot && JSON.stringify(bot), version, id],
      );
    }
    if (changed.length > 0) this.#known = undefined;
    return changed.length > 0;
  }

  /** The channels whose bot has a key that expired by `now`, Unix milliseconds. */
  withExpiredBot(now: number): KnownChannel[] {
    return [...this.all().values()].filter(({ bot }) => bot?.endsAt != null && bot.endsAt <= now);
  }

  /** How many chats the given channels have: all, or those in `CHAT_COUNTS`. */
  countChats(ids: string[], what: ChatCount = "chats"): number {
    const query = `select coalesce(sum(${CHAT_COUNTS[what]}), 0) as total from channels
      where id in (select value from json_each(?))`;
    return this.#sql.exec<{ total: number }>(query, JSON.stringify(ids)).one().total;
  }

  /** Adds to a channel's sums, and to what is counted of it. Writes nothing if nothing changes. */
  count(id: string, changes: ChannelChanges, counts: ChannelCounts, now: number): void {
    const { chats = 0, depth = 0, unanswered = 0, unansweredNotOpen = 0, unansweredOfBot = 0 } = changes;
    const { openOfBot = 0, scheduled = 0, move = null } = changes;
    const { newChats: _, ...ofMessages } = counts;
    const hasCounts = [depth, ...Object.values(ofMessages)].some((count) => count !== 0);
    const sums = [chats, depth, unanswered, unansweredNotOpen, openOfBot, unansweredOfBot, scheduled];
    if (!hasCounts && sums.every((sum) => sum === 0) && move === null) return;
    const query = "select attempts, history from channels where id = ?";
    const [row] = this.#sql.exec<{ attempts: string; history: string | null }>(query, id).toArray();
    if (!row) return;
    this.#sql.exec(
      `update channels set chats = chats + ?, depth = depth + ?, unanswered = unanswered + ?,
         unanswered_not_open = unanswered_not_open + ?, open_of_bot = open_of_bot + ?, unanswered_of_bot = unanswered_of_bot + ?,
         scheduled = scheduled + ?, moves = coalesce(?, moves),
         attempts = ?, history = ?, counted_at = coalesce(?, counted_at) where id = ?`,
      ...[...sums, move],
      JSON.stringify(addCounts(JSON.parse(row.attempts) as ChannelCounts, counts)),
      ...[addToHistory(row.history, counts, now), hasCounts ? now : null, id],
    );
  }

  /** Stores a health report, unless a later one is stored. @returns what changed, for an event; null if nothing did */
  reportHealth(id: string, health: ChannelHealth): Record<string, unknown> | null {
    const [row] = this.#sql.exec<{ health: string | null }>("select health from channels where id = ?", id).toArray();
    if (!row) return null;
    const before = row.health === null ? null : (JSON.parse(row.health) as ChannelHealth);
    if (before && before.number >= health.number) return null;
    this.#sql.exec("update channels set health = ? where id = ?", JSON.stringify(health), id);
    const { state, reason, since } = health;
    if (state === (before?.state ?? "ok") && codesOf(health) === codesOf(before)) return null;
    const channelKind = this.get(id)?.kind ?? null;
    const warnings = shownWarnings(health.warnings);
    return { channelId: id, channelKind, state, reason, since: new Date(since).toISOString(), warnings };
  }

  /** A channel's counts, by the time of the report; null if it has none. */
  history(id: string): History | null {
    const [row] = this.#sql.exec<{ history: string | null }>("select history from channels where id = ?", id).toArray();
    return row?.history ? (JSON.parse(row.history) as History) : null;
  }

  numbers(ids: string[]): ChannelNumbers[] {
    const query = `select id, health, chats, unanswered, open_of_bot as withBot, depth, attempts, counted_at as at,
        (select min(oldest) from chats where channel_id = channels.id and oldest is not null) as oldest
      from channels where id in (select value from json_each(?))`;
    const rows = this.#sql.exec<NumbersRow>(query, JSON.stringify(ids)).toArray();
    return rows.map(({ health, attempts, ...numbers }) => ({
      ...numbers,
      health: health === null ? null : (JSON.parse(health) as ChannelHealth),
      attempts: JSON.parse(attempts) as ChannelCounts,
    }));
  }
}
