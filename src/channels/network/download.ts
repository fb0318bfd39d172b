import type { MediaAnswer, MediaAsk } from "../../model/network.ts";
import { contentLength, discard, limitBytes, safeContentType, statusText } from "./network-response.ts";

interface Download extends Pick<MediaAsk, "range"> {
  /** The longest file that the network has, in bytes. */
  max: number;
  /** Who answered, for the log. */
  whose: string;
  /** See `MediaAnswer`. */
  finalAfterDays: number | null;
}

/** @param message why a file can't be had now */
export function noMedia(message: string): MediaAnswer {
  return { outcome: "unavailable", message };
}

/** The bytes of a file that a network sends, whole or the part that was asked for; or why there are none. */
export function downloaded(response: Response, { range, max, whose, finalAfterDays }: Download): MediaAnswer {
  const { status, headers, body } = response;
  const refuse = (answer: MediaAnswer): MediaAnswer => {
    discard(response);
    return answer;
  };
  const unavailable = (message: string) => refuse(noMedia(message));
  if (status === 404 || status === 410) return refuse({ outcome: "expired", finalAfterDays });
  const given = headers.get("Content-Range") ?? "";
  if (status === 416 && range !== null) {
    const size = /^bytes \*\/(\d{1,15})$/.exec(given)?.[1];
    return refuse({ outcome: "no_such_part", size: size === undefined ? null : Number(size) });
  }
  const part = status === 206 && range !== null ? partOf(given, range) : null;
  if (!(part || status === 200)) return unavailable(statusText(status, `${whose} answered ${status} to the download`));
  const length = part ? part.length : contentLength(headers);
  if (!body || (length ?? 0) > max) return unavailable("The media is empty or too large");
  return {
    outcome: "found",
    // A stream of fixed length fails if the download is cut off.
    body: body.pipeThrough(length === null ? limitBytes(max) : new FixedLengthStream(length)),
    contentType: safeContentType(headers.get("Content-Type")),
    length,
    contentRange: part && given,
  };
}

/** The length of the part that the network sends; null if it is not within the part that was asked for. */
function partOf(given: string, range: string): { length: number } | null {
  const [, from, to, size] = (/^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(given) ?? []).map(Number);
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (from === undefined || to === undefined || size === undefined || from > to || to >= size) return null;
  const begin = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(size - 1, Number(last));
  return from === begin && to === end ? { length: to - from + 1 } : null;
}
