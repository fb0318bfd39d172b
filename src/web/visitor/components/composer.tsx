import { useEffect, useRef, useState } from "preact/hooks";
import { MAX_LENGTH } from "../frames.ts";
import type { Texts } from "../locales/en.ts";
import type { TabStorage } from "../stored.ts";
import { fill } from "../texts.ts";
import { Icon } from "./icons.tsx";

interface ComposerProps {
  texts: Texts;
  locale: string;
  storage: TabStorage;
  onSend: (text: string) => void;
  onTyping: () => void;
}

/** The text box and its button. A text that is too long is not cut off, and can't be sent. */
export function Composer({ texts, locale, storage, onSend, onTyping }: ComposerProps) {
  const [text, setText] = useState(() => storage.draft());
  const box = useRef<HTMLTextAreaElement>(null);
  const excess = text.trim().length - MAX_LENGTH;

  useEffect(() => {
    if (box.current) fitHeight(box.current);
  }, [text]);

  const change = (next: string) => {
    setText(next);
    storage.saveDraft(next);
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
          // The direction follows the text. Without text, it follows the page.
          dir={text === "" ? undefined : "auto"}
          enterkeyhint="send"
          autocomplete="off"
          placeholder={texts.placeholder}
          aria-describedby={excess > 0 ? "excess keys" : "keys"}
          aria-invalid={excess > 0}
          value={text}
          onInput={(event) => {
            change(event.currentTarget.value);
            if (event.currentTarget.value !== "") onTyping();
          }}
          onKeyDown={(event) => {
            // During composition, Enter confirms a word. Some browsers report it as key code 229.
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

/** Grows the box with its text in browsers without `field-sizing`. The style sheet limits the height. */
function fitHeight(box: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
