import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Drawing } from "../drawing.tsx";

/** What one can react with in a tap. The networks take each of them. */
const REACTIONS = ["👍", "❤️", "😂", "😮", "😢", "🙏"] as const;

const SMILE = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM8.5 14.5c1.8 2 5.2 2 7 0M9 9.5v.5m6-.5v.5";
const REPLY = "M9 6 4 11l5 5M4 11h9a7 7 0 0 1 7 7";

/** The menu opens below a message that is nearer to the top of its list than this, in pixels. */
const ROOM_ABOVE = 104;

interface ActMenuProps {
  label: string;
  /** What the message says. */
  about: string;
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

/** A button beside a message that opens what one can do with it: six reactions, and a reply. */
export function ActMenu(props: ActMenuProps) {
  const { label, about, replyLabel, emoji: offered = REACTIONS, reaction, onReact, onReply } = props;
  const [place, setPlace] = useState<"above" | "below" | null>(null);
  const all = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);

  const close = () => {
    setPlace(null);
    opener.current?.focus();
  };

  useLayoutEffect(() => {
    const root = all.current;
    if (place === null || !root) return;
    if (!root.querySelector(".act-menu :focus")) {
      root
        .querySelector<HTMLElement>(".act-menu [aria-pressed=true], .act-menu button")
        ?.focus({ preventScroll: true });
    }
    const ended = new AbortController();
    const { signal } = ended;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        // It closes nothing else.
        event.stopPropagation();
        close();
      }
      const step = STEPS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      moveFocus(root, step);
    };
    const onLeave = (target: EventTarget | null) => {
      if (target instanceof Node && !root.contains(target)) setPlace(null);
    };
    root.addEventListener("keydown", onKey, { signal });
    root.addEventListener("focusout", ({ relatedTarget }) => onLeave(relatedTarget), { signal });
    document.addEventListener("pointerdown", ({ target }) => onLeave(target), { signal });
    return () => ended.abort();
    // Without a connection the reactions go, and the focus must not go with them.
  }, [place, onReact === null]);

  if (!onReact && !onReply) return null;
  const open = () => {
    const box = opener.current?.closest("[data-scroller]");
    const room = (opener.current?.getBoundingClientRect().top ?? 0) - (box?.getBoundingClientRect().top ?? 0);
    setPlace(room < ROOM_ABOVE ? "below" : "above");
  };
  return (
    <div class="acts">
      <div class="acts-row" ref={all}>
        <button
          type="button"
          class="acts-open"
          ref={opener}
          aria-label={`${label}: ${about}`}
          title={label}
          aria-expanded={place !== null}
          onClick={() => (place === null ? open() : close())}
        >
          <Drawing path={SMILE} />
        </button>
        {place !== null && (
          <fieldset class={`act-menu act-menu-${place}`}>
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
                      close();
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
                  setPlace(null);
                  onReply();
                }}
              >
                <Drawing path={REPLY} name="reply" />
                {replyLabel}
              </button>
            )}
          </fieldset>
        )}
      </div>
    </div>
  );
}

/** By how many buttons a key moves. */
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

function moveFocus(root: HTMLElement, step: number): void {
  const buttons = [...root.querySelectorAll<HTMLElement>(".act-menu button")];
  const isMirrored = getComputedStyle(root).direction === "rtl";
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  buttons.at((at + (isMirrored ? -step : step)) % buttons.length)?.focus();
}
