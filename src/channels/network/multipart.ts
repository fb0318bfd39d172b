import { sentNameOf } from "../../model/file.ts";
import type { OpenFile } from "./adapter.ts";

/** A form on its way out. `contentType` belongs into the request's headers; the runtime adds the length. */
export interface MultipartForm {
  contentType: string;
  body: ReadableStream<Uint8Array>;
  /** Whether the end of the form may have gone out. If not, nobody can have got the whole file. */
  isComplete(): boolean;
  /** Releases the file. Call it when the request is over. */
  close(): void;
}

/** One file of a form: the name of its field, its own name and its type. */
export interface FormFile {
  field: string;
  fileName: string | null;
  contentType: string;
}

/**
 * A form with one file as its last field. The file passes through: no more than a chunk of it is in memory. The length is
 * known, because networks refuse a form without one.
 * @see RFC 7578
 */
export function multipartForm(fields: Record<string, string>, file: FormFile, source: OpenFile): MultipartForm {
  const boundary = `parley-${crypto.randomUUID()}`;
  const { head, tail } = frameOf(boundary, fields, file);
  const { readable, writable } = new FixedLengthStream(head.byteLength + source.size + tail.byteLength);
  const stop = new AbortController();
  let isComplete = false;
  const write = async (bytes: Uint8Array, isLast: boolean) => {
    const writer = writable.getWriter();
    await writer.write(bytes);
    if (isLast) await writer.close();
    writer.releaseLock();
  };
  const pump = async () => {
    await write(head, false);
    await source.body.pipeTo(writable, { preventClose: true, signal: stop.signal });
    isComplete = true;
    await write(tail, true);
  };
  // The request fails with its body; what is left of the file is let go.
  void pump()
    .catch(() => source.body.cancel())
    .catch(() => {});
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: readable,
    isComplete: () => isComplete,
    close() {
      stop.abort();
      void readable.cancel().catch(() => {});
    },
  };
}

/** The bytes before the file and after it. */
export function frameOf(boundary: string, fields: Record<string, string>, file: FormFile) {
  const encoder = new TextEncoder();
  const own = Object.entries(fields).map(([name, value]) => `${start(boundary, name)}\r\n\r\n${value}\r\n`);
  const name = quotable(sentNameOf(file));
  const begin = `${start(boundary, file.field)}; filename="${name}"\r\nContent-Type: ${file.contentType}\r\n\r\n`;
  return { head: encoder.encode(own.join("") + begin), tail: encoder.encode(`\r\n--${boundary}--\r\n`) };
}

function start(boundary: string, name: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`;
}

/**
 * A name that every server reads alike. Browsers escape a quote as `%22`, RFC 7578 with a backslash, and the server of the
 * Bot API knows neither and ends a value at each semicolon. So these characters are replaced by some that look like them.
 */
function quotable(name: string): string {
  return name
    .toWellFormed()
    .replaceAll('"', "'")
    .replaceAll(";", ",")
    .replace(/[\\\p{Cc}]/gu, "_");
}
