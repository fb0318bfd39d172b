import type { Message, Update } from "@grammyjs/types";
import { expect, test } from "vitest";
import type { ServerContacts, ServerMessage, ServerStatusPayload } from "whatsapp-api-js/types";
import { newFields } from "../../../src/channels/network/known-fields.ts";
import { TELEGRAM_ARRIVALS, TELEGRAM_LEAVES, UPDATE_LEAVES } from "../../../src/channels/telegram/arrivals.ts";
import { isNotice, KNOWN_IN_MESSAGE } from "../../../src/channels/telegram/known-fields.ts";
import { readUpdate } from "../../../src/channels/telegram/update.ts";
import {
  ACCOUNT_LEAVES,
  CONTACT_LEAVES,
  FIELD_LEAVES,
  MESSAGE_LEAVES,
  PREFERENCE_LEAVES,
  STATUS_LEAVES,
  WHATSAPP_ARRIVALS,
} from "../../../src/channels/whatsapp/arrivals.ts";
import {
  KNOWN_ACCOUNT_FIELDS,
  KNOWN_CONTACT_FIELDS,
  KNOWN_MESSAGE_FIELDS,
  KNOWN_PREFERENCE_FIELDS,
  KNOWN_STATUS_FIELDS,
} from "../../../src/channels/whatsapp/known-fields.ts";
import { FIELDS } from "../../../src/channels/whatsapp/subscriptions.ts";
import type { AccountReport, MoreContact, MoreMessage, MoreStatus, Preference } from "./whatsapp/wire-types.ts";

type NameIn<Groups extends Record<string, readonly string[]>> = Groups[keyof Groups][number];

/** The fields of a type that no table names, with the path to each. Lists count as their items. */
type Missing<Type, Named extends string, Path extends string = ""> = Type extends readonly (infer Item)[]
  ? Missing<Item, Named, Path>
  : Type extends object
    ? {
        [Key in keyof Type & string]-?: `${Path}${Key}` extends Named
          ? never
          : NonNullable<Type[Key]> extends object
            ? Missing<NonNullable<Type[Key]>, Named, `${Path}${Key}.`>
            : `${Path}${Key}`;
      }[keyof Type & string]
    : never;

/** The keys of all members of a union. */
type KeyOf<Type> = Type extends unknown ? keyof Type & string : never;

/** Compiles only if nothing is missing: the error names what is. */
function nothing<Left extends string>(): [Left] extends [never] ? true : { missing: Left } {
  return true as never;
}

test("the tables name every field that the types of both networks have", () => {
  const checks: true[] = [
    nothing<Exclude<KeyOf<Message>, NameIn<typeof TELEGRAM_LEAVES>>>(),
    nothing<Exclude<KeyOf<Update>, NameIn<typeof UPDATE_LEAVES>>>(),
    nothing<Missing<ServerMessage | MoreMessage, NameIn<typeof MESSAGE_LEAVES>>>(),
    nothing<Missing<ServerStatusPayload | MoreStatus, NameIn<typeof STATUS_LEAVES>>>(),
    nothing<Missing<ServerContacts | MoreContact, NameIn<typeof CONTACT_LEAVES>>>(),
    nothing<Missing<AccountReport, NameIn<typeof ACCOUNT_LEAVES>>>(),
    nothing<Missing<Preference, NameIn<typeof PREFERENCE_LEAVES>>>(),
  ];
  expect(checks).toEqual(checks.map(() => true));
});

test("each field that an app is subscribed to is in the table", () => {
  const named: string[] = Object.values(FIELD_LEAVES).flat();
  expect(FIELDS.filter((name) => !named.includes(name))).toEqual([]);
});

test("an update of a name that only begins or ends like a known one is counted", () => {
  const names = Object.values(UPDATE_LEAVES).flat();
  const quiet = names.filter((name) => readUpdate({ [name]: {} }, "1:t").unknown !== undefined);
  expect(quiet).toEqual([]);
  for (const name of names.flatMap((each) => [`${each}_x`, `x_${each}`])) {
    expect(readUpdate({ [name]: {} }, "1:t").unknown).toEqual([{ account: null, name: `update.${name}` }]);
  }
});

test("no table names a field twice, or two ways", () => {
  for (const { title, rows } of [...TELEGRAM_ARRIVALS, ...WHATSAPP_ARRIVALS]) {
    const names = rows.flatMap(({ leaves }) => leaves);
    expect(new Set(names).size, title).toBe(names.length);
    const inside = names.filter((name) => names.some((other) => other.startsWith(`${name}.`)));
    expect(inside, title).toEqual([]);
    expect(names.filter((name) => !/^[a-z0-9_]+(\.[a-z0-9_]+)*$/.test(name))).toEqual([]);
  }
});

/** Names such as `context.id` in the form of `KnownFields`, each list in order. */
function inLevels(groups: Record<string, readonly string[]>): Record<string, string> {
  const levels: Record<string, Set<string>> = {};
  for (const leaf of Object.values(groups).flat()) {
    const [top = "", inner] = leaf.split(".");
    (levels[""] ??= new Set()).add(top);
    if (inner !== undefined) (levels[top] ??= new Set()).add(inner);
  }
  return Object.fromEntries(Object.entries(levels).map(([name, names]) => [name, [...names].sort().join(" ")]));
}

test("the service knows the fields of the tables, and no others", () => {
  expect(KNOWN_MESSAGE_FIELDS).toEqual(inLevels(MESSAGE_LEAVES));
  expect(KNOWN_STATUS_FIELDS).toEqual(inLevels(STATUS_LEAVES));
  expect(KNOWN_CONTACT_FIELDS).toEqual(inLevels(CONTACT_LEAVES));
  expect(KNOWN_ACCOUNT_FIELDS).toEqual(inLevels(ACCOUNT_LEAVES));
  expect(KNOWN_PREFERENCE_FIELDS).toEqual(inLevels(PREFERENCE_LEAVES));
  const { service, ...others } = TELEGRAM_LEAVES;
  expect(KNOWN_IN_MESSAGE).toEqual(inLevels(others));
  expect(service.filter((name) => !isNotice(name))).toEqual([]);
  expect(Object.values(others).flat().filter(isNotice)).toEqual([]);
  expect(service.filter((name) => isNotice(`${name}_x`) || isNotice(`x_${name}`))).toEqual([]);
});

test("new fields are named by their path, at most five, and known ones never", () => {
  const known = { "": "id context list", context: "id", list: "a" };
  const value = { id: { deep: 1 }, context: { id: 1, new: 2 }, list: [{ a: { c: 2 }, b: 1 }, { d: 1 }], other: [] };
  expect(newFields(value, known)).toEqual(["context.new", "list.b", "other"]);
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, i]));
  expect(newFields(many, known)).toHaveLength(5);
  expect(newFields(JSON.parse('{"__proto__":1,"constructor":2}'), known)).toEqual(["__proto__", "constructor"]);
  for (const strange of [null, undefined, 5, "text", [], { context: null }, { list: [5] }, { list: "ab" }]) {
    expect(newFields(strange, known)).toEqual([]);
  }
});
