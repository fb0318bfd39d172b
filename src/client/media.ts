import { ParleyError, responseError } from "./error.ts";

/** A file to upload. A stream is read into memory first, so that a repeated upload can send it again. */
export type FileLike = Blob | Uint8Array | ReadableStream<Uint8Array>;

export interface MediaOptions {
  /** Continues a download that was cut: how many bytes are there already. */
  from?: number;
  /** The `etag` of the download that was cut. If the file is another one, all of it comes. */
  etag?: string | null;
  signal?: AbortSignal;
}

/** The file of a message. */
export interface MediaDownload {
  contentType: string;
  /** The sender's own words: choose where to write it yourself. Null if the file has no name. */
  fileName: string | null;
  /** The bytes of the whole file; null if the network does not say. */
  size: number | null;
  /** Where `body` begins: `from`, or 0 if all of the file comes. */
  offset: number;
  /** Null if the file can't be read in part. */
  etag: string | null;
  body: ReadableStream<Uint8Array>;
}

/** The service takes no larger file. */
const MAX_BYTES = 16 * 1_024 * 1_024;

/** The bytes of a file, with a length that is known. @throws ParleyError `body_too_large` */
export async function blobOf(file: FileLike): Promise<Blob> {
  if (file instanceof Blob) return file;
  if (file instanceof Uint8Array) return new Blob([file as Uint8Array<ArrayBuffer>]);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (const reader = file.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(chunks);
    size += value.byteLength;
    chunks.push(value as Uint8Array<ArrayBuffer>);
    if (size <= MAX_BYTES) continue;
    await reader.cancel().catch(() => {});
    throw new ParleyError("The file has more than 16 MiB", { status: null, code: "body_too_large" });
  }
}

/** What to ask `/media` for. Compressed, the file would have another length. */
export function mediaHeaders({ from = 0, etag }: MediaOptions): Record<string, string> {
  const range = from > 0 ? { Range: `bytes=${from}-`, ...(etag && { "If-Range": etag }) } : {};
  return { "Accept-Encoding": "identity", ...range };
}

/** The download that a response of `/media` is. @throws ParleyError */
export async function mediaOf(response: Response): Promise<MediaDownload> {
  const { ok, status, headers, body } = response;
  if (status === 416) {
    throw new ParleyError("The file has fewer bytes than that", { status, code: "range_not_satisfiable" });
  }
  if (!ok) throw responseError(response, await response.json().catch(() => null));
  if (!body) throw new ParleyError("The response has no data", { status, code: "not_parley" });
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("Content-Range") ?? "") ?? [];
  const size = total ?? headers.get("Content-Length");
  return {
    contentType: headers.get("Content-Type") ?? "application/octet-stream",
    fileName: fileNameIn(headers.get("Content-Disposition")),
    size: size === null ? null : Number(size),
    offset: status === 206 ? Number(first) : 0,
    etag: headers.get("ETag"),
    body,
  };
}

/** The name in a `Content-Disposition`, in the form that the service writes (RFC 8187). */
function fileNameIn(disposition: string | null): string | null {
  const [, encoded] = /;\s*filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "") ?? [];
  try {
    return encoded === undefined ? null : decodeURIComponent(encoded);
  } catch {
    return null;
  }
}
