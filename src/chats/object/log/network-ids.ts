import type { ChatTables, LateTable } from "./chat-tables.ts";
/** How many of the newest messages are searched for what no index finds. */
export const RECENT_MESSAGES = 1_000;
const INBOUND = "in:";
/** Greater than each text that begins with `INBOUND`. */
const AFTER_INBOUND = "in;";

/** The `dedupe` of a contact's message. @param id the one that the network or the visitor's page gave it */
export function inboundDedupe(id: string): string {
  return `${INBOUND}${id}`;
}

/** The messages of a chat by their ids on the network. An outbound message has the ids of its parts. */
export class NetworkIds {
  readonly #messages: LateTable;
  readonly #newest: () => { seq: number };

  constructor(tables: ChatTables, newest: () => { seq: number }) {
    this.#messages = tables.messages;
    this.#newest = newest;
  }

  /** The id of a message: that of its first part, or the contact's own. Null if the network never had it. */
  of(seq: number): string | null {
    const query = "select delivery ->> '$.parts[0]' as part, dedupe from messages where seq = ?";
    const [row] = this.#messages.run<{ part: string | null; dedupe: string | null }>(query, seq);
    return row?.part ?? (row?.dedupe?.startsWith(INBOUND) ? row.dedupe.slice(INBOUND.length) : null);
  }

  /** The id of the contact's newest message up to a seq; null if none of the last 1,000 is the contact's. */
  newestInbound(upTo: number): string | null {
    const query = `select dedupe from messages where seq between ? and ? and dedupe >= ? and dedupe < ?
      order by seq desc limit 1`;
    const from = upTo - RECENT_MESSAGES + 1;
    const [row] = this.#messages.run<{ dedupe: string }>(query, from, upTo, INBOUND, AFTER_INBOUND);
    return row?.dedupe.slice(INBOUND.length) ?? null;
  }

  /** The contact's message with this id, or one of the newest 1,000 outbound messages with such a part. */
  message(id: string): { seq: number; doc: string } | null {
    return this.contactMessage(id) ?? this.ownMessage(id);
  }

  contactMessage(id: string): { seq: number; doc: string } | null {
    const query = "select seq, doc from messages where dedupe = ?";
    const [row] = this.#messages.run<{ seq: number; doc: string }>(query, inboundDedupe(id));
    return row ?? null;
  }

  /** The outbound message with a part that has this id. Searches only the newest 1,000 messages. */
  ownMessage(id: string): { seq: number; doc: string } | null {
    const query = `select seq, doc from messages where seq > ? and delivery is not null
      and exists (select 1 from json_each(delivery, '$.parts') where value = ?) order by seq desc limit 1`;
    const after = this.#newest().seq - RECENT_MESSAGES;
    const [row] = this.#messages.run<{ seq: number; doc: string }>(query, after, id);
    return row ?? null;
  }
}
