import type { FilesPort, OutboundFile } from "../../../channels/files.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Media } from "../../rpc.ts";
import type { DeliveryLog } from "./delivery-log.ts";
import type { Upload } from "./parts.ts";
import type { QueuedMessage } from "./row.ts";

/** Where the bytes of a chat's files are. */
export type FileStore = Pick<FilesPort, "open">;

/** The file that a message sends; null if it has none of ours. */
export function fileOfMedia(media: Media | null): OutboundFile | null {
  if (!media || !("fileId" in media)) return null;
  const { fileId, ...info } = media;
  return { id: fileId, ...info };
}

/** The files of a message for one attempt, and its upload, which is stored with the attempt. */
export class MessageFiles implements FilesPort {
  upload: Upload | undefined;
  readonly #failedWith: string | null;
  readonly #clock: Pick<Clock, "now">;
  readonly open: FileStore["open"];

  constructor(log: DeliveryLog, { message, parts }: QueuedMessage, store: FileStore, clock: Pick<Clock, "now">) {
    const repeated = parts.upload || message.resendOf === undefined ? null : log.messages.byId(message.resendOf);
    const original = repeated && log.delivered(repeated.seq);
    this.upload = parts.upload ?? original?.parts.upload;
    this.#failedWith = original?.message.error?.code ?? null;
    this.#clock = clock;
    this.open = (id) => store.open(id);
  }

  uploaded(id: string): { networkId: string; failedWith: string | null } | null {
    if (this.upload?.file !== id || this.upload.until <= this.#clock.now()) return null;
    return { networkId: this.upload.id, failedWith: this.#failedWith };
  }

  keep(id: string, networkId: string, forMs: number): void {
    this.upload = { file: id, id: networkId, until: this.#clock.now() + forMs };
  }
}
