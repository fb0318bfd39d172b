import { useEffect, useState } from "preact/hooks";
import { fileKindOf } from "../../shared/message/extras.ts";
import type { StagedFile } from "../session.ts";

const MAX_FILES = 10;
/** As the service. */
const MAX_BYTES = 10 * 1_048_576;

/** Why files were not added. `name`: the first that is too large. */
export type StageFault = { kind: "tooMany" } | { kind: "tooLarge"; name: string } | { kind: "noBytes"; name: string };

interface Staged {
  files: readonly StagedFile[];
  fault: StageFault | null;
  /** Whether files are being dragged over the page. */
  isOver: boolean;
  add: (files: Iterable<File>) => void;
  remove: (file: StagedFile) => void;
  /** Empties the list, as its files are sent. */
  take: () => readonly StagedFile[];
}

/** The files that the visitor has chosen, dropped or pasted, and not sent yet. @param isOn whether files are taken */
export function useStaged(isOn: boolean): Staged {
  const [files, setFiles] = useState<readonly StagedFile[]>([]);
  const [fault, setFault] = useState<StageFault | null>(null);
  const [isOver, setOver] = useState(false);

  const add = (given: Iterable<File>) => {
    const all = [...given];
    const fitting = all.filter(({ size }) => size > 0 && size <= MAX_BYTES);
    const [refused] = all.filter((file) => !fitting.includes(file));
    const room = MAX_FILES - files.length;
    setFault(
      refused
        ? { kind: refused.size === 0 ? "noBytes" : "tooLarge", name: refused.name }
        : fitting.length > room
          ? { kind: "tooMany" }
          : null,
    );
    const added = fitting.slice(0, room).map(stagedFile);
    setFiles((before) => [...before, ...added]);
    for (const each of added) {
      void sidesOf(each).then((sides) => {
        if (!sides) return;
        const shown = { ...each.shown, ...sides };
        setFiles((now) => now.map((one) => (one.file === each.file ? { ...one, shown } : one)));
      });
    }
  };

  useEffect(() => {
    if (!isOn) return;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      // Without that, the browser opens the file in place of the chat.
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      if (event.dataTransfer) add(event.dataTransfer.files);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  });

  return {
    files,
    fault,
    isOver,
    add,
    remove: (file) => {
      URL.revokeObjectURL(file.shown.url);
      setFiles((before) => before.filter((each) => each.file !== file.file));
      setFault(null);
    },
    take: () => {
      setFiles([]);
      setFault(null);
      return files;
    },
  };
}

function stagedFile(file: File): StagedFile {
  const { name, size, type } = file;
  const url = URL.createObjectURL(file);
  return { file, shown: { name: name || type, kind: fileKindOf(type), size, width: null, height: null, url } };
}

/** The sides of a picture, as it is shown; null if the browser can't read it. */
async function sidesOf({ shown }: StagedFile): Promise<{ width: number; height: number } | null> {
  if (shown.kind !== "picture") return null;
  const image = new Image();
  image.src = shown.url;
  try {
    await image.decode();
    return { width: image.naturalWidth, height: image.naturalHeight };
  } catch {
    return null;
  }
}
