import { randomBase62 } from "../model/id.ts";
import { macOf } from "./mac.ts";

/**
 * A code that signs the operator in once, for the link that `npm start` prints. Only those who know the operator's token
 * can make one, so it gives nobody more than they have. Unlike the token, it is worth nothing afterward.
 */

export const OPERATOR_CODE_LASTS_MS = 3_600_000;

/** A new code, good for an hour: its end, a nonce, and the signature of both. */
export async function newOperatorCode(adminToken: string, now: number): Promise<string> {
  const claim = `${now + OPERATOR_CODE_LASTS_MS}.${randomBase62(22)}`;
  return `operator.${claim}.${await signatureOfCode(adminToken, claim)}`;
}

/** The signature of a code's end and nonce, in hex. */
export async function signatureOfCode(adminToken: string, claim: string): Promise<string> {
  const bytes = new Uint8Array(await macOf(adminToken, `console-code ${claim}`));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
