import type { EventType } from "../../../model/event.ts";
import type { Message } from "../../../model/message.ts";
import type { LateTable } from "../log/chat-tables.ts";
import type { EventLog } from "../log/event-log.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { SeqRange } from "../log/rows.ts";

const FIRST_READ = 10;
const MAX_READ = 1_000;

/** The types of events after which a page must get a message again. */
const CHANGES = ["message.redacted", "message.edited", "message.reaction"] satisfies EventType[];
/** A page that missed more events than these loads the chat again, which costs less than looking for changes. */
export const MAX_EVENTS_AWAY = 5_000;
/** The maximum number of changed messages that a page gets. */
export const MAX_CHANGED = 200;

/**
 * The times of the contact's messages and reactions after `since`, newest first, at most `limit`; Unix milliseconds. It
 * reads back from the newest event and stops at the first older one.
 */
export function inputTimes(events: Pick<EventLog, "newest" | "range">, since: number, limit: number): number[] {
  const times: number[] = [];
  let last = events.newest;
  for (let size = FIRST_READ; last > 0; size = Math.min(MAX_READ, size * 2)) {
    for (const { type, note, at } of events.range(last - size + 1, last).reverse()) {
      if (at <= since || times.length === limit) return times;
      if (type === "message.received" || (type === "message.reaction" && note?.by === "contact")) times.push(at);
    }
    last -= size;
  }
  return times;
}

/**
 * The messages that were edited, redacted, deleted by the contact or reacted to after an event, each once as it is now.
 * @param since the number of the event
 * @returns null if so much may have changed that the page must load the chat again
 */
export function changedSince(messages: LateTable, events: Pick<EventLog, "newest">, since: number): Message[] | null {
  // A later number is one of a deleted chat.
  if (since > events.newest || events.newest - since > MAX_EVENTS_AWAY) return null;
  const query = `select doc from messages
    where seq in (select seq from events where n > ? and type in (select value from json_each(?)))
    order by seq limit ?`;
  const rows = messages.run<{ doc: string }>(query, since, JSON.stringify(CHANGES), MAX_CHANGED + 1);
  return rows.length > MAX_CHANGED ? null : rows.map(({ doc }) => JSON.parse(doc) as Message);
}

/** A status that a page can acknowledge. */
export type Acknowledged = "DELIVERED" | "READ";

/**
 * Moves the company's messages in a range forward to `status`. It skips the contact's own messages and failed messages.
 * @returns the messages that changed, oldest first
 */
export function acknowledge(
  messages: LateTable,
  log: MessageLog,
  { low, high }: SeqRange,
  status: Acknowledged,
  now: number,
): Message[] {
  const query = "select doc from messages where seq between ? and ? and status in ('SENT', ?) order by seq";
  const earlier = status === "READ" ? "DELIVERED" : "SENT";
  const rows = messages.run<{ doc: string }>(query, low, high, earlier);
  const before = rows.map(({ doc }) => JSON.parse(doc) as Message);
  return before.map((message) => log.writeStatus(message, { status, error: message.error, at: now }));
}
