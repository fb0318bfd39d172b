import { callObject, NEARBY } from "../../calls/call-object.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { ChannelTable } from "./channel-table.ts";
import { CHAT_COLUMNS, type ChatRow } from "./chat-row.ts";
import type { ChatTable } from "./chat-table.ts";
import type { Existence } from "./existence.ts";
import { Retries } from "./retries.ts";

/** A chat adopts itself at once or with its first message. If its creator was interrupted, it is adopted after this time. */
export const ADOPT_AFTER_MS = 60_000;
const ADOPT_AT_ONCE = 20;

interface Parts {
  env: Env;
  storage: DurableObjectStorage;
  existence: Existence;
  chats: ChatTable;
  channels: ChannelTable;
}

/** Adopts the chats whose creation was interrupted. */
export class Adoptions implements DuePart {
  readonly #parts: Parts;
  readonly #sql: SqlStorage;
  readonly #retries: Retries;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = parts.storage.sql;
    this.#retries = new Retries(this.#sql, "adopt", parts.existence);
  }

  /** Adopts up to 20 chats, and up to 20 of those for which it failed before. */
  async run(): Promise<void> {
    const { channels, chats, env, existence } = this.#parts;
    const now = Date.now();
    const query = `select ${CHAT_COLUMNS} from chats where state = 'created' and created_at <= ?
      and ${this.#retries.isFresh} order by created_at limit ?`;
    const fresh = this.#sql.exec<ChatRow>(query, now - ADOPT_AFTER_MS, ADOPT_AT_ONCE).toArray();
    await this.#retries.run([...fresh, ...this.#retries.due(now, ADOPT_AT_ONCE)], async ({ id, life }) => {
      const row = chats.get(id);
      const channel = row && channels.get(row.channel_id);
      // It adopted itself in the meantime, or is being deleted.
      if (row?.life !== life || row.state !== "created") return;
      if (!channel) throw new Error("The chat's channel is not known");
      const identity = chats.identityOf(existence.id ?? "", channel, row);
      await callObject(env.CHATS, id, (chat) => chat.adopt(identity), NEARBY);
      chats.adopted(id, life);
    });
  }

  /** When the alarm must call `run`, Unix milliseconds; null if all chats are adopted. */
  dueAt(): number | null {
    const query = `select min(created_at) as at from chats where state = 'created' and ${this.#retries.isFresh}`;
    const { at } = this.#sql.exec<{ at: number | null }>(query).one();
    const retryAt = this.#retries.dueAt();
    if (at === null) return retryAt;
    return Math.min(at + ADOPT_AFTER_MS, retryAt ?? Number.POSITIVE_INFINITY);
  }
}
