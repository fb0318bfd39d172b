import { useEffect } from "preact/hooks";
import { FileStage } from "../../shared/files/stage.ts";
import { AttachButton, pasteInto, StagedFiles } from "../../shared/files/staged-files.tsx";
import { useStage } from "../../shared/files/use-stage.ts";
import type { Texts } from "../locales/en.ts";

/** As the service. */
const MAX_BYTES = 10 * 1_048_576;

interface StagedProps {
  texts: Texts;
  locale: string;
  /** Whether files are taken. */
  isOn: boolean;
  /** Gets whether files are being dragged over the page. */
  onOver: (isOver: boolean) => void;
}

/** The files in the composer, and its parts for them. They are fetched where visitors may send files. */
export function composerFiles() {
  const stage = new FileStage(MAX_BYTES);

  function Staged({ texts, locale, isOn, onOver }: StagedProps) {
    const isOver = useStage(stage, isOn);
    useEffect(() => onOver(isOver), [isOver]);
    return <StagedFiles stage={stage} texts={texts} locale={locale} />;
  }

  function Attach({ texts, onChosen }: { texts: Texts; onChosen: () => void }) {
    return <AttachButton stage={stage} texts={texts} onChosen={onChosen} />;
  }

  return { stage, Staged, Attach, paste: (event: ClipboardEvent) => pasteInto(stage, event) };
}
