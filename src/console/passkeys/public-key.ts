import type { CBORType } from "@levischuck/tiny-cbor";
import type { PublicKey } from "../../model/passkey.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The algorithms, by their numbers in COSE: ES256 and RS256. https://www.iana.org/assignments/cose */
export const ALGORITHMS = [-7, -257] as const;
const [ES256, RS256] = ALGORITHMS;

/** The labels in a key in COSE: its type and algorithm, and then what differs by the type. */
const LABELS = [1, 3, -1, -2, -3];
const EC2 = 2;
const RSA = 3;
const P256 = 1;
/** The length of a number of the curve P-256, in bytes. */
const SIZE = 32;
/** A modulus of 2,048 to 4,096 bits. */
const MODULUS = { least: 256, most: 512 };

/** The public key in a credential's decoded COSE key; null if it is of another algorithm, or malformed. */
export function publicKeyOf(key: CBORType): PublicKey | null {
  if (!(key instanceof Map)) return null;
  const [type, algorithm, first, second, third] = LABELS.map((label) => key.get(label));
  if (type === EC2 && algorithm === ES256 && first === P256 && hasSize(second) && hasSize(third)) {
    return { kty: "EC", crv: "P-256", x: toBase64Url(second), y: toBase64Url(third) };
  }
  const isRsa = type === RSA && algorithm === RS256 && first instanceof Uint8Array && second instanceof Uint8Array;
  // Leading zeros would make a short modulus look long enough.
  if (!isRsa || first[0] === 0 || first.length < MODULUS.least || first.length > MODULUS.most) return null;
  return { kty: "RSA", n: toBase64Url(first), e: toBase64Url(second) };
}

/** Whether a key can verify signatures. The point of one on a curve may lie beside it. */
export async function isUsable(key: PublicKey): Promise<boolean> {
  return importKey(key).then(
    () => true,
    () => false,
  );
}

/** Whether `signature` is the key's signature of `data`. */
export async function isSignedBy(key: PublicKey, signature: Bytes, data: Bytes): Promise<boolean> {
  const raw = key.kty === "EC" ? rawSignature(signature) : signature;
  return raw !== null && crypto.subtle.verify(algorithmOf(key), await importKey(key), raw, data);
}

/**
 * A signature of ES256 in the form that Web Crypto takes: its two numbers, each with 32 bytes. Authenticators write them
 * in DER, without leading zeros, and with one where the first bit is set. Null if it is malformed.
 */
function rawSignature(der: Bytes): Bytes | null {
  const raw = new Uint8Array(2 * SIZE);
  // The lengths have one byte, because all are below 128.
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null;
  let at = 2;
  for (const end of [SIZE, 2 * SIZE]) {
    const length = der[at + 1] ?? 0;
    if (der[at] !== 0x02) return null;
    const start = at + 2;
    at = start + length;
    const number = der.subarray(der[start] === 0 ? start + 1 : start, at);
    if (number.length > SIZE) return null;
    raw.set(number, end - number.length);
  }
  return at === der.length ? raw : null;
}

function importKey(key: PublicKey): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", key, algorithmOf(key), false, ["verify"]);
}

function algorithmOf({ kty }: PublicKey) {
  if (kty === "EC") return { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  return { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
}

function hasSize(value: CBORType): value is Uint8Array {
  return value instanceof Uint8Array && value.length === SIZE;
}

/** Bytes in base64url, as the JSON of WebAuthn has them. */
export function toBase64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
