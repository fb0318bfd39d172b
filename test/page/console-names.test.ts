import { expect, test } from "vitest";
import { contactName, initialsOf } from "../../src/web/console/names.ts";

const chat = (address: string, name: string | null, kind: "web" | "telegram" = "web") => ({
  contact: { address, name, username: null, personId: null, addresses: [address] },
  channel: { id: "chn_1", kind, name: "Site" },
});

test.for([
  ["Ann Lee", "AL"],
  ["ann", "A"],
  ["  Ann  von  Lee ", "AV"],
  ["👨‍👩‍👧‍👦 Family", "👨‍👩‍👧‍👦F"],
  ["🇩🇪 Shop", "🇩🇪S"],
  ["e\u0301mile", "E\u0301"],
  ["\u202Eevil", "E"],
  ["\u200B\u200B", ""],
  ["", ""],
] as const)("the initials of %j are %j", ([name, initials]) => {
  expect(initialsOf(name)).toBe(initials);
});

test.for([
  ["+4915550001", null, "telegram", "+4915550001"],
  ["user-42", null, "web", "user-42"],
  ["web_3kJ9xQ2mV5r3T", null, "web", "Visitor 5r3T"],
  ["web_3kJ9xQ2mV5r3T", "Ann", "web", "Ann"],
  ["web_3kJ9xQ2mV5r3T", "\u200B \u202E", "web", "Visitor 5r3T"],
  ["web_3kJ9xQ2mV5r3T", null, "telegram", "web_3kJ9xQ2mV5r3T"],
] as const)("a contact with the address %s and the name %j on %s is %j", ([address, name, kind, shown]) => {
  expect(contactName(chat(address, name, kind))).toBe(shown);
});
