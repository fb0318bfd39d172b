import { toBase62 } from "../../ids.ts";
import type { ChannelRecord } from "../record.ts";
import { isAllowedOrigin } from "./origin.ts";

/** By what a visitor's socket was let in; it is compared with the channel's terms again while the socket is open. */
export interface Admission {
  /** The `Origin` of the page, if it named one. */
  origin: string | null;
  /** The origin of our own page. */
  own: string;
  /** The mark of the secret that vouched for a site's user; null for the holder of a token. */
  mark: string | null;
  /** When the channel was read for it, Unix milliseconds. */
  at: number;
}

/** Whom a web channel lets in at present. */
export interface Terms {
  allowedOrigins: string[];
  /** Of each secret that vouches for users; empty where they were not asked for. */
  marks: string[];
}

const MARK_LENGTH = 15;

/**
 * A channel's terms at `now`. A channel whose secrets can't be opened has terms for the holders of tokens all the same:
 * the marks are made where they are asked for.
 */
export async function termsOf(record: ChannelRecord, { withMarks }: { withMarks: boolean }, now: number) {
  const secrets = withMarks ? await record.identitySecrets(now) : [];
  const marks = await Promise.all(secrets.map(markOf));
  return { allowedOrigins: record.settings.allowedOrigins ?? [], marks } satisfies Terms;
}

/** What tells a secret from another and gives nothing of it away: a secret is random, so its hash is no riddle. */
export async function markOf(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`mark\n${secret}`));
  return toBase62(new Uint8Array(digest), MARK_LENGTH);
}

/** Why what once let a socket in would not do so now; null where it would. `terms` are null of a channel that is gone. */
export function refusalOf({ origin, own, mark }: Admission, terms: Terms | null) {
  if (!terms) return "no_channel";
  if (!isAllowedOrigin(origin, own, terms.allowedOrigins)) return "wrong_origin";
  return mark === null || terms.marks.includes(mark) ? null : "wrong_identity";
}
