import { answerWithin } from "../../calls/call-object.ts";
import { type Backoff, backoffMs } from "../../platform/backoff.ts";
import { type Failed, settleEach } from "../../platform/concurrency.ts";
import { causeOf } from "../../platform/log.ts";
import { CHAT_COLUMNS, type ChatRow } from "./chat-row.ts";
import type { Existence } from "./existence.ts";

/** What an organization's object does with its chats' objects in the background. */
type Work = "adopt" | "delete" | "fill" | "free" | "hand_over" | "retain";

/** How a failure is logged. */
const EVENTS = {
  adopt: "chat_not_adopted",
  delete: "chat_not_deleted",
  fill: "chat_not_searchable",
  free: "chat_not_freed",
  hand_over: "chat_not_handed_over",
  retain: "retention_not_told",
} as const;
const BACKOFF: Backoff = { firstMs: 30_000, maxMs: 3_600_000 };
const CALL_TIMEOUT_MS = 10_000;

type TriedChat = Pick<ChatRow, "id">;

/**
 * Work of one kind for chats, each chat apart from the others. A chat for which it fails is stored with its own time of
 * the next try, later after each failure. So it holds up no other chat and is not forgotten.
 */
export class Retries {
  readonly #sql: SqlStorage;
  readonly #work: Work;
  readonly #existence: Existence;

  constructor(sql: SqlStorage, work: Work, existence: Existence) {
    this.#sql = sql;
    this.#work = work;
    this.#existence = existence;
  }

  /** A condition for a query of `chats`: the work never failed for the chat. */
  get isFresh(): string {
    return `not exists (select 1 from retries where chat_id = chats.id and work = '${this.#work}')`;
  }

  /** The chats to try again by `now`, at most `limit`, those first that are due first. */
  due(now: number, limit: number): ChatRow[] {
    const isOver = "work = ? and next_at <= ? and not exists (select 1 from chats where id = chat_id)";
    this.#sql.exec(`delete from retries where ${isOver}`, this.#work, now);
    const query = `select ${CHAT_COLUMNS} from retries join chats on chats.id = chat_id
      where work = ? and next_at <= ? order by next_at limit ?`;
    return this.#sql.exec<ChatRow>(query, this.#work, now, limit).toArray();
  }

  /** When a chat must be tried again, Unix milliseconds; null if none must. */
  dueAt(): number | null {
    const query = "select min(next_at) as at from retries where work = ?";
    return this.#sql.exec<{ at: number | null }>(query, this.#work).one().at;
  }

  /** How often the work failed for a chat. */
  tries(chatId: string): number {
    const query = "select tries from retries where chat_id = ? and work = ?";
    return this.#sql.exec<{ tries: number }>(query, chatId, this.#work).toArray()[0]?.tries ?? 0;
  }

  /** Does the work for each chat, 20 at once, with a deadline. @returns those for which it failed */
  async run<Chat extends TriedChat>(chats: Chat[], work: (chat: Chat) => Promise<unknown>): Promise<Failed<Chat>[]> {
    return settleEach(chats, async (chat) => {
      try {
        await answerWithin(CALL_TIMEOUT_MS, () => work(chat));
      } catch (error) {
        if (this.#existence.isReady()) this.#failed(chat.id, error);
        throw error;
      }
      if (this.#existence.isReady()) this.end(chat.id);
    });
  }

  /** A chat is not tried again. */
  end(chatId: string): void {
    this.#sql.exec("delete from retries where chat_id = ? and work = ?", chatId, this.#work);
  }

  #failed(chatId: string, error: unknown): void {
    const tries = this.tries(chatId) + 1;
    const nextAt = Date.now() + backoffMs(BACKOFF, tries - 1, Math.random());
    console.warn({ event: EVENTS[this.#work], chatId, tries, error: causeOf(error) });
    const insert = "insert or replace into retries (chat_id, work, tries, next_at) values (?, ?, ?, ?)";
    this.#sql.exec(insert, chatId, this.#work, tries, nextAt);
  }
}
