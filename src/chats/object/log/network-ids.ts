import type { ChatTables, LateTable } from "./chat-tables.ts";
/** How many of the newest messages are searched for what no index finds. */
export const RECENT_MESSAGES = 1_000;
const RECEIVED = "in:";
/** Greater than each text that begins with `RECEIVED`. */
const AFTER_RECEIVED = "in;";

/**
 * The `dedupe` of a message that came in: the contact wrote it, or the company did elsewhere.
 * @param id the one that the network or the visitor's page gave it
 */
export function receivedDedupe(id: string): string {
  return `${RECEIVED}${id}`;
}

/** The messages of a chat by their ids on the network. An outbound message has the ids of its parts. */
export class NetworkIds {
  readonly #messages: LateTable;
  readonly #newest: () => { seq: number };

  constructor(tables: ChatTables, newest: () => { seq: number }) {
    this.#messages = tables.messages;
    this.#newest = newest;
  }

  /** The id of a message: that of its first part, or the one with which it came in. Null if the network never had it. */
  of(seq: number): string | null {
    const query = "select delivery ->> '$.parts[0]' as part, dedupe from messages where seq = ?";
    const [row] = this.#messages.run<{ part: string | null; dedupe: string | null }>(query, seq);
    return row?.part ?? (row?.dedupe?.startsWith(RECEIVED) ? row.dedupe.slice(RECEIVED.length) : null);
  }

  /** The id of the contact's newest message up to a seq; null if none of the last 1,000 is the contact's. */
  newestInbound(upTo: number): string | null {
    const query = `select dedupe from messages where seq between ? and ? and dedupe >= ? and dedupe < ?
      and doc ->> '$.direction' = 'INBOUND' order by seq desc limit 1`;
    const from = upTo - RECENT_MESSAGES + 1;
    const [row] = this.#messages.run<{ dedupe: string }>(query, from, upTo, RECEIVED, AFTER_RECEIVED);
    return row?.dedupe.slice(RECEIVED.length) ?? null;
  }

  /** The message that came in with this id, or one of the newest 1,000 that the chat sent with such a part. */
  message(id: string): { seq: number; doc: string } | null {
    return this.receivedMessage(id) ?? this.ownMessage(id);
  }

  /** The message that came in with this id: the contact wrote it, or the company did elsewhere. */
  receivedMessage(id: string): { seq: number; doc: string } | null {
    const query = "select seq, doc from messages where dedupe = ?";
    const [row] = this.#messages.run<{ seq: number; doc: string }>(query, receivedDedupe(id));
    return row ?? null;
  }

  /** The message that the chat sent with a part that has this id. Searches only the newest 1,000 messages. */
  ownMessage(id: string): { seq: number; doc: string } | null {
    const query = `select seq, doc from messages where seq > ? and delivery is not null
      and exists (select 1 from json_each(delivery, '$.parts') where value = ?) order by seq desc limit 1`;
    const after = this.#newest().seq - RECENT_MESSAGES;
    const [row] = this.#messages.run<{ seq: number; doc: string }>(query, after, id);
    return row ?? null;
  }
}
