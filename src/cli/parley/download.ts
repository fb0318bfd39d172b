import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, link, lstat, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type MediaDownload, mediaHeaders, mediaOf } from "../../client/media.ts";
import { CommandError, reasonOf } from "../command-error.ts";
import { type Service, ServiceFault, Unreachable } from "./service.ts";

const MAX_FAILURES = 5;
/** The network of a channel may be away for long. */
const MAX_REFUSALS = 2;
/** The most that the service asks to wait before the command gives up: a window of the rate limit. */
const MAX_WAIT_SECONDS = 60;

/** A file that can't be had whole, although the service answers. */
export class FileFault extends CommandError {}

interface MediaAddress {
  chat: string;
  message: string;
}

/** What is known of a file before its bytes come. */
type FileHead = Omit<MediaDownload, "body">;

/**
 * Downloads the file of a message, and continues where the connection was cut.
 * @param begin is called once, before the first bytes; it returns what writes them
 * @returns its number of bytes
 * @throws Unreachable if there was no response; FileFault if each was cut; ServiceFault
 */
export async function download(
  service: Service,
  { chat, message }: MediaAddress,
  begin: (file: FileHead) => Promise<(bytes: Uint8Array) => Promise<void>>,
): Promise<number> {
  let head: FileHead | undefined;
  let write: Awaited<ReturnType<typeof begin>> | undefined;
  let written = 0;
  for (let failures = 0; ; ) {
    try {
      const headers = mediaHeaders({ from: written, etag: head?.etag ?? null });
      const response = await service.stream(`/chats/${chat}/messages/${message}/media`, headers);
      const { body, ...file } = await mediaOf(response);
      head ??= file;
      write ??= await begin(head);
      // What can't be read in part comes again from the start, so what is there already is skipped.
      let at = file.offset;
      for await (const bytes of service.bytes(body)) {
        const fresh = bytes.subarray(Math.min(bytes.length, written - at));
        at += bytes.length;
        if (fresh.length === 0) continue;
        await write(fresh);
        written += fresh.length;
        failures = 0;
      }
      if (file.size === null || at >= file.size) return written;
      throw new Unreachable(service.connection.url, "the response was cut", "Try again.");
    } catch (error) {
      // Cut behind its last byte.
      if (error instanceof Unreachable && written > 0 && written === head?.size) return written;
      const wait = downloadWaitSeconds(error, ++failures);
      const isRefused = error instanceof ServiceFault && error.status >= 500;
      if (wait === null || wait > MAX_WAIT_SECONDS || failures > (isRefused ? MAX_REFUSALS : MAX_FAILURES)) {
        throw head && error instanceof Unreachable
          ? new FileFault("The connection broke during every download. Try again.")
          : error;
      }
      await delay(wait * 1_000);
    }
  }
}

/** How long to wait before the next try, in seconds; null if a retry can't help. */
export function downloadWaitSeconds(error: unknown, failures: number): number | null {
  if (error instanceof Unreachable) return failures;
  if (!(error instanceof ServiceFault) || (error.status !== 429 && error.status < 500)) return null;
  return error.retryAfter ?? failures;
}

/**
 * Downloads into a file, which appears only when it is whole. Nothing is overwritten unless `isForced`.
 * @param folder where it goes, and where it is until it is whole
 * @param nameOf its name in the folder, once the service has said what the file is
 * @throws Unreachable, ServiceFault; FileFault if it is not `size` bytes long; CommandError if it exists or can't be written
 */
export async function downloadTo(
  service: Service,
  address: MediaAddress,
  {
    folder,
    nameOf,
    isForced,
    size,
  }: {
    folder: string;
    nameOf: (file: FileHead) => string;
    isForced: boolean;
    size?: number | undefined;
  },
): Promise<{ path: string; size: number }> {
  const unfinished = join(folder, `.parley-${randomUUID()}`);
  let path = folder;
  let file: FileHandle | undefined;
  try {
    const written = await download(service, address, async (head) => {
      path = join(folder, nameOf(head));
      if (!isForced && (await lstat(path).catch(() => null))) throw exists(path);
      const opened = await open(unfinished, "wx");
      file = opened;
      return async (bytes) => {
        await opened.writeFile(bytes);
      };
    });
    await file?.close();
    if (size !== undefined && written !== size) {
      throw new FileFault(`The file of ${address.message} has ${written} bytes, but its message says ${size}.`);
    }
    if (isForced) await rename(unfinished, path);
    // Unlike a rename, this never replaces a file that appeared meanwhile.
    else await link(unfinished, path).catch((error: unknown) => copyIfUnlinkable(error, unfinished, path));
    return { path, size: written };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${JSON.stringify(path)} can't be written: ${reasonOf(error)}.`);
  } finally {
    await file?.close().catch(() => {});
    await rm(unfinished, { force: true });
  }
}

/** Some file systems have no links. */
async function copyIfUnlinkable(error: unknown, from: string, to: string): Promise<void> {
  if ((error as NodeJS.ErrnoException).code === "EEXIST") throw exists(to);
  await copyFile(from, to, constants.COPYFILE_EXCL);
}

function exists(path: string): CommandError {
  return new CommandError(
    `${JSON.stringify(path)} exists. Give another path with --out, or overwrite it with --force.`,
  );
}
