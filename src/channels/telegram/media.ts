import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { MediaAnswer, MediaAsk } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { downloaded, noMedia } from "../network/download.ts";
import { lenient } from "../network/lenient.ts";
import { call } from "./call.ts";

/** Telegram's limit for downloads by bots. */
const MAX_MEDIA_BYTES = 20 * 1_024 * 1_024;
const DEADLINE_MS = 15_000;
const MAX_PATH = 512;

const TOO_LARGE = /file is too big/;
/** The refusal that stays. Telegram also says "wrong file_id or the file is temporarily unavailable", in one text. */
const FINAL = /invalid file_id/;

const file = z.object({
  file_path: z.string().check(z.minLength(1), z.maxLength(MAX_PATH)),
  file_size: lenient(z.int().check(z.gte(0))),
});

/**
 * Streams an inbound file, up to Telegram's size limit. Both calls go to the configured base URL and follow no redirects.
 * Without its bytes, only the first one is made.
 * The deadline applies until the first byte.
 */
export async function telegramMedia(
  id: string,
  { botToken = "" }: Credentials,
  network: Network,
  { isHead, range }: MediaAsk,
): Promise<MediaAnswer> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), DEADLINE_MS);
  try {
    const answer = await call("getFile", { file_id: id }, botToken, network, deadline.signal);
    if (answer.answer !== "ok") {
      if (answer.answer === "refused" && TOO_LARGE.test(answer.description)) return { outcome: "too_large" };
      // 400: the file id has expired.
      const isGone = answer.answer === "refused" && (answer.code === 400 || answer.code === 404);
      if (!isGone) return noMedia(answer.description);
      return { outcome: "expired", finalAfterDays: FINAL.test(answer.description) ? 0 : null };
    }
    const found = file.safeParse(answer.result).data;
    const path = pathOf(found?.file_path);
    if (path === null) return noMedia("Telegram returned no valid file path");
    if (isHead) {
      const length = found?.file_size ?? null;
      return { outcome: "found", body: null, contentType: null, length, contentRange: null };
    }
    return await download(`${network.base}/file/bot${botToken}/${path}`, range, deadline.signal);
  } catch {
    // The text of the error may contain the URL, and with it the token.
    return noMedia("The connection to Telegram failed");
  } finally {
    clearTimeout(timer);
  }
}

async function download(url: string, range: string | null, signal: AbortSignal): Promise<MediaAnswer> {
  // Without encoding, Content-Length is the length of the stream.
  const headers = { "Accept-Encoding": "identity", ...(range !== null && { Range: range }) };
  const response = await fetch(url, { headers, redirect: "manual", signal });
  return downloaded(response, { range, max: MAX_MEDIA_BYTES, whose: "Telegram", finalAfterDays: null });
}

/** The file's relative path with encoded segments; null if it could lead outside the bot's files. */
function pathOf(path: string | undefined): string | null {
  if (path === undefined || !path.isWellFormed()) return null;
  const segments = path.split("/");
  // Segments of only dots, empty segments, colons, percent signs, backslashes and control characters are not allowed.
  return segments.some((segment) => /^\.*$|[:%\\\p{Cc}]/u.test(segment))
    ? null
    : segments.map(encodeURIComponent).join("/");
}
