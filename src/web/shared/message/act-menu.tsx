import { useRef, useState } from "preact/hooks";
import { Drawing } from "../drawing.tsx";
import { fetchLater } from "../fetch-later.ts";
import type { MessageActs } from "./act-popup.tsx";

const SMILE = "M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18ZM8.5 14.5c1.8 2 5.2 2 7 0M9 9.5v.5m6-.5v.5";

type Popup = typeof import("./act-popup.tsx").ActPopup;

/** How many characters of a message name it in the label of a button. */
const MAX_ABOUT = 80;

interface ActMenuProps extends MessageActs {
  /** What the message says. */
  about: string;
}

/** A button beside a message that opens what one can do with it. That is fetched when the button is first pointed at. */
export function ActMenu({ about, ...acts }: ActMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const [Popup, setPopup] = useState<Popup | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  if (!acts.onReact && !acts.onReply) return null;
  const fetchPopup = () => {
    if (!Popup) {
      void fetchLater().then(
        (later) => setPopup(() => later.ActPopup),
        // Without a connection it can't come. The next click tries again.
        () => setOpen(false),
      );
    }
  };
  return (
    <div class="acts">
      <div class="acts-row">
        <button
          type="button"
          class="acts-open"
          ref={opener}
          aria-label={`${acts.label}: ${about.slice(0, MAX_ABOUT)}`}
          title={acts.label}
          aria-expanded={isOpen}
          onPointerEnter={fetchPopup}
          onFocus={fetchPopup}
          onClick={() => {
            fetchPopup();
            setOpen(!isOpen);
          }}
        >
          <Drawing path={SMILE} />
        </button>
        {isOpen && Popup && (
          <Popup
            {...acts}
            onClose={(isDone) => {
              setOpen(false);
              if (isDone) opener.current?.focus();
            }}
          />
        )}
      </div>
    </div>
  );
}
