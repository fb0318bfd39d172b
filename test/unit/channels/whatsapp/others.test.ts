import { expect, test } from "vitest";
import { callOf, PHONE_ID } from "./network.ts";
import { PHONE, receive, USER } from "./received.ts";

const TIME = "2023-11-14T22:13:20.000Z";
const echo = (fields: object = {}) => ({
  from: "15550783881",
  to: PHONE,
  id: "wamid.e",
  timestamp: "1700000000",
  type: "text",
  text: { body: "Hi" },
  ...fields,
});
const ours = {
  kind: "echo",
  networkId: "wamid.e",
  address: PHONE,
  addresses: [],
  name: null,
  type: "TEXT",
  content: "Hi",
  media: null,
  networkTime: TIME,
};

/** What a change of a field holds. */
async function changeOf(field: string, value: object) {
  const metadata = { display_phone_number: "15550783881", phone_number_id: PHONE_ID };
  const changes = [{ field, value: { messaging_product: "whatsapp", metadata, ...value } }];
  return receive(JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] }));
}

const inApp = (...message_echoes: unknown[]) => changeOf("smb_message_echoes", { message_echoes });
const byAgent = (message: object, fields: object = {}) =>
  changeOf("standby", {
    standby: { message_echoes: [{ id: "wamid.e", timestamp: "1700000000", message, ...fields }] },
  });

test("an echo of the app is for the contact that it was written to", async () => {
  expect(await inApp(echo())).toEqual({
    genuine: true,
    notes: [],
    items: [{ account: PHONE_ID, item: { ...ours, origin: "app" } }],
  });
});

test.each<[string, object, object]>([
  ["a number with a plus", { to: "+49 (151) 1234-5678" }, {}],
  ["a number and a user id", { to_user_id: USER }, { addresses: [USER] }],
  ["a user id alone", { to: undefined, to_user_id: USER }, { address: USER }],
  [
    "parent ids too",
    { to_user_id: USER, to_parent_user_id: "DE.ENT.1" },
    {
      addresses: [USER, "DE.ENT.1"],
    },
  ],
])("%s leads to the contact", async (_what, fields, shown) => {
  const { items, notes } = await inApp(echo(fields));
  expect([items[0]?.item, notes]).toEqual([{ ...ours, origin: "app", ...shown }, []]);
});

test("the recipient's profile is the contact's name", async () => {
  const contacts = [{ wa_id: PHONE, user_id: USER, profile: { name: "Ann", username: "ann" } }];
  const { items } = await changeOf("smb_message_echoes", { contacts, message_echoes: [echo()] });
  expect(items[0]?.item).toEqual({ ...ours, origin: "app", addresses: [USER], name: "Ann", username: "ann" });
});

test.each<[string, object]>([
  ["by its id", { group_id: "Y2F" }],
  ["by its type", { recipient_type: "group" }],
  ["by a recipient that is nobody", { to: "Y2FwaV9ncm91cA" }],
  ["by a recipient that is no text", { to: 5 }],
])("an echo to a group, known %s, is no item", async (_how, fields) => {
  expect(await inApp(echo(fields))).toEqual({
    genuine: true,
    items: [],
    notes: ["groups_not_supported"],
    groups: [PHONE_ID],
  });
});

test("an edit, a deletion and a reaction in the app are of the company", async () => {
  const message = { type: "text", text: { body: "Hello" } };
  const { items, notes } = await inApp(
    echo({ type: "edit", edit: { original_message_id: "wamid.o", message } }),
    echo({ type: "revoke", revoke: { original_message_id: "wamid.o" } }),
    echo({ type: "reaction", reaction: { message_id: "wamid.o", emoji: "👍" } }),
  );
  const about = { networkId: "wamid.o", address: PHONE };
  expect(items.map(({ item }) => item)).toEqual([
    { kind: "edit", ...about, content: "Hello", at: 1_700_000_000_000 },
    { kind: "revoke", ...about },
    { kind: "reaction", ...about, emoji: "👍", at: 1_700_000_000_000, isOwn: true },
  ]);
  expect(notes).toEqual([]);
});

test("what is no echo leaves a note, and does not hold up the rest", async () => {
  const { items, notes, unknown } = await inApp(
    null,
    "Hi",
    echo({ id: 7 }),
    echo({ to: undefined }),
    echo({ new_field: 1 }),
    echo({ type: "system", system: { type: "user_changed_number", wa_id: "49" } }),
  );
  expect(items).toHaveLength(1);
  expect(notes.toSorted()).toEqual([
    "echo field new_field is new",
    "echo not understood",
    "echo not understood",
    "echo not understood",
    "message without a sender",
  ]);
  expect(unknown).toEqual([{ account: PHONE_ID, name: "echo.new_field" }]);
});

test("echoes and copies without the id of our number are ignored, for they may be of another one", async () => {
  for (const field of ["smb_message_echoes", "standby"]) {
    const value = { metadata: undefined, message_echoes: [echo()], standby: { messages: [echo()] } };
    expect(await changeOf(field, value)).toEqual({ genuine: true, items: [], notes: [`${field} without a number`] });
  }
});

test("messages to Meta's agent are marked, and its statuses are left out", async () => {
  const contacts = [{ wa_id: PHONE, profile: { name: "Ann" } }];
  const messages = [{ from: PHONE, id: "wamid.1", timestamp: "1700000000", type: "text", text: { body: "Hi" } }];
  const statuses = [{ id: "wamid.9", status: "delivered", recipient_id: PHONE }];
  const { items, notes } = await changeOf("standby", { standby: { contacts, messages, statuses } });
  expect(items.map(({ item }) => item)).toEqual([
    { ...ours, kind: "message", networkId: "wamid.1", name: "Ann", standby: true },
  ]);
  expect(notes).toEqual([]);
  expect((await changeOf("standby", { standby: null })).items).toEqual([]);
});

test("a reaction and a deletion in a conversation with Meta's agent are not marked", async () => {
  const about = { from: PHONE, id: "wamid.1", timestamp: "1700000000" };
  const { items } = await changeOf("standby", {
    standby: {
      messages: [
        { ...about, type: "reaction", reaction: { message_id: "wamid.o", emoji: "👍" } },
        { ...about, type: "revoke", revoke: { original_message_id: "wamid.o" } },
      ],
    },
  });
  expect(items.map(({ item }) => item)).toEqual([
    { kind: "reaction", networkId: "wamid.o", address: PHONE, emoji: "👍", at: 1_700_000_000_000 },
    { kind: "revoke", networkId: "wamid.o", address: PHONE },
  ]);
});

const said = (content: string, more: object = {}) => ({ ...ours, origin: "network", content, ...more });

test.each<[string, object, object]>([
  ["a text", { type: "text", text: { body: "Hi" } }, said("Hi")],
  ["a text without a type", { text: { body: "Hi" } }, said("Hi")],
  [
    "a text to a user id",
    { to: undefined, recipient: USER, type: "text", text: { body: "Hi" } },
    said("Hi", {
      address: USER,
    }),
  ],
  [
    "a reply",
    { context: { message_id: "wamid.q" }, type: "text", text: { body: "Hi" } },
    said("Hi", { quote: "wamid.q" }),
  ],
  [
    "a picture of an upload",
    { type: "image", image: { id: "7", caption: "Look" } },
    said("Look", { type: "IMAGE", media: { id: "7", contentType: null, fileName: null } }),
  ],
  [
    "a picture behind a link",
    { type: "image", image: { link: "https://x.test/a.png", caption: "Look" } },
    said("[Image] Look https://x.test/a.png"),
  ],
  [
    "a file behind a link",
    { type: "document", document: { link: "https://x.test/a" } },
    said("[Document] https://x.test/a"),
  ],
  [
    "a template",
    { type: "template", template: { name: "welcome", language: { code: "en" } } },
    said("[Template] welcome"),
  ],
  [
    "buttons",
    {
      type: "interactive",
      interactive: {
        type: "button",
        header: { type: "text", text: "Tea" },
        body: { text: "Which?" },
        footer: { text: "We brew" },
        action: { buttons: [{ reply: { id: "1", title: "Green" } }, { reply: { id: "2", title: "Black" } }] },
      },
    },
    said("Tea\nWhich?\nWe brew\n[Green]\n[Black]"),
  ],
  [
    "a list",
    {
      type: "interactive",
      interactive: { body: { text: "Which?" }, action: { sections: [{ rows: [{ id: "1", title: "Green" }] }] } },
    },
    said("Which?\n[Green]"),
  ],
  [
    "a link",
    {
      type: "interactive",
      interactive: { body: { text: "Shop" }, action: { parameters: { display_text: "Open", url: "https://x.test" } } },
    },
    said("Shop\n[Open]"),
  ],
  ["choices of a new kind", { type: "interactive", interactive: { action: {} } }, said("[Interactive]")],
  [
    "a location",
    { type: "location", location: { latitude: 1, longitude: 2 } },
    said("[Location] 1, 2", { location: { latitude: 1, longitude: 2 } }),
  ],
])("%s of Meta's agent", async (_what, message, item) => {
  const { items, notes } = await byAgent({ messaging_product: "whatsapp", to: PHONE, ...message });
  expect([items[0]?.item, notes]).toEqual([item, []]);
});

test("a message of a new type of Meta's agent is described, and its type is named", async () => {
  const { items, unknown } = await byAgent({ to: PHONE, type: "hologram", hologram: {} }, { mood: 1, template: {} });
  expect(items[0]?.item).toEqual(said("[Hologram]"));
  expect(unknown).toEqual(["echo.mood", "echo.hologram", "type.hologram"].map((name) => ({ account: PHONE_ID, name })));
});

test("the agent's message to a group or without a body is no item", async () => {
  expect((await byAgent({ to: "Y2F", type: "text", text: { body: "Hi" } })).groups).toEqual([PHONE_ID]);
  expect((await byAgent({ to: PHONE, recipient_type: "group", type: "text" })).groups).toEqual([PHONE_ID]);
  for (const message of [{}, { to: PHONE, type: 5 }, { type: "text", text: { body: "Hi" } }]) {
    const { items, notes } = await byAgent(message);
    expect([items.length, notes.length]).toEqual([0, 1]);
  }
});

const recipient = { display_phone_number: "15550783881", phone_number_id: PHONE_ID };
const passed = {
  metadata: undefined,
  sender: { phone_number: `+${PHONE}` },
  recipient,
  timestamp: "1700000000",
  type: "control_passed",
  control_passed: { previous_owner_role: "ai_agent", new_owner_role: "escalation" },
};
const given = { account: PHONE_ID, item: { kind: "control", address: PHONE, at: 1_700_000_000_000 } };

test.each<[string, object]>([
  ["with roles", {}],
  ["in its older form, without a type", { type: undefined, control_passed: { metadata: "words" } }],
  ["without roles", { control_passed: {} }],
])("a handover to the company, %s, is of the number that it names", async (_how, fields) => {
  expect(await changeOf("messaging_handovers", { ...passed, ...fields })).toEqual({
    genuine: true,
    notes: [],
    items: [given],
  });
});

test("the id of the number may be a number", async () => {
  const { items } = await changeOf("messaging_handovers", { ...passed, recipient: { phone_number_id: 106 } });
  expect(items[0]?.account).toBe("106");
});

test.each<[string, object, string]>([
  ["taken", { type: "control_taken", control_taken: {} }, "handover control_taken ignored"],
  ["of a new type", { type: "control_shared" }, "handover control_shared ignored"],
  ["without a type", { type: undefined, control_passed: undefined }, "handover with an unknown name ignored"],
  ["to the agent", { control_passed: { new_owner_role: "ai_agent" } }, "handover control_passed ignored"],
  ["of nobody", { sender: undefined }, "handover without a number"],
  ["of somebody without a number", { sender: { phone_number: USER } }, "handover without a number"],
  ["of no number", { recipient: undefined }, "handover without a number"],
])("a handover %s leaves a note", async (_what, fields, note) => {
  expect(await changeOf("messaging_handovers", { ...passed, ...fields })).toEqual({
    genuine: true,
    items: [],
    notes: [note],
  });
});

test("a handover that is no record leaves a note", async () => {
  const changes = [{ field: "messaging_handovers", value: "Hi" }];
  const body = JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] });
  expect((await receive(body)).notes).toEqual(["handover not understood"]);
});

test("a call of messages reads no echoes", async () => {
  expect((await receive(callOf({ message_echoes: [echo()], standby: { messages: [echo()] } }))).items).toEqual([]);
});
