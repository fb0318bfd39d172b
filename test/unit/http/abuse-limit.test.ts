import { expect, test, vi } from "vitest";
import { COUNTED_TOGETHER, isOverAbuseLimit } from "../../../src/http/abuse-limit.ts";

/** One isolate's requests of one address: each isolate has an `env` of its own. */
function isolate(limit: () => Promise<{ success: boolean }>) {
  const env = { STRANGERS: { limit } } as unknown as Env;
  const req = { path: "/api/v1/key", param: () => ({}), header: () => "192.0.2.1" };
  return () => isOverAbuseLimit({ env, req: req as never });
}

test("requests that are spread over many isolates are counted as often as those in one", async () => {
  const isolates = 100;
  const each = COUNTED_TOGETHER - 1;
  // Evenly spread, as in the long run.
  let isolateNumber = 0;
  vi.spyOn(Math, "random").mockImplementation(() => ((isolateNumber * 37) % isolates) / isolates);
  const limit = vi.fn(async () => ({ success: true }));
  for (isolateNumber = 0; isolateNumber < isolates; isolateNumber++) {
    const request = isolate(limit);
    for (let n = 0; n < each; n++) await request();
  }
  expect(limit).toHaveBeenCalledTimes((isolates * each) / COUNTED_TOGETHER);
});

test("an isolate reports every fiftieth request of an address, wherever its count began", async () => {
  for (const start of [0, 0.5, 0.999]) {
    vi.spyOn(Math, "random").mockReturnValue(start);
    const limit = vi.fn(async () => ({ success: true }));
    const request = isolate(limit);
    for (let n = 0; n < 10 * COUNTED_TOGETHER; n++) await request();
    expect(limit).toHaveBeenCalledTimes(10);
  }
});
