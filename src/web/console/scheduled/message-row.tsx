import type { Message } from "../api.ts";
import { dayOf, exactTime, fromNow, timeOfDay } from "../format.ts";
import { ScheduledActions } from "../inbox/scheduled-actions.tsx";
import { usePlace } from "../organization.ts";
import { now, Time } from "../parts/time.tsx";
import { may } from "../session.ts";

interface RowProps {
  message: Message;
  /** The message was moved, sent or canceled. */
  onMessage: (message: Message) => void;
  /** It was sent or canceled elsewhere. */
  onGone: () => void;
}

/** A scheduled message, with what can be done until it is sent. */
export function MessageRow({ message, onMessage, onGone }: RowProps) {
  const { api } = usePlace();
  const { id, chatId, text, type, expiresAt } = message;
  const at = Date.parse(message.scheduledAt ?? message.createdAt);
  const path = { id: chatId, messageId: id };
  return (
    <li class="row">
      <p class="message-when" title={exactTime(at)}>
        <strong>{timeOfDay(at)}</strong>
        <span class="quiet">{dayOf(at, now.value)}</span>
      </p>
      <div class="row-main">
        <p class="text" dir="auto">
          {text || `A file: ${type.toLowerCase()}`}
        </p>
        <p class="row-detail">
          {fromNow(at, now.value)}
          {expiresAt && (
            <>
              {" · not after "}
              <Time at={expiresAt} future />
            </>
          )}
        </p>
      </div>
      {may("messages:send") && (
        <div class="line row-actions">
          <ScheduledActions
            at={at}
            label="More for this message"
            hasButton
            move={async (scheduledAt) => {
              onMessage((await api.PATCH("/chats/{id}/messages/{messageId}", { path, body: { scheduledAt } })).message);
            }}
            cancel={async () => {
              onMessage((await api.POST("/chats/{id}/messages/{messageId}/cancel", { path })).message);
            }}
            onGone={onGone}
          />
        </div>
      )}
    </li>
  );
}
