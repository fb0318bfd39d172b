import type { WebhookEvent } from "./event.ts";

/** Why a webhook's call was not accepted. */
export type VerificationFailure =
  | "malformed_secret"
  | "missing_header"
  | "malformed_timestamp"
  | "timestamp_too_old"
  | "timestamp_too_new"
  | "signature_mismatch"
  | "malformed_body";

/** A call that is not proven to come from the service. Answer it with 401, or 400. */
export class WebhookVerificationError extends Error {
  readonly code: VerificationFailure;

  constructor(code: VerificationFailure, message: string) {
    super(message);
    this.name = "WebhookVerificationError";
    this.code = code;
  }
}

/** Headers as `Request` has them, or as Node's `IncomingMessage`. */
export type HeadersLike = Pick<Headers, "get"> | Record<string, string | string[] | undefined>;

const TOLERANCE_SECONDS = 5 * 60;
const SIGNATURE = /^v1,([A-Za-z0-9+/]+={0,2})$/;

/**
 * Verifies a call of a webhook by Standard Webhooks (https://www.standardwebhooks.com), and returns its event. Any of
 * several signatures may match, as during the rotation of a secret.
 * @param body the raw body, before any parser changed it
 * @param secret the webhook's secret: `whsec_…`
 * @param now Unix milliseconds
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  headers: HeadersLike,
  body: string | Uint8Array | ArrayBuffer,
  secret: string,
  now = Date.now(),
): Promise<WebhookEvent> {
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  const signatures = header(headers, "webhook-signature");
  checkTimestamp(timestamp, now);
  const key = await importKey(secret);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signed = concatenated(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  let isGenuine = false;
  for (const text of signatures.split(" ")) {
    const [, encoded] = SIGNATURE.exec(text) ?? [];
    const signature = encoded === undefined ? null : fromBase64(encoded);
    // WebCrypto compares in constant time.
    if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) isGenuine = true;
  }
  if (!isGenuine)
    throw new WebhookVerificationError(
      "signature_mismatch",
      "No signature matches the body and the secret. Are you passing the raw request body, and this webhook's secret?",
    );
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError("malformed_body", "The body is not JSON. Does the call come from Parley?");
  }
}

function header(headers: HeadersLike, name: string): string {
  const value =
    typeof headers.get === "function"
      ? (headers as Headers).get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  const text = Array.isArray(value) ? value[0] : value;
  if (typeof text === "string" && text !== "") return text;
  throw new WebhookVerificationError(
    "missing_header",
    `The header ${name} is missing. Are you passing all headers of the call?`,
  );
}

function checkTimestamp(text: string, now: number): void {
  if (!/^\d{1,12}$/.test(text)) {
    throw new WebhookVerificationError(
      "malformed_timestamp",
      "The header webhook-timestamp is not in Unix seconds. Does the call come from Parley?",
    );
  }
  const age = Math.floor(now / 1_000) - Number(text);
  const limit = "the limit is 5 minutes. Check the clock of this machine";
  if (age > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError("timestamp_too_old", `The call is ${age} s old; ${limit}`);
  }
  if (age < -TOLERANCE_SECONDS) {
    throw new WebhookVerificationError("timestamp_too_new", `The call is ${-age} s in the future; ${limit}`);
  }
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ""));
  // A wrong secret must not accept everyone.
  if (!bytes || bytes.length < 16) {
    throw new WebhookVerificationError(
      "malformed_secret",
      "The secret must be whsec_ and at least 16 bytes in base64. It is shown when the webhook is created or its secret rotated",
    );
  }
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function concatenated(one: Uint8Array, two: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(one.length + two.length);
  bytes.set(one);
  bytes.set(two, one.length);
  return bytes;
}
