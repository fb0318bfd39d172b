import * as z from "zod/mini";
import type { Credentials, MediaAnswer, Network } from "../adapter.ts";
import { contentLength, limitBytes, safeContentType } from "../network-response.ts";
import { call } from "./call.ts";

/** What Telegram hands to a bot at most. */
const MAX_MEDIA_BYTES = 20 * 1_024 * 1_024;
const DEADLINE_MS = 15_000;
const MAX_PATH = 512;

const file = z.object({ file_path: z.string().check(z.minLength(1), z.maxLength(MAX_PATH)) });

/**
 * The bytes of an inbound file, streamed and no more of them than Telegram hands out. Both calls go to the configured
 * base and follow no redirect; the deadline counts up to the first byte.
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
      // 400: no file of that id any more, or one that is too big for a bot.
      const gone = answer.answer === "refused" && (answer.code === 400 || answer.code === 404);
      return gone ? { outcome: "expired" } : unavailable(answer.description);
    }
    const path = pathOf(answer.result);
    if (path === null) return unavailable("Telegram named no file that can be fetched");
    return await fetched(`${network.base}/file/bot${botToken}/${path}`, deadline.signal);
  } catch {
    // The error's text may hold the address, and with it the token.
    return unavailable("The connection to Telegram failed");
  } finally {
    clearTimeout(timer);
  }
}

async function fetched(url: string, signal: AbortSignal): Promise<MediaAnswer> {
  // Unencoded, so that Content-Length is the length of what is passed on.
  const headers = { "Accept-Encoding": "identity" };
  const { status, headers: given, body } = await fetch(url, { headers, redirect: "manual", signal });
  const length = contentLength(given);
  if (status === 200 && body && (length ?? 0) <= MAX_MEDIA_BYTES) {
    return {
      outcome: "found",
      // With its length known, a download that breaks off can't look whole.
      body: body.pipeThrough(length === null ? limitBytes(MAX_MEDIA_BYTES) : new FixedLengthStream(length)),
      contentType: safeContentType(given.get("Content-Type")),
      length,
    };
  }
  await body?.cancel();
  if (status === 404) return { outcome: "expired" };
  return unavailable(status === 200 ? "Telegram's file is empty or too big" : `Telegram answered ${status}`);
}

/** A relative path, each step of it encoded; null for one that could lead elsewhere than below the bot's files. */
function pathOf(result: unknown): string | null {
  const path = file.safeParse(result).data?.file_path;
  if (path === undefined || !path.isWellFormed()) return null;
  const steps = path.split("/");
  // A step of dots alone goes up; an empty one makes `//`; a colon, a scheme. None is in a path of Telegram's.
  return steps.some((step) => /^\.*$|[:%\\\p{Cc}]/u.test(step)) ? null : steps.map(encodeURIComponent).join("/");
}

function unavailable(message: string): MediaAnswer {
  return { outcome: "unavailable", message };
}
