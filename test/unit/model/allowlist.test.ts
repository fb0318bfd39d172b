import fc from "fast-check";
import { convertIPv4ToBinary, convertIPv6ToBinary } from "hono/utils/ipaddr";
import { afterEach, expect, test, vi } from "vitest";
import { addressMatcher, isAddressRule, isSharedByWorkers, isWithinRules } from "../../../src/model/allowlist.ts";

afterEach(() => void vi.restoreAllMocks());

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
  ["::/90", "::1000:0:0"],
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

const ANY_IPV6 = [0, 0, 0, 0, 0, 0, 0, 0];
const SOME_IPV4 = [0, 0, 0, 0, 0, 0xffff, 0x7fff, 1];

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
  // `::ffff:0:0/96` are the IPv4 addresses. A wider range contains none of them.
  const isIpv4 = (groups: number[]) => numberOf(groups, 16) >> 32n === 0xffffn;
  fc.assert(
    fc.property(hextets, hextets, fc.integer({ min: 0, max: 128 }), (network, address, bits) => {
      const shift = BigInt(128 - bits);
      const inside = numberOf(network, 16) >> shift === numberOf(address, 16) >> shift;
      const isAllowed = inside && (bits >= 96 || !isIpv4(address));
      expect(addressMatcher([`${text(network)}/${bits}`])(text(address))).toBe(isAllowed);
    }),
    {
      numRuns: 1_000,
      examples: [
        [ANY_IPV6, SOME_IPV4, 0],
        [SOME_IPV4, SOME_IPV4, 95],
        [SOME_IPV4, SOME_IPV4, 96],
      ],
    },
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

test.each([
  ["2a06:98c0:3600::103", true],
  ["2a06:98c0:3600::/48", true],
  ["2A06:98C0:3600:ffff:ffff:ffff:ffff:ffff/128", true],
  ["2a06:98c0:3600:8000::/49", true],
  ["2a06:98c0:3600::/47", false],
  ["2a06:98c0:35ff:ffff:ffff:ffff:ffff:ffff", false],
  ["2a06:98c0:3601::", false],
  ["::/0", false],
  ["192.0.2.1", false],
  ["nonsense", false],
])("whether %s has only addresses that all Workers share: %s", (rule, expected) => {
  expect(isSharedByWorkers(rule)).toBe(expected);
});

test.each(["2a06:98c0:3600::103", "2a06:98c0:3600::/48", "2a06:98c0:3600::/47", "2a06:98c0::/29", "::/0"])(
  "the rule %s allows no address that all Workers share",
  (rule) => {
    const matches = addressMatcher([rule]);
    for (const address of ["2a06:98c0:3600::", "2a06:98c0:3600::103", "2A06:98C0:3600:FFFF:FFFF:FFFF:FFFF:FFFF"]) {
      expect(matches(address), address).toBe(false);
    }
  },
);

test("a range around the addresses that all Workers share allows its others", () => {
  const matches = addressMatcher(["2a06:98c0:3600::/46"]);
  expect(["2a06:98c0:35ff::", "2a06:98c0:3601::", "2a06:98c0:3603:ffff::", "2a06:98c0:3604::"].map(matches)).toEqual([
    false,
    true,
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

const IPV4 = 0xffff_0000_0000n;
const toText = (value: bigint) =>
  Array.from({ length: 8 }, (_, group) => ((value >> BigInt(112 - 16 * group)) & 0xffffn).toString(16)).join(":");

/** The first and the last address of a rule in CIDR notation. */
function endsOf(rule: string): [bigint, bigint] {
  const [address = "", bits] = rule.split("/");
  const isWide = address.includes(":");
  const value = isWide ? convertIPv6ToBinary(address) : IPV4 | convertIPv4ToBinary(address);
  const free = BigInt((isWide ? 128 : 32) - Number(bits ?? (isWide ? 128 : 32)));
  return [(value >> free) << free, ((value >> free) << free) + (1n << free) - 1n];
}

/** Whether one rule after the other has an address. Ranges that are wider than all of IPv4 have no IPv4 addresses. */
function naiveMatch(rules: readonly string[], value: bigint): boolean {
  return rules.some((rule) => {
    const [first, last] = endsOf(rule);
    if (last - first > 0xffff_ffffn && value >= IPV4 && value <= IPV4 + 0xffff_ffffn) return false;
    return first <= value && value <= last;
  });
}

/** Rules near each other and at the edges of IPv4's place in IPv6. */
const near = fc.oneof(
  fc.tuple(fc.nat(15), fc.integer({ min: 26, max: 32 })).map(([host, bits]) => `192.0.2.${host * 16}/${bits}`),
  fc
    .tuple(fc.nat(15), fc.integer({ min: 120, max: 128 }))
    .map(([host, bits]) => `2001:db8::${(host * 16).toString(16)}/${bits}`),
  fc.integer({ min: 0, max: 3 }).map((bits) => `128.0.0.0/${bits}`),
  fc.integer({ min: 78, max: 100 }).map((bits) => `::ffff:0:0/${bits}`),
  fc.constantFrom(
    "::/0",
    "0.0.0.0/0",
    "::/1",
    "8000::/1",
    "::1:0:0:0/80",
    "::fffe:0:0/96",
    "255.255.255.255",
    "0.0.0.0",
  ),
);
const list = fc.array(near, { minLength: 1, maxLength: 6 });

/** The addresses at which the answer can change. */
const edgesOf = (rules: readonly string[]) =>
  [...rules.flatMap(endsOf), IPV4, IPV4 + 0xffff_ffffn]
    .flatMap((value) => [value - 1n, value, value + 1n])
    .filter((value) => value >= 0n && value < 1n << 128n);

test("a list matches as its rules do one after the other", () => {
  fc.assert(
    fc.property(list, (rules) => {
      const matches = addressMatcher(rules);
      for (const value of edgesOf(rules)) expect(matches(toText(value)), toText(value)).toBe(naiveMatch(rules, value));
    }),
    { numRuns: 500 },
  );
});

test("a range of IPv4 addresses and others is within those others: it contains no IPv4 address", () => {
  expect(isWithinRules(["::ffff:0:0/95"], ["::fffe:0:0/96"])).toBe(true);
});

test("a list is within another exactly if no address of its rules is outside", () => {
  fc.assert(
    fc.property(list, list, (inner, outer) => {
      const outside = edgesOf([...inner, ...outer]).filter(
        (value) => naiveMatch(inner, value) && !naiveMatch(outer, value),
      );
      expect(isWithinRules(inner, outer)).toBe(outside.length === 0);
    }),
    { numRuns: 2_000 },
  );
});

test("comparing two lists of 1,000 rules parses each rule once, and a match parses only the address", () => {
  const rules = (third: number) => Array.from({ length: 1_000 }, (_, i) => `10.${third}.${i >> 8}.${i & 255}`);
  const matches = addressMatcher(rules(1));
  const split = vi.spyOn(String.prototype, "split");
  const parsed = () => split.mock.calls.filter(([separator]) => (separator as unknown) === "/").length;
  expect(isWithinRules([...rules(1), ...rules(2)], ["10.0.0.0/8"])).toBe(true);
  expect(parsed()).toBe(2_001);
  split.mockClear();
  expect(isWithinRules(rules(1), rules(2))).toBe(false);
  expect(parsed()).toBe(2_000);
  split.mockClear();
  expect([matches("10.1.3.231"), matches("10.2.0.0")]).toEqual([true, false]);
  expect(parsed()).toBe(0);
});
