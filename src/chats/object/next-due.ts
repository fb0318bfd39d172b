import { earliest } from "../../platform/object/alarm.ts";
import type { ObjectSubscriptions } from "../../webhooks/subscription/object-subscriptions.ts";
import type { ChatWork } from "./chat-work.ts";
import type { Echoes } from "./echoes.ts";
import type { ChatFiles } from "./files/chat-files.ts";
import type { Handover } from "./handover.ts";
import type { Retention } from "./retention/retention.ts";

const MINUTE_MS = 60_000;

interface Parts {
  retention: Pick<Retention, "dueAt">;
  files: Pick<ChatFiles, "deletesAt">;
  echoes: Pick<Echoes, "latestAt">;
  subscriptions: ObjectSubscriptions;
  work: Pick<ChatWork, "dueAt">;
  handover: Pick<Handover, "dueAt">;
}

/**
 * When the chat has work at a later time, Unix milliseconds, rounded up to the minute; null if it has none. Its
 * organization finds by this that the chat has lost its alarm. Without the queue and the scheduled messages, which are
 * reported anyway. It depends on stored times alone, so that a report is made only when one of them moves.
 */
export function nextDueAt(parts: Parts, now: number): number | null {
  const { retention, files, echoes, subscriptions, work, handover } = parts;
  const ofSubscriptions = subscriptions.all.longWaitEnd(now);
  const ofWork = [work.dueAt(), handover.dueAt()];
  const at = earliest([retention.dueAt(now), files.deletesAt(), echoes.latestAt(), ofSubscriptions, ...ofWork]);
  return at === null ? null : Math.ceil(at / MINUTE_MS) * MINUTE_MS;
}
