import type { Message } from "../api.ts";
import { isSameDay } from "../format.ts";
import type { Note } from "../notes/notes-store.ts";

/** A line of the conversation: a message or a note. A message without a `seq` is scheduled. */
type Line = {
  key: string;
  /** Whether it is the first of its day. */
  isNewDay: boolean;
  /** The first of its sender's run. */
  isFirst: boolean;
  /** Within a run, whose time and status the next message shows too. */
  isWithin: boolean;
} & ({ message: Message; note?: undefined } | { message?: undefined; note: Note });

/** Messages that are closer together than this, by the same sender, are drawn as one run. */
const RUN_MS = 5 * 60_000;

/** The known messages with those that came, each once. Of two versions of a message the later one counts. */
export function merged(known: readonly Message[], came: readonly Message[]): Message[] {
  const byId = new Map(known.map((message) => [message.id, message]));
  for (const message of came) {
    const before = byId.get(message.id);
    if (!before || before.updatedAt <= message.updatedAt) byId.set(message.id, message);
  }
  return [...byId.values()];
}

/**
 * The known messages once the newest page and the scheduled ones were loaded again. What came while they were under way
 * is kept: the answers may be older.
 * @param before what was known when the load began
 * @param hasMore whether there are pages before the newest one
 * @returns `isGap` after a long absence: then only what is new is known, and the rest is loaded when the reader gets there
 */
export function reloaded(
  before: readonly Message[],
  known: readonly Message[],
  newest: { page: readonly Message[]; hasMore: boolean; scheduled: readonly Message[] },
): { messages: Message[]; isGap: boolean } {
  const old = new Set(before);
  const oldest = Math.min(...newest.page.map(({ seq }) => seq ?? 0));
  const isGap = newest.hasMore && oldest > newestSeq(before) + 1;
  const kept = known.filter((message) => !old.has(message) || (!isGap && message.status !== "SCHEDULED"));
  return { messages: merged(kept, [...newest.page, ...newest.scheduled]), isGap };
}

/** Whether a changed message is not older than the loaded ones: it would leave a gap, and is loaded with its page. */
export function isInReach(loaded: readonly Message[], { seq }: Message): boolean {
  return seq === null || loaded.some((each) => each.seq !== null && each.seq <= seq);
}

/** The newest `seq`; 0 before the first message. */
export function newestSeq(messages: readonly Message[]): number {
  return messages.reduce((newest, { seq }) => Math.max(newest, seq ?? 0), 0);
}

/** The title of the newest choice that the contact tapped, by the id of the message that offered it. */
export function tapsOf(messages: readonly Message[]): ReadonlyMap<string, string> {
  const taps = messages.flatMap(({ choice, seq }) => (choice ? [{ choice, seq: seq ?? 0 }] : []));
  taps.sort((one, other) => one.seq - other.seq);
  return new Map(taps.map(({ choice }) => [choice.messageId ?? "", choice.title]));
}

/**
 * The lines of a conversation: placed messages by their `seq`, each note behind the message after which it was written,
 * then the scheduled messages, soonest first.
 * @param notes newest first
 * @param from no notes before the message with this `seq`, which are not all loaded
 */
export function linesOf(messages: readonly Message[], notes: readonly Note[] = [], from = 0): Line[] {
  const placed = messages.filter(({ seq }) => seq !== null).toSorted((one, other) => (one.seq ?? 0) - (other.seq ?? 0));
  const waiting = notes.filter(({ afterSeq }) => afterSeq >= from).toReversed();
  const scheduled = messages
    .filter(({ status }) => status === "SCHEDULED")
    .toSorted((one, other) => dueAt(one) - dueAt(other));
  const lines: Line[] = [];
  const addNotesBefore = (seq: number) => {
    while (waiting[0] && waiting[0].afterSeq < seq) {
      const note = waiting.shift() as Note;
      const isNewDay = isOtherDay(lines.at(-1), Date.parse(note.createdAt));
      lines.push({ key: note.id, note, isNewDay, isFirst: true, isWithin: false });
    }
  };
  for (const message of placed) {
    addNotesBefore(message.seq ?? 0);
    const last = lines.at(-1);
    const before = last?.message;
    const at = Date.parse(message.createdAt);
    const isNewDay = isOtherDay(last, at);
    const isFirst =
      isNewDay ||
      before?.direction !== message.direction ||
      before.senderId !== message.senderId ||
      before.origin !== message.origin ||
      before.standby !== message.standby ||
      before.author?.id !== message.author?.id ||
      at - Date.parse(before.createdAt) > RUN_MS;
    if (last && !isFirst) last.isWithin = before?.status === message.status;
    lines.push({ key: message.id, message, isNewDay, isFirst, isWithin: false });
  }
  addNotesBefore(Infinity);
  const own = { isNewDay: false, isFirst: true, isWithin: false };
  return [...lines, ...scheduled.map((message) => ({ key: message.id, message, ...own }))];
}

function isOtherDay(before: Line | undefined, at: number): boolean {
  return !before || !isSameDay(Date.parse((before.message ?? before.note).createdAt), at);
}

function dueAt({ scheduledAt, createdAt }: Message): number {
  return Date.parse(scheduledAt ?? createdAt);
}
