import type { Message, ShownMessage } from "../../model/message.ts";

/** A message's new status, and when it got it (Unix milliseconds). */
export interface StatusChange {
  status: Message["status"];
  error: Message["error"];
  at: number;
}

const TIMES = { SENT: "sentAt", DELIVERED: "deliveredAt", READ: "readAt", FAILED: "failedAt" } as const;

/** The message with a new status, and the time of it. A network may skip a status: then its time is absent. */
export function withStatus<Shown extends ShownMessage>(message: Shown, { status, error, at }: StatusChange): Shown {
  const { updatedAt } = updated(message, at);
  const isNew = status !== message.status;
  const time = status in TIMES ? TIMES[status as keyof typeof TIMES] : undefined;
  return { ...message, status, error, updatedAt, ...(isNew && time && { [time]: updatedAt }) };
}

/** The message as it changed at `at` (Unix milliseconds). `updatedAt` never runs backwards, even if the clock does. */
export function updated<Shown extends ShownMessage>(message: Shown, at: number): Shown {
  return { ...message, updatedAt: new Date(Math.max(at, Date.parse(message.updatedAt))).toISOString() };
}
