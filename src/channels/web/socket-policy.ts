import { toBase62 } from "../../ids.ts";
import type { ChannelRecord } from "../record.ts";
import { isAllowedOrigin } from "./origin.ts";

/** What a visitor's socket was accepted with. It is compared with the channel's terms again while the socket is open. */
export interface SocketAdmission {
  /** The `Origin` of the page, if it named one. */
  origin: string | null;
  /** The origin of our own page. */
  own: string;
  /** The mark of the secret that vouched for a site's user; null for the holder of a token. */
  mark: string | null;
  /** When the channel was read for it, Unix milliseconds. */
  at: number;
}

/** Whose sockets a web channel accepts at present. */
export interface SocketPolicy {
  allowedOrigins: string[];
  /** The mark of each secret that vouches for users; empty if the caller didn't ask for marks. */
  marks: string[];
}

const MARK_LENGTH = 15;

/**
 * A channel's terms at `now` (Unix milliseconds). Secrets are opened only for the marks, so a channel whose secrets
 * can't be opened still accepts anonymous visitors.
 */
export async function socketPolicyOf(record: ChannelRecord, { withMarks }: { withMarks: boolean }, now: number) {
  const secrets = withMarks ? await record.identitySecrets(now) : [];
  const marks = await Promise.all(secrets.map(secretFingerprint));
  return { allowedOrigins: record.settings.allowedOrigins ?? [], marks } satisfies SocketPolicy;
}

/** Identifies a secret without revealing it: secrets are random, so nobody can guess one from its hash. */
export async function secretFingerprint(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`mark\n${secret}`));
  return toBase62(new Uint8Array(digest), MARK_LENGTH);
}

/** Why a socket would be refused now; null if it would be accepted. `terms` is null if the channel is gone. */
export function socketRefusalOf({ origin, own, mark }: SocketAdmission, terms: SocketPolicy | null) {
  if (!terms) return "no_channel";
  if (!isAllowedOrigin(origin, own, terms.allowedOrigins)) return "wrong_origin";
  return mark === null || terms.marks.includes(mark) ? null : "wrong_identity";
}
