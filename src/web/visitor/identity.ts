import { base64url, randomToken } from "../shared/random-token.ts";

/**
 * The visitor: a user of the embedding site, with the site's hash, or the owner of this browser's token. `expires` is in
 * Unix seconds, as text, or null if the hash never expires.
 */
export type Identity =
  | { kind: "user"; user: string; hash: string; expires: string | null }
  | { kind: "token"; token: string };

/** The used part of `localStorage`. Each call can throw if the browser blocks storage. */
type Store = Pick<Storage, "getItem" | "setItem">;

const UNDATED = /^[0-9a-f]{64}$/i;
const DATED = /^[0-9a-f]{128}\.[1-9]\d{0,10}$/i;
const TOKEN = /^[\w-]{22}$/;
// The fallback if storage is blocked: the visitor is new after each load, but stays the same within a load.
const memory = new Map<string, string>();

/** The visitor of this page. A user without a hash stays a user, so that the server refuses the user. */
export function identify(fragment: URLSearchParams, channelId: string, store: () => Store): Identity {
  const user = fragment.get("user");
  if (user) return { kind: "user", user, hash: fragment.get("hash") ?? "", expires: fragment.get("expires") };
  return { kind: "token", token: tokenOf(`parley.token.${channelId}`, store) };
}

/**
 * The socket's subprotocols, which carry the identity, so that no URL contains it. Null if the hash or its expiry is
 * malformed, because the server would refuse it.
 */
export function subprotocols(identity: Identity): string[] | null {
  if (identity.kind === "token") return ["parley.v1", `token.${identity.token}`];
  const { user, hash, expires } = identity;
  const proof = expires === null ? hash : `${hash}.${expires}`;
  if (!(expires === null ? UNDATED : DATED).test(proof)) return null;
  return ["parley.v1", `user.${base64url(new TextEncoder().encode(user))}.${proof}`];
}

/** The token for a channel. Each channel has its own, so that two companies can't recognize the same visitor. */
function tokenOf(name: string, store: () => Store): string {
  try {
    const kept = store().getItem(name);
    if (kept && TOKEN.test(kept)) return kept;
    store().setItem(name, memory.get(name) ?? randomToken());
    // Read again, because another tab may have written first, and some browsers drop writes silently.
    const written = store().getItem(name);
    if (written) return written;
  } catch {
    // Storage is blocked: use the memory.
  }
  const token = memory.get(name) ?? randomToken();
  memory.set(name, token);
  return token;
}
