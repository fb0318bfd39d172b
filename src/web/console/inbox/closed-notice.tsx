import type { JSX } from "preact";
import type { Chat } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { now, Time } from "../parts/time.tsx";

/** Says that the network delivers templates alone, if it does. */
export function ClosedNotice({ chat, choose }: { chat: Chat; choose: JSX.Element }) {
  const { replyUntil, createdAt } = chat;
  if (replyUntil === null || Date.parse(replyUntil) > now.value) return null;
  return (
    <div class="notice tone-warn">
      <Icon name="clock" />
      <p>
        {replyUntil === createdAt ? (
          "The contact has not written yet."
        ) : (
          <>
            The window closed <Time at={replyUntil} long />.
          </>
        )}{" "}
        Only templates are delivered.
      </p>
      <Button opens={choose}>Use a template</Button>
    </div>
  );
}
