/**
 * Signatures by Standard Webhooks, version 1: an HMAC-SHA-256 of the id, the time and the body.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */

const PREFIX = "whsec_";
const SECRET_BYTES = 32;
const HMAC = { name: "HMAC", hash: "SHA-256" };

const encoder = new TextEncoder();

/** A new secret: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return PREFIX + crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64();
}

/**
 * The headers that prove a call's origin to its receiver.
 * @param secrets each signs the call: during the overlap of a rotation there are two
 * @param id the event's id: the same for each attempt, so that a receiver notices repeats
 * @param at when the call begins, Unix milliseconds
 * @throws Error if a secret is not `whsec_` and base64
 */
export async function signatureHeaders(
  secrets: readonly string[],
  id: string,
  at: number,
  body: string,
): Promise<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>> {
  const timestamp = String(Math.floor(at / 1_000));
  const signed = encoder.encode(`${id}.${timestamp}.${body}`);
  const signatures = await Promise.all(secrets.map((secret) => sign(secret, signed)));
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

async function sign(secret: string, signed: Uint8Array): Promise<string> {
  // The text of the error must not have the secret.
  if (!secret.startsWith(PREFIX)) throw new Error("a webhook's secret is malformed");
  const bytes = Uint8Array.fromBase64(secret.slice(PREFIX.length));
  const key = await crypto.subtle.importKey("raw", bytes, HMAC, false, ["sign"]);
  return `v1,${new Uint8Array(await crypto.subtle.sign("HMAC", key, signed)).toBase64()}`;
}
