import { type CBORType, decodeCBOR, decodePartialCBOR } from "@levischuck/tiny-cbor";
import type { PublicKey } from "../../model/passkey.ts";
import { publicKeyOf, toBase64Url } from "./public-key.ts";

/**
 * What an authenticator says of a ceremony, in its own format.
 * @see https://www.w3.org/TR/webauthn-2/#sctn-authenticator-data
 */
export interface AuthenticatorData {
  /** SHA-256 of the host name for which the browser asked it. */
  hostHash: Uint8Array;
  /** Somebody touched it, and it verified who that is: by a fingerprint, a face or a PIN. */
  isPresent: boolean;
  isVerified: boolean;
  /** The number of this signature; 0 if it does not count them. */
  counter: number;
}

/** A credential that an authenticator has made. */
export interface NewCredential {
  /** In base64url. */
  id: string;
  publicKey: PublicKey;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The places of the flags and the counter, and of what only a new credential has: its id's length, and its id. */
const FLAGS_AT = 32;
const COUNTER_AT = 33;
const CREDENTIAL_AT = 37;
const ID_LENGTH_AT = 53;
const ID_AT = 55;

const PRESENT = 1;
const VERIFIED = 4;
const HAS_CREDENTIAL = 64;

/** The most bytes that an id can have. */
const MAX_ID = 1_023;

/** Null if it is cut. */
export function readAuthenticatorData(bytes: Bytes): AuthenticatorData | null {
  if (bytes.length < CREDENTIAL_AT) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const flags = view.getUint8(FLAGS_AT);
  return {
    hostHash: bytes.subarray(0, FLAGS_AT),
    isPresent: (flags & PRESENT) !== 0,
    isVerified: (flags & VERIFIED) !== 0,
    counter: view.getUint32(COUNTER_AT),
  };
}

/** The credential in an authenticator's data; null without one, or if its key is of no kind that is asked for. */
export function readNewCredential(bytes: Bytes): NewCredential | null {
  if (bytes.length < ID_AT) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const length = view.getUint16(ID_LENGTH_AT);
  const end = ID_AT + length;
  const hasOne = (view.getUint8(FLAGS_AT) & HAS_CREDENTIAL) !== 0;
  if (!hasOne || length === 0 || length > MAX_ID || end >= bytes.length) return null;
  // Extensions may follow the key.
  const publicKey = publicKeyOf(decoded(() => decodePartialCBOR(bytes.slice(end), 0)[0]));
  return publicKey && { id: toBase64Url(bytes.subarray(ID_AT, end)), publicKey };
}

/**
 * The authenticator's data in an attestation object; null if it is malformed. Who made the authenticator, which the rest
 * of the object may prove, is neither asked for nor checked: members choose theirs themselves.
 */
export function authenticatorDataIn(attestationObject: Bytes): Bytes | null {
  const object = decoded(() => decodeCBOR(attestationObject));
  const data = object instanceof Map ? object.get("authData") : null;
  return data instanceof Uint8Array ? new Uint8Array(data) : null;
}

function decoded(decode: () => CBORType): CBORType {
  try {
    return decode();
  } catch {
    return null;
  }
}
