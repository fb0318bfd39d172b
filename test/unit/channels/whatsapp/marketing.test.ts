import { expect, test, vi } from "vitest";
import { PHONE_ID } from "./network.ts";
import { PHONE, receive, USER } from "./received.ts";

const stop = { wa_id: PHONE, category: "marketing_messages", value: "stop", timestamp: 1_700_000_000 };

/** What a contact's choice becomes. */
async function chosen(fields: object = {}, contacts: object[] = []) {
  const user_preferences = [{ ...stop, ...fields }];
  const value = { metadata: { phone_number_id: PHONE_ID }, contacts, user_preferences };
  const changes = [{ field: "user_preferences", value }];
  return receive(JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] }));
}

test.each([
  ["stop", true],
  ["resume", false],
])("a contact that says %s has opted out: %s", async (value, optedOut) => {
  expect(await chosen({ value })).toEqual({
    genuine: true,
    notes: [],
    items: [
      {
        account: PHONE_ID,
        item: { kind: "marketing", address: PHONE, addresses: [], optedOut, at: 1_700_000_000_000 },
      },
    ],
  });
});

test.each<[string, object, object[], string, string[]]>([
  ["a user id too", { user_id: USER }, [], PHONE, [USER]],
  ["a user id alone", { wa_id: undefined, user_id: USER }, [], USER, []],
  ["the contact", {}, [{ wa_id: "491511234567", user_id: USER }], PHONE, ["491511234567", USER]],
  ["the contact alone", { wa_id: undefined }, [{ wa_id: "491511234567", user_id: USER }], "491511234567", [USER]],
])("a choice that names %s is for its addresses", async (_what, fields, contacts, address, addresses) => {
  const { items, notes } = await chosen(fields, contacts);
  expect([items[0]?.item, notes]).toMatchObject([{ kind: "marketing", address, addresses }, []]);
});

test("of two people, a choice is for the one that it names by either id", async () => {
  const contacts = [
    { wa_id: "1", user_id: "US.1" },
    { wa_id: PHONE, user_id: USER },
  ];
  for (const fields of [{}, { wa_id: undefined, user_id: USER }]) {
    const { items } = await chosen(fields, contacts);
    expect(items).toMatchObject([{ item: { address: PHONE, addresses: [USER] } }]);
  }
  expect((await chosen({ wa_id: undefined }, contacts)).items).toEqual([]);
});

test("a choice without a valid time is of now", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  const { items } = await chosen({ timestamp: "soon" });
  vi.useRealTimers();
  expect(items).toMatchObject([{ item: { at: 1_800_000_000_000 } }]);
});

test.each<[string, object, string, object[]?]>([
  [
    "of another category",
    { category: "news" },
    "preference category.news ignored",
    [{ name: "preference.category.news" }],
  ],
  [
    "of no category",
    { category: undefined },
    "preference category.undefined ignored",
    [{ name: "preference.category.undefined" }],
  ],
  ["of another word", { value: "pause" }, "preference value.pause ignored", [{ name: "preference.value.pause" }]],
  ["of nobody", { wa_id: undefined }, "preference without a contact"],
  ["of nobody's address", { wa_id: "<b>" }, "preference without a contact"],
])("a choice %s leaves a note", async (_what, fields, note, unknown) => {
  const { items, notes, unknown: named } = await chosen(fields);
  expect([items, notes]).toEqual([[], [note]]);
  expect(named).toEqual(unknown?.map((each) => ({ account: PHONE_ID, ...each })));
});

test("a choice that is not one leaves a note and does not hold up the rest", async () => {
  const user_preferences = ["stop", stop];
  const changes = [{ field: "user_preferences", value: { user_preferences } }];
  const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] });
  const { items, notes } = await receive(body);
  expect(notes).toEqual(["preference not understood"]);
  expect(items).toMatchObject([{ account: null, item: { kind: "marketing", optedOut: true } }]);
});
