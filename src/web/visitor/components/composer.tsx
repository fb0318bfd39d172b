import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { MAX_CONTENT } from "../frames.ts";
import type { Texts } from "../locales/en.ts";
import type { Kept } from "../stored.ts";
import { fill } from "../texts.ts";
import { Icon } from "./icons.tsx";

interface ComposerProps {
  texts: Texts;
  locale: string;
  kept: Kept;
  onSend: (text: string) => void;
}

/** The box and its button. A text that is too long stays where it is: nothing that was typed or pasted is cut off. */
export function Composer({ texts, locale, kept, onSend }: ComposerProps): JSX.Element {
  const [text, setText] = useState(() => kept.draft());
  const box = useRef<HTMLTextAreaElement>(null);
  const excess = text.trim().length - MAX_CONTENT;

  useEffect(() => {
    if (box.current) fitHeight(box.current);
  }, [text]);

  const change = (next: string) => {
    setText(next);
    kept.keepDraft(next);
  };

  const send = () => {
    box.current?.focus();
    const content = text.trim();
    if (content === "" || excess > 0) return;
    onSend(content);
    change("");
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div class="field">
        <label class="hidden" for="message">
          {texts.message}
        </label>
        <textarea
          id="message"
          ref={box}
          rows={1}
          // What is typed goes its own way; the placeholder goes the page's.
          dir={text === "" ? undefined : "auto"}
          enterkeyhint="send"
          autocomplete="off"
          placeholder={texts.placeholder}
          aria-describedby={excess > 0 ? "excess keys" : "keys"}
          aria-invalid={excess > 0}
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={(event) => {
            // An input method takes Enter to mean "this word"; 229 is how some browsers say so.
            if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
            event.preventDefault();
            send();
          }}
        />
        <button type="submit" class="send" aria-label={texts.send} title={texts.send}>
          <Icon name="send" />
        </button>
      </div>
      <p id="excess" class={excess > 0 ? "excess" : "hidden"} role="status">
        {excess > 0 && fill(texts.tooLong, { count: excess.toLocaleString(locale) })}
      </p>
      <p id="keys" class="hidden">
        {texts.keys}
      </p>
    </form>
  );
}

/** The box grows with its text; where CSS can't do it by itself. The style sheet caps it. */
function fitHeight(box: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
