import type { Member, Message } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { memberName } from "./assignee.tsx";
import type { Sending } from "./sending.ts";

/** Asks whether to send a message though others wrote meanwhile, or though nobody filled a placeholder in it. */
export function ConflictNotice({ sending, members }: { sending: Sending; members: readonly Member[] }) {
  const conflict = sending.conflict.value;
  if (!conflict) return null;
  return (
    <div class="notice tone-warn" role="alert">
      <Icon name="warning" />
      <p>
        {conflict.unfilled ? (
          <>
            <code>{conflict.unfilled}</code> is not filled in.
          </>
        ) : (
          whoWrote(conflict.ahead, members)
        )}{" "}
        Your message was not sent.
      </p>
      <Button disabled={sending.isBusy.value} onClick={() => void sending.sendAnyway(conflict)}>
        Send anyway
      </Button>
      <Button icon="close" aria-label="Dismiss" onClick={() => (sending.conflict.value = null)} />
    </div>
  );
}

function whoWrote(ahead: readonly Message[], members: readonly Member[]): string {
  const answer = ahead.find(({ direction, origin }) => direction === "OUTBOUND" && origin !== "away");
  if (answer?.origin) return "Somebody answered elsewhere meanwhile.";
  if (answer) return `${memberName(answer.senderId ?? "", members)} answered meanwhile.`;
  return ahead.length > 0 ? "The contact wrote meanwhile." : "The chat has newer messages.";
}
