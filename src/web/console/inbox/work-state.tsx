import type { Chat } from "../api.ts";
import { Time } from "../parts/time.tsx";

/** Where the work on a chat stands, unless it is open. */
export function WorkState({ chat: { state, snoozedUntil } }: { chat: Chat }) {
  if (snoozedUntil) {
    return (
      <span class="nowrap">
        Back <Time at={snoozedUntil} future />
      </span>
    );
  }
  return state === "closed" ? <span>Closed</span> : null;
}
