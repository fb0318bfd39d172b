import { expect, test } from "vitest";
import { isQuotaRefusal } from "../../../src/platform/quota.ts";

test.each([
  "Exceeded allowed rows written in Durable Objects free tier.",
  "Exceeded allowed duration in Durable Objects free tier.",
  "SQL query failed: Exceeded allowed rows read in Durable Objects free tier.",
  "D1_ERROR: Your account has exceeded D1's free tier daily row read limit. Upgrade to a paid plan or wait until tomorrow",
  "Your account is suspended.",
])("the platform's quota or billing says: %s", (message) => {
  expect(isQuotaRefusal(new Error(message))).toBe(true);
  expect(isQuotaRefusal(new Error("Failed query", { cause: new Error(message) }))).toBe(true);
});

test.each([
  new Error("no such table: x: SQLITE_ERROR"),
  new Error("Too many rows exceeded what is allowed"),
  "Exceeded allowed rows",
  null,
])("other errors are none", (error) => {
  expect(isQuotaRefusal(error)).toBe(false);
});
