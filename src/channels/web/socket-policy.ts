import type { ChannelRecord } from "../../calls/channel-record.ts";
import { type Away, awayAt } from "../../model/away.ts";
import { toBase62 } from "../../model/id.ts";
import type { SocketAdmission } from "../../model/visitor.ts";
import { isAllowedOrigin } from "./origin.ts";

/** Which sockets a web channel accepts now. */
export interface SocketPolicy {
  allowedOrigins: string[];
  /** Absent for none. */
  stopWords?: string[] | undefined;
  /** Absent within the hours. */
  away?: Away | undefined;
  /** The fingerprint of each secret that verifies users; empty unless the caller asked for fingerprints. */
  fingerprints: string[];
}

const FINGERPRINT_LENGTH = 15;

/**
 * A channel's policy at `now` (Unix milliseconds). Secrets are decrypted only for the fingerprints, so a channel whose
 * secrets can't be decrypted still accepts anonymous visitors.
 */
export async function socketPolicyOf(
  record: ChannelRecord,
  { withFingerprints }: { withFingerprints: boolean },
  now: number,
) {
  const secrets = withFingerprints ? await record.identitySecrets(now) : [];
  const fingerprints = await Promise.all(secrets.map(secretFingerprint));
  const { allowedOrigins = [], stopWords } = record.settings;
  return { allowedOrigins, fingerprints, stopWords, away: awayAt(record.settings, now) } satisfies SocketPolicy;
}

/** Identifies a secret without revealing it: secrets are random, so nobody can guess one from its hash. */
export async function secretFingerprint(secret: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`fingerprint\n${secret}`));
  return toBase62(new Uint8Array(digest), FINGERPRINT_LENGTH);
}

/** Why a socket would be refused now; null if it would be accepted. `policy` is null if the channel is deleted. */
export function socketRefusalOf({ origin, ownOrigin, fingerprint }: SocketAdmission, policy: SocketPolicy | null) {
  if (!policy) return "no_channel";
  if (!isAllowedOrigin(origin, ownOrigin, policy.allowedOrigins)) return "wrong_origin";
  return fingerprint === null || policy.fingerprints.includes(fingerprint) ? null : "wrong_identity";
}

/** Why a new socket is closed immediately. A browser can read a close code, but not the status of a refused upgrade. */
export const SOCKET_REFUSALS = {
  bad_request: { code: 1008, reason: "after and events must be numbers" },
  try_later: { code: 1013, reason: "Try again later" },
  wrong_identity: { code: 4401, reason: "Wrong identity" },
  wrong_origin: { code: 4403, reason: "Wrong origin" },
  no_channel: { code: 4404, reason: "No such channel" },
} as const;

export type SocketRefusal = keyof typeof SOCKET_REFUSALS;
