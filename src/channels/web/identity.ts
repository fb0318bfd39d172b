import { showsNothing } from "../../model/field.ts";
import { toBase62 } from "../../model/id.ts";
import { webSpec } from "./spec.ts";

/** The socket's only subprotocol. The header lists it together with the visitor's claim. */
export const PROTOCOL = "parley.v1";

const MAX_ADDRESS = 256;
/** 22 characters of base62 or base64url are the fewest that encode 128 bits. */
const TOKEN = /^token\.([\w-]{22,64})$/;
const USER = /^user\.([\w-]{1,1024})\.([0-9a-fA-F]{64})$/;
/** At most 11 digits, so `expires` is in seconds: a time in milliseconds has 13 digits and would never expire. */
const DATED_USER = /^user\.([\w-]{1,1024})\.([0-9a-fA-F]{128})\.([1-9]\d{0,10})$/;
/** 62^43 is just above 2^256. */
const DIGEST_LENGTH = 43;

const encoder = new TextEncoder();

/** A user of the site, and the hash that the site computed. `expires` is in Unix seconds; null for the undated form. */
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
  const protocols = header?.split(",").map((protocol) => protocol.trim());
  if (protocols?.length !== 2 || !protocols.includes(PROTOCOL)) return null;
  return parseClaim(protocols.find((protocol) => protocol !== PROTOCOL) ?? "");
}

/** A claim as the socket's second subprotocol has it, and the token of `Authorization: Bearer`; null for anything else. */
export function parseClaim(text: string): Claim | null {
  const token = text.match(TOKEN)?.[1];
  if (token) return { kind: "token", token };
  const [, encoded, hash, expires] = text.match(USER) ?? text.match(DATED_USER) ?? [];
  const user = encoded ? decodeUser(encoded) : null;
  if (user === null || !hash) return null;
  return { kind: "user", user, hash: Uint8Array.fromHex(hash), expires: expires ? Number(expires) : null };
}

/** Whether a visitor can have this token. */
export function isToken(token: string): boolean {
  return TOKEN.test(`token.${token}`);
}

/** The address of a token's holder: `web_` and the base62 SHA-256 of the token. The token itself is never stored. */
export async function addressOfToken(token: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(token));
  return `web_${toBase62(new Uint8Array(digest), DIGEST_LENGTH)}`;
}

/**
 * Finds the secret that a user's hash was computed with; null if no secret matches or the hash has expired at `now`
 * (Unix milliseconds).
 *
 * - Undated: HMAC-SHA-256 of the user id.
 * - Dated: HMAC-SHA-512 of `<expires>.<user id>`, with `expires` as decimal Unix seconds. The first dot ends
 *   the digits, so no two pairs give the same text.
 *
 * The two forms use different hash functions, so a hash of one form is never valid in the other, whatever the user's id.
 */
export async function matchingSecret(
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
    // `ignoreBOM` keeps a byte order mark in the text, so the hashed id and the stored id are the same.
    const user = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return user.length <= MAX_ADDRESS && !showsNothing(user) ? webSpec.address(user) : null;
  } catch {
    return null;
  }
}
