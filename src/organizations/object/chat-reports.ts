import type { MemberCounts } from "../../model/conversation-counts.ts";
import { subtractCounts } from "../../model/counts.ts";
import type { ChannelCounts, ChatReport, CountedName, Waiting } from "../../model/organization.ts";
import type { ChannelTable } from "./channel-table.ts";
import { type ChatRow, openOfBot, unansweredNotOpen, unansweredOfBot } from "./chat-row.ts";
import type { ContactTable } from "./contact-table.ts";
import type { Feed } from "./feed.ts";
import type { LabelTable } from "./label-table.ts";
import type { MemberNumbers } from "./member-numbers.ts";
import type { MentionTable } from "./mention-table.ts";

interface Parts {
  storage: Pick<DurableObjectStorage, "sql">;
  channels: ChannelTable;
  feed: Feed;
  contacts: ContactTable;
  memberNumbers: MemberNumbers;
  labels: LabelTable;
  mentions: MentionTable;
}

/** What chats report of themselves, in their rows and in all that counts or finds them. One report is one transaction. */
export class ChatReports {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Stores a chat's report, if it is newer than the stored one.
   * @param version of the organization's list of webhooks. The answer has the list if the chat has another one
   * @returns the last event that the feed had when the chat first got the list; null if the chat has it
   */
  store(row: ChatRow, report: ChatReport, version: string, now: number): number | null {
    const known = report.webhooks ?? "";
    // An earlier answer may be lost. Its list began at an earlier event. The chat has had the answer if it knows its list.
    // An earlier version did not note which list the answer was about.
    const isKnown = row.told_version === null ? known !== "" : known === row.told_version;
    const isLost = row.told_after !== null && !isKnown;
    const notified = known === version ? null : { after: isLost ? row.told_after : row.events, version };
    if (report.number > row.report) {
      const moves = movesIn(row, report, this.#parts.channels.lastMove + 1);
      const move = moves.unanswered ?? moves.scheduled ?? moves.name ?? moves.mention;
      this.#parts.feed.commit(() => this.#write(row, report, notified, { ...moves, move }, now));
      if (move !== null) this.#parts.channels.moved(move);
    }
    return notified?.after ?? null;
  }

  #write(
    row: ChatRow,
    report: ChatReport,
    notified: { after: number | null; version: string } | null,
    moves: Moves & { move: number | null },
    now: number,
  ): void {
    const { lastMessageAt, lastMessage, unansweredSince, nextScheduledAt, readUpTo, assigneeId, details } = report;
    const {
      contactWroteAt,
      marketing,
      work,
      labels,
      mentions,
      bot,
      depth,
      oldest,
      attempts,
      members,
      nextDueAt,
      number,
      events,
    } = report;
    // A report that is repeated with more events has some that are in the feed already.
    const first = Math.max(events?.first ?? 0, row.events + 1);
    if (events && first <= events.last) {
      this.#parts.feed.point({ chatId: row.id, life: row.life, channelId: row.channel_id }, { ...events, first }, now);
    }
    if (details) this.#parts.contacts.rename(row, details.name);
    // Absent in the report of a chat that runs an earlier version.
    const assignee = assigneeId ?? null;
    const counts = members ?? {};
    const countsBefore = members ? this.#membersOf(row.id) : {};
    const after = { assignee, unanswered_since: unansweredSince };
    this.#parts.memberNumbers.change({ counts, countsBefore, before: row, after }, now);
    const indexed = {
      // It never decreases, not even if retention deletes the chat's messages: walks would meet the chat again.
      active_at: Math.max(row.active_at ?? row.created_at, lastMessageAt ?? 0),
      unanswered_since: unansweredSince,
      next_scheduled_at: nextScheduledAt,
      next_due_at: nextDueAt ?? null,
      assignee,
      // Absent as above.
      marketing: marketing ? JSON.stringify(marketing) : row.marketing,
      work_state: work?.state ?? row.work_state,
      snoozed_until: work ? work.snoozedUntil : row.snoozed_until,
      person_id: details?.personId === undefined ? row.person_id : details.personId,
      // Absent if the chat never had a bot, and as above.
      bot: bot ?? null,
      labels: labels ? this.#parts.labels.store(row, labels) : row.labels,
      mentions:
        mentions && moves.mention !== null ? this.#parts.mentions.store(row, mentions, moves.mention) : row.mentions,
      unanswered_move: moves.unanswered ?? row.unanswered_move,
      scheduled_move: moves.scheduled ?? row.scheduled_move,
    };
    // SQLite writes the entries of an index for each column that a statement names, even if its value is the same.
    const changed = Object.entries(indexed).filter(([column, value]) => value !== row[column as keyof typeof indexed]);
    this.#parts.storage.sql.exec(
      `update chats set state = 'adopted', name = ?, metadata = ?, last_message_at = ?, last_message = ?, read_up_to = ?,
         contact_wrote_at = coalesce(?, contact_wrote_at), report = ?, depth = ?,
         oldest = ?, attempts = ?, members = coalesce(?, members), events = ?, told_after = ?, told_version = ?,
         name_move = coalesce(?, name_move)${changed.map(([column]) => `, ${column} = ?`).join("")}
       where id = ?`,
      details ? details.name : row.name,
      details ? JSON.stringify(details.metadata) : row.metadata,
      lastMessageAt,
      lastMessage && JSON.stringify(lastMessage),
      readUpTo,
      contactWroteAt ?? null,
      number,
      depth,
      depth > 0 ? oldest : null,
      JSON.stringify(attempts),
      members ? JSON.stringify(members) : null,
      Math.max(row.events, events?.last ?? 0),
      notified?.after ?? null,
      notified?.version ?? null,
      ...[moves.name, ...changed.map(([, value]) => value), row.id],
    );
    const before = JSON.parse(row.attempts) as ChannelCounts;
    const channel = this.#parts.channels.get(row.channel_id);
    const changes = {
      depth: depth - row.depth,
      unanswered: Number(unansweredSince !== null) - Number(row.unanswered_since !== null),
      unansweredNotOpen: unansweredNotOpen(indexed) - unansweredNotOpen(row),
      openOfBot: channel ? openOfBot(indexed, channel) - openOfBot(row, channel) : 0,
      unansweredOfBot: channel ? unansweredOfBot(indexed, channel) - unansweredOfBot(row, channel) : 0,
      scheduled: Number(nextScheduledAt !== null) - Number(row.next_scheduled_at !== null),
      move: moves.move,
    };
    this.#parts.channels.count(row.channel_id, changes, subtractCounts<CountedName>(attempts, before), now);
  }

  /** What the chat last said of members. */
  #membersOf(id: string): MemberCounts {
    const query = "select members from chats where id = ?";
    const { members } = this.#parts.storage.sql.exec<{ members: string | null }>(query, id).one();
    return members === null ? {} : (JSON.parse(members) as MemberCounts);
  }
}

/** The number of a report's move in each list in which it moves the chat; null in the others. */
type Moves = Record<Waiting | "name" | "mention", number | null>;

/** @param next the number of the next move. See `ChannelTable.lastMove` */
function movesIn(row: ChatRow, report: ChatReport, next: number): Moves {
  const { unansweredSince, nextScheduledAt, details, mentions } = report;
  const isLater = (before: number | null, after: number | null) => after !== null && after > (before ?? 0);
  return {
    unanswered: isLater(row.unanswered_since, unansweredSince) ? next : null,
    scheduled: isLater(row.next_scheduled_at, nextScheduledAt) ? next : null,
    name: details && details.name !== row.name ? next : null,
    // The newest mention may have been deleted. Then an older one is the newest.
    mention: mentions && JSON.stringify(mentions) !== (row.mentions ?? "{}") ? next : null,
  };
}
