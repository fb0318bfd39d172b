import type { Due, MoveBody } from "../../../model/chat-answers.ts";
import { ERRORS, type Fault } from "../../../model/error.ts";
import { timeFaults } from "../../../model/schedule.ts";
import type { SendRefusal } from "../send-conditions.ts";

/**
 * The decisions about scheduled messages. Pure functions of a message's row, the state of its chat and the time. Times
 * are Unix milliseconds.
 */

export const MAX_SCHEDULED = 1_000;
/** How long a message that ended without a place is kept. */
const KEPT_MS = 30 * 86_400_000;
const BACKLOG_RETRY_MS = 60_000;
const BACKLOG_DEADLINE_MS = 86_400_000;

/** The order in which messages take their places. */
export function bySoonest(one: Due, other: Due): number {
  return one.dueAt - other.dueAt || one.turn - other.turn;
}

/**
 * A scheduled message counts for `ifSeq` as if it were sent already if it is due within this time. An undo in the console
 * lasts up to ten seconds, and its clock may be wrong by a little.
 */
export const SOON_MS = 15_000;

/** Whether a message may take its place. */
export function isDue(dueAt: number, now: number): boolean {
  return dueAt <= now;
}

/** What becomes of a due message: it takes its place, it fails without one, or it waits for room in the queue. */
export type DueStep =
  | { step: "place" }
  | { step: "fail"; error: { code: string; message: string } }
  | { step: "wait"; until: number };

/**
 * @param unmet the condition that the message needs and that does not hold; null for none
 * @param limit the limit that one more message would exceed; null for none
 */
export function dueStep(
  { dueAt, expiresAt }: { dueAt: number; expiresAt: number | null },
  unmet: SendRefusal | null,
  limit: "chat_backlog" | "chat_full" | null,
  now: number,
): DueStep {
  if (expiresAt !== null && expiresAt <= now) return fail("expired", "It expired before it was delivered");
  if (unmet !== null) return fail(unmet, ERRORS[unmet].text);
  if (limit === null) return { step: "place" };
  if (limit === "chat_full" || now - dueAt >= BACKLOG_DEADLINE_MS) return fail(limit, ERRORS[limit].text);
  return { step: "wait", until: Math.min(now + BACKLOG_RETRY_MS, expiresAt ?? Number.POSITIVE_INFINITY) };
}

function fail(code: string, message: string): DueStep {
  return { step: "fail", error: { code, message } };
}

/** Due messages wait until `until`. If the clock was set back to before `since`, they don't. */
export interface Rest {
  since: number;
  until: number;
  /** They wait because the queue is full, and not because of a fault. */
  isForRoom: boolean;
}

/** When a message that is due at `dueAt` tries to take its place. */
export function placeAt(dueAt: number, rest: Rest | null, now: number): number {
  return rest && rest.since <= now ? Math.max(dueAt, rest.until) : dueAt;
}

/** When a message that ended at `endedAt` is removed, unless the chat's retention removes it before. */
export function purgeAt(endedAt: number): number {
  return endedAt + KEPT_MS;
}

/** A message's times; null for now and for never. */
export interface ScheduleTimes {
  scheduledAt: number | null;
  expiresAt: number | null;
}

/** The times of a message after a change, or what is wrong with them. */
export function changedTimes(
  before: ScheduleTimes,
  change: MoveBody,
  now: number,
): ScheduleTimes | { faults: Fault[] } {
  const { scheduledAt = before.scheduledAt, expiresAt = before.expiresAt } = change;
  const faults = timeFaults({ scheduledAt, expiresAt }, now);
  if (faults.length === 0) return { scheduledAt, expiresAt };
  // The path must be a field of the change.
  if (change.expiresAt !== undefined || faults.some(({ path }) => path !== "expiresAt")) return { faults };
  return { faults: [{ path: "scheduledAt", message: "must be earlier than expiresAt" }] };
}
