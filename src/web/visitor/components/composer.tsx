import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { sizeIn } from "../../shared/file-size.ts";
import { MAX_LENGTH } from "../frames.ts";
import type { Texts } from "../locales/en.ts";
import type { TabStorage } from "../stored.ts";
import { fill } from "../texts.ts";
import { Icon } from "./icons.tsx";
import { type StageFault, useStaged } from "./use-staged.ts";
import type { Actions } from "./words.ts";

/** A message that the visitor answers. */
export interface RepliedTo {
  id: string;
  text: string;
  writer: string;
}

interface ComposerProps {
  texts: Texts;
  locale: string;
  storage: TabStorage;
  /** Whether the visitor may send files. */
  canUpload: boolean;
  /** The message that the next one answers. */
  answered: RepliedTo | null;
  onAnswer: (answered: RepliedTo | null) => void;
  actions: Actions;
}

/** The text box and its button. A text that is too long is not cut off, and can't be sent. */
export function Composer(props: ComposerProps) {
  const { texts, locale, storage, canUpload, answered, onAnswer, actions } = props;
  const [text, setText] = useState(() => storage.draft());
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const staged = useStaged(canUpload);
  const excess = text.trim().length - MAX_LENGTH;

  useEffect(() => {
    if (box.current) fitHeight(box.current);
  }, [text]);

  useLayoutEffect(() => {
    if (answered) box.current?.focus();
  }, [answered]);

  const change = (next: string) => {
    setText(next);
    storage.saveDraft(next);
  };

  const send = () => {
    box.current?.focus();
    const content = text.trim();
    if ((content === "" && staged.files.length === 0) || excess > 0) return;
    if (staged.files.length > 0) actions.sendFiles(content, staged.take(), answered?.id);
    else actions.write(content, { replyTo: answered?.id });
    onAnswer(null);
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
      {answered && (
        <div class="answered">
          <p class="quote">
            <span class="answered-name">{fill(texts.replyingTo, { name: answered.writer })}</span>
            <bdi>{answered.text}</bdi>
          </p>
          <button type="button" class="plain" aria-label={texts.cancelReply} onClick={() => onAnswer(null)}>
            <Icon name="close" />
          </button>
        </div>
      )}
      <StagedFiles staged={staged} texts={texts} locale={locale} />
      <div class={staged.isOver ? "field over" : "field"}>
        {canUpload && (
          <>
            <button
              type="button"
              class="plain"
              aria-label={texts.attach}
              title={texts.attach}
              onClick={() => picker.current?.click()}
            >
              <Icon name="attach" />
            </button>
            <input
              ref={picker}
              class="hidden"
              type="file"
              multiple
              tabIndex={-1}
              aria-hidden="true"
              onChange={({ currentTarget }) => {
                staged.add(currentTarget.files ?? []);
                // The same file can be chosen again.
                currentTarget.value = "";
                box.current?.focus();
              }}
            />
          </>
        )}
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
          placeholder={staged.isOver ? texts.dropHere : texts.placeholder}
          onPaste={(event) => {
            const files = event.clipboardData?.files;
            if (!canUpload || !files || files.length === 0) return;
            event.preventDefault();
            staged.add(files);
          }}
          aria-describedby={excess > 0 ? "excess keys" : "keys"}
          aria-invalid={excess > 0}
          value={text}
          onInput={(event) => {
            change(event.currentTarget.value);
            if (event.currentTarget.value !== "") actions.typing();
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape" && answered && !event.isComposing) {
              // It closes nothing else.
              event.stopPropagation();
              onAnswer(null);
            }
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

interface StagedProps {
  staged: ReturnType<typeof useStaged>;
  texts: Texts;
  locale: string;
}

/** The files that go with the next message, each with a button that takes it away. */
function StagedFiles({ staged, texts, locale }: StagedProps) {
  const { files, fault, remove } = staged;
  return (
    <>
      {files.length > 0 && (
        <ul class="staged" aria-label={texts.attached}>
          {files.map((each) => (
            <li key={each.shown.url}>
              {each.shown.kind === "picture" ? <img src={each.shown.url} alt="" /> : <Icon name="file" />}
              <span>
                <bdi>{each.shown.name}</bdi>
                <span class="description">{sizeIn(locale, each.file.size)}</span>
              </span>
              <button
                type="button"
                class="plain"
                aria-label={fill(texts.removeFile, { name: each.shown.name })}
                onClick={() => remove(each)}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class={fault ? "excess" : "hidden"} role="status">
        {fault && faultText(fault, texts)}
      </p>
    </>
  );
}

function faultText(fault: StageFault, texts: Texts): string {
  if (fault.kind === "tooMany") return texts.tooManyFiles;
  return fill(fault.kind === "tooLarge" ? texts.tooLarge : texts.noBytes, { name: fault.name });
}

/** Grows the box with its text in browsers without `field-sizing`. The style sheet limits the height. */
function fitHeight(box: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
