import type { Chat } from "../api.ts";
import { Time } from "../parts/time.tsx";

/** Where the work on a chat stands, unless it is open and people have it. */
export function WorkState({ chat: { state, snoozedUntil, handler } }: { chat: Chat }) {
  if (snoozedUntil) {
    return (
      <span class="nowrap">
        Back <Time at={snoozedUntil} future />
      </span>
    );
  }
  if (state === "closed") return <span>Closed</span>;
  return handler === "bot" ? <span>With the bot</span> : null;
}
