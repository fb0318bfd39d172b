import { encodeCBOR } from "@levischuck/tiny-cbor";
import { expect, test } from "vitest";
import {
  authenticatorDataIn,
  readAuthenticatorData,
  readNewCredential,
} from "../../../../src/console/passkeys/authenticator-data.ts";
import { Authenticator } from "../../../support/authenticator.ts";

const authenticator = await Authenticator.make();
const { response } = await authenticator.create(
  { challenge: "", rp: { id: "a.test" }, user: { id: "" } },
  { counter: 258 },
);
const data = authenticatorDataIn(Uint8Array.fromBase64(response.attestationObject, { alphabet: "base64url" }));
if (!data) throw new Error("the authenticator's data was not read");
const made = data;

/** The same bytes with others at a place. */
function altered(at: number, ...bytes: number[]): Uint8Array<ArrayBuffer> {
  const copy = made.slice();
  copy.set(bytes, at);
  return copy;
}

const FLAGS_AT = 32;
const LENGTH_AT = 53;

test("an authenticator's data says who asked, what it checked, and which signature this is", async () => {
  const hostHash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("a.test")));
  expect(readAuthenticatorData(made)).toEqual({ hostHash, isPresent: true, isVerified: true, counter: 258 });
  expect(readAuthenticatorData(altered(FLAGS_AT, 1))).toMatchObject({ isPresent: true, isVerified: false });
  expect(readAuthenticatorData(altered(FLAGS_AT, 4))).toMatchObject({ isPresent: false, isVerified: true });
  expect(readAuthenticatorData(altered(FLAGS_AT + 1, 255, 255, 255, 255))?.counter).toBe(2 ** 32 - 1);
});

test("data is read wherever it lies in memory", () => {
  const larger = new Uint8Array(made.length + 7);
  larger.set(made, 7);
  expect(readAuthenticatorData(larger.subarray(7))).toEqual(readAuthenticatorData(made));
  expect(readNewCredential(larger.subarray(7))).toEqual(readNewCredential(made));
});

test("a new credential has an id and a key, also with extensions behind it", () => {
  const credential = { id: authenticator.id, publicKey: expect.objectContaining({ kty: "EC" }) };
  expect(readNewCredential(made)).toEqual(credential);
  const extensions = encodeCBOR(new Map([["credProtect", 2]]));
  expect(readNewCredential(new Uint8Array([...made, ...extensions]))).toEqual(credential);
});

test("data that is cut at any place has no credential, and below 37 bytes is not valid", () => {
  for (let length = 0; length < made.length; length++) {
    const cut = made.slice(0, length);
    expect(readNewCredential(cut), String(length)).toBeNull();
    expect(readAuthenticatorData(cut) === null, String(length)).toBe(length < 37);
  }
});

test.each<[string, Uint8Array<ArrayBuffer>]>([
  ["without the flag", altered(FLAGS_AT, 5)],
  ["without an id", altered(LENGTH_AT, 0, 0)],
  ["with an id that is longer than the data", altered(LENGTH_AT, 3, 255)],
  ["with an id that is longer than ids can be", altered(LENGTH_AT, 4, 0)],
  ["with something else than a key", altered(55 + 32, 0xa0)],
])("data %s has no credential", (_, bytes) => {
  expect(readNewCredential(bytes)).toBeNull();
});

test.each<[string, Uint8Array]>([
  ["empty", new Uint8Array()],
  ["no map", encodeCBOR(["authData"])],
  ["a map without data", encodeCBOR(new Map([["fmt", "none"]]))],
  ["a map with text as data", encodeCBOR(new Map([["authData", "data"]]))],
  ["followed by more", new Uint8Array([...encodeCBOR(new Map([["authData", new Uint8Array(37)]])), 0])],
  ["nested without end", new Uint8Array(20_000).fill(0x81)],
])("an attestation object that is %s has no data", (_, bytes) => {
  expect(authenticatorDataIn(new Uint8Array(bytes))).toBeNull();
});
