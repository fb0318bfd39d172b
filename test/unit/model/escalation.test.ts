import fc from "fast-check";
import { expect, test } from "vitest";
import { addressMatcher, isWithinRules } from "../../../src/model/allowlist.ts";
import { type Power, whyBeyond, whyLacking } from "../../../src/model/escalation.ts";
import { PERMISSIONS } from "../../../src/model/permission.ts";

const KEY = "The API key lacks";
const NONE: Power = { permissions: [], expiresAt: null, ipAllowlist: [], draftsOnly: false };

const address = fc.oneof(
  fc.ipV4(),
  fc.constantFrom("192.0.2.1", "192.0.2.200", "2001:db8::1", "2001:db8:1::1", "::ffff:192.0.2.1", "::1"),
);
const rule = fc.oneof(
  fc.constantFrom("192.0.2.0/24", "192.0.2.0/25", "192.0.2.1", "0.0.0.0/0", "2001:db8::/32", "2001:db8::1", "::/0"),
  fc.constantFrom("::ffff:0:0/96", "::ffff:192.0.2.0/120", "::/1", "::/64", "::fffe:0:0/95"),
  fc.tuple(fc.ipV4(), fc.nat(32)).map(([text, bits]) => `${text}/${bits}`),
);
const power = fc.record({
  permissions: fc.subarray([...PERMISSIONS]),
  expiresAt: fc.option(fc.nat(5)),
  ipAllowlist: fc.array(rule, { maxLength: 3 }),
  draftsOnly: fc.boolean(),
});

test.each([
  ["192.0.2.1", ["192.0.2.0/24"], true],
  ["192.0.2.0/24", ["192.0.2.0/24"], true],
  ["192.0.2.0/23", ["192.0.2.0/24"], false],
  ["192.0.3.1", ["192.0.2.0/24"], false],
  ["192.0.2.0/24", ["192.0.2.0/25", "192.0.2.128/25"], true],
  ["192.0.2.0/24", ["192.0.2.0/25", "192.0.2.129/25", "192.0.3.0/24"], true],
  ["192.0.2.0/24", ["192.0.2.0/25", "192.0.2.192/26"], false],
  ["::fffe:0:0/95", ["::/0"], true],
  ["::ffff:0:0/96", ["0.0.0.0/1", "128.0.0.0/1"], true],
  ["2001:db8::1", ["2001:db8::/32"], true],
  ["::ffff:192.0.2.1", ["192.0.2.0/24"], true],
  ["192.0.2.1", ["::ffff:192.0.2.0/120"], true],
  ["192.0.2.1", ["::/0"], false],
  ["0.0.0.0/0", ["::/0"], false],
  ["::/1", ["::/0"], true],
  ["::/0", ["0.0.0.0/0"], false],
  ["192.0.2.1", [], false],
])("whether %s is within %j: %s", (inner, rules, expected) => {
  expect(isWithinRules([inner], rules)).toBe(expected);
});

test("a rule within others matches no address that they don't match", () => {
  fc.assert(
    fc.property(rule, fc.array(rule, { minLength: 1, maxLength: 3 }), address, (inner, rules, text) => {
      if (isWithinRules([inner], rules) && addressMatcher([inner])(text))
        expect(addressMatcher(rules)(text)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("a key can give what it has, and nothing beyond it", () => {
  fc.assert(
    fc.property(power, power, address, (own, other, text) => {
      expect(whyBeyond(own, own, KEY)).toBeNull();
      if (whyBeyond(own, other, KEY) !== null) return;
      expect(own.permissions).toEqual(expect.arrayContaining(other.permissions));
      if (own.draftsOnly) expect(other.draftsOnly).toBe(true);
      expect(other.expiresAt ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(
        own.expiresAt ?? Number.POSITIVE_INFINITY,
      );
      const allows = ({ ipAllowlist }: Power) => ipAllowlist.length === 0 || addressMatcher(ipAllowlist)(text);
      if (allows(other)) expect(allows(own)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("a key that can give a second key can give what the second key can give", () => {
  fc.assert(
    fc.property(power, power, power, (first, second, third) => {
      if (whyBeyond(first, second, KEY) === null && whyBeyond(second, third, KEY) === null) {
        expect(whyBeyond(first, third, KEY)).toBeNull();
      }
    }),
    { numRuns: 2_000 },
  );
});

test("the text names what the key lacks, or what goes too far", () => {
  const reader: Power = { ...NONE, permissions: ["chats:read"] };
  const manager: Power = { ...NONE, permissions: ["chats:read", "keys:write"] };
  expect(whyLacking(NONE, reader, KEY)).toBe("The API key lacks the permission chats:read of the other key");
  expect(whyLacking(NONE, reader, "You lack")).toBe("You lack the permission chats:read of the other key");
  expect(whyLacking(NONE, manager, KEY)).toMatch("the permissions chats:read, keys:write of");
  expect(whyLacking(reader, reader, KEY)).toBeNull();
  expect(whyLacking({ ...reader, draftsOnly: true }, reader, KEY)).toMatch("draftsOnly");
  expect(whyLacking(reader, { ...reader, draftsOnly: true }, KEY)).toBeNull();
  expect(whyBeyond({ ...NONE, expiresAt: 5 }, { ...NONE, expiresAt: 6 }, KEY)).toMatch("expire after");
  expect(whyBeyond({ ...NONE, expiresAt: 5 }, NONE, KEY)).toMatch("expire after");
  expect(whyBeyond({ ...NONE, expiresAt: 5 }, { ...NONE, expiresAt: 5 }, KEY)).toBeNull();
  expect(whyBeyond(NONE, { ...NONE, expiresAt: 5 }, KEY)).toBeNull();
  expect(whyBeyond({ ...NONE, ipAllowlist: ["192.0.2.0/24"] }, NONE, KEY)).toMatch("allow addresses");
  expect(whyBeyond({ ...NONE, ipAllowlist: ["192.0.2.0/24"] }, { ...NONE, ipAllowlist: ["1.1.1.1"] }, KEY)).toMatch(
    "allow",
  );
});
