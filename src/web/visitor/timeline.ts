import type { Conversation, OwnMessage } from "./conversation.ts";
import type { ChatMessage } from "./frames.ts";
import { sameDay } from "./times.ts";

/** How far a message of the visitor's own has come. */
type Progress = "sending" | "sent" | "delivered" | "read" | "notSent";

/** One line of the message list. `first` and `last` say where a run of one writer's messages begins and ends. */
export interface Line {
  key: string;
  at: number;
  own: boolean;
  message: Pick<ChatMessage, "type" | "text" | "mediaUrl">;
  progress: Progress | null;
  /** The message that can be sent again, for one that was refused. */
  refused: OwnMessage | null;
  newDay: boolean;
  first: boolean;
  last: boolean;
  /** Its time is shown: it ends a run, or the next message of the run has another time of day. */
  timed: boolean;
  /** The newest of the visitor's own messages that was stored: its progress is written out. */
  latest: boolean;
}

const RUN_MS = 5 * 60_000;

/** The conversation as it is shown: what is stored, then what is still on its way; `ended`, nothing is any more. */
export function timelineOf({ entries, outbox }: Pick<Conversation, "entries" | "outbox">, ended = false): Line[] {
  const stored = entries.map(({ key, message }) => {
    const own = message.direction === "INBOUND";
    const progress = own ? progressOf(message) : null;
    return line({ key, at: Date.parse(message.createdAt), own, message, progress, refused: null });
  });
  const waiting = outbox
    // An echo is shown as the stored message that it was taken for.
    .filter(({ echo }) => echo === null)
    .map((own) =>
      line({
        key: own.id,
        at: own.writtenAt,
        own: true,
        message: { type: "TEXT", text: own.text, mediaUrl: null },
        progress: own.seq !== null ? "sent" : own.trouble || ended ? "notSent" : "sending",
        refused: own.trouble && !ended ? own : null,
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
  return before.own === current.own && before.refused === null && current.at - before.at < RUN_MS;
}

/** Stored by the company's side is "Sent"; it may tell more. */
function progressOf({ status }: ChatMessage): Progress {
  if (status === "DELIVERED") return "delivered";
  if (status === "READ") return "read";
  return status === "FAILED" ? "notSent" : "sent";
}
