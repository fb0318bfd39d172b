import { expect, test } from "vitest";
import { foldedLabel } from "../../../src/model/label.ts";

test.each([
  ["Refund", "REFUND"],
  ["José", "jose\u0301"],
  ["ｗｉｄｅ", "wide"],
  ["  Money  back ", "money back"],
  ["Money\u3000back", "Money back"],
  ["Re\u200bfund", "Refund"],
])("the names %j and %j are alike", (one, other) => {
  expect(foldedLabel(one)).toBe(foldedLabel(other));
});

test.each([
  ["Refund", "Refunds"],
  ["Moneyback", "Money back"],
  ["सवाल", "सवल"],
])("the names %j and %j are not alike", (one, other) => {
  expect(foldedLabel(one)).not.toBe(foldedLabel(other));
});
