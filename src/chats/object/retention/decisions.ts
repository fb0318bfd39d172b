import type { ChatRetention } from "../../../model/chat-answers.ts";
import { fromBase62 } from "../../../model/id.ts";
import type { Floor, OldMessage } from "../log/floor.ts";

/**
 * The decisions about a chat's retention. Pure functions of rows and the time. Times are Unix milliseconds.
 */

const DAY_MS = 86_400_000;
/** A chat looks for old messages this often. So a message is deleted within a day, even if a first try fails. */
const LOOK_EVERY_MS = 72_000_000;

/** A chat's retention in milliseconds; null if it keeps its messages forever. */
export function keptMs({ days }: ChatRetention): number | null {
  return days === null ? null : days * DAY_MS;
}

/** The last of the oldest messages that can be deleted; null if none can. It stops at the first that waits or is young. */
export function lastToDelete(oldest: readonly OldMessage[], kept: number, now: number): Floor | null {
  const stop = oldest.findIndex(({ at, isWaiting }) => isWaiting || at + kept > now);
  const old = stop < 0 ? oldest : oldest.slice(0, stop);
  return old.at(-1) ?? null;
}

/** The next time at or after `time` when the chat looks for old messages. Most chats have different times. */
export function nextLookAt(chatId: string, time: number): number {
  const phase = fromBase62(chatId.slice(-5)) % LOOK_EVERY_MS;
  return phase + Math.ceil((time - phase) / LOOK_EVERY_MS) * LOOK_EVERY_MS;
}
