import { answerOfR2 } from "../calls/file-bucket.ts";
import { ApiError } from "../model/error.ts";
import type { FileInfo } from "../model/file.ts";

/** What browsers show without running anything in it. All else is a download. */
const INLINE = /^(?:image\/(?:jpeg|png|gif|webp)|video\/(?:mp4|webm)|audio\/(?:mpeg|ogg))$/;
/** What a page of the same origin could load as its script or style: a file of a stranger must be neither. */
const LOADABLE = /^(?:text|application)\/(?:(?:x-)?(?:java|ecma|j|live)script[\d.]*|css)$/;
const MAX_NAME = 255;

interface Served {
  bucket: R2Bucket;
  key: string;
  /** Identifies the bytes, which never change. */
  etag: string;
  info: FileInfo;
}

/**
 * Serves a file: `GET` and `HEAD`, one range, and conditions on its `ETag`.
 * @returns null if its bytes are gone
 * @throws ApiError `unavailable` if R2 does not answer; as `refuseOther`
 * @see RFC 9110, 13 and 14
 */
export async function serveFile({ bucket, key, etag, info }: Served, request: Request): Promise<Response | null> {
  const { contentType, fileName, size } = info;
  const headers = fileHeaders(contentType, fileName, etag);
  refuseOther(request, etag);
  if (isKnown(request, etag)) return notModified(headers);
  const range = rangeOf(request, etag, size);
  if (range === "unsatisfiable") return noSuchPart(size, headers);
  if (range) headers.set("Content-Range", `bytes ${range.offset}-${range.offset + range.length - 1}/${size}`);
  headers.set("Content-Length", String(range?.length ?? size));
  const init = { status: range ? 206 : 200, headers };
  if (request.method === "HEAD") return (await answerOfR2(() => bucket.head(key))) && new Response(null, init);
  const found = await answerOfR2(() => bucket.get(key, range ? { range } : {}));
  return found && new Response(found.body, init);
}

/**
 * Headers that keep a file from running as a page, whatever its bytes are: a browser takes it as its type alone. It may be
 * kept, and is asked for before each use: a redaction ends it.
 */
export function fileHeaders(contentType: string, fileName: string | null, etag: string): Headers {
  return new Headers({
    "Content-Type": LOADABLE.test(contentType) ? "text/plain" : contentType,
    "Content-Disposition": disposition(INLINE.test(contentType) ? "inline" : "attachment", fileName),
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
    ETag: `"${etag}"`,
    "Accept-Ranges": "bytes",
  });
}

/** The response to a client that has the file. @param headers those of the file, of which the client keeps its own */
export function notModified(headers: Headers): Response {
  headers.delete("Content-Type");
  headers.delete("Content-Disposition");
  return new Response(null, { status: 304, headers });
}

/** The response to a range that a file does not have. @param headers those of the file */
export function noSuchPart(size: number, headers: Headers): Response {
  headers.set("Content-Range", `bytes */${size}`);
  headers.delete("Content-Disposition");
  return new Response(null, { status: 416, headers });
}

/** @see RFC 6266, 4.3; RFC 8187 for names that are not ASCII */
function disposition(kind: "attachment" | "inline", fileName: string | null): string {
  if (fileName === null) return kind;
  const encoded = encodeURIComponent(fileName.slice(0, MAX_NAME).toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
  return `${kind}; filename*=UTF-8''${encoded}`;
}

/**
 * The one range that a request asks for; null for the whole file. Several ranges, or invalid ones, are ignored, and so is
 * a range of a HEAD request.
 */
export function askedRange({ method, headers }: Request, etag: string): { from: string; to: string } | null {
  if (method !== "GET") return null;
  const condition = headers.get("If-Range");
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get("Range") ?? "") ?? [];
  if (from + to === "" || (condition !== null && condition !== `"${etag}"`)) return null;
  return from !== "" && to !== "" && Number(to) < Number(from) ? null : { from, to };
}

function rangeOf(
  request: Request,
  etag: string,
  size: number,
): { offset: number; length: number } | "unsatisfiable" | null {
  const asked = askedRange(request, etag);
  if (!asked) return null;
  const { from, to } = asked;
  const offset = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === "" || to === "" ? size : Math.min(size, Number(to) + 1);
  return offset >= size || end <= offset ? "unsatisfiable" : { offset, length: end - offset };
}

/**
 * The comparison is the strong one, so a weak tag names no file.
 * @throws ApiError `precondition_failed` if `If-Match` names only other files
 * @see RFC 9110, 13.1.1
 */
export function refuseOther({ headers }: Request, etag: string): void {
  const tags = headers.get("If-Match");
  if (tags === null || tags.split(",").some((tag) => ["*", `"${etag}"`].includes(tag.trim()))) return;
  throw new ApiError("precondition_failed");
}

/** Whether the client has the file: `If-None-Match` names it. */
export function isKnown({ headers }: Request, etag: string): boolean {
  return (headers.get("If-None-Match") ?? "")
    .split(",")
    .some((tag) => ["*", `"${etag}"`, `W/"${etag}"`].includes(tag.trim()));
}
