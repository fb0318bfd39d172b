import { base64url, randomToken } from "../shared/random-token.ts";
import { keep, readKept, type Store } from "./stored.ts";

/**
 * The visitor: a user of the embedding site, with the site's hash, or the owner of this browser's token. `expires` is in
 * Unix seconds, as text, or null if the hash never expires.
 */
export type Identity =
  | { kind: "user"; user: string; hash: string; expires: string | null }
  | { kind: "token"; token: string };

/** A hash that never expires, or a longer one and its expiry. */
const PROOF = /^[0-9a-f]{64}([0-9a-f]{64}\.[1-9]\d{0,10})?$/i;
const TOKEN = /^[\w-]{22}$/;
/** Tokens that are not kept. */
const memory = new Map<string, string>();

/** The visitor of this page. A user without a hash stays a user, so that the server refuses the user. */
export function identify(fragment: URLSearchParams, channelId: string, store: Store): Identity {
  return userIn(fragment) ?? { kind: "token", token: keptToken(channelId, store) ?? newToken(channelId) };
}

/** The site's user whom a fragment names; null if it names none. */
export function userIn(fragment: URLSearchParams): Extract<Identity, { kind: "user" }> | null {
  const user = fragment.get("user");
  if (!user) return null;
  return { kind: "user", user, hash: fragment.get("hash") ?? "", expires: fragment.get("expires") };
}

/**
 * The token that this browser keeps for a channel; null without one. Each channel has its own, so that two companies can't
 * recognize the same visitor.
 */
export function keptToken(channelId: string, store: Store): string | null {
  const kept = readKept(store, tokenName(channelId));
  return kept && TOKEN.test(kept) ? kept : null;
}

/**
 * Keeps an anonymous visitor's token, with their first message.
 * @returns the token that is kept. It is another one if another tab was first
 */
export function keepToken(channelId: string, token: string, store: Store): string {
  const kept = keptToken(channelId, store);
  if (kept === null) keep(store, tokenName(channelId), token);
  return kept ?? token;
}

/** The name under which a channel's token is kept. */
export function tokenName(channelId: string): string {
  return `token.${channelId}`;
}

/** Forgets everything that a storage keeps for a channel. */
export function forgetChannel(channelId: string, store: () => Storage): void {
  try {
    const all = store();
    // `parley.draft.chn_….user-4711`. A user's id can contain another channel's.
    const isOurs = (key: string) => key.startsWith("parley.") && key.split(".")[2] === channelId;
    for (const key of Object.keys(all).filter(isOurs)) all.removeItem(key);
  } catch {
    // Storage is blocked: nothing is kept.
  }
}

/**
 * The socket's subprotocols, which carry the identity, so that no URL contains it. Null if the hash or its expiry is
 * malformed, because the server would refuse it.
 */
export function subprotocols(identity: Identity): string[] | null {
  if (identity.kind === "token") return ["parley.v1", `token.${identity.token}`];
  const { user, hash, expires } = identity;
  const proof = expires === null ? hash : `${hash}.${expires}`;
  if (!PROOF.test(proof)) return null;
  return ["parley.v1", `user.${base64url(new TextEncoder().encode(user))}.${proof}`];
}

/** The same within a load of the page. */
function newToken(channelId: string): string {
  const token = memory.get(channelId) ?? randomToken();
  memory.set(channelId, token);
  return token;
}
