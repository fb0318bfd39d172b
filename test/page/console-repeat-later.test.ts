import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ParleyError } from "../../src/client/error.ts";
import { heard, isPassing, repeatLater, repeatNow } from "../../src/web/console/repeat-later.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(async () => {
  // What waits for the next test would have the time of this one.
  await vi.advanceTimersByTimeAsync(120_000);
  vi.useRealTimers();
});

/** A load that always fails. @returns how often it was repeated */
function failing(onRepeat = () => {}) {
  let times = 0;
  const load = () => {
    times++;
    onRepeat();
    end = repeatLater(load);
  };
  let end = repeatLater(load);
  return { times: () => times, end: () => end() };
}

test("a failed load is repeated at once on a new connection", async () => {
  const { times, end } = failing();
  repeatNow();
  await vi.advanceTimersByTimeAsync(0);
  expect(times()).toBe(1);
  end();
});

test("without a sign of a connection it is repeated ever more seldom, and not after its screen was left", async () => {
  const { times, end } = failing();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(times()).toBeGreaterThan(2);
  expect(times()).toBeLessThan(8);
  const before = times();
  end();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(times()).toBe(before);
});

test("a load of which one request fails and another one is answered is not repeated in a circle", async () => {
  const { times, end } = failing(() => {
    heard(false);
    queueMicrotask(() => heard(true));
  });
  heard(false);
  heard(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(times()).toBeGreaterThan(0);
  expect(times()).toBeLessThan(10);
  end();
});

test.each([
  [null, "unreachable", true],
  [401, "not_signed_in", true],
  [429, "rate_limited", true],
  [503, "unavailable", true],
  [404, "chat_not_found", false],
  [403, "permission_denied", false],
  [null, "page", false],
])("an error with the status %s and the code %s passes: %s", (status, code, passes) => {
  expect(isPassing(new ParleyError("", { status, code }))).toBe(passes);
});
