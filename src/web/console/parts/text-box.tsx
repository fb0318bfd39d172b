import type { ComponentChildren, JSX, RefObject, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { useFitHeight } from "../../shared/fit-height.ts";
import { plural } from "../format.ts";
import { takeKeys } from "../held-keys.ts";

type Attributes<Tag extends keyof JSX.IntrinsicElements> = JSX.IntrinsicElements[Tag];

interface TextBoxProps extends Attributes<"textarea"> {
  id: string;
  class?: string;
  value: string;
  box: RefObject<HTMLTextAreaElement | null>;
  /** Each time that it counts up, the text takes the keys, and those that `holdKeys` kept for it. */
  begins: number;
  /** Whether there is nothing to submit. */
  isEmpty: boolean;
  isBusy: boolean;
  onSubmit: () => void;
  /** Gets the keys that don't submit. */
  onKeyDown: (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => void;
  hint: string;
  hintClass?: string;
  /** Shown in place of the hint. */
  failure?: string;
  /** What stands below the text. @param submit attributes of the button that submits */
  bar: (hint: JSX.Element, submit: Attributes<"button">) => ComponentChildren;
  /** What stands above it: its label, at least. */
  children: ComponentChildren;
}

/** As the service. */
const MAX_LENGTH = 4_096;

/** The text box of a message or a note. A text that is too long is not cut off, and can't be submitted. */
export function TextBox(props: TextBoxProps) {
  const { class: look = "", box, begins, isEmpty, isBusy, onSubmit, onKeyDown, ...rest } = props;
  const { hint, hintClass = "", failure = "", bar, children, ...area } = rest;
  const { id, value } = area;
  const excess = value.trim().length - MAX_LENGTH;
  const trouble = excess > 0 ? `${plural(excess, "character")} too long` : failure;
  const disabled = isEmpty || excess > 0;
  const submit = (event: Event) => {
    event.preventDefault();
    if (!disabled && !isBusy) onSubmit();
  };
  useFitHeight(box, value);
  // Before the next key, which is the text's.
  useLayoutEffect(() => {
    const typed = begins > 0 ? takeKeys() : null;
    // If no keys wait for it, the person went on elsewhere before it was there.
    if (typed === null || !box.current) return;
    box.current.focus();
    if (typed === "") return;
    const { length } = box.current.value;
    box.current.setRangeText(typed, length, length, "end");
    box.current.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }, [begins]);
  return (
    <form class={`composer-box ${look}`} onSubmit={submit}>
      {children}
      <textarea
        {...area}
        ref={box}
        rows={2}
        dir={value === "" ? undefined : "auto"}
        aria-invalid={excess > 0}
        aria-describedby={`${id}-hint`}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
          else onKeyDown(event);
        }}
      />
      <div class="composer-bar">
        {bar(
          <span id={`${id}-hint`} class={`small ${hintClass} ${trouble ? "failed" : "wide-only"}`} role="status">
            {trouble || hint}
          </span>,
          { type: "submit", disabled, "aria-busy": isBusy },
        )}
      </div>
    </form>
  );
}
