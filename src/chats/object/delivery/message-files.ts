import type { FilesPort } from "../../../channels/network/adapter.ts";
import type { Media } from "../../../model/chat-answers.ts";
import type { OutboundFile } from "../../../model/file.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { Upload } from "./parts.ts";
import type { QueuedMessage } from "./row.ts";

/** Where the bytes of a chat's files are. */
export type FileStore = Pick<FilesPort, "open">;

/** The uploaded file that a message sends; null if it has none. */
export function fileOfMedia(media: Media | null): OutboundFile | null {
  if (!media || !("fileId" in media)) return null;
  const { fileId, ...info } = media;
  return { id: fileId, ...info };
}

/** The files of a message for one attempt, and its upload, which is stored with the attempt. */
export class MessageFiles implements FilesPort {
  upload: Upload | undefined;
  readonly #log: MessageLog;
  readonly #repeated: string | undefined;
  readonly #clock: Pick<Clock, "now">;
  readonly open: FileStore["open"];

  constructor(log: MessageLog, { message, parts }: QueuedMessage, store: FileStore, clock: Pick<Clock, "now">) {
    this.upload = parts.upload;
    this.#log = log;
    this.#repeated = message.resendOf;
    this.#clock = clock;
    this.open = (id) => store.open(id);
  }

  uploaded(id: string): { networkId: string; failedWith: string | null } | null {
    const original = this.upload ? null : this.#original();
    this.upload ??= original?.parts.upload;
    if (this.upload?.file !== id || this.upload.until <= this.#clock.now()) return null;
    return { networkId: this.upload.id, failedWith: original?.message.error?.code ?? null };
  }

  keep(id: string, networkId: string, forMs: number): void {
    this.upload = { file: id, id: networkId, until: this.#clock.now() + forMs };
  }

  /** The message that this one repeats; null if it repeats none, or retention has deleted that one. */
  #original(): QueuedMessage | null {
    const placed = this.#repeated === undefined ? null : this.#log.byId(this.#repeated);
    return placed && this.#log.delivered(placed.seq);
  }
}
