import { expect, test } from "vitest";
import { framesOf } from "./scrolling.ts";

const PAGE = 7;

/** A gesture of this many milliseconds. */
const gesture = (begin: number, end: number) => [
  { name: "scroll-begin", ph: "I", pid: PAGE, ts: begin * 1_000 },
  { name: "scroll-end", ph: "I", pid: PAGE, ts: end * 1_000 },
];

/** The report of a frame at this time. */
const frame = (at: number, number: number, state = "STATE_PRESENTED_ALL", pid = PAGE) => ({
  name: "PipelineReporter",
  ph: "b",
  pid,
  ts: at * 1_000,
  args: { frame_reporter: { frame_sequence: number, state } },
});

test("frames that were dropped or skipped are missing from the rate, those without a change are not", () => {
  const events = [
    ...gesture(0, 200),
    frame(10, 1),
    frame(26, 2, "STATE_NO_UPDATE_DESIRED"),
    frame(43, 3, "STATE_DROPPED"),
    frame(76, 5),
    frame(93, 6, "STATE_PRESENTED_PARTIAL"),
  ];
  const { rate, longestGap, seconds } = framesOf(events);
  expect([rate, longestGap, seconds]).toEqual([40, 50, 0.1]);
});

test("frames outside of gestures and of other pages don't count, and a frame that came late was drawn", () => {
  const events = [
    ...gesture(100, 200),
    ...gesture(500, 600),
    frame(50, 1, "STATE_DROPPED"),
    frame(110, 2, "STATE_DROPPED"),
    frame(112, 2),
    frame(120, 3, "STATE_DROPPED", PAGE + 1),
    frame(300, 9, "STATE_DROPPED"),
    frame(510, 20),
  ];
  expect(framesOf(events)).toMatchObject({ rate: 60, seconds: 2 / 60 });
});

test("the slowest second is told apart from the rest", () => {
  const states = Array.from({ length: 180 }, (_, n) => (n >= 60 && n < 75 ? "STATE_DROPPED" : "STATE_PRESENTED_ALL"));
  const events = [...gesture(0, 4_000), ...states.map((state, n) => frame(n * 16, n, state))];
  expect(framesOf(events)).toMatchObject({ rate: 55, slowest: 45, seconds: 3 });
});
