import type { ChatRetention } from "../chats/retention/decisions.ts";
import { causeOf } from "../log.ts";
import { SYSTEM_CLOCK } from "../platform/clock.ts";
import { withDeadline } from "../platform/deadline.ts";
import type { ChannelTable } from "./channel-table.ts";

const CHATS_A_STEP = 20;
const STEP_EVERY_MS = 1_000;
const CALL_TIMEOUT_MS = 10_000;
/** A step whose calls failed this often in a row is left out: its chats learn of the retention with their next report. */
const MAX_TRIES = 10;
const AGAIN_AFTER_MS = 30_000;

/** The chats whose last activity was before `until` are told, from the longest idle one on. The step begins after a chat. */
interface Walk {
  until: number;
  at: number;
  id: string;
}

/** A chat that is told. */
type WalkedChat = { id: string; life: number; at: number };

/** An organization's object, as the walk uses it. */
interface WalkHost {
  /** Calls the object of a chat. */
  tell(chat: WalkedChat, retention: ChatRetention): Promise<unknown>;
  /** Ensures an alarm at `at` or before, Unix milliseconds. */
  standBy(at: number): void;
  /** False before the organization's first chat and after its deletion. */
  isReady(): boolean;
}

/**
 * Tells the chats of a channel that its retention changed, 20 in a second. Chats that are active since learn of it with
 * their report. Where the walk stands is stored after each step, so an interrupted one goes on.
 */
export class RetentionWalk {
  readonly #sql: SqlStorage;
  readonly #channels: ChannelTable;
  readonly #host: WalkHost;
  #failures = 0;
  /** When the next step begins, Unix milliseconds. */
  #nextAt = 0;

  constructor(sql: SqlStorage, channels: ChannelTable, host: WalkHost) {
    this.#sql = sql;
    this.#channels = channels;
    this.#host = host;
  }

  /** Begins, also if an earlier walk of a channel has not ended. */
  begin(channelIds: string[]): void {
    const now = Date.now();
    const walk: Walk = { until: now, at: 0, id: "" };
    for (const id of channelIds) {
      this.#sql.exec("update channels set retention_walk = ? where id = ?", JSON.stringify(walk), id);
    }
    this.#nextAt = now;
    this.#host.standBy(now);
  }

  /** When the alarm must call `step`, Unix milliseconds; null if all chats know. */
  dueAt(): number | null {
    return this.#next() ? this.#nextAt : null;
  }

  /** Tells the next chats, if that is due. Never throws. */
  async step(now: number): Promise<void> {
    const next = this.#host.isReady() ? this.#next() : undefined;
    // The clock may have been set back.
    if (!next || (now < this.#nextAt && this.#nextAt - now <= AGAIN_AFTER_MS)) return;
    const walk = JSON.parse(next.walk) as Walk;
    const chats = this.#chatsAfter(next.id, walk);
    const isTold = await this.#tellAll(next.id, chats);
    if (!this.#host.isReady()) return;
    this.#failures = isTold ? 0 : this.#failures + 1;
    const mayGoOn = isTold || this.#failures >= MAX_TRIES;
    if (mayGoOn) this.#goOn(next, walk, chats);
    this.#nextAt = Date.now() + (mayGoOn ? STEP_EVERY_MS : AGAIN_AFTER_MS);
  }

  /** The channel whose chats are told next. */
  #next(): { id: string; walk: string } | undefined {
    const query =
      "select id, retention_walk as walk from channels where retention_walk is not null order by id limit 1";
    return this.#sql.exec<{ id: string; walk: string }>(query).toArray()[0];
  }

  /** Moves the walk behind these chats, unless it began again in the meantime. */
  #goOn({ id, walk: before }: { id: string; walk: string }, { until }: Walk, chats: WalkedChat[]): void {
    const last = chats.at(-1);
    const after = last && chats.length === CHATS_A_STEP ? JSON.stringify({ until, at: last.at, id: last.id }) : null;
    this.#failures = 0;
    this.#sql.exec("update channels set retention_walk = ? where id = ? and retention_walk = ?", after, id, before);
  }

  /** Chats of the channel, in the order of the index `chats_by_channel`. */
  #chatsAfter(channelId: string, { until, at, id }: Walk): WalkedChat[] {
    return this.#sql
      .exec<WalkedChat>(
        `select id, life, active_at as at from chats
         where channel_id = ? and active_at is not null and (active_at, id) > (?, ?) and active_at <= ?
         order by active_at, id limit ?`,
        channelId,
        at,
        id,
        until,
        CHATS_A_STEP,
      )
      .toArray();
  }

  /** @returns whether all answered */
  async #tellAll(channelId: string, chats: WalkedChat[]): Promise<boolean> {
    const retention = this.#channels.get(channelId)?.retention;
    if (!retention) return true;
    const told = chats.map(async (chat) => {
      try {
        await withDeadline(SYSTEM_CLOCK, CALL_TIMEOUT_MS, () => this.#host.tell(chat, retention));
        return true;
      } catch (error) {
        console.warn({ event: "retention_not_told", chatId: chat.id, error: causeOf(error) });
        return false;
      }
    });
    return (await Promise.all(told)).every(Boolean);
  }
}
