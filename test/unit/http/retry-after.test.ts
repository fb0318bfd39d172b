import { expect, test } from "vitest";
import { retryAfterMs } from "../../../src/http/retry-after.ts";

test("Retry-After is read as seconds or a date", () => {
  const now = Date.parse("2026-11-20T12:00:00Z");
  const wait = (text: string) => retryAfterMs(new Headers({ "Retry-After": text }), now);
  expect([wait("7"), wait(" 7 "), wait("Fri, 20 Nov 2026 12:00:09 GMT")]).toEqual([7_000, 7_000, 9_000]);
  expect([wait("7x"), wait("x7"), wait("7.5"), wait("1234567890"), wait("")]).toEqual(Array(5).fill(null));
  expect([wait("999999999"), wait("Fri, 20 Nov 2026 11:00:00 GMT")]).toEqual([86_400_000, 0]);
  expect(retryAfterMs(new Headers(), now)).toBeNull();
});
