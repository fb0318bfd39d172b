import * as z from "zod/mini";
import type { Credentials, MediaAnswer, Network } from "../adapter.ts";
import { contentLength, limitBytes, safeContentType } from "../network-response.ts";
import { call } from "./call.ts";

/** Telegram's limit for downloads by bots. */
const MAX_MEDIA_BYTES = 20 * 1_024 * 1_024;
const DEADLINE_MS = 15_000;
const MAX_PATH = 512;

const file = z.object({ file_path: z.string().check(z.minLength(1), z.maxLength(MAX_PATH)) });

/**
 * Streams an inbound file, up to Telegram's size limit. Both calls go to the configured base URL and follow no redirects.
 * The deadline applies until the first byte.
 */
export async function telegramMedia(
  id: string,
  { botToken = "" }: Credentials,
  network: Network,
): Promise<MediaAnswer> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), DEADLINE_MS);
  try {
    const answer = await call("getFile", { file_id: id }, botToken, network, deadline.signal);
    if (answer.answer !== "ok") {
      // 400: the file id has expired, or the file is too large for a bot.
      const isGone = answer.answer === "refused" && (answer.code === 400 || answer.code === 404);
      return isGone ? { outcome: "expired" } : unavailable(answer.description);
    }
    const path = pathOf(answer.result);
    if (path === null) return unavailable("Telegram returned no valid file path");
    return await download(`${network.base}/file/bot${botToken}/${path}`, deadline.signal);
  } catch {
    // The text of the error may contain the URL, and with it the token.
    return unavailable("The connection to Telegram failed");
  } finally {
    clearTimeout(timer);
  }
}

async function download(url: string, signal: AbortSignal): Promise<MediaAnswer> {
  // Without encoding, Content-Length is the length of the stream.
  const headers = { "Accept-Encoding": "identity" };
  const { status, headers: responseHeaders, body } = await fetch(url, { headers, redirect: "manual", signal });
  const length = contentLength(responseHeaders);
  if (status === 200 && body && (length ?? 0) <= MAX_MEDIA_BYTES) {
    return {
      outcome: "found",
      // A stream of fixed length fails if the download is cut off.
      body: body.pipeThrough(length === null ? limitBytes(MAX_MEDIA_BYTES) : new FixedLengthStream(length)),
      contentType: safeContentType(responseHeaders.get("Content-Type")),
      length,
    };
  }
  await body?.cancel();
  if (status === 404) return { outcome: "expired" };
  return unavailable(status === 200 ? "Telegram's file is empty or too large" : `Telegram answered ${status}`);
}

/** The file's relative path with encoded segments; null if it could lead outside the bot's files. */
function pathOf(result: unknown): string | null {
  const path = file.safeParse(result).data?.file_path;
  if (path === undefined || !path.isWellFormed()) return null;
  const segments = path.split("/");
  // Segments of only dots, empty segments, colons, percent signs, backslashes and control characters are not allowed.
  return segments.some((segment) => /^\.*$|[:%\\\p{Cc}]/u.test(segment))
    ? null
    : segments.map(encodeURIComponent).join("/");
}

function unavailable(message: string): MediaAnswer {
  return { outcome: "unavailable", message };
}
