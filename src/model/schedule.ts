import type { Due } from "./chat-answers.ts";
import type { Fault } from "./error.ts";
import { fromBase62, toDigits } from "./id.ts";

/** How far ahead a message can be scheduled. */
export const MAX_AHEAD_DAYS = 366;
const DAY_MS = 86_400_000;

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
  if (scheduledAt != null && scheduledAt > now + MAX_AHEAD_DAYS * DAY_MS) {
    faults.push({ path: "scheduledAt", message: `must be at most ${MAX_AHEAD_DAYS} days ahead` });
  }
  if (expiresAt == null) return faults;
  if (expiresAt <= now) faults.push({ path: "expiresAt", message: "must be in the future" });
  else if (scheduledAt != null && expiresAt <= scheduledAt) {
    faults.push({ path: "expiresAt", message: "must be later than scheduledAt" });
  }
  return faults;
}

const CURSOR = /^([1-9A-Za-z][0-9A-Za-z]{0,7})_([1-9A-Za-z][0-9A-Za-z]{0,5})_([0-9A-Za-z]+)$/;

/** A position in a chat's list of scheduled messages. It stays valid after its message moved or took its place. */
export function scheduleCursor(chatId: string, { dueAt, turn }: Due): string {
  return `${toDigits(dueAt)}_${toDigits(turn)}_${chatId.replace("cht_", "")}`;
}

/** The position of a cursor; null if the text is not a cursor of this chat's list. */
export function parseScheduleCursor(chatId: string, text: string): Due | null {
  const [, dueAt, turn, owner] = CURSOR.exec(text) ?? [];
  if (!dueAt || !turn || chatId !== `cht_${owner}`) return null;
  return { dueAt: fromBase62(dueAt), turn: fromBase62(turn) };
}
