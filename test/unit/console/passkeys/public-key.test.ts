import { encodeCBOR } from "@levischuck/tiny-cbor";
import { expect, test } from "vitest";
import { isSignedBy, isUsable, publicKeyOf } from "../../../../src/console/passkeys/public-key.ts";
import type { PublicKey } from "../../../../src/model/passkey.ts";
import { der } from "../../../support/authenticator.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DATA = new TextEncoder().encode("signed") as Bytes;

async function newKey() {
  const pair = (await crypto.subtle.generateKey(ECDSA, true, ["sign", "verify"])) as CryptoKeyPair;
  const { x = "", y = "" } = (await crypto.subtle.exportKey("jwk", pair.publicKey)) as JsonWebKey;
  const key: PublicKey = { kty: "EC", crv: "P-256", x, y };
  const sign = async () => new Uint8Array(await crypto.subtle.sign(ECDSA, pair.privateKey, DATA));
  return { key, sign };
}

/** The first signature of many with a number that begins with zeros, or with a first bit that is set. */
async function signatureWhose(isWanted: (number: Uint8Array) => boolean, sign: () => Promise<Bytes>) {
  for (;;) {
    const raw = await sign();
    if ([raw.subarray(0, 32), raw.subarray(32)].some(isWanted)) return der(raw) as Bytes;
  }
}

test.each<[string, (number: Uint8Array) => boolean]>([
  ["is shorter than 32 bytes", ([first]) => first === 0],
  ["needs a leading zero", ([first = 0]) => first >= 128],
  ["is short and needs a leading zero", ([first, second = 0]) => first === 0 && second >= 128],
])("a signature with a number that %s is good", async (_, isWanted) => {
  const { key, sign } = await newKey();
  const signature = await signatureWhose(isWanted, sign);
  expect(await isSignedBy(key, signature, DATA)).toBe(true);
  expect(await isSignedBy(key, signature, DATA.slice(1))).toBe(false);
  expect(await isSignedBy((await newKey()).key, signature, DATA)).toBe(false);
});

test.each<[string, (signature: Bytes) => number[]]>([
  ["cut", (signature) => [...signature.slice(0, -1)]],
  ["cut, with a length that fits", ([tag = 0, length = 0, ...rest]) => [tag, length - 1, ...rest.slice(0, -1)]],
  ["longer than it says", (signature) => [...signature, 0]],
  ["no sequence", ([, ...rest]) => [0x31, ...rest]],
  ["of something else than numbers", ([tag = 0, length = 0, , ...rest]) => [tag, length, 0x03, ...rest]],
  [
    "of one number",
    ([, , type = 0, length = 0, ...rest]) => [0x30, length + 2, type, length, ...rest.slice(0, length)],
  ],
  ["of long numbers", () => [0x30, 72, 2, 34, ...Array(34).fill(1), 2, 34, ...Array(34).fill(1)]],
  ["empty", () => []],
  ["of two zeros", () => [0x30, 6, 2, 1, 0, 2, 1, 0]],
])("a signature that is %s is not good, and is no fault", async (_, change) => {
  const { key, sign } = await newKey();
  const signature = der(await sign()) as Bytes;
  expect(await isSignedBy(key, signature, DATA)).toBe(true);
  expect(await isSignedBy(key, new Uint8Array(change(signature)), DATA)).toBe(false);
});

const EC = { 1: 2, 3: -7, [-1]: 1, [-2]: new Uint8Array(32), [-3]: new Uint8Array(32) };
const RSA = { 1: 3, 3: -257, [-1]: new Uint8Array(256).fill(1), [-2]: new Uint8Array([1, 0, 1]) };

function cose(of: Record<string, unknown>) {
  return new Map(Object.entries(of).map(([label, value]) => [Number(label), value as number]));
}

test("keys of ES256 and RS256 are read", () => {
  const zeros = "A".repeat(43);
  expect(publicKeyOf(cose(EC))).toEqual({ kty: "EC", crv: "P-256", x: zeros, y: zeros });
  expect(publicKeyOf(cose(RSA))).toEqual({ kty: "RSA", n: expect.stringMatching(/^AQEB/), e: "AQAB" });
});

test.each<[string, object]>([
  ["of EdDSA", { 1: 1, 3: -8, [-1]: 6, [-2]: new Uint8Array(32) }],
  ["of another curve", { ...EC, [-1]: 2 }],
  ["of another algorithm for the curve", { ...EC, 3: -35 }],
  ["without an algorithm", { ...EC, 3: undefined }],
  ["with a short number", { ...EC, [-2]: new Uint8Array(31) }],
  ["without y", { ...EC, [-3]: undefined }],
  ["with text for a number", { ...EC, [-2]: "x".repeat(32) }],
  ["of RSA with 1,024 bits", { ...RSA, [-1]: new Uint8Array(128) }],
  ["of RSA with 2,040 bits and a leading zero", { ...RSA, [-1]: new Uint8Array(256).fill(1, 1) }],
  ["of RSA with 8,192 bits", { ...RSA, [-1]: new Uint8Array(1_024) }],
  ["of RSA without an exponent", { ...RSA, [-2]: 3 }],
  ["of RSA with PSS", { ...RSA, 3: -37 }],
])("a key %s is not taken", (_, of) => {
  expect(publicKeyOf(cose(of as Record<string, unknown>))).toBeNull();
});

test.each([[null], [5], ["key"], [[]], [encodeCBOR(1)]])("%j is no key", (value) => {
  expect(publicKeyOf(value)).toBeNull();
});

test("a point that is not on the curve is no usable key", async () => {
  const { key } = await newKey();
  expect(await isUsable(key)).toBe(true);
  expect(await isUsable({ kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43) })).toBe(false);
});
