import { createHmac } from "node:crypto";

const DAY_MS = 86_400_000;

/** The file of one message, for the visitor of its chat. */
export interface LinkedFile {
  channelId: string;
  chatId: string;
  messageId: string;
}

/**
 * A link by which a browser without a key reads the file of one message, and nothing else. It is the same all day, so that
 * browsers find what they have kept, and good until the end of the next day, UTC.
 * @param key `KEY_SECRET`
 * @param origin the service's own, as the visitor calls it
 * @param now Unix milliseconds
 */
export function fileLink(key: Uint8Array, origin: string, file: LinkedFile, now: number): string {
  const { channelId, chatId, messageId } = file;
  const until = ((Math.floor(now / DAY_MS) + 2) * DAY_MS) / 1_000;
  const signature = signatureOf(key, file, until);
  return `${origin}/web/${channelId}/media/${chatId}/${messageId}?until=${until}&signature=${signature}`;
}

/**
 * Whether the service made a link, and it has not expired.
 * @param keys those that may have signed it
 * @param query of the link's URL
 * @param now Unix milliseconds
 */
export function isGoodLink(
  keys: readonly Uint8Array[],
  file: LinkedFile,
  query: URLSearchParams,
  now: number,
): boolean {
  const until = query.get("until") ?? "";
  if (!/^\d{1,11}$/.test(until)) return false;
  const given = new TextEncoder().encode(query.get("signature") ?? "");
  const isOurs = keys.some((key) => {
    const expected = new TextEncoder().encode(signatureOf(key, file, Number(until)));
    return expected.length === given.length && crypto.subtle.timingSafeEqual(expected, given);
  });
  return isOurs && Number(until) > Math.floor(now / 1_000);
}

// Synchronous, as a chat's frames are made in one turn.
function signatureOf(key: Uint8Array, { channelId, chatId, messageId }: LinkedFile, until: number): string {
  const text = ["visitor's file", channelId, chatId, messageId, until].join("\n");
  return createHmac("sha256", key).update(text).digest("base64url");
}
