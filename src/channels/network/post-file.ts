import { MEDIA_AWAY, MEDIA_GONE, MEDIA_INTERRUPTED, type OutboundFile } from "../../model/file.ts";
import type { PartRefusal } from "../../model/network.ts";
import type { FilesPort, OpenFile } from "./adapter.ts";
import { type MultipartForm, multipartForm } from "./multipart.ts";
import { notAccepted, unanswered } from "./refusals.ts";

/** A form to post: its URL, its texts, and an uploaded file in `field`. */
export interface FilePost {
  url: string;
  headers?: Headers;
  fields: Record<string, string>;
  field: string;
  file: OutboundFile;
}

/**
 * Posts a form with a file; never throws. The outcome is `unknown` only if the whole form may have gone out. The text of
 * an error is never passed on, because it may contain the URL.
 * @param signal aborts at the attempt's deadline
 * @param read reads the network's response; never throws
 */
export async function postFile<T>(
  { url, headers = new Headers(), fields, field, file }: FilePost,
  files: Pick<FilesPort, "open">,
  signal: AbortSignal,
  read: (response: Response) => Promise<T>,
): Promise<T | PartRefusal> {
  const source = await openInTime(file.id, files, signal);
  if (source === "gone") return { outcome: "failed", code: MEDIA_GONE, message: "The file no longer exists" };
  if (source === "away") return notAccepted(MEDIA_AWAY, "The file can't be read now");
  const form = multipartForm(fields, { ...file, field }, source);
  headers.set("Content-Type", form.contentType);
  try {
    return await read(await fetch(url, { method: "POST", headers, body: form.body, redirect: "manual", signal }));
  } catch {
    return lost(form, signal);
  } finally {
    form.close();
  }
}

/** A storage that does not answer until the deadline is away. */
async function openInTime(
  id: string,
  files: Pick<FilesPort, "open">,
  signal: AbortSignal,
): Promise<OpenFile | "gone" | "away"> {
  const { promise: late, resolve } = Promise.withResolvers<"away">();
  const giveUp = () => resolve("away");
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  const opening = files.open(id);
  const opened = await Promise.race([opening, late]).finally(() => signal.removeEventListener("abort", giveUp));
  if (!signal.aborted) return opened;
  void opening.then((source) => (typeof source === "object" ? source.body.cancel() : undefined)).catch(() => {});
  return "away";
}

function lost(form: MultipartForm, signal: AbortSignal): PartRefusal {
  if (form.isComplete()) return unanswered(signal);
  return notAccepted(MEDIA_INTERRUPTED, "The attempt ended before the whole file was sent");
}
