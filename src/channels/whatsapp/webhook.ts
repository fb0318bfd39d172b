import type { Credentials } from "../../model/channel.ts";
import type { ParsedWebhook } from "../../model/network.ts";
import { isSameSecret } from "../../secrets/compare.ts";
import type { ReceivedCall } from "../network/adapter.ts";
import { itemsOf } from "./items.ts";

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;
const CHALLENGE = /^[\w.~-]{1,256}$/;
const HMAC = { name: "HMAC", hash: "SHA-256" };
const HEX = "0123456789abcdef";
const encoder = new TextEncoder();

/** Verifies the signature of a webhook's raw bytes and only then parses it. Throws only what reading the body throws. */
export async function receiveFromWhatsApp(
  { headers, readBody }: ReceivedCall,
  { appSecret }: Credentials,
): Promise<ParsedWebhook> {
  const signature = headers.get("X-Hub-Signature-256")?.match(SIGNATURE)?.[1];
  // Without a secret, no webhook is accepted.
  if (!signature || !appSecret) return { genuine: false };
  const body = await readBody();
  const key = await crypto.subtle.importKey("raw", encoder.encode(appSecret), HMAC, false, ["verify"]);
  // `verify` compares in constant time.
  const isSigned = (bytes: Uint8Array<ArrayBuffer>) =>
    crypto.subtle.verify("HMAC", key, Uint8Array.fromHex(signature), bytes);
  if (!(await isSigned(body))) {
    const escaped = escapedForm(body);
    if (!escaped || !(await isSigned(escaped))) return { genuine: false };
  }
  return { genuine: true, ...itemsOf(body) };
}

/**
 * The challenge with which to answer Meta's GET request, as plain text; null to refuse it with 403. Only a short challenge
 * of letters, digits, `-`, `.`, `_` and `~` is echoed, so that the response can't contain a script.
 */
export async function handshake(query: URLSearchParams, verifyToken: string): Promise<string | null> {
  const [mode, token, challenge] = ["hub.mode", "hub.verify_token", "hub.challenge"].map((name) => {
    const values = query.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  });
  if (mode !== "subscribe" || !verifyToken || token === undefined) return null;
  if (challenge === undefined || !CHALLENGE.test(challenge)) return null;
  return (await isSameSecret(token, verifyToken)) ? challenge : null;
}

/** Meta calls one URL for all phone numbers of an app. An item is for the channel with its number and the same app. */
export function isFor(account: string, { phoneNumberId, appSecret }: Credentials, called: Credentials): boolean {
  return phoneNumberId === account && appSecret === called.appSecret;
}

/** The body with non-ASCII characters as lower-case `\uXXXX`, which some apps sign; null if the body is ASCII or not UTF-8. */
function escapedForm(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | null {
  if (body.every((byte) => byte < 0x80)) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    // An escape has six bytes, and replaces at least two.
    const escaped = new Uint8Array(body.length * 3);
    let length = 0;
    // Written byte by byte, because strings take five times as long, and a forged body can have 4 MiB.
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
