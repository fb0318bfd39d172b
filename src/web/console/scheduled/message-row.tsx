import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Message, ParleyError } from "../api.ts";
import { dayOf, exactTime, fieldTime, fromNow, timeOfDay } from "../format.ts";
import { usePlace } from "../organization.ts";
import { FormDialog, openDialog } from "../parts/dialog.tsx";
import { TimeInput } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { now, Time } from "../parts/time.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { serviceNow } from "../service-clock.ts";
import { may } from "../session.ts";

const HOUR_MS = 3_600_000;

interface RowProps {
  message: Message;
  /** The message was moved, sent or canceled. */
  onMessage: (message: Message) => void;
  /** It was sent or canceled elsewhere. */
  onGone: () => void;
}

/** A scheduled message, with what can be done until it is sent. */
export function MessageRow({ message, onMessage, onGone }: RowProps): JSX.Element {
  const { api } = usePlace();
  const { id, chatId, text, type, expiresAt } = message;
  const at = Date.parse(message.scheduledAt ?? message.createdAt);
  const path = { id: chatId, messageId: id };

  const move = async (scheduledAt: string | null) => {
    const answer = await api.PATCH("/chats/{id}/messages/{messageId}", { path, body: { scheduledAt } });
    const moved = answer.message;
    onMessage(moved);
    say(scheduledAt === null ? "It is being sent" : `Moved to ${exactTime(Date.parse(scheduledAt))}`);
  };
  const cancel = async () => {
    const answer = await api.POST("/chats/{id}/messages/{messageId}/cancel", { path });
    onMessage(answer.message);
    say("Canceled");
  };
  const run = (work: Promise<void>) => void work.catch((error: unknown) => fail(error, onGone));

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
          <button type="button" class="button" onClick={() => run(move(null))}>
            Send now
          </button>
          <Menu label="More for this message" button={<Icon name="more" />}>
            <MenuItem onChoose={() => run(move(new Date(at + HOUR_MS).toISOString()))}>An hour later</MenuItem>
            <MenuItem onChoose={() => openDialog(<MoveDialog at={at} onMove={move} />)}>At another time</MenuItem>
            <MenuItem danger onChoose={() => run(cancel())}>
              Cancel it
            </MenuItem>
          </Menu>
        </div>
      )}
    </li>
  );
}

interface MoveProps {
  at: number;
  onMove: (scheduledAt: string) => Promise<void>;
}

function MoveDialog({ at, onMove }: MoveProps): JSX.Element {
  const value = useSignal(fieldTime(at));
  const time = new Date(value.value).getTime();
  const isTime = !Number.isNaN(time);
  const isPast = isTime && time <= serviceNow();
  return (
    <FormDialog
      title="Send at another time"
      submit={isPast ? "Send now" : "Move"}
      isDisabled={!isTime}
      onSubmit={() => onMove(new Date(time).toISOString())}
    >
      <TimeInput
        label="Send at"
        hint={isTime ? `${exactTime(time)}, ${fromNow(time, serviceNow())}` : ""}
        required
        value={value}
      />
    </FormDialog>
  );
}

function fail(error: unknown, onGone: () => void): void {
  sayError(error);
  if (error instanceof ParleyError && (error.status === 404 || error.status === 409)) onGone();
}
