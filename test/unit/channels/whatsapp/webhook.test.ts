import { expect, test } from "vitest";
import type { PostData } from "whatsapp-api-js/types";
import { callOf, PHONE_ID } from "./network.ts";
import { came, itemOf, PHONE, receive, status, USER } from "./received.ts";

const contact = { profile: { name: "Ann" }, wa_id: PHONE };

const inbound = {
  kind: "message",
  networkId: "wamid.1",
  address: PHONE,
  addresses: [],
  name: "Ann",
  media: null,
  networkTime: "2023-11-14T22:13:20.000Z",
};

test("a text message belongs to the account of its phone number's id", async () => {
  const call = {
    object: "whatsapp_business_account",
    entry: [
      {
        id: "102290129340398",
        changes: [
          {
            field: "messages",
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: "15550783881", phone_number_id: PHONE_ID },
              contacts: [{ profile: { name: "Ann" }, wa_id: PHONE, user_id: USER }],
              messages: [
                {
                  from: PHONE,
                  from_user_id: USER,
                  id: "wamid.1",
                  timestamp: "1700000000",
                  type: "text",
                  text: { body: "Hi" },
                },
              ],
            },
          },
        ],
      },
    ],
  } satisfies PostData;
  expect(await receive(JSON.stringify(call))).toEqual({
    genuine: true,
    notes: [],
    items: [{ account: PHONE_ID, item: { ...inbound, addresses: [USER], type: "TEXT", content: "Hi" } }],
  });
});

test.each<[string, object, object]>([
  [
    "an image with a caption",
    { type: "image", image: { id: "111", mime_type: "image/jpeg", sha256: "x", caption: "Look" } },
    { type: "IMAGE", content: "Look", media: { id: "111", contentType: "image/jpeg", fileName: null } },
  ],
  [
    "a video without a caption",
    { type: "video", video: { id: "112", mime_type: "video/mp4", sha256: "x" } },
    { type: "VIDEO", content: "", media: { id: "112", contentType: "video/mp4", fileName: null } },
  ],
  [
    "a voice message",
    { type: "audio", audio: { id: "113", mime_type: "audio/ogg; codecs=opus", sha256: "x", voice: true } },
    { type: "AUDIO", content: "", media: { id: "113", contentType: "audio/ogg", fileName: null }, voice: true },
  ],
  [
    "a document with its name",
    { type: "document", document: { id: "114", mime_type: "application/pdf", filename: "plan.pdf", caption: "Plan" } },
    { type: "DOCUMENT", content: "Plan", media: { id: "114", contentType: "application/pdf", fileName: "plan.pdf" } },
  ],
  [
    "media without a content type",
    { type: "image", image: { id: "115" } },
    { type: "IMAGE", content: "", media: { id: "115", contentType: null, fileName: null } },
  ],
  ["an empty text", { type: "text", text: { body: "" } }, { type: "TEXT", content: "" }],
])("%s keeps its type and content", async (_name, fields, expected) => {
  expect(await itemOf({ contacts: [contact], messages: [came(fields)] })).toEqual({ ...inbound, ...expected });
});

test.each<[string, object, string]>([
  ["a button without its payload", { type: "button", button: { text: "Yes" } }, "[Button] Yes"],
  [
    "a reply without its id",
    { type: "interactive", interactive: { type: "button_reply", button_reply: { title: "Tomorrow" } } },
    "[Reply] Tomorrow",
  ],
  [
    "a permission to call",
    {
      type: "interactive",
      interactive: { type: "call_permission_reply", call_permission_reply: { response: "accept" } },
    },
    "[Permission to call] accept",
  ],
  ["a reaction to nothing", { type: "reaction", reaction: { emoji: "👍" } }, "[Reaction] 👍"],
  [
    "a reaction that is no emoji",
    { type: "reaction", reaction: { message_id: "wamid.0", emoji: "x".repeat(33) } },
    `[Reaction] ${"x".repeat(33)}`,
  ],
  ["a location off the earth", { type: "location", location: { latitude: 91, longitude: 0 } }, "[Location] 91, 0"],
  ["a location without a place", { type: "location" }, "[Location]"],
  [
    "contacts without phones",
    { type: "contacts", contacts: [{ name: { formatted_name: "Cy" } }, { phones: [{ phone: " " }] }] },
    "[Contact] Cy,",
  ],
  ["a sticker without its id", { type: "sticker", sticker: { mime_type: "image/webp" } }, "[Sticker]"],
  [
    "what WhatsApp itself does not support",
    { type: "unsupported", unsupported: { type: "poll" }, errors: [{ code: 131051, title: "Unknown" }] },
    "[Unsupported message] poll, 131051",
  ],
  ["a kind whose name is not valid", { type: "<b>x</b>" }, "[Message]"],
  ["a kind that is named as a prototype", { type: "__proto__" }, "[Message]"],
  ["a kind that is named as a method", { type: "constructor" }, "[Constructor]"],
  ["a text without its body", { type: "text" }, "[Text]"],
  ["an image without its id", { type: "image", image: { caption: "Look" } }, "[Image]"],
  ["a button that is no object", { type: "button", button: "Yes" }, "[Button]"],
  ["contacts that are no list", { type: "contacts", contacts: { name: "Bob" } }, "[Contact]"],
])("%s becomes a TEXT with a description", async (_name, fields, content) => {
  const item = await itemOf({ contacts: [contact], messages: [came(fields)] });
  expect(item).toEqual({ ...inbound, type: "TEXT", content });
});

test("a kind of the future is described, and its field is named in a note, without its value", async () => {
  const future = came({ type: "hologram", hologram: { id: 1 }, text: { body: "Hi", "a b": 1 } });
  expect(await receive(callOf({ messages: [future] }))).toMatchObject({
    items: [{ item: { type: "TEXT", content: "[Hologram]" } }],
    notes: ["message field hologram is new", "message field with an unknown name is new"],
  });
});

test("a description is truncated to 1,000 characters", async () => {
  const item = await itemOf({ messages: [came({ type: "button", button: { text: "x".repeat(5_000) } })] });
  expect(item).toMatchObject({ content: `[Button] ${"x".repeat(991)}` });
});

test.each<[string, object, object, string, string[]]>([
  ["a number alone", { from: PHONE }, {}, PHONE, []],
  ["a number and a user id", { from: PHONE, from_user_id: USER }, {}, PHONE, [USER]],
  ["a user with a username", { from: undefined, from_user_id: USER }, { user_id: USER }, USER, []],
  ["a user whom the contact alone names", { from: undefined }, { user_id: USER }, USER, []],
  ["a wa_id that differs from the number", { from: PHONE }, { wa_id: "491511234567" }, PHONE, ["491511234567"]],
  [
    "everything at once",
    { from: PHONE, from_user_id: USER, from_parent_user_id: "DE.ENT.1" },
    { wa_id: "491511234567", user_id: USER, parent_user_id: "DE.ENT.1" },
    PHONE,
    ["491511234567", USER, "DE.ENT.1"],
  ],
])("of %s the addresses are told", async (_name, fields, who, address, addresses) => {
  const message = came({ type: "text", text: { body: "Hi" }, ...fields });
  const item = await itemOf({ contacts: [{ profile: { name: "Ann" }, ...who }], messages: [message] });
  expect(item).toEqual({ ...inbound, address, addresses, type: "TEXT", content: "Hi" });
});

test.each<[string, object, string | null]>([
  ["its profile's name", { profile: { name: "Ann", username: "ann.b" } }, "Ann"],
  ["its username where it has no name", { profile: { username: "ann.b" } }, "ann.b"],
  ["none where it has neither", {}, null],
])("a contact has %s", async (_name, who, name) => {
  const message = came({ type: "text", text: { body: "Hi" } });
  expect(await itemOf({ contacts: [{ wa_id: PHONE, ...who }], messages: [message] })).toMatchObject({ name });
});

test("several messages keep their own contacts", async () => {
  const other = { profile: { name: "Bob" }, wa_id: "15551234", user_id: "US.77" };
  const { items } = await receive(
    callOf({
      contacts: [other, { ...contact, user_id: USER }],
      messages: [
        came({ type: "text", text: { body: "one" } }),
        came({ id: "wamid.2", from: "15551234", type: "text", text: { body: "two" } }),
      ],
    }),
  );
  expect(items.map(({ item }) => item)).toEqual([
    { ...inbound, addresses: [USER], type: "TEXT", content: "one" },
    {
      ...inbound,
      networkId: "wamid.2",
      address: "15551234",
      addresses: ["US.77"],
      name: "Bob",
      type: "TEXT",
      content: "two",
    },
  ]);
});

test("a contact that fits none of several messages lends none its addresses", async () => {
  const { items } = await receive(
    callOf({
      contacts: [{ profile: { name: "Cy" }, wa_id: "777" }],
      messages: [
        came({ type: "text", text: { body: "one" } }),
        came({ id: "wamid.2", from: "15551234", type: "text", text: { body: "two" } }),
      ],
    }),
  );
  expect(items.map(({ item }) => item)).toMatchObject([
    { address: PHONE, addresses: [], name: null },
    { address: "15551234", addresses: [], name: null },
  ]);
});

test("several entries, changes and items of one call all come, in order and each for its own account", async () => {
  const one = (phone_number_id: string, ...ids: string[]) => ({
    field: "messages",
    value: {
      metadata: { phone_number_id },
      messages: ids.map((id) => came({ id, type: "text", text: { body: id } })),
      statuses: ids.map((id) => status({ id: `${id}.s` })),
    },
  });
  const { items, notes } = await receive(
    JSON.stringify({
      object: "whatsapp_business_account",
      entry: [
        { id: "1", changes: [one("10", "a", "b"), one("20", "c")] },
        { id: "2", changes: [one("30", "d")] },
      ],
    }),
  );
  expect(notes).toEqual([]);
  expect(items.map(({ account, item }) => [account, "networkId" in item && item.networkId])).toEqual([
    ["10", "a"],
    ["10", "b"],
    ["10", "a.s"],
    ["10", "b.s"],
    ["20", "c"],
    ["20", "c.s"],
    ["30", "d"],
    ["30", "d.s"],
  ]);
});

const NUMBER = "user_changed_number";
const USER_ID = "user_changed_user_id";

test.each([
  ["a number", { from: PHONE, system: { type: NUMBER, wa_id: "4917099" } }, [PHONE], ["4917099"]],
  ["a number, as before 2022", { from: PHONE, system: { customer: PHONE, new_wa_id: 4917099 } }, [PHONE], ["4917099"]],
  [
    "a number and the user id that belongs to it",
    { from: PHONE, system: { type: NUMBER, wa_id: "4917099", user_id: "DE.2", previous_user_id: "DE.1" } },
    [PHONE, "DE.1"],
    ["4917099", "DE.2"],
  ],
  ["a user id", { system: { type: USER_ID, user_id: "DE.2", previous_user_id: "DE.1" } }, ["DE.1"], ["DE.2"]],
  [
    "the user ids of a portfolio too",
    {
      system: {
        type: USER_ID,
        user_id: "DE.2",
        parent_user_id: "DE.ENT.2",
        previous_user_id: "DE.1",
        previous_parent_user_id: "DE.ENT.1",
      },
    },
    ["DE.1", "DE.ENT.1"],
    ["DE.2", "DE.ENT.2"],
  ],
  [
    "a user id, with the number that stays",
    { from: PHONE, system: { type: USER_ID, user_id: "DE.2" } },
    [],
    ["DE.2", PHONE],
  ],
  ["a user id, sent by the old one", { from: "DE.1", system: { type: USER_ID, user_id: "DE.2" } }, ["DE.1"], ["DE.2"]],
])("a notice of %s is a change of addresses and no message", async (_name, { from, system }: Notice, old, to) => {
  const { items } = await receive(callOf({ contacts: undefined, messages: [came({ type: "system", from, system })] }));
  expect(items.map(({ item }) => item)).toEqual([{ kind: "address", from: old, to, at: expect.any(Number) }]);
});

interface Notice {
  from?: string;
  system: Record<string, unknown>;
}

test("a notice without another address leaves a note", async () => {
  const system = { body: "The contact changed", type: "customer_identity_changed", identity: { hash: "x" } };
  const { items, notes } = await receive(callOf({ messages: [came({ type: "system", system })] }));
  expect([items, notes]).toEqual([[], ["system without an address"]]);
});

test("a value without metadata has no account", async () => {
  const { items } = await receive(callOf({ metadata: undefined, statuses: [status()] }));
  expect(items).toMatchObject([{ account: null, item: { kind: "status" } }]);
});

test("a call of very many contacts and messages costs as much as it is long", async () => {
  const contacts = Array.from({ length: 150_000 }, () => ({}));
  const messages = Array.from({ length: 10_000 }, (_, i) =>
    came({ id: `wamid.${i}`, type: "text", text: { body: "Hi" } }),
  );
  const { items } = await receive(callOf({ contacts, messages }));
  expect(items).toHaveLength(10_000);
});
