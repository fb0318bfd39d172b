import { expect, test } from "vitest";
import { secret } from "../../../../src/channels/network/spec.ts";
import { whatsappSpec } from "../../../../src/channels/whatsapp/spec.ts";

const FORM = "must be visible ASCII characters without spaces";

test.each([
  ["12345678", []],
  [" \n!2345~78\t", []],
  ["x".repeat(1_024), []],
  ["", ["is required"]],
  [" \n", ["is required"]],
  ["1234567", ["must have at least 8 characters"]],
  ["x".repeat(1_025), ["must have at most 1024 characters"]],
  ["1234 5678", [FORM]],
  ["ü12345678", [FORM]],
  ["12345678ü", [FORM]],
  ["ü 12345678", [FORM]],
  ["12345678 ü", [FORM]],
  ["1234\u007f5678", [FORM]],
])("the secret %j has the faults %j", (text, faults) => {
  expect(secret.safeParse(text).error?.issues.map((issue) => issue.message) ?? []).toEqual(faults);
});

test("a secret is stored without the white space around it", () => {
  expect(secret.parse(" 12345678\n")).toBe("12345678");
});

test("a WhatsApp channel's account is its phone number", () => {
  expect(whatsappSpec.accountOf({ phoneNumberId: "106540352242922" })).toBe("106540352242922");
  expect(whatsappSpec.accountOf({})).toBeNull();
});

test.each([
  ["4915112345678", "4915112345678"],
  ["+49 (151) 1234-5678", "4915112345678"],
  ["  +4915112", "4915112"],
  ["+\t[49]15112", "4915112"],
  ["++49", null],
  ["49+", null],
  ["", null],
  ["1".repeat(15), "1".repeat(15)],
  ["1".repeat(16), null],
  ["49a", null],
])("the phone number %j is the address %j", (text, address) => {
  expect(whatsappSpec.address(text)).toBe(address);
});
