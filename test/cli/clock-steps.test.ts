import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { watchSteps } from "../support/clock-steps.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
});

/** Watches a machine whose clock each look finds later or earlier by one of these, in milliseconds. */
function watched(steps: number[]) {
  let day = 1_000_000;
  let steady = 0;
  const warningOf = watchSteps(
    () => day,
    () => steady,
  );
  for (const step of steps) {
    steady += 250;
    day += 250 + step;
    vi.advanceTimersByTime(250);
  }
  return warningOf();
}

test.each([
  { steps: [0, 1_000, 0, -1_000], seconds: "1.0" },
  { steps: [-3_600_000], seconds: "3600.0" },
])("a clock that was set by $seconds s is said", ({ steps, seconds }) => {
  expect(watched(steps)).toBe(
    `The machine's clock was set by ${seconds} s while the tests ran. Tests that failed may have failed for that.`,
  );
});

test("a clock that is only corrected is not", () => {
  expect(watched(Array.from({ length: 100 }, (_, look) => (look % 2 === 0 ? 200 : 50)))).toBeNull();
});
