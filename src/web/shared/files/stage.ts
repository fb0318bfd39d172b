import { randomToken } from "../random-token.ts";
import { fileKindOf, type ShownFile } from "./shown-file.ts";

/** A file that somebody has chosen and not sent. */
export interface StagedFile {
  /** The idempotency key of its upload. */
  key: string;
  file: File;
  /** `url`: where this page shows the file from. */
  shown: ShownFile & { url: string };
  /** The service's id of the file; null until it is uploaded. */
  mediaId: string | null;
  /** How much of it was sent, from 0 to 1; null before that. */
  share: number | null;
  /** Stops its upload. */
  stop: AbortController;
  /** Why it could not be sent, for the reader; null if nothing is wrong. */
  trouble: string | null;
}

/** Why files were not added. `name`: the first that is refused. */
export type StageFault = { kind: "tooMany" } | { kind: "tooLarge"; name: string } | { kind: "noBytes"; name: string };

const MAX_FILES = 10;

/** The files that go with the next message, in this page's memory alone. */
export class FileStage {
  files: readonly StagedFile[] = [];
  fault: StageFault | null = null;
  /** Called after each change. */
  onChange: () => void = () => {};
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(given: Iterable<File>): void {
    const all = [...given];
    const fitting = all.filter(({ size }) => size > 0 && size <= this.#maxBytes);
    const [refused] = all.filter((file) => !fitting.includes(file));
    const room = MAX_FILES - this.files.length;
    const fault = fitting.length > room ? ({ kind: "tooMany" } as const) : null;
    this.fault = refused ? { kind: refused.size === 0 ? "noBytes" : "tooLarge", name: refused.name } : fault;
    const added = fitting.slice(0, room).map(stagedFile);
    this.files = [...this.files, ...added];
    this.onChange();
    for (const { key, shown } of added) {
      if (shown.kind === "picture") {
        void sidesOf(shown.url).then((sides) => sides && this.update(key, { shown: { ...shown, ...sides } }));
      }
    }
  }

  file(key: string): StagedFile | null {
    return this.files.find((one) => one.key === key) ?? null;
  }

  update(key: string, change: Partial<StagedFile>): void {
    this.files = this.files.map((one) => (one.key === key ? { ...one, ...change } : one));
    this.onChange();
  }

  /** The file is not sent after all. */
  remove({ key, shown, stop }: StagedFile): void {
    stop.abort();
    URL.revokeObjectURL(shown.url);
    this.files = this.files.filter((one) => one.key !== key);
    this.fault = null;
    this.onChange();
  }

  /** A message with this file was sent. @returns the file, for the case that it is taken back */
  sent(mediaId: string): StagedFile | null {
    const found = this.files.find((one) => one.mediaId === mediaId) ?? null;
    this.files = this.files.filter((one) => one !== found);
    this.onChange();
    return found;
  }

  /** A file that was sent is no longer shown from here, unless it was taken back. */
  release({ key, shown }: StagedFile): void {
    if (!this.file(key)) URL.revokeObjectURL(shown.url);
  }

  /** Empties the stage, as its files are sent. */
  take(): readonly StagedFile[] {
    const { files } = this;
    this.files = [];
    this.fault = null;
    this.onChange();
    return files;
  }

  /** Puts files back that were sent and taken back. */
  putBack(files: readonly StagedFile[]): void {
    this.files = [...files, ...this.files];
    this.onChange();
  }
}

function stagedFile(file: File): StagedFile {
  const { name, size, type } = file;
  const url = URL.createObjectURL(file);
  const shown = { name: name || type, kind: fileKindOf(type), size, width: null, height: null, url };
  return { key: randomToken(), file, shown, mediaId: null, share: null, stop: new AbortController(), trouble: null };
}

/** The sides of a picture, as it is shown; null if the browser can't read it. */
async function sidesOf(url: string): Promise<{ width: number; height: number } | null> {
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
    return { width: image.naturalWidth, height: image.naturalHeight };
  } catch {
    return null;
  }
}
