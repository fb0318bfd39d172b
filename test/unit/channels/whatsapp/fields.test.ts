import { expect, test } from "vitest";
import { FIELD_LEAVES } from "../../../../src/channels/whatsapp/arrivals.ts";
import { callOf, PHONE_ID } from "./network.ts";
import { came, PHONE, receive, status, USER } from "./received.ts";

const ACCOUNT = "102290129340398";
const metadata = { phone_number_id: PHONE_ID };
const hello = { type: "text", text: { body: "Hi" } };

/** What a call with these changes holds. */
async function changed(...changes: unknown[]) {
  return receive(JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: ACCOUNT, changes }] }));
}

const { past, review, people, calls, groups, ...used } = FIELD_LEAVES;

test.each([...past, ...review, ...people, ...calls])("the field %s leaves a note, and is not new", async (field) => {
  expect(await changed({ field, value: { metadata } })).toEqual({
    genuine: true,
    items: [],
    notes: [`field ${field} ignored`],
  });
});

test.each([...past, ...review, ...people, ...calls, ...groups].flatMap((name) => [`${name}_x`, `x_${name}`]))(
  "the field %s, whose name only begins or ends like a known one, is new",
  async (field) => {
    expect(await changed({ field, value: { metadata } })).toEqual({
      genuine: true,
      items: [],
      notes: [`field ${field} ignored`],
      unknown: [{ account: PHONE_ID, name: `field.${field}` }],
    });
  },
);

test.each(groups)("the field %s is of a group", async (field) => {
  expect(await changed({ field, value: { metadata } })).toEqual({
    genuine: true,
    items: [],
    notes: ["groups_not_supported"],
    groups: [PHONE_ID],
  });
});

test.each(Object.values(used).flat())("the field %s is read, and is not new", async (field) => {
  const { notes, unknown } = await changed({ field, value: {} });
  expect(unknown).toBeUndefined();
  expect(notes).not.toContain(`field ${field} ignored`);
});

test.each<[string, unknown, string | null]>([
  ["a text", { metadata: { phone_number_id: "7" } }, "7"],
  ["a number", { metadata: { phone_number_id: 7 } }, null],
  ["absent", { metadata: {} }, null],
  ["of no record", "value", null],
])("the account of a change is its number's id, which is %s", async (_what, value, account) => {
  const { unknown } = await changed({ field: "brand_new", value });
  expect(unknown).toEqual([{ account, name: "field.brand_new" }]);
});

test("what is new in one change has that change's account, and in a change without one has none", async () => {
  const news = (value: object) => ({ field: "brand_new", value });
  const { unknown } = await changed(news({ metadata }), news({}), news({ metadata: { phone_number_id: "7" } }));
  expect(unknown?.map(({ account }) => account)).toEqual([PHONE_ID, null, "7"]);
});

test("news of a template and of an account are of no number", async () => {
  const template = { message_template_name: "order", message_template_language: "en", event: "APPROVED" };
  const { items, notes } = await changed(
    { field: "message_template_status_update", value: { metadata, ...template } },
    { field: "account_update", value: { metadata: undefined, event: "VERIFIED_ACCOUNT" } },
  );
  expect(notes).toEqual([]);
  expect(items).toMatchObject([
    { account: null, item: { kind: "template", wabaId: ACCOUNT, name: "order" } },
    { account: null, item: { kind: "account", wabaId: ACCOUNT } },
  ]);
});

test("news that can't be read leave a note each, and do not hold up the rest", async () => {
  const { items, notes } = await changed(
    { field: "message_template_status_update", value: {} },
    { field: "account_update", value: 5 },
    { field: "messaging_handovers", value: 5 },
    { field: "messages", value: 5 },
    { field: "messages", value: { metadata, messages: [came(hello)] } },
  );
  expect(notes).toEqual([
    "template not understood",
    "account not understood",
    "handover not understood",
    "change not understood",
  ]);
  expect(items).toMatchObject([{ account: PHONE_ID, item: { networkId: "wamid.1" } }]);
});

test.each(["contacts", "messages", "statuses", "user_preferences", "errors"])(
  "a list of %s that is not one counts as empty",
  async (name) => {
    for (const strange of [null, 5, "text", {}]) {
      const { items, notes } = await receive(callOf({ messages: [came(hello)], [name]: strange }));
      expect([items.length, notes]).toEqual([name === "messages" ? 0 : 1, []]);
    }
  },
);

test.each(["smb_message_echoes", "standby"])("lists of %s that are not lists count as empty", async (field) => {
  const none = { contacts: 5, messages: "text", message_echoes: {} };
  for (const value of [
    { metadata, ...none },
    { metadata, standby: none },
    { metadata, standby: "text" },
  ]) {
    expect(await changed({ field, value })).toEqual({ genuine: true, items: [], notes: [] });
  }
});

test("of echoes in the app, only echoes and contacts are read", async () => {
  const others = { messages: [came(hello)], statuses: [status()], user_preferences: [{}], errors: [{ code: 1 }] };
  const value = { metadata, ...others, message_echoes: [] };
  expect(await changed({ field: "smb_message_echoes", value })).toEqual({ genuine: true, items: [], notes: [] });
});

test("of Meta's agent, only what is one level deeper is read", async () => {
  const others = { messages: [came(hello)], statuses: [status()], user_preferences: [{}], errors: [{ code: 1 }] };
  const value = { metadata, ...others, standby: { statuses: [{}], user_preferences: [{}], errors: [{ code: 1 }] } };
  expect(await changed({ field: "standby", value })).toEqual({ genuine: true, items: [], notes: [] });
});

test("in the order of a call come messages, then statuses, then choices", async () => {
  const { items } = await receive(
    callOf({
      user_preferences: [{ wa_id: PHONE, category: "marketing_messages", value: "stop" }],
      statuses: [status()],
      messages: [came(hello)],
    }),
  );
  expect(items.map(({ item }) => item.kind)).toEqual(["message", "status", "marketing"]);
});

test.each<[string, object]>([
  ["a message", { messages: [came(hello)] }],
  ["a status", { statuses: [status()] }],
])("the only contact of a call is that of its only item, %s", async (_what, list) => {
  const contacts = [{ wa_id: "777", user_id: USER }];
  const { items } = await receive(callOf({ contacts, ...list }));
  expect(items).toMatchObject([{ item: { address: PHONE, addresses: ["777", USER] } }]);
});

test("the only contact is nobody's if there are two items, whatever these are", async () => {
  const contacts = [{ wa_id: "777", user_id: USER }];
  const choice = { wa_id: PHONE, category: "marketing_messages", value: "stop" };
  for (const lists of [
    { messages: [came(hello)], statuses: [status()] },
    { messages: [came(hello)], user_preferences: [choice] },
    { statuses: [status(), status()] },
  ]) {
    const { items } = await receive(callOf({ contacts, ...lists }));
    expect(items).toMatchObject([{ item: { addresses: [] } }, { item: { addresses: [] } }]);
  }
});

test("a contact is found by any of its ids, and of two the number's comes first", async () => {
  const contacts = [
    { wa_id: "1", user_id: "US.1", profile: { name: "Ann" } },
    { user_id: USER, profile: { name: "Bo" } },
    { wa_id: PHONE, profile: { name: "Cy" } },
  ];
  const nameOf = async (fields: object) => {
    const { items } = await receive(callOf({ contacts, messages: [came({ ...hello, ...fields })] }));
    return items.map(({ item }) => ("name" in item ? item.name : undefined));
  };
  expect(await nameOf({ from: "1" })).toEqual(["Ann"]);
  expect(await nameOf({ from: undefined, from_user_id: "US.1" })).toEqual(["Ann"]);
  expect(await nameOf({ from: "5", from_user_id: USER })).toEqual(["Bo"]);
  expect(await nameOf({ from_user_id: USER })).toEqual(["Cy"]);
  expect(await nameOf({ from: "5", from_user_id: "US.5" })).toEqual([null]);
});
