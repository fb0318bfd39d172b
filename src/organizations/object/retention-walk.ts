import { callObject, NEARBY } from "../../calls/call-object.ts";
import { WORK_STATES } from "../../model/work-state.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { ChannelTable } from "./channel-table.ts";
import { CHATS_A_STEP, ChatPace } from "./chat-pace.ts";
import type { Existence } from "./existence.ts";
import { Retries } from "./retries.ts";

/** A chat that failed this often is left out: it learns of the retention with its next report. */
const MAX_TRIES = 10;

/** Notifies the chats whose last activity was before `until`, the longest idle first. The step begins after a chat. */
interface Walk {
  until: number;
  at: number;
  id: string;
}

/** A chat to notify. */
type ToldChat = { id: string; life: number; channel_id: string };
/** The same on the way of a walk. */
type WalkedChat = ToldChat & { at: number };

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  channels: ChannelTable;
  /** Ensures an alarm at `at` or before, Unix milliseconds. */
  standBy(at: number): void;
}

/**
 * Tells the chats of a channel that its retention changed, 20 in a second. Chats that are active since learn of it with
 * their report. The walk's place is stored after each step, so an interrupted walk goes on. A chat that can't be
 * notified is tried again later, beside the walk.
 */
export class RetentionWalk implements DuePart {
  readonly #parts: Parts;
  readonly #sql: SqlStorage;
  readonly #retries: Retries;
  readonly #pace = new ChatPace();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = parts.storage.sql;
    this.#retries = new Retries(this.#sql, "retain", parts.existence);
  }

  /** Begins, also if an earlier walk of a channel has not ended. */
  begin(channelIds: string[]): void {
    const now = Date.now();
    const walk: Walk = { until: now, at: 0, id: "" };
    for (const id of channelIds) {
      this.#sql.exec("update channels set retention_walk = ? where id = ?", JSON.stringify(walk), id);
    }
    this.#pace.beginAt(now);
    this.#parts.standBy(now);
  }

  /** When the alarm must call `run`, Unix milliseconds; null if all chats know. */
  dueAt(now: number): number | null {
    if (this.#next()) return this.#pace.after(now);
    const at = this.#retries.dueAt();
    return at === null ? null : this.#pace.after(at);
  }

  /** Notifies the next chats, and again those that could not be notified, if that is due. */
  async run(now: number): Promise<void> {
    if (!this.#pace.step(now)) return;
    const again = this.#retries.due(now, CHATS_A_STEP).map(({ id, life, channel_id }) => ({ id, life, channel_id }));
    const next = this.#next();
    if (!next) return this.#tellAll(again);
    const walk = JSON.parse(next.walk) as Walk;
    const chats = this.#chatsAfter(next.id, walk);
    await this.#tellAll([...again, ...chats]);
    if (this.#parts.existence.isReady()) this.#goOn(next, walk, chats);
  }

  /** The channel whose chats are notified next. */
  #next(): { id: string; walk: string } | undefined {
    const query =
      "select id, retention_walk as walk from channels where retention_walk is not null order by id limit 1";
    return this.#sql.exec<{ id: string; walk: string }>(query).toArray()[0];
  }

  /** Moves the walk behind these chats, unless it began again in the meantime. */
  #goOn({ id, walk: before }: { id: string; walk: string }, { until }: Walk, chats: WalkedChat[]): void {
    const last = chats.at(-1);
    const after = last && chats.length === CHATS_A_STEP ? JSON.stringify({ until, at: last.at, id: last.id }) : null;
    this.#sql.exec("update channels set retention_walk = ? where id = ? and retention_walk = ?", after, id, before);
  }

  /** Chats of the channel in the order of activity, which the index `chats_by_channel` has for each state. */
  #chatsAfter(channelId: string, { until, at, id }: Walk): WalkedChat[] {
    const parts = WORK_STATES.map(
      (state) => `select id, life, channel_id, active_at as at from chats where channel_id = ?
        and work_state = '${state}' and active_at is not null and (active_at, id) > (?, ?) and active_at <= ?`,
    );
    const values = parts.flatMap(() => [channelId, at, id, until]);
    const query = `${parts.join(" union all ")} order by at, id limit ?`;
    return this.#sql.exec<WalkedChat>(query, ...values, CHATS_A_STEP).toArray();
  }

  async #tellAll(chats: ToldChat[]): Promise<void> {
    const { channels, env, existence } = this.#parts;
    const failed = await this.#retries.run(chats, async ({ id, life, channel_id: channelId }) => {
      const retention = channels.get(channelId)?.retention;
      if (retention)
        await callObject(env.CHATS, id, (chat) => chat.retain(existence.id ?? "", life, retention), NEARBY);
    });
    if (!existence.isReady()) return;
    for (const { item } of failed) if (this.#retries.tries(item.id) >= MAX_TRIES) this.#retries.end(item.id);
  }
}
