import { DrizzleQueryError } from "drizzle-orm/errors";
import { expect, test, vi } from "vitest";
import { ApiError, unavailable } from "../../../src/model/error.ts";
import { causeOf, warnIfFails } from "../../../src/platform/log.ts";

const CANARY = "canary-7f3a";

test("an error is shown with its name, message and frames", () => {
  expect(causeOf(new TypeError("no such thing"))).toMatch(/^TypeError: no such thing\n +at .*log\.test\.ts/);
});

test("an error without a message is shown with its frames", () => {
  expect(causeOf(new RangeError())).toMatch(/^RangeError: .*\n +at .*log\.test\.ts/);
});

test("every cause is shown, to the last", () => {
  const shown = causeOf(unavailable(new Error("outer", { cause: new RangeError("inner", { cause: "a text" }) })));
  expect(shown).toMatch(/Service unavailable.*caused by Error: outer.*caused by RangeError: inner.*caused by a text$/s);
});

test.each([
  ["as Drizzle throws it", (error: Error) => error],
  ["without its class", ({ message, cause }: Error) => new Error(message, { cause })],
])("a failed query, %s, is shown with its statement and without its parameters", (_name, sent) => {
  const parameters = [CANARY, `x\nparams: ${CANARY}`, `x\n    at ${CANARY} (index.js:1:1)`];
  const shown = causeOf(
    sent(new DrizzleQueryError("insert into t values (?, ?, ?)", parameters, new Error("D1_ERROR"))),
  );
  expect(shown).toMatch(
    /^Error: Failed query: insert into t values \(\?, \?, \?\)\n +at .*\ncaused by Error: D1_ERROR\n/s,
  );
  expect(shown).not.toContain(CANARY);
});

test("an error without a stack, or with another error's stack, shows no frames", () => {
  const error = Object.assign(new Error("new"), { stack: `Error: old ${CANARY}\n    at x` });
  expect(causeOf(error)).toBe("Error: new");
  expect(causeOf(Object.assign(new ApiError("not_found"), { stack: undefined }))).toBe("Error: Not found");
  expect(causeOf(Object.assign(new Error(""), { stack: undefined }))).toBe("Error: ");
});

test("only a failed query has parameters to remove", () => {
  const error = Object.assign(new Error("query\nparams: 1"), { stack: undefined });
  expect(causeOf(error)).toBe("Error: query\nparams: 1");
});

test("work whose failure is only logged throws nothing, and its log line has the cause", async () => {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  await warnIfFails({ event: "swept" }, async () => 1);
  expect(warned.mock.calls).toEqual([]);
  await warnIfFails({ event: "swept", table: "t" }, () => Promise.reject(new Error("full")));
  expect(warned.mock.calls).toEqual([[{ event: "swept", table: "t", error: expect.stringMatching(/^Error: full/) }]]);
  warned.mockRestore();
});

test.each([undefined, null, 5, { secret: CANARY }])("a value that is not an error is not shown: %j", (thrown) => {
  expect(causeOf(thrown)).toBe(`no error but ${typeof thrown}`);
});

test("a cause that is its own cause is shown 8 times", () => {
  const error = Object.assign(new Error("round"), { stack: undefined });
  error.cause = error;
  expect(causeOf(error).split("\ncaused by ")).toEqual(Array(8).fill("Error: round"));
});
