import { expect, test } from "vitest";
import { describe } from "../../../../src/channels/whatsapp/describe.ts";
import { refusalByStatus } from "../../../../src/channels/whatsapp/errors.ts";
import { graphUrl } from "../../../../src/channels/whatsapp/graph.ts";
import { callOf } from "./network.ts";
import { came, itemOf, PHONE, receive, status, USER } from "./received.ts";

test.each([
  ["abc def", {}, "[Message]"],
  ["a".repeat(41), {}, "[Message]"],
  ["", {}, "[Message]"],
  ["Poll", {}, "[Message]"],
  ["a_new_kind", {}, "[A new kind]"],
  ["contacts", [{ phones: [{ phone: "+49 170" }] }], "[Contact] +49 170"],
  ["contacts", [{ name: { formatted_name: "Ann" }, phones: [{}, { phone: "+49" }] }, {}], "[Contact] Ann +49"],
  ["order", { product_items: [{ product_retailer_id: "sku" }] }, "[Order] 1 × sku"],
  ["order", { product_items: {}, text: "Please" }, "[Order] Please"],
])("a message of type %j with %j is described as %s", (type, part, text) => {
  expect(describe(type, part, undefined)).toBe(text);
});

test("the outcome of an empty response contains its status", () => {
  const message = "The network answered 200 with a response that could not be understood";
  expect(refusalByStatus(200, null)).toEqual({ outcome: "unknown", message });
});

test("an address has one version, and no slash twice", async () => {
  const bases = ["https://graph.test", "https://graph.test/", "https://graph.test//"];
  const urls = await Promise.all(bases.map((base) => graphUrl({ base }, "1/messages", { accessToken: "token" })));
  expect(urls).toEqual(Array(3).fill("https://graph.test/v24.0/1/messages"));
});

const text = { type: "text", text: { body: "Hi" } };
const contact = (wa_id: string, name: string) => ({ wa_id, profile: { name } });

test("a message that matches neither of two contacts gets no name", async () => {
  const contacts = [contact("111", "Ann"), contact("222", "Bo")];
  expect(await itemOf({ contacts, messages: [came(text)] })).toMatchObject({ address: PHONE, name: null });
  expect(await itemOf({ contacts: contacts.slice(1), messages: [came(text)] })).toMatchObject({ name: "Bo" });
});

test.each(["!4915112345678", "4915112345678!", "49 151", "", "x".repeat(161)])(
  "%j is nobody's address",
  async (from) => {
    const { items, notes } = await receive(callOf({ messages: [came({ ...text, from })] }));
    expect([items, notes]).toEqual([[], ["message without a sender"]]);
  },
);

test("an error that can't be read leaves a note", async () => {
  expect((await receive(callOf({ errors: [{ code: 5 }, { code: "five" }] }))).notes).toEqual([
    "error 5",
    "error not understood",
  ]);
});

test("a body that is not JSON leaves a note", async () => {
  expect(await receive("{")).toEqual({ genuine: true, items: [], notes: ["body not understood"] });
});

test("nobody but the network says that a contact has moved", async () => {
  const button = { text: "Yes", wa_id: "999", user_id: USER, previous_user_id: "DE.1" };
  const { items } = await receive(callOf({ messages: [came({ type: "button", button })] }));
  expect(items).toMatchObject([{ item: { kind: "message" } }]);
});

test("a file name is truncated to 255 characters", async () => {
  const item = await itemOf({
    messages: [came({ type: "document", document: { id: "F1", filename: "x".repeat(256) } })],
  });
  expect(item).toMatchObject({ type: "DOCUMENT", media: { id: "F1", fileName: "x".repeat(255) } });
});

test("a status brings our ids where they are ours, and nobody's where there are none", async () => {
  const ids = async (biz_opaque_callback_data?: string) => itemOf({ statuses: [status({ biz_opaque_callback_data })] });
  expect(await ids("cht_g0.msg_g0")).toMatchObject({ chatId: "cht_g0", messageId: "msg_g0" });
  expect(await ids()).toMatchObject({ chatId: null, messageId: null });
});
