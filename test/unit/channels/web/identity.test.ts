import fc from "fast-check";
import { expect, test } from "vitest";
import { addressOfToken, matchingSecret, readClaim } from "../../../../src/channels/web/identity.ts";
import { showsNothing } from "../../../../src/model/field.ts";
import { asUser, signUser, signUserUntil } from "../../../support/site-users.ts";

const HASH = "ab".repeat(32);
const DATED = "aB".repeat(64);
const bytes = new TextEncoder();

function claimOf(...protocols: string[]) {
  return readClaim(protocols.join(", "));
}

test.each(["0123456789abcdefghijkl", "0123456789ABCDEFGHIJ-_", "x".repeat(64), "0123456789abcdef0123456789abcdef"])(
  "%s is a token",
  (token) => {
    expect(claimOf("parley.v1", `token.${token}`)).toEqual({ kind: "token", token });
  },
);

test.each([
  ["no header", null],
  ["another version", "parley.v2, token.0123456789abcdefghijkl"],
  ["two tokens", "parley.v1, token.0123456789abcdefghijkl, token.0123456789abcdefghijkm"],
  ["a token's address", `parley.v1, web_${"x".repeat(43)}`],
  ["an empty hash", "parley.v1, user.YQ."],
  ["a hash that is no hex", `parley.v1, user.YQ.${"x".repeat(64)}`],
  ["a hash of 63 digits", `parley.v1, user.YQ.${HASH.slice(1)}`],
  ["an empty header", ""],
  ["the protocol alone", "parley.v1"],
  ["the protocol twice", "parley.v1, parley.v1"],
  ["the protocol and nothing after a comma", "parley.v1,"],
  ["a claim twice without the protocol", "token.0123456789abcdefghijkl, token.0123456789abcdefghijkl"],
  ["a claim twice", "parley.v1, token.0123456789abcdefghijkl, token.0123456789abcdefghijkl"],
  ["a claim without the protocol", "token.0123456789abcdefghijkl"],
  ["the protocol in another case", "Parley.v1, token.0123456789abcdefghijkl"],
  ["a token too short for 128 bits", "parley.v1, token.0123456789abcdefghijk"],
  ["a token of 65 characters", `parley.v1, token.${"x".repeat(65)}`],
  ["a token with another character", "parley.v1, token.0123456789abcdefghijk="],
  ["two claims", `parley.v1, token.0123456789abcdefghijkl, user.YQ.${HASH}`],
  ["a third protocol", "parley.v1, token.0123456789abcdefghijkl, chat"],
  ["a user without a hash", "parley.v1, user.YQ"],
  ["an empty user", `parley.v1, user..${HASH}`],
  ["a user in base64 with its padding", `parley.v1, user.YQ==.${HASH}`],
  ["a user in base64 that ends amid a byte", `parley.v1, user.A.${HASH}`],
  ["a user that is no UTF-8", `parley.v1, user._w.${HASH}`],
  ["a user whose UTF-8 holds half a surrogate pair", `parley.v1, user.7aCA.${HASH}`],
  ["a token with something before it", "parley.v1, xtoken.0123456789abcdefghijkl"],
  ["a user with something before it", `parley.v1, xuser.YQ.${HASH}`],
  ["a dated user with something before it", `parley.v1, xuser.YQ.${DATED}.1`],
  ["an undated hash with a time", `parley.v1, user.YQ.${HASH}.1`],
  ["a dated hash without a time", `parley.v1, user.YQ.${DATED}`],
  ["an empty time", `parley.v1, user.YQ.${DATED}.`],
  ["a time in milliseconds", `parley.v1, user.YQ.${DATED}.1800000000000`],
  ["a time of twelve digits", `parley.v1, user.YQ.${DATED}.${"1".repeat(12)}`],
  ["a time with a leading zero", `parley.v1, user.YQ.${DATED}.01`],
  ["a time of 0", `parley.v1, user.YQ.${DATED}.0`],
  ["a time that is no number", `parley.v1, user.YQ.${DATED}.1x`],
  ["a hash of 31 bytes", `parley.v1, user.YQ.${HASH.slice(2)}`],
  ["a hash of 33 bytes", `parley.v1, user.YQ.${HASH}00`],
])("%s is not a claim", (_, header) => {
  expect(readClaim(header)).toBeNull();
});

test("a user is read back from its subprotocol, whatever its name", () => {
  const users = fc
    .string({ unit: "binary", minLength: 1, maxLength: 128 })
    .filter((user) => user.length <= 256 && !showsNothing(user) && !user.startsWith("web_"));
  fc.assert(
    fc.property(users, (user) => {
      expect(readClaim(asUser(user, HASH).join(", "))).toMatchObject({ kind: "user", user });
    }),
  );
});

test.each([
  ["an address that a token could have", "web_x"],
  ["nothing but white space", " \t\u00a0"],
  ["257 UTF-16 units", `${"🦀".repeat(128)}x`],
])("a user id of %s is not a claim", (_, user) => {
  expect(readClaim(asUser(user, HASH).join(", "))).toBeNull();
});

test.each(["1", "9", "1800000000", "99999999999"])("a user's hash can be dated %s", (expires) => {
  const hash = Uint8Array.fromHex(DATED);
  expect(readClaim(asUser("user-7", DATED, expires).join(", "))).toEqual({
    kind: "user",
    user: "user-7",
    hash,
    expires: Number(expires),
  });
});

test("a token's address is web_ and the base62 SHA-256 of it", async () => {
  const address = await addressOfToken("0123456789abcdefghijkl");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.encode("0123456789abcdefghijkl")));
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const value = [...address.slice(4)].reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n);
  expect(address).toMatch(/^web_[0-9A-Za-z]{43}$/);
  expect(value).toBe(BigInt(`0x${digest.toHex()}`));
});

test("a user is vouched for under any of the living secrets, and under no other", async () => {
  const hash = async (user: string, secret: string) => Uint8Array.fromHex(await signUser(user, secret));
  const old = await hash("user-7", "old");
  expect(await matchingSecret({ user: "user-7", hash: old, expires: null }, ["new", "old"], 0)).toBe("old");
  expect(await matchingSecret({ user: "user-7", hash: old, expires: null }, ["new"], 0)).toBeNull();
  expect(await matchingSecret({ user: "user-8", hash: old, expires: null }, ["new", "old"], 0)).toBeNull();
  expect(await matchingSecret({ user: "user-7", hash: old, expires: null }, [], 0)).toBeNull();
});

test("a dated hash holds for its user and its time, and until that time", async () => {
  const hash = Uint8Array.fromHex(await signUserUntil("user-7", 1_800_000_000, "secret"));
  const match = (changed: object, now = 1_800_000_000_000 - 1) =>
    matchingSecret({ user: "user-7", hash, expires: 1_800_000_000, ...changed }, ["other", "secret"], now);
  expect(await match({})).toBe("secret");
  expect(await match({}, 1_800_000_000_000)).toBeNull();
  expect(await match({ expires: 1_800_000_001 })).toBeNull();
  expect(await match({ expires: null })).toBeNull();
  expect(await match({ user: "user-8" })).toBeNull();
});

test("no hash of one form holds in the other, whatever the user's id", async () => {
  const undated = Uint8Array.fromHex(await signUser("1800000000.user-7", "secret"));
  expect(await matchingSecret({ user: "user-7", hash: undated, expires: 1_800_000_000 }, ["secret"], 0)).toBeNull();
  const dated = Uint8Array.fromHex(await signUserUntil("user-7", 1_800_000_000, "secret"));
  expect(await matchingSecret({ user: "1800000000.user-7", hash: dated, expires: null }, ["secret"], 0)).toBeNull();
});

test("no changed bit of a hash vouches for anyone", async () => {
  const hash = Uint8Array.fromHex(await signUser("user-7", "secret"));
  for (let bit = 0; bit < 256; bit++) {
    const changed = hash.with(bit >> 3, (hash[bit >> 3] ?? 0) ^ (1 << (bit & 7))) as Uint8Array<ArrayBuffer>;
    expect(await matchingSecret({ user: "user-7", hash: changed, expires: null }, ["secret"], 0)).toBeNull();
  }
});

test("a user's id has up to 256 characters, a mark of byte order included", () => {
  const user = (id: string) => readClaim(asUser(id, HASH).join(", "));
  expect(user("x".repeat(256))).toMatchObject({ user: "x".repeat(256) });
  expect(user("\ufeffuser")).toMatchObject({ user: "\ufeffuser" });
});

test("a claim may come before the protocol", () => {
  expect(readClaim("token.0123456789abcdefghijkl , parley.v1")).toMatchObject({ kind: "token" });
});
