import type { Message } from "./message.ts";

/**
 * What the visitors' socket asks of a web chat's messages. Both walk from the newest message back and stop where the
 * rest is known, because a cursor reads a row only when it is asked for it.
 */

/** The times of the contact's messages after `since`, newest first, at most `most`; Unix milliseconds. */
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

const RANK = { SENT: 0, DELIVERED: 1, READ: 2 } as const;

/**
 * Moves the company's messages up to `seq` on to `status`, forward alone, and gives those that moved, oldest first. An
 * acknowledgement speaks for all before it, so behind a message that has the status every other has it too.
 */
export function acknowledge(sql: SqlStorage, seq: number, status: "DELIVERED" | "READ", now: number): Message[] {
  const moved: Message[] = [];
  const rows = sql.exec<{ doc: string }>("select doc from messages where seq <= ? order by seq desc", seq);
  for (const { doc } of rows) {
    const message = JSON.parse(doc) as Message;
    if (message.direction === "INBOUND" || !isOnItsWay(message.status)) continue;
    if (RANK[message.status] >= RANK[status]) break;
    // The stamp of a change never lies before that of the message.
    const updatedAt = new Date(Math.max(now, Date.parse(message.updatedAt))).toISOString();
    moved.push({ ...message, status, updatedAt });
  }
  for (const message of moved) {
    sql.exec("update messages set doc = ? where seq = ?", JSON.stringify(message), message.seq);
  }
  return moved.reverse();
}

function isOnItsWay(status: Message["status"]): status is keyof typeof RANK {
  return status in RANK;
}
