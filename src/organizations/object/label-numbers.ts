import type { LabelNumbers } from "../../model/organization.ts";
import type { WorkState } from "../../model/work-state.ts";
import type { LabelTable } from "./label-table.ts";

/** The chats of a label are counted if they are no more than this: each is read. */
const MAX_COUNTED_CHATS = 10_000;

type CountedChat = { state: WorkState; waits: 0 | 1; attempts: string };

/**
 * The numbers of a label's chats, all in one moment; null if there is no such label. No sums are kept of them: a message
 * would write a row for each label of its chat.
 */
export function labelNumbers(sql: SqlStorage, labels: LabelTable, id: string): LabelNumbers | null {
  const label = labels.find(id);
  if (!label) return null;
  if (label.chats > MAX_COUNTED_CHATS) return { ...label, counted: null };
  const counted = { open: 0, snoozed: 0, closed: 0, unanswered: 0 };
  const counts: Record<string, number> = {};
  // A cross join reads the label's chats first. Those of a closed channel are off all lists.
  const query = `select work_state as state, unanswered_since is not null as waits, attempts
    from chat_labels cross join chats on id = chat_id where label_id = ? and active_at is not null
    and channel_id not in (select id from channels where closed = 1)`;
  for (const { state, waits, attempts } of sql.exec<CountedChat>(query, id).toArray()) {
    counted[state]++;
    counted.unanswered += waits;
    const own = JSON.parse(attempts) as Record<string, number>;
    for (const [name, count] of Object.entries(own)) counts[name] = (counts[name] ?? 0) + count;
  }
  const { open, snoozed, closed } = counted;
  return { ...label, chats: open + snoozed + closed, counted: { ...counted, counts } };
}
