import type { Fault } from "../http/errors.ts";

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
