import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename, extname } from "node:path";
import { CommandError, reasonOf } from "../command-error.ts";
import type { Service } from "./service.ts";

const MAX_BYTES = 16 * 1_024 * 1_024;
const OFFICE = "application/vnd.openxmlformats-officedocument";

/** Types that the first bytes don't tell. Of all other files they decide. */
const TYPES: Record<string, string> = {
  ".txt": "text/plain",
  ".csv": "text/csv",
  ".json": "application/json",
  ".ics": "text/calendar",
  ".vcf": "text/vcard",
  ".docx": `${OFFICE}.wordprocessingml.document`,
  ".xlsx": `${OFFICE}.spreadsheetml.sheet`,
  ".pptx": `${OFFICE}.presentationml.presentation`,
};

export interface LocalFile {
  bytes: Uint8Array;
  name: string;
  contentType: string;
}

/**
 * Reads a file that is to be sent.
 * @throws CommandError if there is none, it is empty, too large, or no file, if it changes while it is read, or if its
 *   name can't be shown safely
 */
export async function readUpload(path: string): Promise<LocalFile> {
  const name = basename(path);
  const shown = JSON.stringify(path);
  if (/[\\\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(name) || !name.isWellFormed()) {
    throw new CommandError(
      `The name of ${shown} has control characters or a backslash. Contacts see the name: rename the file.`,
    );
  }
  const refuse = (why: string) => new CommandError(`${shown} ${why}.`);
  // A pipe without a writer would wait forever.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((error: unknown) => {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw refuse(isMissing ? "does not exist" : `can't be read: ${reasonOf(error)}`);
  });
  try {
    const before = await file.stat();
    if (before.isDirectory()) throw refuse("is a folder. Send its files one by one, or as a ZIP file");
    if (!before.isFile()) throw refuse("is not a file");
    if (before.size === 0) throw refuse("is empty");
    if (before.size > MAX_BYTES) throw refuse("has more than 16 MiB, the most that a message can send");
    // One more, so that a file that grows is noticed.
    const bytes = Buffer.alloc(before.size + 1);
    let length = 0;
    for (let bytesRead = -1; bytesRead !== 0 && length < bytes.length; length += bytesRead) {
      ({ bytesRead } = await file.read(bytes, length));
    }
    const after = await file.stat();
    if (length !== before.size || after.mtimeMs !== before.mtimeMs) {
      throw refuse("changed while it was read. Try again when it is complete");
    }
    const contentType = TYPES[extname(name).toLowerCase()] ?? "application/octet-stream";
    return { bytes: bytes.subarray(0, length), name, contentType };
  } catch (error) {
    throw error instanceof CommandError ? error : refuse(`can't be read: ${reasonOf(error)}`);
  } finally {
    await file.close();
  }
}

/** Uploads a file. @returns its id. @throws ServiceFault, Unreachable */
export async function upload(service: Service, chat: string, file: LocalFile, key: string): Promise<string> {
  const { body } = await service.asClient("POST", `/chats/${chat}/media`, {
    query: { fileName: file.name },
    headers: { "Idempotency-Key": key, "Content-Type": file.contentType },
    bytes: file.bytes,
    optionOf: { fileName: "--file" },
  });
  return (body.media as { id: string }).id;
}
