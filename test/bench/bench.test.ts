import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleOf } from "../support/sample.ts";
import { readArguments } from "./arguments.ts";
import { bench } from "./bench.ts";
import type { Case } from "./cases.ts";
import { BARE } from "./floor-cases.ts";
import { profile } from "./profile.ts";
import { findCase, selectCases, withCompared } from "./selection.ts";
import { FULL, type Sizes } from "./sizes.ts";
import { SMALL_STEPS, stepCases } from "./step-cases.ts";
import { LINKS, measureSteps, stepsText } from "./steps.ts";
import { goalTable, table } from "./table.ts";
import { measureWork, workText } from "./work.ts";
import { chosenWork } from "./work-cases.ts";
import { findWrk } from "./wrk.ts";

const TINY: Sizes = {
  chat: 25,
  longChat: 45,
  hugeChat: 65,
  chats: 20,
  manyChats: 30,
  keys: 3,
  manyKeys: 4,
  pacedKeys: 2,
  asleep: 2,
  watched: 20,
};

/** The cases of `FULL` that have a goal. */
const GOALS = [
  "list, page 1 of 10,000",
  "list, last page of 100,000",
  "spread: list, 100 keys and chats",
  "calls a request: list, 20 keys and chats, 20 a second each",
  "mixed: one send among nine lists",
  "list, one connection",
  "distance: list, 20 ms each way",
  "send",
  "send, one connection",
  "distance: send, 20 ms each way",
  "send with a template",
  "send, with a webhook beside it",
  "send, with a webhook beside it at 500 a second",
  "event to a webhook, alone",
  "event to a stream, alone",
  "429: over the limit",
  "401: a forged key",
  "401: a revoked key",
  "list, key and chat were asleep",
  "list, a key that was not used for an hour",
  "GET /chats, page 1 of 10,000",
];

const SETTINGS = {
  rounds: 1,
  data: readArguments([]).data,
  startUp: false,
  warmUpSeconds: 0.1,
  afterSeconds: 0.1,
  log: () => undefined,
};

/** Says which part of the long checks a run does. The names of its tests show it. */
const SEED = Number(process.env.SEED || Date.now());

/** Longer than a test may take: no work ends before it is done. */
const WORK_SETTINGS = { ...SETTINGS, seconds: 1, wrk: null, minutes: 60 };

/** The cases of which the test below expects more than the right responses. */
const KNOWN = [
  "list, page 1 of 25",
  "send",
  "send with a template",
  "GET /chats, page 2 of 20",
  "calls a request: list, 2 keys and chats, 20 a second each",
  "401: a forged key",
  "distance: list, 20 ms each way",
  "distance: list, 100 callers, 20 ms each way",
  "distance: send, 20 ms each way",
];
const ALL_CASES = selectCases(TINY, { only: null, goals: false, scale: true });
const isKnown = ({ name }: Case) => KNOWN.includes(name);
/** A third of the others. `npm run bench -- --scale` runs all. */
const SOME_CASES = sampleOf(
  ALL_CASES.filter((each) => !isKnown(each)),
  3,
  SEED,
);
const SOME_NAMES = SOME_CASES.map(({ name }) => name).join("; ");

test(`each case is prepared, counted and timed, and gets the expected responses: ${SOME_NAMES}`, async () => {
  const known = ALL_CASES.filter(isKnown);
  expect(known).toHaveLength(KNOWN.length);
  const cases = withCompared(ALL_CASES, [...known, ...SOME_CASES], { goals: false });
  const settings = { ...SETTINGS, seconds: 0.02, wrk: null };
  const { rows, gzippedBytes } = await bench(cases, settings);
  expect(rows.map(({ name, unexpected }) => [name, unexpected])).toEqual(cases.map(({ name }) => [name, null]));
  // An event can come before the answer to its send is read: then it took no time.
  const tookNone = rows.filter(({ name, p50 }) => !(name.startsWith("event to") ? p50 >= 0 : p50 > 0));
  expect(tookNone).toEqual([]);
  expect(rows.filter(({ rate, p50, p99 }) => !(rate > 0 && p99 >= p50))).toEqual([]);
  expect(gzippedBytes).toBeGreaterThan(0);

  const counts = Object.fromEntries(rows.map((row) => [row.name, row.counts]));
  // A send alone has two calls. Requests that wait at the same time share their calls and their round trip.
  expect(counts.send?.objectCalls).toBeGreaterThan(0);
  expect(counts.send?.objectCalls).toBeLessThanOrEqual(2);
  expect(counts.send).toMatchObject({ trips: 0 });
  expect(counts.send?.written).toBeGreaterThanOrEqual(1);
  expect(counts["send with a template"]).toMatchObject({ trips: 0 });
  // On a slow machine its key may be old enough to be read again, beside a request.
  expect(counts["GET /chats, page 2 of 20"]?.trips).toBeLessThan(0.1);
  expect(counts["list, page 1 of 25"]).toMatchObject({ trips: 0 });
  // One call for the page, and at most one for the key.
  const calls = counts["calls a request: list, 2 keys and chats, 20 a second each"]?.objectCalls;
  expect(calls).toBeGreaterThanOrEqual(1);
  expect(calls).toBeLessThanOrEqual(2);
  expect(counts["401: a forged key"]).toMatchObject({ trips: 0 });
  // An alarm of an earlier case can make a few calls, and write a few rows, meanwhile.
  const few = expect.toSatisfy((count: number) => count < 0.5);
  expect(counts["GET /chats, page 2 of 20"]).toMatchObject({ written: few });
  expect(counts["list, page 1 of 25"]).toMatchObject({ written: few });
  expect(counts["401: a forged key"]).toMatchObject({ objectCalls: few, read: few, written: few });
  // Statements: the key, the chat, the count and the page. The limiter writes a row.
  expect(counts["literal design: list, page 1"]).toMatchObject({ trips: 2, statements: 4, objectCalls: 1, written: 1 });

  const far = rows.filter(({ name }) => /^distance: .*, 20 ms/.test(name));
  expect(far).toHaveLength(3);
  // The way to an object and back: at most 3 ms each are taken off, because timers come late.
  expect(far.filter(({ p50 }) => p50 < 34)).toEqual([]);

  const followed = rows.filter(({ after }) => after !== null).map(({ name }) => name);
  expect(followed).toEqual(cases.filter((each) => each.followed).map(({ name }) => name));

  const list = rows.find(({ name }) => name === "list, page 1 of 25");
  expect([list?.toBare, list?.toFloor, list?.toLiteral, list?.goal?.measured]).toEqual(
    Array(4).fill(expect.any(Number)),
  );
  expect(table(rows).split("\n")).toHaveLength(rows.length + 1);
  // A case that another is compared to may have a goal to a case that this run left out.
  const names = [null, ...cases.map(({ name }) => name)];
  const goals = cases.filter(({ goal }) => goal && names.includes(goal.to));
  expect(goalTable(rows).split("\n")).toHaveLength(1 + goals.length);
});

/** A part of each work is done without a fault, and sends beside it are measured. */
async function expectDone(name: string, amount: number): Promise<void> {
  const [measured] = await measureWork(chosenWork(name), { ...WORK_SETTINGS, amount });
  if (!measured) throw new Error("nothing was measured");
  const text = workText(measured);
  expect([measured.faults, measured.done], text).toEqual([[], amount]);
  expect([...measured.times.keys()].toSorted()).toEqual([
    "GET /chats, before",
    "GET /chats, meanwhile",
    "sends, before",
    "sends, meanwhile",
  ]);
  expect(measured.memory.map(({ name }) => name)).toEqual(["before, at most", "meanwhile, at most", "after"]);
}

/** Each builds the service and starts it, which takes long. */
const LONG_CHECKS: readonly [name: string, check: () => Promise<void>][] = [
  ["a retention beside sends is done", () => expectDone("retention", 2_500)],
  ["a deletion beside sends is done", () => expectDone("deletion", 60)],
  ["an export beside sends is done", () => expectDone("export", 150)],
  ["a replay beside sends is done", () => expectDone("replay", 30)],
  [
    "the memory of uploads is measured beside that of the same files put straight into R2",
    async () => {
      const fast = chosenWork("uploads").filter(({ name }) => !name.includes("slow"));
      const [straight, uploaded] = await measureWork(fast, { ...WORK_SETTINGS, amount: 2 });
      expect([straight?.faults, straight?.growth, uploaded?.faults]).toEqual([[], null, []]);
      expect(uploaded?.growth).toEqual(expect.any(Number));
    },
  ],
  [
    "a stream, a webhook, a console or a socket misses nothing of what is sent",
    async () => {
      const [measured] = await measureWork(chosenWork("listeners"), { ...WORK_SETTINGS, amount: 10, minutes: 0.1 });
      const counts = Object.fromEntries([...(measured?.times ?? [])].map(([row, { length }]) => [row, length]));
      const sends = counts["sends, meanwhile"];
      expect(measured?.faults).toEqual([]);
      expect(sends).toBeGreaterThan(0);
      expect(counts).toMatchObject({
        "sockets, after the 201": sends,
        "streams, after the 201": sends,
        "webhooks, after the 201": 3 * (sends ?? 0),
        "consoles, after the 201": expect.any(Number),
      });
    },
  ],
  [
    "switches between chats of an inbox are measured in a browser",
    async () => {
      const [measured] = await measureWork(chosenWork("console"), { ...WORK_SETTINGS, amount: 100 });
      expect([measured?.faults, measured?.times.get("switches")?.length]).toEqual([[], 60]);
    },
  ],
  [
    "the scrolling of a conversation is measured in a browser",
    async () => {
      const [measured] = await measureWork(chosenWork("conversation"), { ...WORK_SETTINGS, amount: 150 });
      expect(measured?.faults).toEqual([]);
      for (const page of ["the visitors' page", "the console"]) {
        for (const way of ["up", "down"]) {
          expect(measured?.times.get(`frames of ${page}, ${way}`)?.length).toBeGreaterThan(0);
        }
      }
    },
  ],
  [
    "cases are driven by wrk if it is installed",
    async () => {
      const names = [
        BARE,
        "poll of an unchanged page",
        "mixed: one send among nine lists",
        "spread: list, 3 keys and chats",
        "calls a request: list, 2 keys and chats, 20 a second each",
      ];
      const all = selectCases(TINY, { only: null, goals: false, scale: false });
      const cases = all.filter(({ name }) =>
        [...names, "429: over the limit", "inbound WhatsApp webhook"].includes(name),
      );
      const { rows } = await bench(cases, { ...SETTINGS, seconds: 0.02, wrk: await findWrk() });
      expect(rows.map(({ name, unexpected }) => [name, unexpected])).toEqual(cases.map(({ name }) => [name, null]));
      expect(rows.filter(({ rate, driverShare }) => !(rate > 0 && driverShare > 0))).toEqual([]);
    },
  ],
  [
    "a profile names the functions of the service and their files",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "parley-profile-"));
      try {
        const profiles = await profile(findCase(TINY, "send"), { ...SETTINGS, seconds: 5, wrk: null, folder });
        expect(profiles.map(({ worker }) => worker)).toEqual(["parley", "parley-objects"]);
        expect((await readdir(folder)).toSorted()).toEqual([
          "send.parley-objects.cpuprofile",
          "send.parley.cpuprofile",
        ]);
        const [worker, objects] = profiles.map(({ functions }) => functions.map(({ file }) => file));
        expect(worker).toContain("node_modules/hono/dist/compose.js");
        expect(objects).toContain("src/chats/object/log/message-log.ts");
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  ],
];

/** A quarter of them. `npm run bench -- --work <name>` and `-- --profile <case>` do one. */
test.each(sampleOf(LONG_CHECKS, 4, SEED))("%s", (_name, check) => check());

const named = (only: string | null, { scale = false, goals = false } = {}) =>
  selectCases(FULL, { only, scale, goals }).map(({ name }) => name);

test("a case runs with the cases that it is compared to, and the largest cases run only for --scale", () => {
  expect(named("list, page 1 of")).toEqual([
    "bare: one Hono route",
    "a list's call and its answer",
    "literal design: list, page 1",
    "list, page 1 of 10,000",
  ]);
  expect(named("1,000,000")).toEqual(["bare: one Hono route"]);
  expect(named("1,000,000", { scale: true })).toContain("list, last page of 1,000,000");
});

test("--goals runs only the cases with a goal, and the cases that they are compared to", () => {
  const compared = [
    "a list's call and its answer",
    "a list's call and its answer, 100 chats",
    "a list's call and its answer, one connection",
    "a send's call, two rows and its answer, one connection",
    "bare, one connection",
    "bare, with the headers of a refusal",
    "bare: one Hono route",
    "one call that writes a row",
    "one call that writes a row, one connection",
    "one empty object call",
    "one empty object call, 20 ms each way",
    "one empty object call, one connection",
    "two at once",
    "two at once, one connection",
    "two objects that were asleep, and a D1 query between them",
    "two objects that were asleep, one after the other",
  ];
  expect(named(null, { goals: true }).toSorted()).toEqual([...GOALS, ...compared].toSorted());
});

test("the case of a profile is given by its name or a part of it", () => {
  expect(findCase(FULL, "send").name).toBe("send");
  expect(findCase(FULL, "nine").name).toBe("mixed: one send among nine lists");
  expect(() => findCase(FULL, "list, 100")).toThrow(/names \d cases.*\n {2}list, 100 callers\n/s);
  expect(() => findCase(FULL, "no such case")).toThrow("names 0 cases");
});

const STEPS = [...new Set(stepCases(SMALL_STEPS).map(({ name }) => name))];
/** Each case starts the service twice. `npm run bench -- --steps --small` measures all. */
const SOME_STEPS = sampleOf(STEPS, 8, SEED);

test(`no step grows with the square of what is stored: ${SOME_STEPS.join(", ")}`, { timeout: 1_800_000 }, async () => {
  expect(STEPS.length).toBeGreaterThan(20);
  const isMeasured = (name: string) => name === LINKS || SOME_STEPS.includes(name);
  const measured = await measureSteps(SMALL_STEPS, isMeasured, { ...SETTINGS, seconds: 1, wrk: null });
  const { rows } = measured;
  expect([...new Set(rows.map(({ name }) => name))].toSorted()).toEqual([...SOME_STEPS, LINKS].toSorted());
  // Far more than a step takes, and far less than a square of this data: a test is no measurement.
  const long = rows.filter(({ longest, allowed, failed }) => failed !== null || longest > 8 * allowed);
  expect(long, stepsText(measured)).toEqual([]);
});
