import { bucketOf, fileKey } from "../../../calls/file-bucket.ts";
import type { FetchedFile, FilesPort, OpenFile } from "../../../channels/network/adapter.ts";
import { openLink } from "../../../channels/network/open-link.ts";
import { ownHosts } from "../../../http/hosts.ts";
import type { QueuedMessage, Upload } from "../log/delivery-column.ts";
import type { DeliveryParts, NetworkChat } from "./network-chat.ts";

/** The files of a message for one attempt, and its upload, which is stored with the attempt. */
export class MessageFiles implements FilesPort {
  upload: Upload | undefined;
  readonly #chat: NetworkChat;
  readonly #repeated: string | undefined;

  constructor(chat: NetworkChat, { message, parts }: QueuedMessage) {
    this.upload = parts.upload;
    this.#chat = chat;
    this.#repeated = message.resendOf;
  }

  /** Without a bucket, the bytes are away. */
  async open(mediaId: string): Promise<OpenFile | "gone" | "away"> {
    const { identity, parts } = this.#chat;
    try {
      const bucket = bucketOf(parts.env, identity.chatId);
      return bucket ? ((await bucket.get(fileKey({ ...identity, mediaId }))) ?? "gone") : "away";
    } catch {
      return "away";
    }
  }

  openLink(link: string, signal: AbortSignal): Promise<FetchedFile | string> {
    return openLink(link, ownHosts(this.#parts.env), signal);
  }

  uploaded(id: string): { networkId: string; failedWith: string | null } | null {
    const original = this.upload ? null : this.#original();
    this.upload ??= original?.parts.upload;
    if (this.upload?.file !== id || this.upload.until <= this.#parts.clock.now()) return null;
    return { networkId: this.upload.id, failedWith: original?.message.error?.code ?? null };
  }

  keep(id: string, networkId: string, forMs: number): void {
    this.upload = { file: id, id: networkId, until: this.#parts.clock.now() + forMs };
  }

  get #parts(): DeliveryParts {
    return this.#chat.parts;
  }

  /** The message that this one repeats; null if it repeats none, or retention has deleted that one. */
  #original(): QueuedMessage | null {
    const placed = this.#repeated === undefined ? null : this.#parts.log.byId(this.#repeated);
    return placed && this.#parts.log.delivered(placed.seq);
  }
}
