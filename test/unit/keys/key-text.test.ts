import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { hashOf, keyIdOf, newKeyText } from "../../../src/keys/key-text.ts";
import { newId } from "../../../src/model/id.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function newSecret(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32));
}

test("a key's text is ply_, the 16 characters of its id, 32 random ones and 6 of the checksum", async () => {
  const text = await newKeyText("key_g0123456789ABCDE", newSecret());
  expect(text).toMatch(/^ply_g0123456789ABCDE[0-9A-Za-z]{38}$/);
});

test.each(["eu", "us", null] as const)("a key's text contains its id, in the jurisdiction %s", async (jurisdiction) => {
  const secret = newSecret();
  const id = newId("key", jurisdiction);
  expect(await keyIdOf(await newKeyText(id, secret), [secret])).toBe(id);
});

test("two texts of one key have different secret parts", async () => {
  const secret = newSecret();
  const [one, other] = await Promise.all([1, 2].map(() => newKeyText("key_g0123456789ABCDE", secret)));
  expect(one?.slice(20, 52)).not.toBe(other?.slice(20, 52));
});

test("a text that was created long ago still verifies: the checksum is the last base62 digits of the HMAC-SHA-256", async () => {
  const secret = Uint8Array.from({ length: 32 }, (_, place) => place);
  expect(await keyIdOf("ply_g0123456789ABCDEabcdefghijklmnopqrstuvwxyz0123455IQP1Y", [secret])).toBe(
    "key_g0123456789ABCDE",
  );
});

test("a text with any one character changed is refused", async () => {
  const secret = newSecret();
  const text = await newKeyText(newId("key", null), secret);
  const place = fc.integer({ min: 4, max: text.length - 1 });
  await fc.assert(
    fc.asyncProperty(place, fc.constantFrom(...BASE62), async (at, letter) => {
      fc.pre(text[at] !== letter);
      expect(await keyIdOf(text.slice(0, at) + letter + text.slice(at + 1), [secret])).toBe(null);
    }),
    { numRuns: 300 },
  );
});

test("a text with two adjacent characters swapped is refused", async () => {
  const secret = newSecret();
  const text = await newKeyText(newId("key", null), secret);
  for (let at = 5; at < text.length - 1; at++) {
    const swapped = text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2);
    if (swapped !== text) expect(await keyIdOf(swapped, [secret]), swapped).toBe(null);
  }
});

test("the secret part of one key does not fit the id of another", async () => {
  const secret = newSecret();
  const text = await newKeyText("key_g0123456789ABCDE", secret);
  expect(await keyIdOf(text.replace("ply_g0123456789ABCDE", "ply_u0123456789ABCDE"), [secret])).toBe(null);
});

test("a text signed with an unknown secret is refused", async () => {
  expect(await keyIdOf(await newKeyText(newId("key", null), newSecret()), [newSecret()])).toBe(null);
});

test("a text signed with the previous secret still verifies", async () => {
  const previous = newSecret();
  const id = newId("key", null);
  expect(await keyIdOf(await newKeyText(id, previous), [newSecret(), previous])).toBe(id);
});

test("an unset secret verifies nothing", async () => {
  const text = await newKeyText(newId("key", null), newSecret());
  expect(await keyIdOf(text, [undefined, undefined])).toBe(null);
});

test("two secrets with the same bytes are the same secret", async () => {
  const secret = newSecret();
  const id = newId("key", null);
  expect(await keyIdOf(await newKeyText(id, secret), [secret.slice()])).toBe(id);
});

test.each<[string, (text: string) => string]>([
  ["that is empty", () => ""],
  ["without its prefix", (text) => text.slice(4)],
  ["with another prefix", (text) => text.replace("ply_", "sk__")],
  ["with its prefix in upper case", (text) => text.replace("ply_", "PLY_")],
  ["without its last character", (text) => text.slice(0, -1)],
  ["without its tag", (text) => text.slice(0, -6)],
  ["with a character after it", (text) => `${text}0`],
  ["with a line end after it", (text) => `${text}\n`],
  ["with a space before it", (text) => ` ${text}`],
  ["with a letter beyond ASCII", (text) => `${text.slice(0, -1)}é`],
  ["of a kilobyte", (text) => text.repeat(20)],
])("a text %s is refused", async (_what, change) => {
  const secret = newSecret();
  expect(await keyIdOf(change(await newKeyText(newId("key", null), secret)), [secret])).toBe(null);
});

test.each([
  ["text before its prefix", "key_ply_g0123456789ABCDE"],
  ["a longer id", "key_g0123456789ABCDEF"],
  ["a shorter id", "key_g0123456789ABCD"],
  ["a letter of no jurisdiction", "key_a0123456789ABCDE"],
])("a text with %s is refused even if its checksum is right", async (_what, id) => {
  const secret = newSecret();
  expect(await keyIdOf(await newKeyText(id, secret), [secret])).toBe(null);
});

test("a secret is imported once, and can't be exported", async () => {
  const imported = vi.spyOn(crypto.subtle, "importKey");
  const secret = newSecret();
  await newKeyText("key_g0123456789ABCDE", secret);
  await newKeyText("key_g0123456789ABCDE", secret);
  expect(imported.mock.calls.map(([, , , isExtractable]) => isExtractable)).toEqual([false]);
  imported.mockRestore();
});

test("the hash of a text is its SHA-256 in lower-case hex", async () => {
  expect(await hashOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
