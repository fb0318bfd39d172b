import { randomBase62, toBase62 } from "../model/id.ts";

/**
 * An API key's text: `ply_`, the 16 characters of its id after `key_`, 32 random base62 characters, and a checksum: 6
 * characters of an HMAC-SHA-256 of the text before it. The checksum lets a Worker refuse a mistyped or invented key
 * without a call.
 */
const FORM = /^ply_[geu][0-9A-Za-z]{53}$/;
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

const encoder = new TextEncoder();
/** Keys and not their promises: when a request ends, the runtime cancels what waits for its promises. */
const signers = new WeakMap<Uint8Array, CryptoKey>();

/** A new key text for the key `id`, with a checksum under `secret`. Only its hash may be stored. */
export async function newKeyText(id: string, secret: Uint8Array): Promise<string> {
  const body = `ply_${id.slice("key_".length)}${randomBase62(SECRET_LENGTH)}`;
  return body + (await checksumOf(body, secret));
}

/** The id in a key text; null if the format is wrong, or the checksum is wrong under each of `secrets`. */
export async function keyIdOf(text: string, secrets: (Uint8Array | undefined)[]): Promise<string | null> {
  if (!FORM.test(text)) return null;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  const checksum = text.slice(-CHECKSUM_LENGTH);
  const id = text.slice("ply_".length, -(SECRET_LENGTH + CHECKSUM_LENGTH));
  for (const secret of secrets) {
    if (secret && sameBytes(await checksumOf(body, secret), checksum)) return `key_${id}`;
  }
  return null;
}

/** SHA-256 of a key text, in hex. */
export async function hashOf(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text))).toHex();
}

async function checksumOf(body: string, secret: Uint8Array): Promise<string> {
  let signer = signers.get(secret);
  if (!signer) {
    signer = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    signers.set(secret, signer);
  }
  const signature = await crypto.subtle.sign("HMAC", signer, encoder.encode(body));
  return toBase62(new Uint8Array(signature), CHECKSUM_LENGTH);
}

/** Takes constant time. Both texts must have the same length. */
function sameBytes(one: string, other: string): boolean {
  return crypto.subtle.timingSafeEqual(encoder.encode(one), encoder.encode(other));
}
