import { randomBase62, toBase62 } from "../ids.ts";

/**
 * An API key's text: `ply_`, the 16 characters of its id after `key_`, 32 random base62 characters, and 6 of a
 * truncated HMAC-SHA-256 of all before them. The last six let a Worker refuse a mistyped or invented key without
 * asking anyone.
 */
const FORM = /^ply_([geu][0-9A-Za-z]{15})[0-9A-Za-z]{32}([0-9A-Za-z]{6})$/;
const SECRET_LENGTH = 32;
const TAG_LENGTH = 6;

const encoder = new TextEncoder();
const signers = new WeakMap<Uint8Array, Promise<CryptoKey>>();

/** A new key text for the key `id`, tagged under `secret`. It exists here alone: what is stored is its hash. */
export async function newKeyText(id: string, secret: Uint8Array): Promise<string> {
  const untagged = `ply_${id.slice("key_".length)}${randomBase62(SECRET_LENGTH)}`;
  return untagged + (await tagOf(untagged, secret));
}

/** The id that a key text names, or null where its form or its tag is wrong under each of `secrets`. */
export async function keyIdOf(text: string, secrets: (Uint8Array | undefined)[]): Promise<string | null> {
  const [, id, tag] = FORM.exec(text) ?? [];
  if (!id || !tag) return null;
  const untagged = text.slice(0, -TAG_LENGTH);
  for (const secret of secrets) {
    if (secret && sameBytes(await tagOf(untagged, secret), tag)) return `key_${id}`;
  }
  return null;
}

/** SHA-256 of a key text, hex: all that is ever stored of it. */
export async function hashOf(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text))).toHex();
}

async function tagOf(untagged: string, secret: Uint8Array): Promise<string> {
  let signer = signers.get(secret);
  if (!signer) {
    signer = crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    signers.set(secret, signer);
  }
  const signature = await crypto.subtle.sign("HMAC", await signer, encoder.encode(untagged));
  return toBase62(new Uint8Array(signature), TAG_LENGTH);
}

/** Constant-time for texts of one length. */
function sameBytes(one: string, other: string): boolean {
  return crypto.subtle.timingSafeEqual(encoder.encode(one), encoder.encode(other));
}
