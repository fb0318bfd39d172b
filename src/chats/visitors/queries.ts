import type { MessageLog } from "../log/message-log.ts";
import type { SeqRange } from "../log/rows.ts";
import type { Message } from "../message.ts";

/** What the visitors' socket asks of a web chat's messages. */

/**
 * The times of the contact's messages after `since`, newest first, at most `most`; Unix milliseconds. It walks from the
 * newest message back and stops at the first that is older: a cursor reads a row only when it is asked for it.
 */
export function inboundTimes(sql: SqlStorage, since: number, most: number): number[] {
  const times: number[] = [];
  const rows = sql.exec<{ inbound: number; createdAt: string }>(
    `select doc ->> '$.direction' = 'INBOUND' as inbound, doc ->> '$.createdAt' as createdAt
     from messages order by seq desc`,
  );
  for (const { inbound, createdAt } of rows) {
    const at = Date.parse(createdAt);
    // Stamps never run backwards along the sequence.
    if (at <= since || times.length === most) break;
    if (inbound === 1) times.push(at);
  }
  return times;
}

/** The messages numbered from `low` to `high` that were redacted, oldest first. */
export function redactedBetween(sql: SqlStorage, low: number, high: number): Message[] {
  const rows = sql.exec<{ doc: string }>(
    "select doc from messages where seq between ? and ? and redacted_at is not null order by seq",
    low,
    high,
  );
  return [...rows].map(({ doc }) => JSON.parse(doc) as Message);
}

/** What a page says of the company's messages. */
export type Acknowledged = "DELIVERED" | "READ";

/**
 * Moves the company's messages of a range on to `status`, forward alone, and gives those that moved, oldest first. The
 * contact's own and what failed have none of the statuses from which a message moves.
 */
export function acknowledge(
  sql: SqlStorage,
  log: MessageLog,
  { low, high }: SeqRange,
  status: Acknowledged,
  now: number,
): Message[] {
  const rows = sql.exec<{ doc: string }>(
    "select doc from messages where seq between ? and ? and status in ('SENT', ?) order by seq",
    low,
    high,
    status === "READ" ? "DELIVERED" : "SENT",
  );
  const moved = [...rows].map(({ doc }) => {
    const message = JSON.parse(doc) as Message;
    // The stamp of a change never lies before that of the message.
    const updatedAt = new Date(Math.max(now, Date.parse(message.updatedAt))).toISOString();
    return { ...message, status, updatedAt };
  });
  // The log's own write: it counts changes, by which pages that are held are told to be old.
  for (const message of moved) log.writeDocument(message);
  return moved;
}
