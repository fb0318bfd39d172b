import { randomBase62 } from "../../model/id.ts";
import { configured } from "../../platform/config.ts";
import { isSameSecret } from "../../secrets/compare.ts";
import { macOf } from "../../secrets/mac.ts";
import { toBase64Url } from "./public-key.ts";

/**
 * What an authenticator signs, so that what it signed counts now and only once. A challenge is a time, a nonce and the
 * signature of both, so that nothing is stored of those that are only asked for. One that was used is stored until it
 * would have ended, in the directory, like the operator's codes: so it counts once in all isolates.
 */

export const CHALLENGE_LASTS_MS = 300_000;

const CHALLENGE = /^(\d{1,15})\.([0-9A-Za-z]{22})\.([\w-]{43})$/;

/**
 * What a challenge is good for: the sign-in of anybody, or a new passkey in the session with this id. One for the other
 * does not count.
 */
export type Purpose = "sign-in" | { sessionId: string };

/** A new challenge, good for five minutes. */
export async function newChallenge(env: Env, purpose: Purpose, now: number): Promise<string> {
  const claim = `${now + CHALLENGE_LASTS_MS}.${randomBase62(22)}`;
  return `${claim}.${await signatureOf(env, purpose, claim)}`;
}

/** When a challenge ends, in Unix milliseconds; null if it has ended or is not genuine. Does not know whether it was used. */
export async function endOfChallenge(
  env: Env,
  purpose: Purpose,
  challenge: string,
  now: number,
): Promise<number | null> {
  const [, end = "", nonce, signature = ""] = CHALLENGE.exec(challenge) ?? [];
  const until = Number(end);
  // Only its signature says that it is one. The clock that it was made by may be ahead.
  if (nonce === undefined || until <= now) return null;
  const isGenuine = await isSameSecret(signature, await signatureOf(env, purpose, `${end}.${nonce}`));
  return isGenuine ? until : null;
}

/** A rotation of the operator's token ends all challenges, as it ends all sessions. */
async function signatureOf(env: Env, purpose: Purpose, claim: string): Promise<string> {
  const of = purpose === "sign-in" ? purpose : `new ${purpose.sessionId}`;
  const mac = await macOf(configured(env, "ADMIN_TOKEN"), `console-passkey ${of} ${claim}`);
  return toBase64Url(new Uint8Array(mac));
}
