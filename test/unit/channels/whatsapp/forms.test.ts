import { expect, test } from "vitest";
import { came, itemOf } from "./received.ts";

/** What a form's answer becomes. */
async function formOf(nfm_reply: unknown) {
  return itemOf({ messages: [came({ type: "interactive", interactive: { type: "nfm_reply", nfm_reply } })] });
}

test("the answers of a form are data, and a text with a line for each", async () => {
  const answers = {
    name: "Ann",
    days: ["Mo", "Tu"],
    guests: 2,
    vegan: true,
    more: [1, "a"],
    at: { hour: 7 },
    no: null,
  };
  expect(await formOf({ name: "flow", body: "Sent", response_json: JSON.stringify(answers) })).toMatchObject({
    type: "TEXT",
    content: '[Form]\nname: Ann\ndays: Mo, Tu\nguests: 2\nvegan: true\nmore: [1,"a"]\nat: {"hour":7}\nno: null',
    form: { name: "flow", answers },
  });
});

test.each<[string, object, object, string]>([
  ["answers that came as data", { response_json: { a: "b" } }, { name: null, answers: { a: "b" } }, "[Form]\na: b"],
  ["no answers", { name: "flow" }, { name: "flow", answers: {} }, "[Form]"],
  ["a list", { response_json: '["a"]' }, { name: null, answers: { text: '["a"]' } }, '[Form]\ntext: ["a"]'],
  ["a number", { response_json: "5" }, { name: null, answers: { text: "5" } }, "[Form]\ntext: 5"],
  ["what is no JSON", { response_json: "{a" }, { name: null, answers: { text: "{a" } }, "[Form]\ntext: {a"],
  ["null", { response_json: null }, { name: null, answers: { text: null } }, "[Form]\ntext: null"],
  ["no fields", { response_json: "{}", name: 7 }, { name: "7", answers: {} }, "[Form]"],
])("a form with %s is a form too", async (_what, reply, form, content) => {
  const item = await formOf(reply);
  expect(item).toMatchObject({ type: "TEXT", content });
  expect(item && "form" in item ? item.form : null).toEqual(form);
});

test("a form is bounded", async () => {
  const response_json = JSON.stringify({ first: "x".repeat(9_000), second: "y" });
  const item = await formOf({ response_json });
  expect(item).toMatchObject({ form: { cut: true, answers: { first: expect.stringMatching(/^x{7000}/) } } });
  expect(JSON.stringify(item)).not.toContain("second");
});

test("what is no form is described", async () => {
  for (const strange of [undefined, null, "flow", 5]) {
    const item = await formOf(strange);
    expect(item).toMatchObject({ type: "TEXT", content: "[Form]" });
    expect(item).not.toHaveProperty("form");
  }
});

const item = (fields: object = {}) => ({
  ...{ product_retailer_id: "P1", quantity: 2, item_price: 9.5, currency: "EUR" },
  ...fields,
});
const orderOf = async (order: unknown) => {
  const read = await itemOf({ messages: [came({ type: "order", order })] });
  return read && "order" in read ? read.order : null;
};

test("an order has its catalog and its items", async () => {
  const order = { catalog_id: "C1", text: "Please", product_items: [item(), item({ product_retailer_id: "P2" })] };
  const read = await itemOf({ messages: [came({ type: "order", order })] });
  expect(read).toMatchObject({
    type: "TEXT",
    content: "[Order] 2 × P1 (9.5 EUR), 2 × P2 (9.5 EUR), Please",
    order: {
      catalogId: "C1",
      items: [
        { productId: "P1", quantity: 2, price: "9.5", currency: "EUR" },
        { productId: "P2", quantity: 2, price: "9.5", currency: "EUR" },
      ],
    },
  });
});

test.each<[unknown, number | null]>([
  [3, 3],
  ["3", 3],
  ["999999999", 999_999_999],
  ["1000000000", null],
  ["3x", null],
  ["x3", null],
  ["", null],
  [undefined, null],
  [{}, null],
  [["3"], null],
])("the quantity %j is read as %j", async (quantity, read) => {
  expect(await orderOf({ product_items: [item({ quantity })] })).toMatchObject({ items: [{ quantity: read }] });
});

test("what an order lacks is null, and a price is a decimal number", async () => {
  const none = { productId: null, quantity: null, price: null, currency: null };
  expect(await orderOf({ product_items: [{}, 5, item({ item_price: "free" })] })).toEqual({
    catalogId: null,
    items: [none, none, { productId: "P1", quantity: 2, price: null, currency: "EUR" }],
  });
  for (const strange of [undefined, null, "P1", { product_items: "P1" }]) {
    expect(await orderOf(strange)).toEqual({ catalogId: null, items: [] });
  }
});

test("an order is bounded", async () => {
  const order = await orderOf({ catalog_id: "C1", product_items: Array(500).fill(item()) });
  expect(order).toMatchObject({ catalogId: "C1", cut: true });
  expect(JSON.stringify(order).length).toBeLessThanOrEqual(8_192);
});
