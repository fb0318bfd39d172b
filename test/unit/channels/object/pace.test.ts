import fc from "fast-check";
import { expect, test } from "vitest";
import {
  breakChannel,
  type ChannelPace,
  grantPermit,
  INITIAL_PACE,
  slowDown,
} from "../../../../src/channels/object/pace.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const MINUTE = 60_000;
const FRESH = { probe: null, epoch: 0 };

/** The channel after a probe that was let go found it still broken. */
function probed(pace: ChannelPace): ChannelPace {
  const now = pace.breaker?.probeAt ?? NOW;
  const { permit, pace: under } = grantPermit(pace, { reservedAt: null, canWait: true, brokenEpoch: null }, 25, now, 0);
  const probe = permit.outcome === "granted" ? permit.probe : null;
  return breakChannel(under, "Still bad", { probe, epoch: 0 }, NOW);
}

/** Asks for leaves, one after the other, of a channel whose state goes along; it has just shown that it works. */
function channel(perSecond = 25, pace: ChannelPace = INITIAL_PACE) {
  return {
    pace,
    ask(now: number, reservedAt: number | null = null, random = 0) {
      this.pace = { ...this.pace, provenAt: now };
      const { permit, pace } = grantPermit(
        this.pace,
        { reservedAt, canWait: true, brokenEpoch: null },
        perSecond,
        now,
        random,
      );
      this.pace = pace;
      if (permit.outcome === "wait") throw new Error("it waits");
      return permit;
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
      expect(asked.ask(end).outcome).toBe("granted");
    }),
  );
});

test("chats that meet a broken channel are told to come back after 5 to 60 minutes, apart from each other", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const asked = channel();
      asked.pace = breakChannel(asked.pace, "Bad token", FRESH, NOW);
      for (let i = 0; i < failures; i++) asked.pace = probed(asked.pace);
      const wait = asked.ask(NOW, null, random).at - NOW;
      expect(wait).toBeGreaterThanOrEqual(5 * MINUTE);
      expect(wait).toBeLessThanOrEqual(60 * MINUTE);
    }),
  );
  const asked = channel(25, breakChannel(INITIAL_PACE, "Bad token", FRESH, NOW));
  expect(asked.ask(NOW, null, 1).at - asked.ask(NOW, null, 0).at).toBe(MINUTE);
});

test("reserved starts that come late together begin apart from each other, and so do fresh ones among them", () => {
  const lateness = fc.array(fc.integer({ min: -500, max: 9_000 }), { minLength: 20, maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), lateness, (perSecond, late) => {
      const asked = channel(perSecond);
      const reserved = late.map(() => asked.ask(NOW)).filter(({ outcome }) => outcome === "later");
      const asks = reserved.map(({ at }, i) => ({ at: at + (late[i] ?? 0), reservedAt: i % 3 ? at : null }));
      const starts: number[] = [];
      for (const { at, reservedAt } of asks.sort((a, b) => a.at - b.at)) {
        const answer = asked.ask(at, reservedAt);
        if (answer.outcome === "granted") starts.push(answer.at);
      }
      starts.sort((a, b) => a - b);
      starts.slice(1).forEach((at, i) => {
        expect(at - (starts[i] ?? 0)).toBeGreaterThanOrEqual(Math.floor(1_000 / perSecond));
      });
    }),
  );
});
