import { isSameSecret } from "../../secrets/compare.ts";
import type { Credentials, ParsedWebhook } from "../adapter.ts";
import { itemsOf } from "./items.ts";

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;
const CHALLENGE = /^[\w.~-]{1,256}$/;
const HMAC = { name: "HMAC", hash: "SHA-256" };
const HEX = "0123456789abcdef";
const encoder = new TextEncoder();

/** Verifies a webhook over its raw bytes and, only then, reads it; never throws. */
export async function receiveFromWhatsApp(
  { headers, body }: { headers: Headers; body: Uint8Array<ArrayBuffer> },
  { appSecret }: Credentials,
): Promise<ParsedWebhook> {
  const signature = SIGNATURE.exec(headers.get("X-Hub-Signature-256") ?? "")?.[1];
  // No secret means that nothing can be genuine.
  if (!signature || !appSecret) return { genuine: false };
  const key = await crypto.subtle.importKey("raw", encoder.encode(appSecret), HMAC, false, ["verify"]);
  // `verify` compares in constant time.
  const signs = (bytes: Uint8Array<ArrayBuffer>) =>
    crypto.subtle.verify("HMAC", key, Uint8Array.fromHex(signature), bytes);
  if (!(await signs(body))) {
    const escaped = escapedForm(body);
    if (!escaped || !(await signs(escaped))) return { genuine: false };
  }
  return { genuine: true, ...itemsOf(body) };
}

/**
 * The challenge to answer Meta's GET with, as plain text; null when it is to be refused with 403. A challenge is echoed
 * only where it is short and made of letters, digits, `-`, `.`, `_` and `~`, so that no script can be sent through us.
 */
export async function handshake(query: URLSearchParams, verifyToken: string): Promise<string | null> {
  const [mode, token, challenge] = ["hub.mode", "hub.verify_token", "hub.challenge"].map((name) => {
    const given = query.getAll(name);
    return given.length === 1 ? given[0] : undefined;
  });
  if (mode !== "subscribe" || !verifyToken || token === undefined) return null;
  if (challenge === undefined || !CHALLENGE.test(challenge)) return null;
  return (await isSameSecret(token, verifyToken)) ? challenge : null;
}

/** Meta calls one address for all the numbers of an app: an item is for the channel of its number, of the same app. */
export function isFor(account: string, { phoneNumberId, appSecret }: Credentials, called: Credentials): boolean {
  return phoneNumberId === account && appSecret === called.appSecret;
}

/** The body with what is not ASCII as `\uXXXX` in lower case, as some apps sign it; null where that changes nothing. */
function escapedForm(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | null {
  if (body.every((byte) => byte < 0x80)) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    // What takes six bytes took two at least.
    const escaped = new Uint8Array(body.length * 3);
    let length = 0;
    // Written byte by byte: whoever forges calls has 4 MiB of it done, and texts would take five times as long.
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 0x80) {
        escaped[length++] = unit;
        continue;
      }
      escaped[length++] = 0x5c;
      escaped[length++] = 0x75;
      for (let shift = 12; shift >= 0; shift -= 4) escaped[length++] = HEX.charCodeAt((unit >> shift) & 0xf);
    }
    return escaped.subarray(0, length);
  } catch {
    return null;
  }
}
