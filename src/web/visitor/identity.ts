/**
 * Who the visitor is: a user whom the embedding site names and vouches for, or the holder of this browser's token.
 * `expires` is in Unix seconds, as text; null for a hash that never expires.
 */
export type Identity =
  | { kind: "user"; user: string; hash: string; expires: string | null }
  | { kind: "token"; token: string };

/** What `localStorage` offers us; each call may throw where a browser blocks it. */
type Store = Pick<Storage, "getItem" | "setItem">;

const UNDATED = /^[0-9a-f]{64}$/i;
const DATED = /^[0-9a-f]{128}\.[1-9]\d{0,10}$/i;
const TOKEN = /^[\w-]{22}$/;
// Under a partitioned or blocked storage a visitor is a new one at each load; within a load it is always the same.
const memory = new Map<string, string>();

/** 128 random bits as 22 base64url characters: a visitor's token, or a message's own id. */
export function randomToken(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(16)));
}

/** The visitor of this page. A user that comes without a hash is still that user, so that the server refuses it. */
export function identify(fragment: URLSearchParams, channelId: string, store: () => Store): Identity {
  const user = fragment.get("user");
  if (user) return { kind: "user", user, hash: fragment.get("hash") ?? "", expires: fragment.get("expires") };
  return { kind: "token", token: tokenOf(`parley.token.${channelId}`, store) };
}

/**
 * The socket's subprotocols: the identity travels in this header, never in a URL. Null if the hash or its expiry is
 * malformed: a browser could not send it, and the server would refuse it.
 */
export function subprotocols(identity: Identity): string[] | null {
  if (identity.kind === "token") return ["parley.v1", `token.${identity.token}`];
  const { user, hash, expires } = identity;
  const proof = expires === null ? hash : `${hash}.${expires}`;
  if (!(expires === null ? UNDATED : DATED).test(proof)) return null;
  return ["parley.v1", `user.${base64url(new TextEncoder().encode(user))}.${proof}`];
}

/** A token per channel: two companies that use this service can't tell that they talk to the same person. */
function tokenOf(name: string, store: () => Store): string {
  try {
    const kept = store().getItem(name);
    if (kept && TOKEN.test(kept)) return kept;
    store().setItem(name, memory.get(name) ?? randomToken());
    // Read back: another tab may have written in between, and some browsers accept a write and drop it.
    const written = store().getItem(name);
    if (written) return written;
  } catch {
    // Falls through to the memory.
  }
  const token = memory.get(name) ?? randomToken();
  memory.set(name, token);
  return token;
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
