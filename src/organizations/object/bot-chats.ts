import { callObject, NEARBY } from "../../calls/call-object.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { ChannelTable } from "./channel-table.ts";
import { CHATS_A_STEP, ChatPace } from "./chat-pace.ts";
import { CHAT_COLUMNS, type ChatRow, currentBot } from "./chat-row.ts";
import type { ChatTable } from "./chat-table.ts";
import type { Existence } from "./existence.ts";
import { Retries } from "./retries.ts";

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  channels: ChannelTable;
  chats: Pick<ChatTable, "get" | "identityOf">;
  list: { changed(): void };
  /** Ensures an alarm at `at` or before, Unix milliseconds. */
  standBy(at: number): void;
}

/**
 * Hands the chats of former bots to people, 20 in a second. A bot is a former one when its channel has another one or none,
 * and when its key ends. In lists its chats are people's from then on. A chat that can't be handed over is tried again
 * later, beside the others.
 */
export class BotChats implements DuePart {
  readonly #parts: Parts;
  readonly #sql: SqlStorage;
  readonly #retries: Retries;
  readonly #pace = new ChatPace();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = parts.storage.sql;
    this.#retries = new Retries(this.#sql, "hand_over", parts.existence);
  }

  /** Channels have other bots. */
  begin(): void {
    const at = this.dueAt(Date.now());
    if (at !== null) this.#parts.standBy(at);
  }

  /** When the alarm must call `run`, Unix milliseconds; null if no former bot has chats, and no bot's key expires. */
  dueAt(now: number): number | null {
    if (this.#chats(1).length > 0) return this.#pace.after(now);
    const ends = [...this.#parts.channels.all().values()].map(({ bot }) => bot?.endsAt ?? null);
    const times = [...ends, this.#retries.dueAt()].filter((at) => at !== null);
    return times.length === 0 ? null : this.#pace.after(Math.min(...times));
  }

  async run(now: number): Promise<void> {
    if (!this.#pace.step(now)) return;
    const { channels, list } = this.#parts;
    const expired = channels.withExpiredBot(now).map(({ id }) => ({ id, bot: null }));
    if (channels.setBots(expired)) list.changed();
    const again = this.#retries.due(now, CHATS_A_STEP);
    const fresh = this.#chats(CHATS_A_STEP - again.length);
    await this.#retries.run([...again, ...fresh], (chat) => this.#handOver(chat));
  }

  async #handOver(row: ChatRow): Promise<void> {
    const { channels, chats, env, existence } = this.#parts;
    const { id, life, bot, state } = row;
    const channel = channels.get(row.channel_id);
    if (bot === null || !channel) return;
    const organizationId = existence.id ?? "";
    const identity = state === "created" ? chats.identityOf(organizationId, channel, row) : null;
    await callObject(env.CHATS, id, (chat) => chat.botGone(organizationId, life, bot, identity), NEARBY);
    // Otherwise each step would begin with it.
    if (existence.isReady() && this.#isHeld(id, bot)) throw new Error("The chat did not report that people have it");
  }

  /** Whether a former bot still has the chat. */
  #isHeld(id: string, bot: number): boolean {
    const row = this.#parts.chats.get(id);
    const channel = row && this.#parts.channels.get(row.channel_id);
    return row?.bot === bot && channel !== undefined && currentBot(channel) !== bot;
  }

  /** Chats of former bots. */
  #chats(limit: number): ChatRow[] {
    // Most organizations never had a bot.
    if ([...this.#parts.channels.all().values()].every(({ botVersion }) => botVersion === 0)) return [];
    // A cross join reads the channels first. Versions grow, so those of former bots are a range of the index.
    const former = `select chats.id from channels cross join chats indexed by chats_by_bot on channel_id = channels.id
      where chats.bot is not null and chats.bot < bot_version and ${this.#retries.isFresh} limit ?`;
    const query = `select ${CHAT_COLUMNS} from chats where id in (${former})`;
    return this.#sql.exec<ChatRow>(query, limit).toArray();
  }
}
