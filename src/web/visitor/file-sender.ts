import { repeatUpload, type Trouble, type UploadFile } from "../shared/files/repeat-upload.ts";

interface Host {
  upload: UploadFile;
  /** Whether there is a connection. Without one, an upload waits for the next. */
  isOnline: () => boolean;
  /** @param upload `share` is how much of it was sent, from 0 to 1 */
  onProgress: (upload: { id: string; name: string; share: number }) => void;
  onStored: (id: string, mediaId: string) => void;
  onTrouble: (id: string, trouble: Trouble) => void;
}

const LOST: Trouble = { code: "upload_failed", message: "", retryAfter: null };
const GONE: Trouble = { code: "file_gone", message: "", retryAfter: null };

/** The files of the visitor's unsent messages, which are in this page's memory alone, and the upload of one at a time. */
export class FileSender {
  readonly #host: Host;
  readonly #files = new Map<string, File>();
  #running: { id: string; stop: AbortController } | null = null;

  constructor(host: Host) {
    this.#host = host;
  }

  /** @param id the message's */
  keep(id: string, file: File): void {
    this.#files.set(id, file);
  }

  /** The message is stored, or the visitor takes it back. */
  forget(id: string): void {
    this.#files.delete(id);
    if (this.#running?.id !== id) return;
    this.#running.stop.abort();
    this.#running = null;
  }

  /** Uploads a message's file, if that is not under way. Tries again if the answer is lost. */
  async start(id: string): Promise<void> {
    if (this.#running?.id === id) return;
    const { upload, isOnline, onProgress, onStored, onTrouble } = this.#host;
    const file = this.#files.get(id);
    if (!file) return onTrouble(id, GONE);
    const stop = new AbortController();
    this.#running = { id, stop };
    const tell = (share: number) => onProgress({ id, name: file.name, share });
    const call = { file, key: id, signal: stop.signal, onProgress: tell };
    const answer = await repeatUpload(upload, call, isOnline);
    if (answer === null) return;
    this.#running = null;
    if (answer.outcome === "stored") {
      tell(1);
      onStored(id, answer.mediaId);
    } else if (answer.outcome === "refused") onTrouble(id, answer.trouble);
    else if (isOnline()) onTrouble(id, LOST);
  }
}
