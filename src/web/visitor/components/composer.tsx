import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FileStage } from "../../shared/files/stage.ts";
import { AttachButton, pasteInto, StagedFiles } from "../../shared/files/staged-files.tsx";
import { useStage } from "../../shared/files/use-stage.ts";
import { Quote, type Quoted } from "../../shared/message/content.tsx";
import { MAX_LENGTH } from "../frames.ts";
import type { Texts } from "../locales/en.ts";
import type { TabStorage } from "../stored.ts";
import { fill } from "../texts.ts";
import { Icon } from "./icons.tsx";
import type { Actions } from "./words.ts";

/** As the service. */
const MAX_BYTES = 10 * 1_048_576;

interface ComposerProps {
  texts: Texts;
  locale: string;
  storage: TabStorage;
  /** Whether the visitor may send files. */
  canUpload: boolean;
  /** The message that the next one answers. */
  answered: { id: string; quoted: Quoted } | null;
  /** Takes the quote away. */
  onUnanswer: () => void;
  actions: Actions;
}

/** The text box and its button. A text that is too long is not cut off, and can't be sent. */
export function Composer(props: ComposerProps) {
  const { texts, locale, storage, canUpload, answered, onUnanswer, actions } = props;
  const [text, setText] = useState(() => storage.draft());
  const box = useRef<HTMLTextAreaElement>(null);
  const stage = useMemo(() => new FileStage(MAX_BYTES), []);
  const isOver = useStage(stage, canUpload);
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
    if ((content === "" && stage.files.length === 0) || excess > 0) return;
    if (stage.files.length > 0) actions.sendFiles(content, stage.take(), answered?.id);
    else actions.write(content, { replyTo: answered?.id });
    onUnanswer();
    change("");
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !answered || event.isComposing) return;
        // It closes nothing else.
        event.stopPropagation();
        onUnanswer();
        box.current?.focus();
      }}
    >
      {answered && (
        <div class="answered" id="answered">
          <Quote quoted={answered.quoted} texts={texts} />
          <button
            type="button"
            class="plain"
            aria-label={texts.cancelReply}
            onClick={() => {
              onUnanswer();
              box.current?.focus();
            }}
          >
            <Icon name="close" />
          </button>
        </div>
      )}
      <StagedFiles stage={stage} texts={texts} locale={locale} />
      <div class={isOver ? "field over" : "field"}>
        {canUpload && <AttachButton stage={stage} texts={texts} onChosen={() => box.current?.focus()} />}
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
          placeholder={isOver ? texts.dropHere : texts.placeholder}
          onPaste={(event) => canUpload && pasteInto(stage, event)}
          aria-describedby={`${answered ? "answered " : ""}${excess > 0 ? "excess " : ""}keys`}
          aria-invalid={excess > 0}
          value={text}
          onInput={(event) => {
            change(event.currentTarget.value);
            if (event.currentTarget.value !== "") actions.typing();
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
