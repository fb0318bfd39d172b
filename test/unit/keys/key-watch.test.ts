import { expect, test, vi } from "vitest";
import { KeyWatch } from "../../../src/keys/key-watch.ts";
import { ApiError } from "../../../src/model/error.ts";
import { FakeClock } from "../platform/fake-clock.ts";

const REVOKED = new ApiError("invalid_api_key");

test("a key that stays good is checked every five seconds", async () => {
  const clock = new FakeClock();
  const check = vi.fn(async () => null);
  const watch = new KeyWatch(check, clock);
  await clock.pass(60_000);
  expect([check.mock.calls.length, watch.signal.aborted]).toEqual([12, false]);
});

test.each<[string, (isRevoked: boolean) => Promise<ApiError | null>, ApiError["code"]]>([
  ["is refused", async (isRevoked) => (isRevoked ? REVOKED : null), "invalid_api_key"],
  ["can't be checked", async (isRevoked) => (isRevoked ? Promise.reject(new Error("down")) : null), "unavailable"],
  [
    "is checked without an answer",
    (isRevoked) => (isRevoked ? new Promise(() => {}) : Promise.resolve(null)),
    "unavailable",
  ],
])("less than ten seconds after a key %s, the request is aborted, whenever that began", async (_, check, code) => {
  for (let revokedAt = 0; revokedAt <= 11_000; revokedAt += 500) {
    const clock = new FakeClock();
    let isRevoked = false;
    const watch = new KeyWatch(() => check(isRevoked), clock);
    await clock.pass(revokedAt);
    isRevoked = true;
    await clock.pass(9_999);
    expect(watch.signal.aborted, `after ${revokedAt} ms`).toBe(true);
    expect((watch.signal.reason as ApiError).code).toBe(code);
    expect(clock.pending).toBe(0);
  }
});

test("after its request is over, a key is not checked", async () => {
  const clock = new FakeClock();
  const { promise, resolve } = Promise.withResolvers<null>();
  const check = vi.fn(() => promise);
  const watch = new KeyWatch(check, clock);
  await clock.pass(5_000);
  watch.stop();
  resolve(null);
  await clock.pass(60_000);
  expect([check.mock.calls.length, clock.pending]).toEqual([1, 0]);
});
