import fc from "fast-check";
import { expect, test } from "vitest";
import { cutField, MAX_FIELD_BYTES } from "../../../src/model/received.ts";

const sizeOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

test("what fits is kept as it is, whatever its keys are called", () => {
  const field = JSON.parse('{"name":null,"answers":{"__proto__":{"x":1},"constructor":[true,null,1.5],"":""}}');
  expect(JSON.stringify(cutField(field))).toBe(JSON.stringify(field));
});

test("a list ends with the last item that fits whole, and a text with the last character", () => {
  const item = { productId: "p".repeat(100), quantity: 1, price: "9.90", currency: "EUR" };
  const order = cutField({ catalogId: "c", items: Array.from({ length: 300 }, () => item) });
  expect(order).toMatchObject({ catalogId: "c", cut: true });
  expect(order.items.length).toBeGreaterThan(40);
  for (const each of order.items) expect(each).toEqual(item);
  const referral = cutField({ type: "ad", text: "é\n".repeat(9_000), ref: null, clickId: "late" });
  expect(referral).toMatchObject({ type: "ad", ref: null, clickId: "", cut: true });
  expect(sizeOf(referral)).toBeGreaterThan(MAX_FIELD_BYTES - 400);
  for (const field of [order, referral]) expect(sizeOf(field)).toBeLessThanOrEqual(MAX_FIELD_BYTES);
});

test("what is nested too deep becomes null", () => {
  let deep: unknown = "end";
  for (let i = 0; i < 10_000; i++) deep = [deep];
  const field = cutField({ name: "flow", answers: { deep, after: 1 } });
  expect(field).toMatchObject({ answers: { after: 1 }, cut: true });
  expect(sizeOf(field)).toBeLessThan(200);
});

test("any field has its size, its own names, and is what it was where it fits", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })),
      fc.integer({ min: 1, max: 400 }),
      (one, n) => {
        const answers = Object.fromEntries(Object.entries(one).map(([key, value]) => [key.toWellFormed(), value]));
        const field = { name: "n", answers: { ...answers, many: Array.from({ length: n }, () => answers) } };
        const kept = cutField(field);
        expect(sizeOf(kept)).toBeLessThanOrEqual(MAX_FIELD_BYTES);
        expect(Object.keys(kept).slice(0, 2)).toEqual(["name", "answers"]);
        if (sizeOf(field) < 4_000 && !("cut" in kept)) expect(JSON.stringify(kept)).toBe(JSON.stringify(field));
      },
    ),
    { numRuns: 200 },
  );
});
