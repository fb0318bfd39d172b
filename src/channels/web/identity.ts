import { toBase62 } from "../../ids.ts";
import { web } from "./form.ts";

/** The one subprotocol that the socket speaks; what stands beside it says who the visitor is. */
export const PROTOCOL = "parley.v1";

const MAX_ADDRESS = 256;
/** 22 characters of base62 or base64url are the fewest that hold 128 bits. */
const TOKEN = /^token\.([\w-]{22,64})$/;
const USER = /^user\.([\w-]{1,1024})\.([0-9a-fA-F]{64})$/;
/** 62^43 is just above 2^256. */
const DIGEST_LENGTH = 43;

const encoder = new TextEncoder();

/** Who a visitor says to be: whoever holds a random token, or a user of the site, whom the site's hash vouches for. */
export type Claim = { kind: "token"; token: string } | { kind: "user"; user: string; hash: Uint8Array<ArrayBuffer> };

/**
 * The claim in a `Sec-WebSocket-Protocol` header: `parley.v1` and one of `token.<token>` and
 * `user.<base64url of the user id>.<hex hash>`. Null for anything else.
 */
export function readClaim(header: string | null): Claim | null {
  const protocols = (header ?? "").split(",").map((protocol) => protocol.trim());
  const [claim, ...more] = protocols.filter((protocol) => protocol !== PROTOCOL);
  if (claim === undefined || more.length > 0 || protocols.length !== 2) return null;
  const [, token] = TOKEN.exec(claim) ?? [];
  if (token) return { kind: "token", token };
  const [, encoded, hash] = USER.exec(claim) ?? [];
  const user = encoded ? decodeUser(encoded) : null;
  return user !== null && hash ? { kind: "user", user, hash: Uint8Array.fromHex(hash) } : null;
}

/** Where a token's holder is reached: `web_` and the base62 SHA-256 of the token, which itself is stored nowhere. */
export async function addressOfToken(token: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(token));
  return `web_${toBase62(new Uint8Array(digest), DIGEST_LENGTH)}`;
}

/** Which of the secrets `hash` is the HMAC-SHA-256 of a user's id under; null for none of them. */
export async function voucherOf(
  user: string,
  hash: Uint8Array<ArrayBuffer>,
  secrets: string[],
): Promise<string | null> {
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
      "verify",
    ]);
    // The platform compares in constant time.
    if (await crypto.subtle.verify("HMAC", key, hash, encoder.encode(user))) return secret;
  }
  return null;
}

/** A user's id, if it is an address that a chat of a web channel can have. */
function decodeUser(encoded: string): string | null {
  try {
    const bytes = Uint8Array.fromBase64(encoded, { alphabet: "base64url" });
    // With `ignoreBOM` a byte order mark stays in the text: what is hashed and what is stored are the same.
    const user = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return user.length <= MAX_ADDRESS && user.trim() !== "" ? web.address(user) : null;
  } catch {
    return null;
  }
}
