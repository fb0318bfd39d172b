import type { Chat } from "../api.ts";
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

/** Makes the work on a chat what it was. A snooze that is over by now stays so. */
export async function restoreWork(before: Chat, changes: WorkChanges): Promise<void> {
  const wasUnanswered = before.unansweredSince !== null;
  const known = () => changes.now() ?? before;
  // First, because it changes the rest.
  if (known().handler !== before.handler) await changes.handOver(before.handler);
  const isUnanswered = known().unansweredSince !== null;
  if (isUnanswered && !wasUnanswered) await changes.markAnswered();
  if (wasUnanswered && !isUnanswered) await changes.markUnanswered();
  const isOver = before.snoozedUntil !== null && Date.parse(before.snoozedUntil) <= serviceNow();
  const [state, until] = isOver ? (["open", null] as const) : [before.state, before.snoozedUntil];
  const now = known();
  if (now.state !== state || now.snoozedUntil !== until) await changes.setState(state, until);
}
