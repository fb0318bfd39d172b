import type { WalkedDue } from "./chat-answers.ts";
import type { Fault } from "./error.ts";
import { fromBase62, toDigits } from "./id.ts";

/** How far ahead a message can be scheduled, and a chat snoozed. */
export const MAX_AHEAD_DAYS = 366;
const DAY_MS = 86_400_000;

const NOT_AHEAD = "must be in the future";
const TOO_FAR_AHEAD = `must be at most ${MAX_AHEAD_DAYS} days ahead`;

/** When a message is sent, and from when on no attempt begins. Unix milliseconds. */
interface MessageTimes {
  scheduledAt?: number | null | undefined;
  expiresAt?: number | null | undefined;
}

/**
 * What is wrong with a message's times. It is checked together with the sender and the template: a used idempotency key
 * returns its message even if a time has passed since.
 * @param now Unix milliseconds
 */
export function timeFaults({ scheduledAt, expiresAt }: MessageTimes, now: number): Fault[] {
  const faults: Fault[] = [];
  if (scheduledAt != null && isTooFarAhead(scheduledAt, now)) {
    faults.push({ path: "scheduledAt", message: TOO_FAR_AHEAD });
  }
  if (expiresAt == null) return faults;
  if (expiresAt <= now) faults.push({ path: "expiresAt", message: NOT_AHEAD });
  else if (scheduledAt != null && expiresAt <= scheduledAt) {
    faults.push({ path: "expiresAt", message: "must be later than scheduledAt" });
  }
  return faults;
}

/** What is wrong with the end of a snooze, for an error; null if nothing is. Both times are Unix milliseconds. */
export function snoozeFault(until: number, now: number): string | null {
  if (until <= now) return NOT_AHEAD;
  return isTooFarAhead(until, now) ? TOO_FAR_AHEAD : null;
}

function isTooFarAhead(at: number, now: number): boolean {
  return at > now + MAX_AHEAD_DAYS * DAY_MS;
}

const CURSOR =
  /^([1-9A-Za-z][0-9A-Za-z]{0,7})_([1-9A-Za-z][0-9A-Za-z]{0,5})_([1-9A-Za-z][0-9A-Za-z]{0,5})_([0-9A-Za-z]+)$/;

/**
 * A position in a walk of a chat's scheduled messages. It stays valid after its message moved or took its place.
 * @param start the number of the chat's newest event when the walk began
 */
export function scheduleCursor(chatId: string, { dueAt, turn, start }: WalkedDue): string {
  return [toDigits(dueAt), toDigits(turn), toDigits(start), chatId.replace("cht_", "")].join("_");
}

/** The position of a cursor; null if the text is not a cursor of this chat's list. */
export function parseScheduleCursor(chatId: string, text: string): WalkedDue | null {
  const [, dueAt, turn, start, owner] = CURSOR.exec(text) ?? [];
  if (!dueAt || !turn || !start || chatId !== `cht_${owner}`) return null;
  return { dueAt: fromBase62(dueAt), turn: fromBase62(turn), start: fromBase62(start) };
}
