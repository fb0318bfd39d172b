import { useEffect, useRef, useState } from "preact/hooks";
import { fetchPart } from "../../shared/fetch-part.ts";
import { useFitHeight } from "../../shared/fit-height.ts";
import { Quote, type Quoted } from "../../shared/message/content.tsx";
import { MAX_LENGTH } from "../frames.ts";
import type { Texts } from "../locales/en.ts";
import type { ChatSession } from "../session.ts";
import type { TabStorage } from "../stored.ts";
import { fill } from "../texts.ts";
import type { composerFiles } from "./composer-files.tsx";
import { Icon } from "./icons.tsx";

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
  session: ChatSession;
}

/** The text box and its button. A text that is too long is not cut off, and can't be sent. */
export function Composer(props: ComposerProps) {
  const { texts, locale, storage, canUpload, answered, onUnanswer, session } = props;
  const [text, setText] = useState(() => storage.draft());
  const box = useRef<HTMLTextAreaElement>(null);
  const files = useFiles(canUpload);
  const [isOver, setOver] = useState(false);
  const excess = text.trim().length - MAX_LENGTH;

  useFitHeight(box, text);

  const change = (next: string) => {
    setText(next);
    storage.saveDraft(next);
  };

  const send = () => {
    box.current?.focus();
    const content = text.trim();
    const hasFiles = files !== null && files.stage.files.length > 0;
    if ((content === "" && !hasFiles) || excess > 0) return;
    if (hasFiles) session.sendFiles(content, files.stage.take(), answered?.id);
    else session.write(content, { replyTo: answered?.id });
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
      {files && <files.Staged texts={texts} locale={locale} isOn={canUpload} onOver={setOver} />}
      <div class={isOver ? "field over" : "field"}>
        {canUpload &&
          (files ? <files.Attach texts={texts} onChosen={() => box.current?.focus()} /> : <span class="plain" />)}
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
          onPaste={(event) => canUpload && files?.paste(event)}
          aria-describedby={`${answered ? "answered " : ""}${excess > 0 ? "excess " : ""}keys`}
          aria-invalid={excess > 0}
          value={text}
          onInput={(event) => {
            change(event.currentTarget.value);
            if (event.currentTarget.value !== "") session.typing();
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

/** What the composer needs for files. It is fetched when the visitor may send some, and its button has room before. */
function useFiles(isWanted: boolean): ReturnType<typeof composerFiles> | null {
  const [files, setFiles] = useState<ReturnType<typeof composerFiles> | null>(null);
  useEffect(() => {
    const show = (found: typeof import("./composer-files.tsx")) => setFiles(found.composerFiles());
    if (isWanted && !files)
      void fetchPart(/\/composer-files-/, () => import("./composer-files.tsx")).then(show, () => {});
  }, [isWanted]);
  return files;
}
