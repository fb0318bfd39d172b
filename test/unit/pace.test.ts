import fc from "fast-check";
import { expect, test } from "vitest";
import {
  breakChannel,
  type ChannelPace,
  type Leave,
  mendChannel,
  NEAR_MS,
  STEADY,
  slowDown,
  takeLeave,
} from "../../src/channels/pace.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const MINUTE = 60_000;
const FRESH = { probe: false, mended: 0 };
const PROBE = { probe: true, mended: 0 };

/** Asks for leaves, one after the other, of a channel whose state goes along. */
function channel(perSecond = 25, pace: ChannelPace = STEADY) {
  return {
    pace,
    ask(now: number, reservedAt: number | null = null, random = 0): Leave {
      const answer = takeLeave(this.pace, { reservedAt }, perSecond, now, random);
      this.pace = answer.pace;
      return answer.leave;
    },
  };
}

const seconds = fc.integer({ min: 1, max: 1_000 });

test("a burst is given starts that lie evenly, at the channel's pace", () => {
  fc.assert(
    fc.property(seconds, fc.integer({ min: 1, max: 300 }), (perSecond, count) => {
      const asked = channel(perSecond);
      const starts = Array.from({ length: count }, () => asked.ask(NOW).at);
      starts.forEach((at, i) => {
        expect(at).toBeGreaterThanOrEqual(NOW + (i * 1_000) / perSecond - 0.2);
        expect(at).toBeLessThanOrEqual(NOW + (i * 1_000) / perSecond + 1.2);
        expect(Number.isInteger(at)).toBe(true);
      });
    }),
  );
});

test("no window of a second ever has more starts than the pace, whenever they are asked for", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 2, maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), gaps, (perSecond, waits) => {
      const asked = channel(perSecond);
      let now = NOW;
      const starts = waits.map((wait) => asked.ask((now += wait)).at);
      for (let i = perSecond + 1; i < starts.length; i++) {
        expect((starts[i] ?? 0) - (starts[i - perSecond - 1] ?? 0)).toBeGreaterThanOrEqual(999);
      }
    }),
  );
});

test("a start that is near is waited for; one that is not is reserved, and holds", () => {
  const asked = channel(1);
  expect(asked.ask(NOW)).toEqual({ leave: "go", at: NOW, probe: false });
  expect(asked.ask(NOW)).toEqual({ leave: "go", at: NOW + NEAR_MS, probe: false });
  const third = asked.ask(NOW);
  expect(third).toEqual({ leave: "later", at: NOW + 2_000, broken: false });
  // Others ask meanwhile; its start is its own.
  for (let i = 0; i < 20; i++) asked.ask(NOW + 1_000);
  const before = asked.pace;
  expect(asked.ask(third.at, third.at)).toEqual({ leave: "go", at: third.at, probe: false });
  expect(asked.pace).toEqual(before);
});

test("a chat whose clock is a little ahead keeps its start, and one that comes far too late goes by the clock again", () => {
  const asked = channel(1);
  for (let i = 0; i < 100; i++) asked.ask(NOW);
  const reserved = NOW + 50_000;
  expect(asked.ask(reserved - 20, reserved)).toEqual({ leave: "go", at: reserved, probe: false });
  expect(asked.ask(reserved + 9_000, reserved)).toMatchObject({ leave: "go", at: reserved + 9_000 });
  expect(asked.ask(reserved + 10_001, reserved)).toMatchObject({ leave: "later" });
});

test("an idle channel saves nothing up: after a pause a burst is spread as before", () => {
  const asked = channel(10);
  asked.ask(NOW);
  const starts = Array.from({ length: 5 }, () => asked.ask(NOW + MINUTE).at - NOW - MINUTE);
  expect(starts).toEqual([0, 100, 200, 300, 400]);
});

test("a network that wants rest gets it: nobody starts before, reserved or not, and never is the rest shortened", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 600_000 }), { minLength: 1, maxLength: 5 }), (waits) => {
      const asked = channel(25);
      asked.ask(NOW);
      for (const wait of waits) asked.pace = slowDown(asked.pace, wait, NOW);
      const end = NOW + Math.max(...waits);
      const now = NOW + Math.min(...waits) / 2;
      for (const reservedAt of [null, now, now - 5_000]) {
        if (now < end) expect(asked.ask(now, reservedAt).at).toBeGreaterThanOrEqual(end);
      }
      expect(asked.ask(end).leave).toBe("go");
    }),
  );
});

test("a broken channel lets nobody go for five minutes, then one at a time", () => {
  const asked = channel();
  asked.pace = breakChannel(asked.pace, "Bad token", FRESH, NOW);
  expect(asked.pace.breaker).toEqual({ since: NOW, reason: "Bad token", failures: 0, probeAt: NOW + 5 * MINUTE });
  expect(asked.ask(NOW + 5 * MINUTE - 1)).toMatchObject({ leave: "later", broken: true });
  expect(asked.ask(NOW + 5 * MINUTE)).toEqual({ leave: "go", at: NOW + 5 * MINUTE, probe: true });
  for (let i = 0; i < 100; i++) expect(asked.ask(NOW + 5 * MINUTE + i)).toMatchObject({ leave: "later" });
  // A probe that was lost is followed by another.
  expect(asked.ask(NOW + 6 * MINUTE)).toMatchObject({ leave: "go", probe: true });
});

test("chats that meet a broken channel are told to come back after 5 to 60 minutes, apart from each other", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const asked = channel();
      asked.pace = breakChannel(asked.pace, "Bad token", FRESH, NOW);
      for (let i = 0; i < failures; i++) asked.pace = breakChannel(asked.pace, "Bad token", PROBE, NOW);
      const wait = asked.ask(NOW, null, random).at - NOW;
      expect(wait).toBeGreaterThanOrEqual(5 * MINUTE);
      expect(wait).toBeLessThanOrEqual(60 * MINUTE);
    }),
  );
  const asked = channel(25, breakChannel(STEADY, "Bad token", FRESH, NOW));
  expect(asked.ask(NOW, null, 1).at - asked.ask(NOW, null, 0).at).toBe(MINUTE);
});

test("each probe that fails makes the wait longer; what else was under way does not", () => {
  let pace = breakChannel(STEADY, "Bad token", FRESH, NOW);
  for (let i = 0; i < 60; i++) expect(breakChannel(pace, "Bad token", FRESH, NOW + i)).toBe(pace);
  const waits = Array.from({ length: 6 }, () => {
    pace = breakChannel(pace, "Still bad", PROBE, NOW);
    return ((pace.breaker?.probeAt ?? 0) - NOW) / MINUTE;
  });
  expect(waits).toEqual([10, 20, 40, 50, 50, 50]);
  expect(pace.breaker).toMatchObject({ since: NOW, reason: "Still bad", failures: 6 });
});

test("a mended channel goes at its pace, and hears nothing of attempts from before", () => {
  const asked = channel(10, mendChannel(breakChannel(STEADY, "Bad token", FRESH, NOW)));
  expect(asked.pace).toMatchObject({ breaker: null, mended: 1 });
  expect(breakChannel(asked.pace, "Bad token", FRESH, NOW)).toBe(asked.pace);
  expect(breakChannel(asked.pace, "Bad token", { probe: false, mended: 1 }, NOW).breaker).not.toBeNull();
  expect([asked.ask(NOW).at, asked.ask(NOW).at]).toEqual([NOW, NOW + 100]);
});
