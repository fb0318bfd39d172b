import fc from "fast-check";
import { expect, test } from "vitest";
import { addressMatcher, isAddressRule } from "../../../src/keys/allowlist.ts";

test.each([
  "0.0.0.0",
  "192.0.2.1",
  "255.255.255.255",
  "192.0.2.0/24",
  "192.0.2.55/24",
  "0.0.0.0/0",
  "192.0.2.1/32",
  "::",
  "::1",
  "2001:db8::a",
  "2001:DB8::A",
  "1:2:3:4:5:6:7:8",
  "1:2:3:4:5:6:7::",
  "0000::0001",
  "2001:db8::/32",
  "::/0",
  "::1/128",
  "::ffff:192.0.2.1",
  "::ffff:c000:201",
  "::ffff:192.0.2.0/120",
])("%s is a rule", (rule) => {
  expect(isAddressRule(rule)).toBe(true);
});

test.each([
  "",
  " ",
  "*",
  "localhost",
  "example.com",
  "1",
  "1.2.3",
  "1.2.3.4.5",
  "1.2.3.*",
  "256.1.1.1",
  "1.2.3.-4",
  "1..2.3",
  "010.0.0.1",
  "1.2.3.04",
  "0x7f.0.0.1",
  "2130706433",
  " 1.2.3.4",
  "1.2.3.4 ",
  "1.2.3.4\n",
  "1.2.3.4:80",
  "1.2.3.4, 5.6.7.8",
  "1.2.3.4,5.6.7.8",
  "192.0.2.0-192.0.2.9",
  "١.٢.٣.٤",
  "1.2.3.4/",
  "1.2.3.4/33",
  "1.2.3.4/-1",
  "1.2.3.4/+8",
  "1.2.3.4/08",
  "1.2.3.4/1e1",
  "1.2.3.4/ 8",
  "1.2.3.4/8 ",
  "1.2.3.4/٣",
  "1.2.3.4/24/1",
  "1.2.3.4/255.255.255.0",
  "/24",
  "/",
  "1.2.3/24",
  ":",
  ":::",
  "::g",
  "1::2::3",
  "12345::",
  "1:2:3:4:5:6:7",
  "1:2:3:4:5:6:7:8:9",
  "[::1]",
  "::/129",
  "::1/0128",
  "::ffff:256.0.0.1",
  "::ffff:01.2.3.4",
  "fe80::1%eth0",
  "fe80::1%",
  "fe80::%eth0/10",
  "1.2.3.4%eth0",
])("%j is not a rule", (rule) => {
  expect(isAddressRule(rule)).toBe(false);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["192.0.2.0/24", "192.0.2.0"],
  ["192.0.2.0/24", "192.0.2.255"],
  ["192.0.2.55/24", "192.0.2.1"],
  ["192.0.2.2/31", "192.0.2.3"],
  ["192.0.2.1/32", "192.0.2.1"],
  ["0.0.0.0/0", "255.255.255.255"],
  ["0.0.0.0/1", "127.255.255.255"],
  ["0.0.0.0/32", "0.0.0.0"],
  ["2001:db8::a", "2001:db8::a"],
  ["2001:db8::/32", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::5/32", "2001:db8:1::"],
  ["2001:DB8::/32", "2001:db8::1"],
  ["::/0", "ffff::"],
  ["::1/128", "0:0:0:0:0:0:0:1"],
  ["8000::/1", "ffff::"],
])("the rule %s allows %s", (rule, address) => {
  expect(addressMatcher([rule])(address)).toBe(true);
});

test.each([
  ["2001:DB8::A", "2001:db8::a"],
  ["2001:db8::a", "2001:DB8::A"],
  ["2001:db8::a", "2001:db8:0:0:0:0:0:a"],
  ["2001:db8:0:0:0:0:0:a", "2001:db8::a"],
  ["2001:0db8::000a", "2001:db8::a"],
  ["::1", "0000:0000:0000:0000:0000:0000:0000:0001"],
])("the rule %s allows %s, which is the same address", (rule, address) => {
  expect(addressMatcher([rule])(address)).toBe(true);
});

test.each([
  ["192.0.2.1", "::ffff:192.0.2.1"],
  ["192.0.2.1", "::FFFF:192.0.2.1"],
  ["192.0.2.1", "::ffff:c000:201"],
  ["192.0.2.1", "0:0:0:0:0:ffff:c000:0201"],
  ["192.0.2.0/24", "::ffff:192.0.2.9"],
  ["192.0.2.0/24", "::ffff:c000:209"],
  ["0.0.0.0/0", "::ffff:192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "::ffff:c000:201"],
  ["::ffff:c000:201", "192.0.2.1"],
  ["::ffff:192.0.2.1/128", "192.0.2.1"],
  ["::ffff:192.0.2.0/120", "192.0.2.9"],
  ["::ffff:0:0/96", "192.0.2.1"],
])("the rule %s allows %s: an IPv4 address in IPv6 form is the IPv4 address", (rule, address) => {
  expect(addressMatcher([rule])(address)).toBe(true);
});

test.each([
  ["192.0.2.1", "192.0.2.2"],
  ["192.0.2.0/24", "192.0.3.0"],
  ["192.0.2.2/31", "192.0.2.4"],
  ["192.0.2.1/32", "192.0.2.0"],
  ["0.0.0.0/1", "128.0.0.0"],
  ["0.0.0.0/32", "0.0.0.1"],
  ["0.0.0.0/0", "::1"],
  ["0.0.0.0/0", "::102:304"],
  ["2001:db8::/32", "2001:db9::"],
  ["::/128", "::1"],
  ["8000::/1", "7fff::"],
  ["192.0.2.1", "::192.0.2.1"],
  ["192.0.2.1", "::ffff:0:192.0.2.1"],
  ["192.0.2.1", "64:ff9b::192.0.2.1"],
  ["192.0.2.1", "2002:c000:201::"],
  ["::192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.0/120", "192.0.3.9"],
])("the rule %s does not allow %s", (rule, address) => {
  expect(addressMatcher([rule])(address)).toBe(false);
});

test.each([
  "",
  " ",
  "unknown",
  "null",
  "192.0.2.1, 198.51.100.1",
  "192.0.2.1,192.0.2.1",
  "192.0.2.1 ",
  "192.0.2.01",
  "192.0.2",
  "192.0.2.1:443",
  "192.0.2.1/32",
  "3221225985",
  "[::1]",
  "::1/128",
  "::g",
  "192.0.2.1\0",
])("the header value %j is not an address, and no rule allows it", (value) => {
  expect(addressMatcher(["0.0.0.0/0", "::/0", "192.0.2.1", "::1"])(value)).toBe(false);
});

test("no text makes a matcher throw", () => {
  const matches = addressMatcher(["192.0.2.0/24", "2001:db8::/32", "192.0.2.1", "::1"]);
  const likeAnAddress = fc.string({ unit: fc.constantFrom(..."0123456789abcdef:.%/, "), maxLength: 40 });
  const last = fc.integer({ min: 0, max: 0xffff }).map((group) => group.toString(16));
  const mapped = fc
    .tuple(fc.constantFrom("::ffff:", "::", "::ffff:0:"), last, last)
    .map(([head, a, b]) => `${head}${a}:${b}`);
  fc.assert(
    fc.property(fc.oneof(likeAnAddress, mapped, fc.ipV6(), fc.string()), (text) => {
      expect(typeof matches(text)).toBe("boolean");
    }),
    { numRuns: 1_000 },
  );
});

test("no rule allows a missing address", () => {
  expect(addressMatcher(["0.0.0.0/0", "::/0"])(null)).toBe(false);
});

test("an empty list of rules allows no one: the caller handles an empty allow-list", () => {
  expect(addressMatcher([])("192.0.2.1")).toBe(false);
});

test("one matching rule is enough", () => {
  const matches = addressMatcher(["198.51.100.0/24", "2001:db8::/32", "192.0.2.1"]);
  expect(["192.0.2.1", "2001:db8::9", "198.51.100.9", "203.0.113.1"].map(matches)).toEqual([true, true, true, false]);
});

/** Reads an address with `bits` bits in each group as one number. */
function numberOf(groups: number[], bits: number): bigint {
  return groups.reduce((value, group) => (value << BigInt(bits)) | BigInt(group), 0n);
}

/** Groups with common first bits, often enough for ranges to match. */
const octets = fc.array(fc.constantFrom(0, 1, 127, 128, 255), { minLength: 4, maxLength: 4 });
const hextets = fc.array(fc.constantFrom(0, 1, 0x7fff, 0x8000, 0xffff), { minLength: 8, maxLength: 8 });

test("an IPv4 range allows exactly the addresses with its first bits", () => {
  fc.assert(
    fc.property(octets, octets, fc.integer({ min: 0, max: 32 }), (network, address, bits) => {
      const shift = BigInt(32 - bits);
      const inside = numberOf(network, 8) >> shift === numberOf(address, 8) >> shift;
      expect(addressMatcher([`${network.join(".")}/${bits}`])(address.join("."))).toBe(inside);
    }),
    { numRuns: 1_000 },
  );
});

test("an IPv6 range allows exactly the addresses with its first bits", () => {
  const text = (groups: number[]) => groups.map((group) => group.toString(16)).join(":");
  fc.assert(
    fc.property(hextets, hextets, fc.integer({ min: 0, max: 128 }), (network, address, bits) => {
      const shift = BigInt(128 - bits);
      const inside = numberOf(network, 16) >> shift === numberOf(address, 16) >> shift;
      expect(addressMatcher([`${text(network)}/${bits}`])(text(address))).toBe(inside);
    }),
    { numRuns: 1_000 },
  );
});

test("a range wider than IPv4 contains no IPv4 address", () => {
  const all = addressMatcher(["::/0"]);
  expect([all("2001:db8::1"), all("192.0.2.1"), all("::ffff:192.0.2.1")]).toEqual([true, false, false]);
  expect([addressMatcher(["0.0.0.0/0"])("192.0.2.1"), addressMatcher(["::ffff:0:0/95"])("192.0.2.1")]).toEqual([
    true,
    false,
  ]);
});

test("an invalid rule allows nothing, and does not affect a valid one", () => {
  expect([addressMatcher(["nonsense", "192.0.2.1"])("192.0.2.1"), addressMatcher(["nonsense"])("192.0.2.1")]).toEqual([
    true,
    false,
  ]);
});
