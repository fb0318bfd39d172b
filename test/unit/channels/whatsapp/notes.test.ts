import fc from "fast-check";
import { expect, test } from "vitest";
import { callOf } from "./network.ts";
import { came, PHONE, receive, status } from "./received.ts";

test.each<[string, string, string[]]>([
  ["no JSON", "hello", ["body not understood"]],
  ["an empty body", "", ["body not understood"]],
  ["null", "null", ["body not understood"]],
  ["a list", "[]", ["body not understood"]],
  ["another object", '{"object":"page","entry":[]}', ["body not understood"]],
  ["no entries", '{"object":"whatsapp_business_account"}', ["body not understood"]],
  ["an entry that is not one", '{"object":"whatsapp_business_account","entry":[1]}', ["entry not understood"]],
  [
    "a change that is not one",
    '{"object":"whatsapp_business_account","entry":[{"changes":["x"]}]}',
    ["change not understood"],
  ],
  [
    "a field that says nothing of use",
    '{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"history","value":{}}]}]}',
    ["field history ignored"],
  ],
  [
    "an account's report without the account",
    '{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"account_alerts","value":{}}]}]}',
    ["account not understood"],
  ],
])("%s leaves only a note", async (_name, body, notes) => {
  expect(await receive(body)).toEqual({ genuine: true, items: [], notes });
});

test.each<[string, string, string[]]>([
  ["a field", '[{"field":"brand_new","value":{}},{"field":"b","value":1}]', ["field.brand_new", "field.b"]],
  ["a field with a name that is no word", '[{"field":"a\\nb","value":{}}]', ["field"]],
  [
    "a field that begins like a known one",
    '[{"field":"account_a"},{"field":"smb_message_echoes_b"},{"field":"group_c"}]'.replaceAll("}", ',"value":{}}'),
    ["field.account_a", "field.smb_message_echoes_b", "field.group_c"],
  ],
  [
    "what a contact chooses about",
    '[{"field":"user_preferences","value":{"user_preferences":[{"wa_id":"49","category":"news","value":"stop"},{"wa_id":"49","category":"marketing_messages","value":"pause"},{"category":"marketing_messages","value":"stop","mood":1}]}}]',
    ["preference.category.news", "preference.value.pause", "preference.mood"],
  ],
  [
    "a field of an account",
    '[{"field":"account_alerts","value":{"alert_info":{"alert_type":"A","alert_color":1},"entity_id":7,"mood":1}}]',
    ["account.alert_info.alert_color", "account.mood"],
  ],
  ["an account's event", '[{"field":"account_update","value":{"event":"BRAND_NEW"}}]', []],
  ["a status", '[{"field":"messages","value":{"statuses":[{"id":"1","status":"framed"}]}}]', ["status.framed"]],
  [
    "a field of a status",
    '[{"field":"messages","value":{"statuses":[{"id":"1","status":"sent","fees":1,"pricing":{"category":"a","vat":2},"conversation":{"id":"1","origin":{}},"A b":1}]}}]',
    ["status.fees", "status.pricing.vat", "status"],
  ],
  [
    "a field of a contact",
    '[{"field":"messages","value":{"contacts":[{"wa_id":"49","profile":{"name":"A","mood":"fine"},"shoe_size":43},7]}}]',
    ["contact.profile.mood", "contact.shoe_size"],
  ],
  [
    "a type of message",
    '[{"field":"messages","value":{"messages":[{"id":"1","from":"49","type":"hologram"}]}}]',
    ["type.hologram"],
  ],
])("%s that nobody knows is named", async (_name, changes, unknown) => {
  const body = `{"object":"whatsapp_business_account","entry":[{"id":"7","changes":${changes}}]}`;
  const receipt = await receive(body);
  expect(receipt.genuine && (receipt.unknown ?? [])).toEqual(unknown.map((name) => ({ account: null, name })));
});

test.each<[string, object, string]>([
  ["a message that is not one", { messages: ["Hi"] }, "message not understood"],
  ["a message without an id", { messages: [{ from: PHONE, type: "text" }] }, "message not understood"],
  ["a message without a type", { messages: [{ from: PHONE, id: "wamid.1" }] }, "message not understood"],
  ["a message from nobody", { messages: [{ id: "wamid.1", type: "text" }] }, "message without a sender"],
  ["a sender that is no address", { messages: [came({ from: "<b>", type: "text" })] }, "message without a sender"],
  ["a status that is not one", { statuses: [7] }, "status not understood"],
  ["a status without an id", { statuses: [{ status: "sent" }] }, "status not understood"],
  ["a status of the future", { statuses: [status({ status: "framed" })] }, "status framed ignored"],
  ["a contact that is not one", { contacts: ["Ann"] }, "contact not understood"],
  ["an error of the account", { errors: [{ code: 130429, title: "Rate limit hit" }] }, "error 130429"],
])("%s leaves a note and does not hold up the rest", async (_name, value, note) => {
  const good = { messages: [came({ id: "wamid.2", type: "text", text: { body: "Hi" } })] };
  const { items, notes } = await receive(callOf(value, good));
  expect(notes).toEqual([note]);
  expect(items).toMatchObject([{ item: { networkId: "wamid.2" } }]);
});

test("whatever a genuine webhook holds, reading it never throws and its notes hold nothing of it", async () => {
  const part = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("CANARY", 0, -1, null, true, "", "__proto__", "\ud800"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom("id", "type", "from", "text", "body", "image", "errors", "code", "status", "wa_id", "system"),
        tie("value"),
        { maxKeys: 5 },
      ),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(part, part, part, async (messages, statuses, contacts) => {
      const { notes } = await receive(callOf({ messages: [messages], statuses: [statuses], contacts }));
      expect(notes.join()).not.toContain("CANARY");
    }),
    { numRuns: 500 },
  );
});
