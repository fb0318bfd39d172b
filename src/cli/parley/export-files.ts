import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, reasonOf } from "../command-error.ts";
import { downloadTo, FileFault } from "./download.ts";
import { safeFileName } from "./file-name.ts";
import type { Output } from "./output.ts";
import { type Service, ServiceFault } from "./service.ts";
import { printable } from "./table.ts";

interface ExportedLine {
  type: string;
  message?: {
    id: string;
    chatId: string;
    mediaUrl: string | null;
    media?: { contentType?: string | null; size?: number; fileName?: string | null };
  };
}

/** The files of an export, in a folder of their own: `<chat>/<message>-<name>`. What is there already is not asked for. */
export class ExportedFiles {
  readonly #service: Service;
  readonly #folder: string;
  readonly #out: Output;
  #gone = 0;
  #failed = 0;

  constructor(service: Service, folder: string, out: Output) {
    // The operator's token has no way to a file.
    service.requireApiKey();
    this.#service = service;
    this.#folder = folder;
    this.#out = out;
  }

  /** Downloads the file of a line, if it has one. One that is gone or fails is noted. @throws what stops the export */
  async take(line: string): Promise<void> {
    if (!line.startsWith('{"type":"message"')) return;
    const { message } = JSON.parse(line) as ExportedLine;
    if (!message || !isOurs(message)) return;
    const { id, chatId, media = {} } = message;
    const folder = join(this.#folder, chatId);
    const name = safeFileName(media.fileName ?? null, "file", media.contentType ?? null);
    const target = { folder, nameOf: () => `${id}-${name}`, isForced: true, size: media.size };
    const kept = await stat(join(folder, `${id}-${name}`)).catch(() => null);
    if (kept?.isFile() && (media.size === undefined || kept.size === media.size)) return;
    await mkdir(folder, { recursive: true }).catch((error: unknown) => {
      throw new CommandError(`${JSON.stringify(folder)} can't be made: ${reasonOf(error)}.`);
    });
    try {
      await downloadTo(this.#service, { chat: chatId, message: id }, target);
    } catch (error) {
      this.#note(error, `${chatId} ${id}`);
    }
  }

  /** Tells what is missing. @returns the exit code */
  end(): number {
    if (this.#gone > 0) this.#out.note(`${this.#gone} files are gone.`);
    if (this.#failed === 0) return 0;
    this.#out.note(
      `${this.#failed} files are missing. Run the command again without --after: it downloads only those.`,
    );
    return 1;
  }

  #note(error: unknown, what: string): void {
    const isMissing = error instanceof ServiceFault && error.status === 404;
    if (isMissing) {
      this.#gone++;
      this.#out.note(`The file of ${printable(what)} is gone (${printable(error.code ?? "not_found")}).`);
      return;
    }
    const isOfThisFile = error instanceof FileFault || (error instanceof ServiceFault && error.status >= 500);
    if (!isOfThisFile) throw error;
    this.#failed++;
    this.#out.note(`The file of ${printable(what)} can't be downloaded: ${error.message}`);
  }
}

/** Whether the service has a file of the message, or its network. A link of the sender's own is only exported. */
function isOurs({ id, chatId, mediaUrl }: NonNullable<ExportedLine["message"]>): boolean {
  if (!/^cht_\w{1,60}$/.test(chatId) || !/^msg_\w{1,60}$/.test(id)) return false;
  return mediaUrl?.endsWith(`/api/v1/chats/${chatId}/messages/${id}/media`) ?? false;
}
