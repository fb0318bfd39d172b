import { expect, test } from "vitest";
import { againstText, type Compared, measureAgainst } from "./against.ts";
import { readArguments } from "./arguments.ts";

const turn = (rate: number, cpu: number | null) => ({ rate, cpu, p50: 1, p99: 2, driverShare: 0 });

test("a comparison shows the medians of both builds and the quartiles of their pairs", () => {
  const compared: Compared = {
    name: "send",
    before: [turn(100, 50), turn(200, 40), turn(400, 30)],
    after: [turn(110, 50), turn(100, 60), turn(400, 30)],
    unexpected: null,
  };
  expect(againstText("abc", [compared])).toBe(
    "abc → this checkout. Ratios of pairs of turns: lower quartile, median, upper quartile.\n" +
      "send: requests/s 200 → 110, ratio 0.50 / 1.00 / 1.10; CPU µs 40 → 50, ratio 1.00 / 1.00 / 1.50",
  );
});

test("a case with a wrong response has no figures", () => {
  const compared: Compared = { name: "send", before: [turn(1, null)], after: [turn(1, null)], unexpected: "500" };
  expect(againstText("abc", [compared])).toContain("send: a wrong response\n500");
});

test("a commit that the repository does not have is a mistake", async () => {
  const settings = { rounds: 1, seconds: 1, data: readArguments([]).data, wrk: null, log: () => undefined };
  await expect(measureAgainst("no-such-commit", [], settings)).rejects.toThrow("no-such-commit is not a commit");
});
