import { useLayoutEffect, useRef } from "preact/hooks";
import { Drawing } from "../drawing.tsx";

/** What one can react with in a tap. The networks take each of them. */
const REACTIONS = ["👍", "❤️", "😂", "😮", "😢", "🙏"] as const;

const REPLY = "M9 6 4 11l5 5M4 11h9a7 7 0 0 1 7 7";

/** It opens below a message that is nearer to the top of its list than this, in pixels. */
const ROOM_ABOVE = 104;

/** What one can do with a message. */
export interface MessageActs {
  label: string;
  replyLabel: string;
  /** Without them, `REACTIONS`. */
  emoji?: readonly string[] | undefined;
  /** The reader's reaction to the message. */
  reaction: string | null;
  /** Null if the reader can't react now. */
  onReact: ((emoji: string | null) => void) | null;
  /** Null if the reader can't reply. */
  onReply: (() => void) | null;
}

interface PopupProps extends MessageActs {
  /** @param isDone whether the focus returns to the button */
  onClose: (isDone: boolean) => void;
}

/** Six reactions, and a reply. */
export function ActPopup(props: PopupProps) {
  const { label, replyLabel, emoji: offered = REACTIONS, reaction, onReact, onReply, onClose } = props;
  const popup = useRef<HTMLFieldSetElement>(null);

  useLayoutEffect(() => {
    const element = popup.current;
    const root = element?.parentElement;
    if (!element || !root) return;
    const top = root.getBoundingClientRect().top - (root.closest("[data-scroller]")?.getBoundingClientRect().top ?? 0);
    element.classList.add(top < ROOM_ABOVE ? "act-menu-below" : "act-menu-above");
    if (!element.querySelector(":focus")) {
      element.querySelector<HTMLElement>("[aria-pressed=true], button")?.focus({ preventScroll: true });
    }
    const ended = new AbortController();
    const { signal } = ended;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        // It closes nothing else.
        event.stopPropagation();
        onClose(true);
      }
      const step = STEPS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      moveFocus(element, step);
    };
    const onLeave = (target: EventTarget | null) => {
      if (target instanceof Node && !root.contains(target)) onClose(false);
    };
    root.addEventListener("keydown", onKey, { signal });
    root.addEventListener("focusout", ({ relatedTarget }) => onLeave(relatedTarget), { signal });
    document.addEventListener("pointerdown", ({ target }) => onLeave(target), { signal });
    return () => ended.abort();
    // Without a connection the reactions go, and the focus must not go with them.
  }, [onReact === null]);

  return (
    <fieldset class="act-menu" ref={popup}>
      <legend class="hidden">{label}</legend>
      {onReact && (
        <div class="act-menu-emoji">
          {offered.map((emoji) => (
            <button
              key={emoji}
              type="button"
              aria-pressed={emoji === reaction}
              onClick={() => {
                onReact(emoji === reaction ? null : emoji);
                onClose(true);
              }}
            >
              {emoji}
            </button>
          ))}
        </div>
      )}
      {onReply && (
        <button
          type="button"
          class="act-menu-reply"
          onClick={() => {
            onClose(false);
            onReply();
          }}
        >
          <Drawing path={REPLY} name="reply" />
          {replyLabel}
        </button>
      )}
    </fieldset>
  );
}

/** By how many buttons a key moves. */
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

function moveFocus(popup: HTMLElement, step: number): void {
  const buttons = [...popup.querySelectorAll<HTMLElement>("button")];
  const isMirrored = getComputedStyle(popup).direction === "rtl";
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  buttons.at((at + (isMirrored ? -step : step)) % buttons.length)?.focus();
}
