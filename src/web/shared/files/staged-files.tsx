import { useRef } from "preact/hooks";
import { Drawing, FILE } from "../drawing.tsx";
import { sizeIn } from "./file-size.ts";
import type { FileStage, StageFault } from "./stage.ts";

/** What the stage says. `{name}` is a placeholder. */
export interface StageTexts {
  attach: string;
  attached: string;
  removeFile: string;
  tooManyFiles: string;
  tooLarge: string;
  noBytes: string;
}

const CLOSE = "M6 6l12 12M18 6 6 18";
const CLIP = "M20 11l-8 8a5 5 0 0 1-7-7l8-8a3 3 0 0 1 5 5l-8 8a1 1 0 0 1-3-3l7-7";

interface StagedProps {
  stage: FileStage;
  texts: StageTexts;
  locale?: string | undefined;
}

/** The files that go with the next message, each with a button that takes it away. */
export function StagedFiles({ stage, texts, locale }: StagedProps) {
  const { files, fault } = stage;
  return (
    <>
      {files.length > 0 && (
        <ul class="staged" aria-label={texts.attached}>
          {files.map((each) => (
            <li key={each.key}>
              {each.shown.kind === "picture" ? <img src={each.shown.url} alt="" /> : <Drawing path={FILE} />}
              <span>
                <bdi>{each.shown.name}</bdi>
                {each.trouble === null ? (
                  <span class="description">{sizeIn(locale, each.file.size)}</span>
                ) : (
                  <span class="excess" role="alert">
                    {each.trouble}
                  </span>
                )}
                {each.share !== null && <progress value={each.share} aria-label={each.shown.name} />}
              </span>
              <button
                type="button"
                class="plain"
                aria-label={texts.removeFile.replace("{name}", () => each.shown.name)}
                onClick={() => stage.remove(each)}
              >
                <Drawing path={CLOSE} />
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

/** A button that opens the browser's choice of files. @param onChosen is called after the choice */
export function AttachButton({ stage, texts, onChosen }: StagedProps & { onChosen: () => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="plain"
        aria-label={texts.attach}
        title={texts.attach}
        onClick={() => picker.current?.click()}
      >
        <Drawing path={CLIP} />
      </button>
      <input
        ref={picker}
        class="hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-hidden="true"
        onChange={({ currentTarget }) => {
          stage.add(currentTarget.files ?? []);
          // The same file can be chosen again.
          currentTarget.value = "";
          onChosen();
        }}
      />
    </>
  );
}

/** Stages the files that are pasted. A text is pasted as ever. */
export function pasteInto(stage: FileStage, event: ClipboardEvent): void {
  const files = event.clipboardData?.files;
  if (!files || files.length === 0) return;
  event.preventDefault();
  stage.add(files);
}

function faultText(fault: StageFault, texts: StageTexts): string {
  if (fault.kind === "tooMany") return texts.tooManyFiles;
  return (fault.kind === "tooLarge" ? texts.tooLarge : texts.noBytes).replace("{name}", () => fault.name);
}
