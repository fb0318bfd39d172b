import { type MessageExtras, withReaction } from "../shared/message/extras.ts";
import { bodyOf, type Conversation, type OwnMessage, type Reacting } from "./conversation.ts";
import type { ChatMessage } from "./frames.ts";
import { sameDay } from "./times.ts";

/** The progress of a visitor's message. */
type Progress = "sending" | "sent" | "delivered" | "read" | "notSent";

/** One message of the list. `first` and `last` mark the ends of a run of one writer's messages. */
export interface Line {
  key: string;
  at: number;
  own: boolean;
  message: Pick<ChatMessage, "type" | "text" | "mediaUrl"> & Partial<Pick<ChatMessage, "id">> & MessageExtras;
  /** The stored message's `seq`, or null. */
  seq: number | null;
  /** The message that it quotes: null if the page has not loaded it, undefined if it quotes none. */
  quoted: ChatMessage | null | undefined;
  /** The title of the choice that the visitor tapped, or null. A message whose choice is tapped offers none. */
  tapped: string | null;
  progress: Progress | null;
  /** The refused message, which can be sent again, or null. */
  refused: OwnMessage | null;
  /** The id of a message with a file, if it can still be taken back. */
  withdrawable: string | null;
  newDay: boolean;
  first: boolean;
  last: boolean;
  /** Whether to show the time: at the end of a run, or if the next message has another time. */
  timed: boolean;
  /** Whether to show the progress in words: for the visitor's newest stored message. */
  latest: boolean;
}

const RUN_MS = 5 * 60_000;

type Shown = Pick<Conversation, "entries" | "outbox" | "companyRead">;

/**
 * The lines of the message list: stored messages, then unsent ones. If `ended`, unsent messages have failed.
 * @param reacting the visitor's reactions that are not confirmed
 */
export function timelineOf(
  { entries, outbox, companyRead }: Shown,
  ended = false,
  reacting: readonly Reacting[] = [],
): Line[] {
  const byId = new Map(entries.map(({ message }) => [message.id, message]));
  const taps = new Map<string, string>();
  for (const { choice } of [...entries.map(({ message }) => message), ...outbox]) {
    if (choice) taps.set(choice.messageId, choice.title);
  }
  const stored = entries.map(({ key, message }) => {
    const own = message.direction === "INBOUND";
    const { id, seq, replyTo, choice } = message;
    return line({
      key,
      at: Date.parse(message.createdAt),
      own,
      message: withReaction(message, reacting.findLast((one) => one.seq === seq)?.emoji, "contact"),
      progress: own ? progressOf(message, companyRead) : null,
      refused: null,
      withdrawable: null,
      seq,
      // A tap needs no quote: the message with the choices shows it.
      quoted: replyTo === undefined || choice ? undefined : (byId.get(replyTo) ?? null),
      tapped: taps.get(id) ?? null,
    });
  });
  const waiting = outbox
    // A message with an echo is already among the stored ones.
    .filter(({ echo }) => echo === null)
    .map((own) =>
      line({
        key: own.id,
        at: own.writtenAt,
        own: true,
        message: bodyOf(own),
        progress: own.seq !== null ? "sent" : own.trouble || ended ? "notSent" : "sending",
        refused: own.trouble && !ended ? own : null,
        // A message that may be stored already can't be taken back.
        withdrawable: own.file && !own.tried && own.seq === null ? own.id : null,
        seq: null,
        quoted: own.replyTo === undefined ? undefined : (byId.get(own.replyTo) ?? null),
        tapped: null,
      }),
    );
  const lines = [...stored, ...waiting];
  for (const [index, current] of lines.entries()) {
    const before = lines[index - 1];
    current.newDay = !before || !sameDay(before.at, current.at);
    current.first = !before || current.newDay || !isRun(before, current);
    if (before) {
      before.last = current.first;
      before.timed = before.last || minuteOf(before.at) !== minuteOf(current.at);
    }
  }
  const latest = lines.findLast(({ own, progress }) => own && progress !== "sending" && progress !== "notSent");
  if (latest) latest.latest = true;
  return lines;
}

function line(part: Omit<Line, "newDay" | "first" | "last" | "timed" | "latest">): Line {
  return { ...part, newDay: false, first: true, last: true, timed: true, latest: false };
}

function minuteOf(at: number): number {
  return Math.floor(at / 60_000);
}

function isRun(before: Line, current: Line): boolean {
  const isSameWriter = before.own === current.own && before.message.sender === current.message.sender;
  return isSameWriter && before.refused === null && current.at - before.at < RUN_MS;
}

/** A stored message is at least "sent". */
function progressOf({ status, seq }: ChatMessage, companyRead: number): Progress {
  if (seq <= companyRead) return "read";
  if (status === "DELIVERED") return "delivered";
  if (status === "READ") return "read";
  return status === "FAILED" ? "notSent" : "sent";
}
