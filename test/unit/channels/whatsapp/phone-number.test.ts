import { expect, test } from "vitest";
import { ivorianForms, otherForm, whatsappAddress } from "../../../../src/channels/whatsapp/phone-number.ts";

test.each([
  ["+1 555 078 3881", "15550783881"],
  ["49 (170) 123-4567", "491701234567"],
  ["[49]1701234567", "491701234567"],
  [" 4915112345678 ", "4915112345678"],
  ["+39 06 1234567", "39061234567"],
  ["1234567", "1234567"],
  ["123456789012345", "123456789012345"],
  ["DE.1349120865530274", "DE.1349120865530274"],
  ["US.ENT.118157992", "US.ENT.118157992"],
  [" BR.aZ09 ", "BR.aZ09"],
])("%j is the address %s", (text, address) => {
  expect(whatsappAddress(text)).toBe(address);
});

test.each([
  "0170 1234567",
  "0049 170 1234567",
  "+49 (0)170 1234567",
  "+49 ( 0 )170 1234567",
  "+49 (0170) 1234567",
  "+0 170 1234567",
  "123456",
  "1234567890123456",
  "()-",
  "٤٩١٥١٢٣٤",
  "de.1349120865530274",
  "DE.",
  "DE.ENT.",
  "DE.13 49",
  "DEU.1349",
  `DE.${"1".repeat(129)}`,
])("%j is no address", (text) => {
  expect(whatsappAddress(text)).toBeNull();
});

test.each([
  ["Brazil", "553187654321", "5531987654321"],
  ["Mexico", "525512345678", "5215512345678"],
  ["Argentina", "541123456789", "5491123456789"],
])("a number of %s has two forms, each the other's", (_country, short, long) => {
  expect([otherForm(short), otherForm(long)]).toEqual([long, short]);
});

test.each([
  "553134567890",
  "5531934567890",
  "4915112345678",
  "15550783881",
  "5512345678",
  "521234567",
  "DE.5531987654321",
])("%s has one form", (number) => {
  expect(otherForm(number)).toBeNull();
});

test("a short number of Ivory Coast stands for one of three, and others for none", () => {
  expect(ivorianForms("22507123456")).toEqual(["2250107123456", "2250507123456", "2250707123456"]);
  expect(["2250707123456", "4915112345678", "225123"].map(ivorianForms)).toEqual([[], [], []]);
});
