import { expect, test } from "vitest";
import { lateFaults } from "./alarms.ts";
import { driftFaults, growthFaults } from "./soak.ts";
import { atMost } from "./storm.ts";
import { chatFaults, deliveryFaults, viewFaults } from "./visitors.ts";

test("a late alarm, and a missing one, are found", () => {
  expect(lateFaults([0, 30_000])).toEqual([]);
  expect(lateFaults([30_001, null])).toEqual(["an alarm fired 30001 ms after the start", "an alarm did not fire"]);
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
