import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { readFrame } from "../../../../../src/chats/object/visitors/frames.ts";
import { secondsToWait } from "../../../../../src/chats/object/visitors/rate-limit.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const HOUR = 3_600_000;

test.each([
  ["nothing was written", [], 0],
  ["the last was written just now", [NOW], 1],
  ["the last was written 999 ms ago", [NOW - 999], 1],
  ["the last was written a second ago", [NOW - 1_000], 0],
  ["the clock was set back", [NOW + 300_000], 0],
])("when %s", (_, times, wait) => {
  expect(secondsToWait(times, NOW)).toBe(wait);
});

test("60 in an hour are the most, and the wait is until the first of them is an hour old", () => {
  const times = (count: number) => Array.from({ length: count }, (_, place) => NOW - 10_000 * (place + 1));
  expect(secondsToWait(times(59), NOW)).toBe(0);
  expect(secondsToWait(times(60), NOW)).toBe(HOUR / 1_000 - 600);
});

test("whoever waits as long as told is let in, and of all let in no 61 lie within an hour, no two within a second", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(120_000), { minLength: 80, maxLength: 200 }), (gaps) => {
      const stored: number[] = [];
      let now = NOW;
      for (const gap of gaps) {
        now += gap;
        const recent = () =>
          stored
            .toReversed()
            .filter((at) => at > now - HOUR)
            .slice(0, 60);
        const wait = secondsToWait(recent(), now);
        if (wait > 0) {
          now += wait * 1_000;
          expect(secondsToWait(recent(), now)).toBe(0);
        }
        stored.push(now);
      }
      for (const [place, at] of stored.entries()) {
        expect(at - (stored[place - 1] ?? 0)).toBeGreaterThanOrEqual(1_000);
        expect(at - (stored[place - 60] ?? 0)).toBeGreaterThanOrEqual(HOUR);
      }
    }),
    { numRuns: 50 },
  );
});

test("known frames are read, and unknown fields are dropped", () => {
  const frames = [
    { type: "message", id: "x".repeat(64), content: "" },
    { type: "delivered", seq: 0 },
    { type: "read", seq: 7 },
    { type: "message", id: "a", content: "Refund", choice: "msg_1:0", replyTo: "msg_1" },
    { type: "reaction", seq: 7, emoji: "❤️" },
    { type: "reaction", seq: 7, emoji: null },
    { type: "contact", name: "Ana", email: "a" },
    { type: "ping" },
  ];
  for (const frame of frames) expect(readFrame(JSON.stringify({ ...frame, extra: 1 }))).toEqual(frame);
});

test("no text throws, and what is read is a known frame", () => {
  const texts = fc.oneof(fc.string({ unit: "binary" }), fc.json());
  fc.assert(
    fc.property(texts, (text) => {
      const frame = readFrame(text);
      if (typeof frame === "string") expect(["invalid", "too_large"]).toContain(frame);
      else expect(["message", "delivered", "read", "ping", "older", "reaction", "contact"]).toContain(frame.type);
    }),
  );
});

test("a frame that is certainly too large is refused without being encoded", () => {
  const encode = vi.spyOn(TextEncoder.prototype, "encode");
  expect(readFrame("x".repeat(16_385))).toBe("too_large");
  expect(encode).not.toHaveBeenCalled();
  encode.mockRestore();
});
