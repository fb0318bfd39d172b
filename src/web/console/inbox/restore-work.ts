import type { Chat, ParleyError } from "../api.ts";
import { serviceNow } from "../service-clock.ts";

/** What changes the work on a chat. Each throws ParleyError. */
export interface WorkChanges {
  /** The chat as it is known now; null if it is not known. */
  now: () => Chat | null;
  markAnswered: () => Promise<void>;
  markUnanswered: () => Promise<void>;
  setState: (state: Chat["state"], snoozedUntil: string | null) => Promise<void>;
  handOver: (to: Chat["handler"]) => Promise<void>;
}

/**
 * Makes the work on a chat what it was. A snooze that is over by now stays so. What the contact wrote since stays
 * unanswered, and its chat open; what was answered since stays answered.
 */
export async function restoreWork(before: Chat, changes: WorkChanges): Promise<void> {
  const wasUnanswered = before.unansweredSince !== null;
  const known = () => changes.now() ?? before;
  const hasMovedOn = known().lastMessageAt !== before.lastMessageAt;
  // First, because it changes the rest.
  if (known().handler !== before.handler) await changes.handOver(before.handler);
  const isUnanswered = known().unansweredSince !== null;
  if (hasMovedOn && isUnanswered) return;
  if (isUnanswered && !wasUnanswered) await changes.markAnswered();
  if (wasUnanswered && !isUnanswered && !hasMovedOn) await changes.markUnanswered().catch(ignoreAnswered);
  const isOver = before.snoozedUntil !== null && Date.parse(before.snoozedUntil) <= serviceNow();
  const [state, until] = isOver ? (["open", null] as const) : [before.state, before.snoozedUntil];
  const now = known();
  if (now.state !== state || now.snoozedUntil !== until) await changes.setState(state, until);
}

/** The refusal 409 `nothing_unanswered` counts as done: an answer may be on the page a moment after it was sent. */
function ignoreAnswered(error: ParleyError): void {
  if (error.status !== 409) throw error;
}
