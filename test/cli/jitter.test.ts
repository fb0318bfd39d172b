import { expect, test } from "vitest";
import { planOf } from "../jitter/arguments.ts";
import { Delays, settingsOf } from "../jitter/delays.ts";
import { type Ran, redsOf, tableOf } from "../jitter/results.ts";
import { Mistake } from "../support/mistake.ts";

test("a plan has as many rounds as asked for, each with the next seed, and the four ways in turn", () => {
  expect(planOf(["--times", "4", "--seed", "7", "test/service/chats"])).toMatchObject({
    files: ["test/service/chats"],
    rounds: [
      { seed: 7, way: "slow" },
      { seed: 8, way: "fast" },
      { seed: 9, way: "held" },
      { seed: 10, way: "loaded" },
    ],
  });
});

test("the browser's tests have the ways that disturb a page", () => {
  expect(planOf(["--browser", "--times", "3"])?.rounds.map(({ way }) => way)).toEqual(["slow", "fast", "loaded"]);
});

test("one way can be asked for, and a new seed is chosen if none is given", () => {
  const [first, second] = [planOf(["--way", "fast", "--times", "2"]), planOf([])].map((plan) => plan?.rounds ?? []);
  expect(first?.map(({ way }) => way)).toEqual(["fast", "fast"]);
  expect(second?.[0]?.seed).toBeGreaterThan(0);
});

test.each([
  ["--times", "0"],
  ["--seed", "x"],
  ["--way", "wild"],
  ["--browser", "--way", "held"],
  ["--load", "none"],
])("%s %s is a mistake", (...argv) => {
  expect(() => planOf(argv)).toThrow(Mistake);
});

test("a seed and a file determine the delays", () => {
  const delaysOf = (seed: number, file: string) => {
    const delays = new Delays("slow", seed, file);
    return Array.from({ length: 1_000 }, () => delays.next());
  };
  expect(delaysOf(1, "a")).toEqual(delaysOf(1, "a"));
  expect(delaysOf(1, "a")).not.toEqual(delaysOf(2, "a"));
  expect(delaysOf(1, "a")).not.toEqual(delaysOf(1, "b"));
});

test("a slow run delays a share of the steps by up to 50 ms, and a few by 500", () => {
  const seen = Array.from({ length: 60 }, (_, file) => new Delays("slow", 1, `${file}`)).flatMap((delays) =>
    Array.from({ length: 500 }, () => delays.next()),
  );
  const late = seen.filter((ms) => ms > 0);
  expect(late.length).toBeGreaterThan(0.02 * seen.length);
  expect(late.length).toBeLessThan(0.25 * seen.length);
  expect(late.filter((ms) => ms > 50 && ms !== 500)).toEqual([]);
  expect(late.filter((ms) => ms === 500).length).toBeGreaterThan(0);
});

test("a fast run delays nothing, and its short timers have no length", () => {
  const delays = new Delays("fast", 1, "a");
  expect([delays.next(), delays.timer(49), delays.timer(50)]).toEqual([0, 0, 50]);
});

test("a held run always delays the same kinds of calls, others in another file, and nothing else", () => {
  const kinds = Array.from({ length: 400 }, (_, kind) => `to CHATS.method${kind}`);
  const heldIn = (file: string) => {
    const delays = new Delays("held", 1, file);
    const held = () => kinds.filter((kind) => delays.next(kind) === 500);
    expect(held()).toEqual(held());
    expect([delays.next(), delays.timer(49)]).toEqual([0, 49]);
    return held();
  };
  const [one, other] = [heldIn("a"), heldIn("b")];
  expect(one.length).toBeGreaterThan(2);
  expect(one.length).toBeLessThan(30);
  expect(one).not.toEqual(other);
});

test("a held run delays the first 100 calls of a kind for long, and later ones less", () => {
  const delays = new Delays("held", 1, "a");
  const kinds = Array.from({ length: 400 }, (_, kind) => `to CHATS.method${kind}`);
  const held = kinds.find((kind) => delays.next(kind) > 0) ?? "";
  expect(Array.from({ length: 101 }, () => delays.next(held))).toEqual([...Array(99).fill(500), 50, 50]);
});

test("JITTER names a mode and a seed, and nothing else", () => {
  expect(settingsOf("slow:42")).toEqual({ mode: "slow", seed: 42 });
  expect([settingsOf(""), settingsOf(undefined)]).toEqual([null, null]);
  expect(() => settingsOf("wild:1")).toThrow("slow:<seed>");
});

const STACK = [
  "\u001b[31mError: expected 1\u001b[39m",
  "    at /here/test/service/a.test.ts:7:5",
  "    at run (/here/src/here/src/chats/send-message.ts:16:3)",
  "    at task (here/node_modules/@vitest/runner/dist/chunk.js:1:2)",
];
const ROUND = { seed: 3, way: "slow" } as const;
const RAN: Ran = {
  code: 1,
  output: "",
  report: {
    testResults: [
      {
        name: "/here/test/service/a.test.ts",
        status: "failed",
        assertionResults: [
          { fullName: "is green", status: "passed" },
          { fullName: "is red", status: "failed", failureMessages: [STACK.join("\n")] },
        ],
      },
      {
        name: "/here/test/service/b.test.ts",
        status: "failed",
        message: "It could not be loaded",
        assertionResults: [],
      },
      { name: "/here/test/service/c.test.ts", status: "passed", assertionResults: [] },
    ],
  },
};

test("the reds of a report are its failed tests, and files that failed as a whole", () => {
  const error = "Error: expected 1\n    at test/service/a.test.ts:7:5\n    at src/chats/send-message.ts:16:3";
  expect(redsOf(RAN, ROUND, "/here")).toEqual([
    { ...ROUND, file: "test/service/a.test.ts", test: "is red", error },
    { ...ROUND, file: "test/service/b.test.ts", test: "", error: "It could not be loaded" },
  ]);
});

test("the table counts each red test, and says how to repeat it", () => {
  const reds = redsOf(RAN, ROUND, "/here");
  const table = tableOf([...reds, ...redsOf(RAN, { seed: 4, way: "fast" }, "/here").slice(1)]);
  expect(table.split("\n\n").map((entry) => entry.split("\n")[0])).toEqual([
    "2 times red: test/service/b.test.ts",
    "1 times red: test/service/a.test.ts",
  ]);
  expect(table).toContain("npm run test:jitter -- --times 1 --seed 3 --way slow test/service/a.test.ts");
});

test("a run that fails without a red test is red, and names the error and its file", () => {
  const green = { testResults: RAN.report.testResults.slice(2) };
  const output = `1/1 c.test.ts\n\u001b[31m⎯⎯ Unhandled Errors ⎯⎯\nError: late\nThis error originated in "test/service/c.test.ts"\n⎯⎯⎯\nTests 1`;
  const error = `Unhandled Errors ⎯⎯\nError: late\nThis error originated in "test/service/c.test.ts"`;
  expect(redsOf({ report: green, code: 1, output }, ROUND, "/here")).toEqual([
    { ...ROUND, file: "test/service/c.test.ts", test: "", error },
  ]);
  const both = redsOf({ ...RAN, output }, ROUND, "/here");
  expect(both.map(({ error: each }) => each === error)).toEqual([false, false, true]);
  const [ended] = redsOf({ report: green, code: null, output: "1/1\nKilled\n" }, ROUND, "/here");
  expect(ended).toEqual({ ...ROUND, file: "", test: "", error: "1/1\nKilled" });
  expect(tableOf(ended ? [ended] : [])).toContain("1 times red: no file\n  the whole run");
  expect(redsOf({ report: green, code: 0, output: "" }, ROUND, "/here")).toEqual([]);
});
