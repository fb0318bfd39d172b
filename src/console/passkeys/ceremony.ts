import * as z from "zod/mini";
import { consoleOrigin } from "../../http/hosts.ts";
import { ApiError } from "../../model/error.ts";
import { atMost, optional } from "../../model/field.ts";
import type { PublicKey } from "../../model/passkey.ts";
import {
  authenticatorDataIn,
  type NewCredential,
  readAuthenticatorData,
  readNewCredential,
} from "./authenticator-data.ts";
import { endOfChallenge, type Purpose } from "./challenges.ts";
import { isSignedBy, isUsable } from "./public-key.ts";

/**
 * Checks what a browser answers when it was asked for a new passkey, or to sign in with one.
 * @see https://www.w3.org/TR/webauthn-2/#sctn-registering-a-new-credential
 * @see https://www.w3.org/TR/webauthn-2/#sctn-verifying-assertion
 */

/** Why an answer does not count, for the person who gave it. */
export class Refusal extends Error {}

/** Where a person uses the console. */
export interface ConsolePlace {
  /** With the port, if it is not the usual one. */
  origin: string;
  /** The host name: the `id` of a relying party. */
  host: string;
}

/** An answer to a challenge. */
interface Answered {
  challenge: string;
  /** When the challenge ends, Unix milliseconds. */
  until: number;
  counter: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

const base64 = (max: number) => z.string().check(z.regex(/^[\w-]*$/, "must be base64url"), ...atMost(max));

/** The part of a `RegistrationResponseJSON` that counts. */
export const creationAnswer = z.object({
  response: z.object({ clientDataJSON: base64(8_192), attestationObject: base64(32_768) }),
});

/** The part of an `AuthenticationResponseJSON` that counts. */
export const signInAnswer = z.object({
  id: base64(1_364),
  response: z.object({
    clientDataJSON: base64(8_192),
    authenticatorData: base64(8_192),
    signature: base64(1_024),
    userHandle: optional(base64(128)),
  }),
});

const clientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.optional(z.boolean()),
});

/**
 * Where the console is. Browsers have passkeys for host names alone.
 * @throws ApiError `passkey_host` at an IP address
 */
export function passkeyPlace(env: Env, url: string): ConsolePlace {
  const place = placeOf(env, url);
  if (place === null) throw new ApiError("passkey_host");
  return place;
}

/** Null at an IP address. */
export function placeOf(env: Env, url: string): ConsolePlace | null {
  const origin = consoleOrigin(env, url);
  const { hostname } = new URL(origin);
  return /^\[|^[\d.]+$/.test(hostname) ? null : { origin, host: hostname };
}

/** Checks the answer to a request for a new passkey. @throws Refusal */
export async function checkCreation(
  env: Env,
  place: ConsolePlace,
  sessionId: string,
  { response }: z.output<typeof creationAnswer>,
  now: number,
): Promise<NewCredential & Answered> {
  const said = bytesOf(response.clientDataJSON);
  const answered = await checkClientData(env, said, "webauthn.create", place.origin, { sessionId }, now);
  const data = authenticatorDataIn(bytesOf(response.attestationObject));
  if (!data) throw new Refusal("it is malformed");
  const counter = await checkAuthenticator(data, place.host);
  const credential = readNewCredential(data);
  if (!credential || !(await isUsable(credential.publicKey))) throw new Refusal("its key is neither ES256 nor RS256");
  return { ...credential, ...answered, counter };
}

/** Checks that an answer was signed with a passkey. Does not know whether its challenge was used. @throws Refusal */
export async function checkSignIn(
  env: Env,
  place: ConsolePlace,
  passkey: { memberId: string; publicKey: PublicKey },
  { response }: z.output<typeof signInAnswer>,
  now: number,
): Promise<Answered> {
  const said = bytesOf(response.clientDataJSON);
  const answered = await checkClientData(env, said, "webauthn.get", place.origin, "sign-in", now);
  if (textOf(bytesOf(response.userHandle ?? "")) !== passkey.memberId) throw new Refusal("it is another member’s");
  const data = bytesOf(response.authenticatorData);
  const counter = await checkAuthenticator(data, place.host);
  const signed = new Uint8Array([...data, ...(await sha256(said))]);
  const isSigned = await isSignedBy(passkey.publicKey, bytesOf(response.signature), signed);
  if (!isSigned) throw new Refusal("its signature is wrong");
  return { ...answered, counter };
}

/** Checks what the browser says. */
async function checkClientData(
  env: Env,
  bytes: Bytes,
  type: "webauthn.create" | "webauthn.get",
  origin: string,
  purpose: Purpose,
  now: number,
): Promise<Omit<Answered, "counter">> {
  const said = clientData.safeParse(jsonIn(bytes)).data;
  if (said?.type !== type) throw new Refusal("it is malformed");
  if (said.origin !== origin || said.crossOrigin === true) throw new Refusal("it comes from another site");
  const challenge = textOf(bytesOf(said.challenge));
  const until = await endOfChallenge(env, purpose, challenge, now);
  if (until === null) throw new Refusal("its challenge was used or has expired");
  return { challenge, until };
}

/** Checks what the authenticator says. @returns its counter */
async function checkAuthenticator(bytes: Bytes, host: string): Promise<number> {
  const data = readAuthenticatorData(bytes);
  if (!data) throw new Refusal("it is malformed");
  const expected = await sha256(Uint8Array.from(new TextEncoder().encode(host)));
  if (!data.hostHash.every((byte, at) => byte === expected[at])) throw new Refusal("it is for another host");
  if (!data.isPresent || !data.isVerified) throw new Refusal("the device did not check who you are");
  return data.counter;
}

async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function bytesOf(text: string): Bytes {
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch {
    throw new Refusal("it is malformed");
  }
}

function textOf(bytes: Bytes): string {
  return new TextDecoder().decode(bytes);
}

function jsonIn(bytes: Bytes): unknown {
  try {
    return JSON.parse(textOf(bytes));
  } catch {
    return null;
  }
}
