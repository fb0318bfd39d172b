import fc from "fast-check";
import { expect, test } from "vitest";
import {
  breakChannel,
  type ChannelPace,
  closeBreaker,
  endTrial,
  grantPermit,
  isStillGood,
  NEAR_MS,
  PROVEN_FOR_MS,
  probeAgain,
  STEADY,
  slowDown,
  TRIAL_MS,
  wakeMoreAt,
} from "../../../src/channels/pace.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const MINUTE = 60_000;
const FRESH = { probe: null, epoch: 0 };

/** The channel after a probe that was let go found it still broken. */
function probed(pace: ChannelPace, end = (under: ChannelPace, probe: number | null) => stillBroken(under, probe)) {
  const now = pace.breaker?.probeAt ?? NOW;
  const { permit, pace: under } = grantPermit(pace, { reservedAt: null, isPatient: true, brokeIn: null }, 25, now, 0);
  return end(under, permit.outcome === "granted" ? permit.probe : null);
}

function stillBroken(pace: ChannelPace, probe: number | null): ChannelPace {
  return breakChannel(pace, "Still bad", { probe, epoch: 0 }, NOW);
}

/** Asks for leaves, one after the other, of a channel whose state goes along; it has just shown that it works. */
function channel(perSecond = 25, pace: ChannelPace = STEADY) {
  return {
    pace,
    ask(now: number, reservedAt: number | null = null, random = 0) {
      this.pace = { ...this.pace, provenAt: now };
      const { permit, pace } = grantPermit(
        this.pace,
        { reservedAt, isPatient: true, brokeIn: null },
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

/** The same of one that has yet to show it. */
function cold(perSecond = 10, pace: ChannelPace = STEADY) {
  return {
    pace,
    ask(now: number, isPatient = true, reservedAt: number | null = null) {
      const answer = grantPermit(this.pace, { reservedAt, isPatient, brokeIn: null }, perSecond, now, 0);
      this.pace = answer.pace;
      return answer.permit;
    },
    end(trial: number | null, works: boolean, now: number) {
      this.pace = endTrial(this.pace, { trial, epoch: this.pace.epoch }, works, now);
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
  expect(asked.ask(NOW)).toEqual({ outcome: "granted", at: NOW, probe: null, trial: null });
  expect(asked.ask(NOW)).toEqual({ outcome: "granted", at: NOW + NEAR_MS, probe: null, trial: null });
  const third = asked.ask(NOW);
  expect(third).toEqual({ outcome: "later", at: NOW + 2_000, broken: false });
  // Others ask meanwhile; its start is its own.
  for (let i = 0; i < 20; i++) asked.ask(NOW + 1_000);
  const { clock } = asked.pace;
  expect(asked.ask(third.at, third.at)).toEqual({ outcome: "granted", at: third.at, probe: null, trial: null });
  expect(asked.pace.clock).toBe(clock);
});

test("a chat whose clock is a little ahead keeps its start, and one that comes far too late goes by the clock again", () => {
  const asked = channel(1);
  for (let i = 0; i < 100; i++) asked.ask(NOW);
  const reserved = NOW + 50_000;
  expect(asked.ask(reserved - 20, reserved)).toMatchObject({ outcome: "granted", at: reserved });
  expect(asked.ask(reserved + 9_000, reserved)).toMatchObject({ outcome: "granted", at: reserved + 9_000 });
  expect(asked.ask(reserved + 10_001, reserved)).toMatchObject({ outcome: "later" });
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

test("a broken channel lets nobody go for five minutes, then one at a time", () => {
  const asked = channel();
  asked.pace = breakChannel(asked.pace, "Bad token", FRESH, NOW);
  expect(asked.pace.breaker).toMatchObject({ since: NOW, reason: "Bad token", failures: 0, probeAt: NOW + 5 * MINUTE });
  expect(asked.ask(NOW + 5 * MINUTE - 1)).toMatchObject({ outcome: "later", broken: true });
  expect(asked.ask(NOW + 5 * MINUTE)).toMatchObject({ outcome: "granted", at: NOW + 5 * MINUTE, probe: 1 });
  for (let i = 0; i < 100; i++) expect(asked.ask(NOW + 5 * MINUTE + i)).toMatchObject({ outcome: "later" });
  // A probe that was lost is followed by another.
  expect(asked.ask(NOW + 6 * MINUTE)).toMatchObject({ outcome: "granted", probe: 2 });
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
  const asked = channel(25, breakChannel(STEADY, "Bad token", FRESH, NOW));
  expect(asked.ask(NOW, null, 1).at - asked.ask(NOW, null, 0).at).toBe(MINUTE);
});

test("each probe that fails makes the wait longer; what else was under way does not", () => {
  let pace = breakChannel(STEADY, "Bad token", FRESH, NOW);
  for (let i = 0; i < 60; i++) expect(breakChannel(pace, "Bad token", FRESH, NOW + i)).toBe(pace);
  const waits = Array.from({ length: 6 }, () => {
    pace = probed(pace);
    return ((pace.breaker?.probeAt ?? 0) - NOW) / MINUTE;
  });
  expect(waits).toEqual([10, 20, 40, 40, 40, 40]);
  expect(pace.breaker).toMatchObject({ since: NOW, reason: "Still bad", failures: 6 });
});

test("a mended channel goes at its pace, and hears nothing of attempts from before", () => {
  const asked = channel(10, closeBreaker(breakChannel(STEADY, "Bad token", FRESH, NOW), NOW));
  expect(asked.pace).toMatchObject({ breaker: null, epoch: 1 });
  expect(breakChannel(asked.pace, "Bad token", FRESH, NOW)).toBe(asked.pace);
  expect(breakChannel(asked.pace, "Bad token", { probe: null, epoch: 1 }, NOW).breaker).not.toBeNull();
  expect([asked.ask(NOW).at, asked.ask(NOW).at]).toEqual([NOW, NOW + 100]);
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

test("a channel that has yet to show that it works lets one attempt go, which tells how it ends", () => {
  const asked = cold();
  expect(asked.ask(NOW)).toEqual({ outcome: "granted", at: NOW, probe: null, trial: NOW + TRIAL_MS });
  for (let i = 0; i < 50; i++) expect(asked.ask(NOW + i)).toEqual({ outcome: "wait" });
  asked.end(NOW + TRIAL_MS, true, NOW + 200);
  const starts = Array.from({ length: 11 }, () => asked.ask(NOW + 200));
  expect(starts).toEqual(
    Array.from({ length: 11 }, (_, i) => ({ outcome: "granted", at: NOW + 200 + i * 100, probe: null, trial: null })),
  );
});

test("who does not wait for a trial's end is given a start after it, apart from the others", () => {
  const asked = cold();
  asked.ask(NOW);
  expect([1, 2, 3].map(() => asked.ask(NOW, false))).toEqual(
    [0, 100, 200].map((after) => ({ outcome: "later", at: NOW + NEAR_MS + after, broken: false })),
  );
});

test("a trial of which nobody knows how it ended is followed by another; one that takes long is joined by another", () => {
  const asked = cold();
  asked.ask(NOW);
  asked.end(NOW + TRIAL_MS, false, NOW + 100);
  const second = asked.ask(NOW + 100);
  expect(second).toMatchObject({ outcome: "granted", trial: NOW + 100 + TRIAL_MS });
  expect(asked.ask(NOW + 101)).toEqual({ outcome: "wait" });
  const third = NOW + 100 + TRIAL_MS;
  expect(asked.ask(third - 1)).toEqual({ outcome: "wait" });
  expect(asked.ask(third)).toMatchObject({ outcome: "granted", trial: third + TRIAL_MS });
  // The second one's end does not let a fourth go.
  asked.end(NOW + 100 + TRIAL_MS, false, third + 1);
  expect(asked.ask(third + 2)).toEqual({ outcome: "wait" });
});

test("a channel that worked within the last minute holds nobody, and has one attempt show it anew", () => {
  const asked = cold(10, { ...STEADY, provenAt: NOW });
  for (let i = 0; i < 5; i++) expect(asked.ask(NOW + 1_000 * i)).toMatchObject({ outcome: "granted", trial: null });
  const half = NOW + PROVEN_FOR_MS / 2;
  const trials = [0, 1, 2].map((i) => asked.ask(half + 100 * i));
  expect(trials).toMatchObject([{ trial: half + TRIAL_MS }, { trial: null }, { trial: null }]);
  asked.end(half + TRIAL_MS, true, half + 400);
  expect(asked.ask(half + PROVEN_FOR_MS / 2)).toMatchObject({ outcome: "granted", trial: null });
  // Idle for longer, it has it to show again.
  const later = half + 400 + PROVEN_FOR_MS;
  expect([asked.ask(later), asked.ask(later)]).toMatchObject([{ outcome: "granted", at: later }, { outcome: "wait" }]);
});

test("other credentials are tried once before all follow; a probe that came through has shown that they may", () => {
  const broken = breakChannel({ ...STEADY, provenAt: NOW }, "Bad token", FRESH, NOW);
  expect(broken.provenAt).toBeNull();
  const changed = cold(10, closeBreaker(broken, null));
  expect([changed.ask(NOW), changed.ask(NOW)]).toMatchObject([
    { outcome: "granted", probe: null },
    { outcome: "wait" },
  ]);
  const probed = cold(10, closeBreaker(broken, NOW));
  expect([probed.ask(NOW), probed.ask(NOW)]).toMatchObject([
    { outcome: "granted" },
    { outcome: "granted", at: NOW + 100 },
  ]);
});

test("a trial's end says nothing of a channel that broke, or was mended, meanwhile", () => {
  const trial = { epoch: 0, trial: NOW + TRIAL_MS };
  const { pace } = grantPermit(STEADY, { reservedAt: null, isPatient: true, brokeIn: null }, 10, NOW, 0);
  const broken = breakChannel(pace, "Bad token", FRESH, NOW);
  expect(endTrial(broken, trial, true, NOW)).toBe(broken);
  // It was let go before the breaker opened, so it makes no wait longer.
  expect(breakChannel(broken, "Bad token", { probe: null, ...trial }, NOW)).toBe(broken);
  const epoch = closeBreaker(broken, null);
  expect(endTrial(epoch, trial, true, NOW)).toBe(epoch);
  expect(probeAgain(epoch, { probe: 1, ...trial }, NOW)).toBe(epoch);
});

test("a probe that nobody answers makes no wait longer: its contact may be the one that is never reached", () => {
  let pace = breakChannel(STEADY, "Bad token", FRESH, NOW);
  for (let failures = 0; failures < 5; failures++) pace = probed(pace);
  expect(pace.breaker).toMatchObject({ failures: 5, probeAt: NOW + 40 * MINUTE });
  const unanswered = probed(pace, (under, probe) => probeAgain(under, { probe, epoch: 0 }, NOW));
  expect(unanswered.breaker).toMatchObject({ failures: 5, probeAt: NOW + 5 * MINUTE });
});

test("a start that was waited for is void once the channel broke, was mended, or was told to rest for longer", () => {
  const at = NOW + 500;
  expect(isStillGood(STEADY, at, 0)).toBe(true);
  expect(isStillGood(slowDown(STEADY, 500, NOW), at, 0)).toBe(true);
  expect(isStillGood(slowDown(STEADY, 501, NOW), at, 0)).toBe(false);
  const broken = breakChannel(STEADY, "Bad token", FRESH, NOW);
  expect(isStillGood(broken, at, 0)).toBe(false);
  expect(isStillGood(closeBreaker(broken, NOW), at, 0)).toBe(false);
});

test("further chats are woken once those before are about to be through; while it is on trial, a second later", () => {
  const proven = { ...STEADY, provenAt: NOW };
  expect(wakeMoreAt(proven, NOW)).toBe(NOW);
  expect(wakeMoreAt({ ...proven, clock: NOW + 8_000 }, NOW)).toBe(NOW + 7_000);
  expect(wakeMoreAt(STEADY, NOW)).toBe(NOW + NEAR_MS);
});
