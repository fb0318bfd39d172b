import type { Message, Update } from "@grammyjs/types";
import { expect, test } from "vitest";
import type { ServerContacts, ServerMessage, ServerStatusPayload } from "whatsapp-api-js/types";
import { leavesOf, unknownLeaves } from "../../../src/channels/network/leaves.ts";
import { TELEGRAM_ARRIVALS, type UPDATE_LEAVES } from "../../../src/channels/telegram/arrivals.ts";
import type { TELEGRAM_LEAVES } from "../../../src/channels/telegram/leaves.ts";
import { WHATSAPP_ARRIVALS } from "../../../src/channels/whatsapp/arrivals.ts";
import type { CONTACT_LEAVES, MESSAGE_LEAVES, STATUS_LEAVES } from "../../../src/channels/whatsapp/leaves.ts";
import type { MoreContact, MoreMessage, MoreStatus } from "./whatsapp/wire-types.ts";

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
  ];
  expect(checks).toEqual([true, true, true, true, true]);
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

test("unknown fields are named by their path, at most five, and known ones never", () => {
  const known = leavesOf({ one: ["id", "context.id", "list.a.b"] });
  const value = { id: { deep: 1 }, context: { id: 1, new: 2 }, list: [{ a: { b: 1, c: 2 } }, { d: 1 }], other: [] };
  expect(unknownLeaves(value, known)).toEqual(["context.new", "list.a.c", "other"]);
  expect(unknownLeaves(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, i])), known)).toHaveLength(5);
  for (const strange of [null, undefined, 5, "text", [], [[]], { context: null }, { list: [5] }]) {
    expect(unknownLeaves(strange, known)).toEqual([]);
  }
});
