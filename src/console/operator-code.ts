import { randomBase62 } from "../ids.ts";
import { isSameSecret } from "../secrets/compare.ts";
import { macOf } from "../secrets/mac.ts";

/**
 * A code that signs the operator in once, for the link that `npm start` prints. Only those who know the operator's token
 * can make one, so it gives nobody more than they have. Unlike the token, it is worth nothing afterwards.
 */

const LASTS_MS = 3_600_000;
const FORM = /^operator\.(\d{1,15})\.([0-9A-Za-z]{22})\.([0-9a-f]{64})$/;

/** A new code, good for an hour. */
export async function newOperatorCode(adminToken: string, now: number): Promise<string> {
  const claim = `${now + LASTS_MS}.${randomBase62(22)}`;
  return `operator.${claim}.${await signatureOf(adminToken, claim)}`;
}

/** When a code ends, in Unix milliseconds; null if it has ended or is not genuine. Does not know whether it was used. */
export async function endOfCode(adminToken: string, code: string, now: number): Promise<number | null> {
  const [, end = "", nonce, signature = ""] = FORM.exec(code) ?? [];
  const until = Number(end);
  if (nonce === undefined || until <= now || until > now + LASTS_MS) return null;
  return (await isSameSecret(signature, await signatureOf(adminToken, `${end}.${nonce}`))) ? until : null;
}

async function signatureOf(adminToken: string, claim: string): Promise<string> {
  return new Uint8Array(await macOf(adminToken, `console-code ${claim}`)).toHex();
}
