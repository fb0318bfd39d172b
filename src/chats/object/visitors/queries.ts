import type { Message } from "../../message.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { SeqRange } from "../log/rows.ts";
import { newestFirst } from "../log/walk.ts";

/**
 * The times of the contact's messages after `since`, newest first, at most `limit`; Unix milliseconds. It reads back from
 * the newest message and stops at the first older one.
 */
export function inboundTimes(sql: SqlStorage, since: number, limit: number): number[] {
  const times: number[] = [];
  const columns = "doc ->> '$.direction' = 'INBOUND' as inbound, doc ->> '$.createdAt' as createdAt";
  for (const { inbound, createdAt } of newestFirst<{ inbound: number; createdAt: string }>(sql, columns)) {
    const at = Date.parse(createdAt);
    // Times never run backwards along the sequence.
    if (at <= since || times.length === limit) break;
    if (inbound === 1) times.push(at);
  }
  return times;
}

/** The redacted messages from `low` to `high`, oldest first. */
export function redactedBetween(sql: SqlStorage, low: number, high: number): Message[] {
  const rows = sql
    .exec<{ doc: string }>(
      "select doc from messages where seq between ? and ? and redacted_at is not null order by seq",
      low,
      high,
    )
    .toArray();
  return rows.map(({ doc }) => JSON.parse(doc) as Message);
}

/** A status that a page can acknowledge. */
export type Acknowledged = "DELIVERED" | "READ";

/**
 * Moves the company's messages in a range forward to `status`. It skips the contact's own messages and failed messages.
 * @returns the messages that changed, oldest first
 */
export function acknowledge(
  sql: SqlStorage,
  log: MessageLog,
  { low, high }: SeqRange,
  status: Acknowledged,
  now: number,
): Message[] {
  const rows = sql
    .exec<{ doc: string }>(
      "select doc from messages where seq between ? and ? and status in ('SENT', ?) order by seq",
      low,
      high,
      status === "READ" ? "DELIVERED" : "SENT",
    )
    .toArray();
  const before = rows.map(({ doc }) => JSON.parse(doc) as Message);
  return before.map((message) => log.writeStatus(message, { status, error: message.error, at: now }));
}
