import { expect, test } from "vitest";
import { lateFaults } from "./alarms.ts";
import { type Herd, herdFaults } from "./herd.ts";
import { outageFaults, textFaults } from "./mixed.ts";
import { lastUnitFaults, lifeFaults } from "./quota.ts";
import { pageFaults, tailFaults, walkFaults } from "./reading.ts";
import { type Call, type Change, staleFaults } from "./revocation.ts";
import { driftFaults, growthFaults } from "./soak.ts";
import { atMost } from "./storm.ts";
import { chatFaults, deliveryFaults, viewFaults } from "./visitors.ts";

function reply(isReplay: boolean, more: Partial<Herd["answers"][number]> = {}): Herd["answers"][number] {
  const headers = new Headers(isReplay ? { "Idempotent-Replayed": "true" } : {});
  return { status: 201, headers, body: { message: { id: "msg_1" } }, lost: 0, ...more };
}

const mismatch = { status: 422, body: { code: "idempotency_mismatch" } };
const goodHerd: Herd = {
  answers: [reply(true), reply(false), reply(true)],
  later: reply(true),
  others: [mismatch, mismatch],
  stored: 1,
  delivered: 1,
};

test("one message and its replays are no fault", () => {
  expect(herdFaults(goodHerd)).toEqual([]);
});

test("one response can be lost, if it was the one that was not a replay", () => {
  expect(herdFaults({ ...goodHerd, answers: [reply(true, { lost: 1 }), reply(true)] })).toEqual([]);
  expect(herdFaults({ ...goodHerd, answers: [reply(true), reply(true)] })).toEqual(["0 answers were no replay"]);
});

test.for([
  ["2 answers were no replay", { answers: [reply(false), reply(false)] }],
  ["2 messages were answered", { answers: [reply(false), reply(true, { body: { message: { id: "msg_2" } } })] }],
  ["after the kill it was no replay", { later: reply(false) }],
  ["another body was answered 201", { others: [{ status: 201, body: {} }] }],
  ["2 messages are stored", { stored: 2 }],
  ["the network heard 0", { delivered: 0 }],
  ["the network heard 2", { delivered: 2 }],
] as const)("a fault in concurrent replays is found: %s", ([fault, wrong]) => {
  expect(herdFaults({ ...goodHerd, ...(wrong as Partial<Herd>) })).toEqual([fault]);
});

test("a refused replay is found", () => {
  const answers = [reply(false), reply(true, { status: 500 })];
  expect(herdFaults({ ...goodHerd, answers })).toContain("1 sends were answered 500");
});

const passed = { status: 200, body: {} };
const refused = { status: 403, body: { code: "quota_exceeded" } };
const lost = { status: 0, body: {} };

test.for([
  [[passed, refused, refused], 0, []],
  [[lost, refused, refused], 0, []],
  [[passed, passed, refused], 1, ["2 passed", "1 more were counted than the quota has"]],
  [[refused, refused], -1, ["0 passed", "-1 more were counted than the quota has"]],
  [[passed, { status: 429, body: { code: "rate_limited" } }], 0, ["a call was answered otherwise"]],
] as const)("the last unit goes to one call: %j", ([answers, overdrawn, faults]) => {
  expect(lastUnitFaults([...answers], overdrawn)).toEqual(faults);
});

const life = { quota: 2_000, before: 1_000, granted: 50, unanswered: 3, after: 1_050 };

test.for([
  ["what was granted is counted", {}, []],
  ["what was cut off, and one block, may be gone", { after: 1_063 }, []],
  ["more is gone", { after: 1_064 }, ["11 lost of 1000 that were left"]],
  ["what was granted is free again", { after: 1_049 }, ["1 of 50 granted are not counted"]],
  ["more is counted than there is", { after: 2_001 }, ["2001 are counted of 2000"]],
] as const)("a count after a kill: %s", ([, more, faults]) => {
  expect(lifeFaults({ ...life, ...more })).toEqual(faults);
});

const changes: Change[] = [
  { name: "revoked", begun: 10, done: 20, expects: "401 invalid_api_key" },
  { name: "other", begun: 40, done: 50, expects: "let in" },
];
const gone: Call = { begun: 21, ended: 22, verdict: "401 invalid_api_key" };
const back: Call = { begun: 51, ended: 52, verdict: "let in" };

test("a call that overlaps a change may see either", () => {
  const overlapping = [
    { begun: 19, ended: 30, verdict: "let in" },
    { begun: 39, ended: 41, verdict: "let in" },
  ];
  expect(staleFaults(changes, [gone, back, ...overlapping])).toEqual([]);
});

test("a call that begins after a change was answered, and does not see it, is found", () => {
  expect(staleFaults(changes, [gone, back, { begun: 25, ended: 26, verdict: "let in" }])).toEqual([
    "revoked: let in, 5 ms after it",
  ]);
});

test("a change without a later call shows nothing", () => {
  expect(staleFaults(changes, [gone])).toEqual(["other: no request came after it"]);
});

test.for([
  [[5, 4, 3, 2, 1], 5, true, []],
  [[6, 5, 4, 3, 2, 1], 5, true, []],
  [[5, 4], 5, false, []],
  [[4, 3, 2, 1], 5, true, ["a walk began at 4, 5 was stored before"]],
  [[5, 4, 4, 3, 2, 1], 5, true, ["a walk saw 4 in place of 3"]],
  [[5, 3, 2, 1], 5, true, ["a walk saw 3 in place of 4"]],
  [[5, 4], 5, true, ["a walk ended at 4"]],
] as const)("a walk of %j, with %i stored before", ([seqs, known, isWhole, faults]) => {
  expect(walkFaults([...seqs], known, isWhole)).toEqual(faults);
});

test.for([
  [3, [4, 5], []],
  [3, [], []],
  [3, [5], ["a tail saw 5 in place of 4"]],
  [3, [4, 4], ["a tail saw 4 in place of 5"]],
] as const)("reading on from %i with the result %j", ([seq, seqs, faults]) => {
  expect(tailFaults(seq, [...seqs])).toEqual(faults);
});

test.for([
  [[5, 4], { page: 1, limit: 2, total: 5 }, []],
  [[1], { page: 3, limit: 2, total: 5 }, []],
  [[], { page: 4, limit: 2, total: 5 }, []],
  [[4, 3], { page: 1, limit: 2, total: 4 }, ["a total fell from 5 to 4"]],
  [[5, 3], { page: 1, limit: 2, total: 5 }, ["page 1 of 2 and 5 went from 5 to 3"]],
] as const)("a page %j at the position %j", ([seqs, place, faults]) => {
  const messages = seqs.map((seq) => ({ seq }));
  expect(pageFaults(messages, place, 5)).toEqual(faults);
});

test("a late alarm, and a missing one, are found", () => {
  expect(lateFaults([0, 5_000])).toEqual([]);
  expect(lateFaults([5_001, null])).toEqual(["an alarm fired 5001 ms after the start", "an alarm did not fire"]);
});

function entry(seq: number, content = `text ${seq}`, key = String(seq)) {
  const stored = { type: "TEXT", text: content, mediaUrl: null, status: "DELIVERED", createdAt: "" } as const;
  return { key, message: { ...stored, id: `msg_${seq}`, seq, direction: "OUTBOUND" as const, content } };
}

const log = [1, 2, 3].map((seq) => ({ seq, content: `text ${seq}` }));

test.for([
  ["all is shown", [entry(1), entry(2), entry(3)], []],
  ["the newest page is shown", [entry(2), entry(3)], []],
  ["one is missing", [entry(1), entry(2)], ['a tab shows "undefined" in place of "text 3"']],
  ["one is shown twice", [entry(1), entry(2), entry(3), entry(4, "text 3")], ["a tab shows 1 too many"]],
  ["two are turned", [entry(1), entry(2, "text 3"), entry(3, "text 2")], ['a tab shows "text 3" in place of "text 2"']],
  ["two have one key", [entry(1), entry(2), entry(3, "text 3", "2")], ["a tab shows one under two keys"]],
] as const)("a tab at rest: %s", ([, entries, faults]) => {
  expect(viewFaults({ entries: [...entries], outbox: [] }, log)).toEqual(faults);
});

const delivered = (seq: number, status = "DELIVERED") => ({ seq, direction: "OUTBOUND" as const, status });

test("a message that is delivered before a page acknowledged it is found", () => {
  expect(deliveryFaults([delivered(1), delivered(2, "SENT")], 1)).toEqual([]);
  expect(deliveryFaults([delivered(1), delivered(2)], 1)).toEqual(["2 is DELIVERED, pages said 1"]);
});

test.for([
  ["whole", ["a", "x", "b"], []],
  ["without one", ["a", "x"], ["stored 0 times: b"]],
  ["with one twice", ["a", "x", "b", "b"], ["stored 2 times: b", "1 are stored that nobody wrote"]],
  ["turned", ["b", "x", "a"], ["INBOUND is out of order"]],
] as const)("a visitor's chat %s", ([, contents, faults]) => {
  const stored = contents.map((content, at) => {
    const isOwn = content !== "x";
    const direction = isOwn ? ("INBOUND" as const) : ("OUTBOUND" as const);
    return { seq: at + 1, content, direction, status: isOwn ? "RECEIVED" : "DELIVERED" };
  });
  expect(chatFaults(stored, ["a", "b"], ["x"])).toEqual(faults);
});

test("a company's message that no page acknowledged is found", () => {
  const stored = { seq: 1, content: "x", direction: "OUTBOUND" as const, status: "SENT" };
  expect(chatFaults([stored], [], ["x"])).toEqual(["1 were never delivered"]);
});

test("a soak whose calls get slower is found, if there are enough calls", () => {
  const calls = (count: number, late: number) =>
    Array.from({ length: count }, (_, at) => ({ at, ms: at > count / 2 ? late : 100 }));
  expect(driftFaults(calls(4_000, 140))).toEqual([]);
  expect(driftFaults(calls(4_000, 150))).toEqual(["p99 went from 100 ms to 150 ms"]);
  expect(driftFaults(calls(300, 150))).toEqual([]);
});

test("memory that grows after the start is found", () => {
  const grown = (to: number) => Array.from({ length: 50 }, (_, at) => (at < 10 ? 50 : at < 30 ? 100 : to));
  expect(growthFaults(grown(110))).toEqual([]);
  expect(growthFaults(grown(112))).toEqual(["memory went from 100 MB to 112 MB"]);
});

test("work runs with limited concurrency, and its results are in order", async () => {
  let [open, most] = [0, 0];
  const work = Array.from({ length: 10 }, (_, nth) => async () => {
    most = Math.max(most, ++open);
    await Promise.resolve();
    open--;
    return nth;
  });
  expect(await atMost(3, work)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(most).toBe(3);
});

const calm = { rowsWritten: 0, failed: 9 };
const done = { requests: 90, newContacts: 1, templates: 1, newChats: 1 };

test.for([
  ["nothing is wrong", {}, {}, []],
  ["the traffic writes to D1", { rowsWritten: 1 }, {}, ["the traffic wrote 1 rows to D1"]],
  ["D1 was not called", { failed: 0 }, {}, ["no call of D1 failed in the outage"]],
  ["no new contact wrote", {}, { newContacts: 0 }, ["no new contact was stored in the outage"]],
  ["no template was used", {}, { templates: 0 }, ["no template was filled in the outage"]],
  ["no chat was created", {}, { newChats: 0 }, ["no chat was created in the outage"]],
] as const)("an outage of D1: %s", ([, tally, met, faults]) => {
  expect(outageFaults({ ...calm, ...tally }, { ...done, ...met })).toEqual(faults);
});

test("a message with another text than the contact should see is found", () => {
  const written = [{ content: "Shipped", text: "Hello Ada" }];
  expect(textFaults([{ content: "Shipped", text: "Hello Ada" }], written)).toEqual([]);
  expect(textFaults([{ content: "Shipped", text: "Shipped" }], written)).toEqual([
    'the text of "Shipped" is "Shipped"',
  ]);
});
