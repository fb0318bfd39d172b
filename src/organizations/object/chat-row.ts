import type { Chat } from "../../model/chat.ts";
import { type ChannelBot, type Handler, handlerOf } from "../../model/handover.ts";
import type { KnownChannel } from "../../model/organization.ts";
import { replyUntil } from "../../model/reply-window.ts";
import type { WorkState } from "../../model/work-state.ts";
import type { LabelTable } from "./label-table.ts";
import { mentionsIn } from "./mention-table.ts";

/** A chat's row. Times are Unix milliseconds. */
export type ChatRow = {
  id: string;
  channel_id: string;
  state: "created" | "adopted" | "deleting";
  life: number;
  address: string;
  others: string | null;
  name: string | null;
  username: string | null;
  same_as: string | null;
  metadata: string;
  created_at: number;
  active_at: number | null;
  last_message_at: number | null;
  last_message: string | null;
  unanswered_since: number | null;
  next_scheduled_at: number | null;
  next_due_at: number | null;
  read_up_to: number | null;
  assignee: string | null;
  contact_wrote_at: number | null;
  marketing: string | null;
  work_state: WorkState;
  snoozed_until: number | null;
  person_id: string | null;
  report: number;
  depth: number;
  attempts: string;
  events: number;
  told_after: number | null;
  told_version: string | null;
  unanswered_move: number | null;
  scheduled_move: number | null;
  name_move: number | null;
  labels: string | null;
  mentions: string | null;
  bot: number | null;
};

export const CHAT_COLUMNS = `chats.id, channel_id, state, life, address, others, name, username, same_as, metadata, created_at, active_at,
  last_message_at, last_message, unanswered_since, next_scheduled_at, next_due_at, read_up_to, assignee, contact_wrote_at, marketing, work_state, snoozed_until,
  person_id, report, depth, attempts, events, told_after, told_version, unanswered_move, scheduled_move, name_move, labels, mentions, bot`;

/** See `LabelTable`. */
type ShownLabels = Pick<LabelTable, "print">;

/** A chat's row as the API shows it. */
export function presentChat(row: ChatRow, channel: KnownChannel, labels: ShownLabels): Chat {
  return JSON.parse(printChat(row, channel, labels, true)) as Chat;
}

/**
 * The same as JSON. What the row has as JSON is not parsed, because a page has many rows.
 * @param mentioned the member whose mention is shown; undefined for none
 */
export function printChat(
  row: ChatRow,
  channel: KnownChannel,
  labels: ShownLabels,
  hasLastMessage: boolean,
  mentioned?: string,
): string {
  const { id, kind, name } = channel;
  const { address, name: contactName, username } = row;
  const same = sameAs(row);
  const contact = {
    address,
    name: contactName,
    username,
    personId: row.person_id,
    addresses: addressesOf(row),
    ...(same.length > 0 && { sameAs: same }),
  };
  const start = JSON.stringify({ id: row.id, channel: { id, kind, name }, contact });
  const lastMessage = (hasLastMessage && row.last_message) || "null";
  const openUntil = replyUntil(kind, row.created_at, row.contact_wrote_at);
  return `${start.slice(0, -1)},"metadata":${row.metadata},"createdAt":${timeAsJson(row.created_at)},"lastMessageAt":${timeAsJson(row.last_message_at)},"lastMessage":${lastMessage},"unansweredSince":${timeAsJson(row.unanswered_since)},"nextScheduledAt":${timeAsJson(row.next_scheduled_at)},"readUpTo":${row.read_up_to},"assigneeId":${JSON.stringify(row.assignee)},"replyUntil":${timeAsJson(openUntil)},"marketing":${row.marketing ?? "null"},"state":"${row.work_state}","snoozedUntil":${timeAsJson(row.snoozed_until)},"handler":"${handlerIn(row, channel)}","labels":${labels.print(row.labels)}${mentioned === undefined ? "" : printMention(row, mentioned)}}`;
}

function printMention({ mentions }: ChatRow, memberId: string): string {
  const mention = mentionsIn(mentions)[memberId];
  return mention
    ? `,"mention":{"noteId":"${mention.noteId}","afterSeq":${mention.afterSeq},"createdAt":${timeAsJson(mention.at)}}`
    : "";
}

function timeAsJson(at: number | null): string {
  return at === null ? "null" : `"${new Date(at).toISOString()}"`;
}

/** The handler of a chat. */
export function handlerIn({ bot }: Pick<ChatRow, "bot">, channel: KnownChannel): Handler {
  return handlerOf(bot, currentBot(channel));
}

/** The version of a channel's bot; null if it has none, or if its key has expired. */
export function currentBot({ bot, botVersion }: KnownChannel): number | null {
  return bot && (bot.endsAt === null || bot.endsAt > Date.now()) ? botVersion : null;
}

/** What a chat learns of its channel's bot; undefined if the channel never had one. */
export function botOf(channel: KnownChannel): ChannelBot | undefined {
  const { bot, botVersion: version } = channel;
  if (version === 0) return undefined;
  return { version, handOverAfterSeconds: currentBot(channel) === null ? null : (bot?.handOverAfterSeconds ?? null) };
}

/** 1 if a chat waits for an answer, is open, and the bot of its channel has it; else 0. */
export function unansweredOfBot(
  row: Pick<ChatRow, "unanswered_since" | "work_state" | "bot">,
  channel: KnownChannel,
): number {
  return row.unanswered_since === null ? 0 : openOfBot(row, channel);
}

/** 1 if a chat is open, and the bot of its channel has it; else 0. */
export function openOfBot(
  { work_state, bot }: Pick<ChatRow, "work_state" | "bot">,
  { botVersion }: KnownChannel,
): number {
  // Not by the clock: the count of a bot whose key has expired is set to 0 when its version ends.
  return Number(work_state === "open" && bot !== null && bot === botVersion);
}

/** 1 if a chat waits for an answer although it is snoozed or closed; else 0. */
export function unansweredNotOpen({ unanswered_since, work_state }: Pick<ChatRow, "unanswered_since" | "work_state">) {
  return Number(unanswered_since !== null && work_state !== "open");
}

/** All addresses that lead to a chat, the first one first. */
export function addressesOf({ address, others }: Pick<ChatRow, "address" | "others">): string[] {
  return others === null ? [address] : [address, ...(JSON.parse(others) as string[])];
}

/** The ids of the other chats of the contact. */
export function sameAs({ same_as }: ChatRow): string[] {
  return same_as === null ? [] : (JSON.parse(same_as) as string[]);
}
