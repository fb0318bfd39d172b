import { expect, test } from "vitest";
import { callOf } from "./network.ts";
import { came, itemOf, PHONE, receive, USER } from "./received.ts";

const text = { type: "text", text: { body: "Hi" } };

/** What a message has besides the fields of every text. */
async function besides(fields: object): Promise<object> {
  const plain = (await itemOf({ messages: [came(text)] })) ?? {};
  const item = (await itemOf({ messages: [came({ ...text, ...fields })] })) ?? {};
  expect(item).toMatchObject(plain);
  return Object.fromEntries(Object.entries(item).filter(([name]) => !(name in plain)));
}

test.each<[unknown, object]>([
  [undefined, {}],
  [{ forwarded: true }, { forwarded: "once" }],
  [{ frequently_forwarded: true }, { forwarded: "many" }],
  [{ forwarded: true, frequently_forwarded: true }, { forwarded: "many" }],
  [{ forwarded: false, frequently_forwarded: false }, {}],
  [{ forwarded: "yes", frequently_forwarded: 1 }, {}],
])("a message with the context %j has the marks %j", async (context, marks) => {
  expect(await besides({ context })).toEqual(marks);
});

test.each<[unknown, object]>([
  [{ catalog_id: "C1", product_retailer_id: "P1" }, { product: { catalogId: "C1", productId: "P1" } }],
  [
    { catalog_id: 7, product_retailer_id: "x".repeat(300) },
    { product: { catalogId: "7", productId: "x".repeat(256) } },
  ],
  [{}, { product: { catalogId: null, productId: null } }],
  ["P1", {}],
  [null, {}],
])("a message about the product %j has %j", async (referred_product, marks) => {
  expect(await besides({ context: { referred_product } })).toEqual(marks);
});

const AD = {
  source_type: "ad",
  source_id: "120210",
  source_url: "https://fb.me/1",
  headline: "Shoes",
  body: "Half price",
  ctwa_clid: "ARA1",
  ref: "spring",
};
const nothing = { type: null, id: null, url: null, headline: null, text: null, clickId: null, ref: null };

test("a message that an ad led to has what Meta says of the ad", async () => {
  expect(await besides({ referral: AD })).toEqual({
    referral: {
      type: "ad",
      id: "120210",
      url: "https://fb.me/1",
      headline: "Shoes",
      text: "Half price",
      clickId: "ARA1",
      ref: "spring",
    },
  });
  expect(await besides({ referral: {} })).toEqual({ referral: nothing });
  expect(await besides({ referral: "ad" })).toEqual({});
  expect(await besides({ referral: null })).toEqual({});
});

test("the text of an ad may be longer than other terms, and is cut where the whole is too long", async () => {
  expect(await besides({ referral: { body: "x".repeat(7_000) } })).toEqual({
    referral: { ...nothing, text: "x".repeat(7_000) },
  });
  expect(await besides({ referral: { body: "x".repeat(9_000) } })).toMatchObject({ referral: { cut: true } });
});

test.each<[object, object]>([
  [
    { name: "Ann", username: "ann.b" },
    { name: "Ann", username: "ann.b" },
  ],
  [{ username: "ann.b" }, { name: "ann.b", username: "ann.b" }],
  [
    { name: "", username: "ann.b" },
    { name: "ann.b", username: "ann.b" },
  ],
])("the profile %j tells %j", async (profile, told) => {
  const item = await itemOf({ contacts: [{ wa_id: PHONE, profile }], messages: [came(text)] });
  expect(item).toMatchObject(told);
});

test.each<[unknown]>([[{ name: "Ann" }], [{ name: "Ann", username: "" }], [{ name: "Ann", username: 5 }]])(
  "the profile %j tells no username",
  async (profile) => {
    const item = await itemOf({ contacts: [{ wa_id: PHONE, profile }], messages: [came(text)] });
    expect(item).toMatchObject({ name: "Ann" });
    expect(item).not.toHaveProperty("username");
  },
);

const phone = (wa_id: unknown) => ({ phone: "+49 170 1", wa_id });
const shared = (...phones: unknown[]) => ({ origin: "contact_request", name: { formatted_name: "Ann" }, phones });

test.each<[string, object[], string[]]>([
  ["its own number, as the company asked", [shared(phone("49170"))], ["49170"]],
  ["two own numbers", [shared(phone("49170"), phone("49171"))], ["49170", "49171"]],
  ["a number of the longest form", [shared(phone("1".repeat(20)))], ["1".repeat(20)]],
  ["a number too long", [shared(phone("1".repeat(21)))], []],
  ["a number with a plus", [shared(phone("+49170"), phone("49170x"), phone(""))], []],
  ["a number that is no text", [shared(phone(49170), phone(undefined), 5)], []],
  ["somebody else's number", [{ ...shared(phone("49170")), origin: "user" }], []],
  ["a card without an origin", [{ ...shared(phone("49170")), origin: undefined }], []],
  ["its own number beside somebody's", [{ phones: [phone("49171")] }, shared(phone("49170"))], ["49170"]],
])("a contact that shares %s gets the addresses of it that are verified", async (_what, contacts, addresses) => {
  expect(await itemOf({ messages: [came({ type: "contacts", contacts })] })).toMatchObject({
    ...{ address: PHONE, addresses },
  });
});

test("only cards verify a number, and a known address comes once", async () => {
  const from = { from: undefined, from_user_id: USER, from_parent_user_id: "DE.ENT.1" };
  const cards = { type: "contacts", contacts: [shared(phone("49170"), phone("49170"))] };
  expect(await itemOf({ messages: [came({ ...from, ...cards })] })).toMatchObject({
    ...{ address: USER, addresses: ["DE.ENT.1", "49170"] },
  });
  const errors = [shared(phone("49170"))];
  const { items } = await receive(callOf({ messages: [came({ ...from, type: "errors", errors })] }));
  expect(items).toMatchObject([{ item: { address: USER, addresses: ["DE.ENT.1"] } }]);
});
