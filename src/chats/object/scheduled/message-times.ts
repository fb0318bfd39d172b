import type { MessageWithoutSeq } from "../../../model/message.ts";
import type { NewEvent } from "../log/event-log.ts";
import type { ScheduleTimes } from "./decisions.ts";

/** A message without a place, with other times. @param now Unix milliseconds */
export function withTimes(
  message: MessageWithoutSeq,
  { scheduledAt, expiresAt }: ScheduleTimes,
  now: number,
): MessageWithoutSeq {
  const updatedAt = Math.max(now, Date.parse(message.updatedAt));
  return {
    ...message,
    updatedAt: new Date(updatedAt).toISOString(),
    scheduledAt: scheduledAt === null ? undefined : new Date(scheduledAt).toISOString(),
    expiresAt: expiresAt === null ? undefined : new Date(expiresAt).toISOString(),
  };
}

/** The event that says when a message is due. */
export function scheduledEvent({ id, scheduledAt, updatedAt }: MessageWithoutSeq): NewEvent {
  return { type: "message.scheduled", seq: null, note: { messageId: id, scheduledAt }, at: Date.parse(updatedAt) };
}

/** A time of a message in Unix milliseconds; null if it has none. */
export function timeOf(time: string | undefined): number | null {
  return time === undefined ? null : Date.parse(time);
}
