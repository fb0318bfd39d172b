import { toBase62 } from "../../ids.ts";
import { webSpec } from "./spec.ts";

/** The one subprotocol that the socket speaks; what stands beside it says who the visitor is. */
export const PROTOCOL = "parley.v1";

const MAX_ADDRESS = 256;
/** 22 characters of base62 or base64url are the fewest that hold 128 bits. */
const TOKEN = /^token\.([\w-]{22,64})$/;
const USER = /^user\.([\w-]{1,1024})\.([0-9a-fA-F]{64})$/;
/** Seconds: a time in milliseconds has 13 digits and would never expire. */
const DATED_USER = /^user\.([\w-]{1,1024})\.([0-9a-fA-F]{128})\.([1-9]\d{0,10})$/;
/** 62^43 is just above 2^256. */
const DIGEST_LENGTH = 43;

const encoder = new TextEncoder();

/** A user of the site, with the hash by which the site vouches. `expires` is in Unix seconds, null for the undated form. */
export interface UserClaim {
  kind: "user";
  user: string;
  hash: Uint8Array<ArrayBuffer>;
  expires: number | null;
}

/** Who a visitor claims to be: the holder of a random token, or a user of the site. */
export type Claim = { kind: "token"; token: string } | UserClaim;

/**
 * The claim in a `Sec-WebSocket-Protocol` header: `parley.v1` and one of `token.<token>`,
 * `user.<base64url of the user id>.<hex hash>` and `user.<base64url of the user id>.<hex hash>.<expires>`.
 * Null for anything else.
 */
export function readClaim(header: string | null): Claim | null {
  const protocols = (header ?? "").split(",").map((protocol) => protocol.trim());
  const [claim, ...more] = protocols.filter((protocol) => protocol !== PROTOCOL);
  if (claim === undefined || more.length > 0 || protocols.length !== 2) return null;
  const [, token] = TOKEN.exec(claim) ?? [];
  if (token) return { kind: "token", token };
  const [, encoded, hash, expires] = USER.exec(claim) ?? DATED_USER.exec(claim) ?? [];
  const user = encoded ? decodeUser(encoded) : null;
  if (user === null || !hash) return null;
  return { kind: "user", user, hash: Uint8Array.fromHex(hash), expires: expires ? Number(expires) : null };
}

/** Where a token's holder is reached: `web_` and the base62 SHA-256 of the token, which itself is stored nowhere. */
export async function addressOfToken(token: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(token));
  return `web_${toBase62(new Uint8Array(digest), DIGEST_LENGTH)}`;
}

/**
 * Finds the secret that a user's hash was made with; null if there is none, or if the hash has expired at `now`
 * (Unix milliseconds).
 *
 * - Undated: HMAC-SHA-256 of the user id.
 * - Dated: HMAC-SHA-512 of `<expires>.<user id>`, with `expires` as decimal Unix seconds. Digits end at the first dot,
 *   so no two pairs give the same text.
 *
 * The two forms use different hash functions, so a hash of one form never counts in the other, whatever a user's id is.
 */
export async function voucherOf(
  claim: Omit<UserClaim, "kind">,
  secrets: string[],
  now: number,
): Promise<string | null> {
  const { user, hash, expires } = claim;
  if (expires !== null && expires * 1_000 <= now) return null;
  const algorithm = { name: "HMAC", hash: expires === null ? "SHA-256" : "SHA-512" };
  const text = encoder.encode(expires === null ? user : `${expires}.${user}`);
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"]);
    // The platform compares in constant time.
    if (await crypto.subtle.verify("HMAC", key, hash, text)) return secret;
  }
  return null;
}

/** A user's id, if it is an address that a chat of a web channel can have. */
function decodeUser(encoded: string): string | null {
  try {
    const bytes = Uint8Array.fromBase64(encoded, { alphabet: "base64url" });
    // With `ignoreBOM` a byte order mark stays in the text: what is hashed and what is stored are the same.
    const user = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return user.length <= MAX_ADDRESS && user.trim() !== "" ? webSpec.address(user) : null;
  } catch {
    return null;
  }
}
