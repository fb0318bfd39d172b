import { useSignal } from "@preact/signals";
import { ParleyError } from "../api.ts";
import { fieldTime, HOUR_MS } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { TimeInput } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { now } from "../parts/time.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { requireFuture } from "./require-future.ts";

interface ActionsProps {
  /** When the message is sent, Unix milliseconds. */
  at: number;
  /** The accessible name of the menu. */
  label: string;
  /** Shows what is wanted most as a button beside the menu. */
  hasButton?: boolean;
  /** Changes the time, RFC 3339; null sends now. */
  move: (scheduledAt: string | null) => Promise<unknown>;
  cancel: () => Promise<unknown>;
  /** The message was sent or canceled elsewhere. */
  onGone?: () => void;
}

/** What can be done with a message until it is sent. */
export function ScheduledActions({ at, label, hasButton, move, cancel, onGone }: ActionsProps) {
  const run = (work: Promise<unknown>, done: string) => {
    work.then(
      () => say(done),
      (error: unknown) => {
        sayError(error);
        if (error instanceof ParleyError && (error.status === 404 || error.status === 409)) onGone?.();
      },
    );
  };
  const sendNow = () => run(move(null), "It is being sent");
  return (
    <>
      {hasButton && <Button onClick={sendNow}>Send now</Button>}
      <Menu label={label} button={<Icon name="more" />}>
        {!hasButton && <MenuItem onChoose={sendNow}>Send now</MenuItem>}
        <MenuItem onChoose={() => run(move(new Date(at + HOUR_MS).toISOString()), "Moved")}>An hour later</MenuItem>
        <MenuItem opens={<MoveDialog at={at} move={move} />}>At another time</MenuItem>
        <MenuItem danger onChoose={() => run(cancel(), "Canceled")}>
          Cancel it
        </MenuItem>
      </Menu>
    </>
  );
}

function MoveDialog({ at, move }: Pick<ActionsProps, "at" | "move">) {
  const value = useSignal(fieldTime(at));
  const time = new Date(value.value).getTime();
  const isTime = !Number.isNaN(time);
  const isPast = time <= now.value;
  return (
    <FormDialog
      title="Send at another time"
      submit={isPast ? "Send now" : "Move"}
      isDisabled={!isTime}
      onSubmit={async () => {
        requireFuture(time, isPast);
        await move(isPast ? null : new Date(time).toISOString());
        say(isPast ? "It is being sent" : "Moved");
      }}
    >
      <TimeInput label="Send at" path="scheduledAt" required value={value} />
    </FormDialog>
  );
}
