import { expect, test } from "vitest";
import {
  affectsWaiters,
  attemptEnded,
  endTrial,
  INITIAL_PACE,
  isStillValid,
  mustStore,
  PROVEN_FOR_MS,
  SHORT_WAIT_MS,
  slowDown,
  TRIAL_MS,
  wakeMoreAt,
  withCredentials,
} from "../../../../src/channels/object/pace.ts";
import { ATTEMPT, ask, broken, FAR, MINUTE, NOW, PROBE, probing, proven, SECOND } from "./pace-states.ts";

test("an attempt goes at once, and the next start lies an interval later", () => {
  expect(ask(proven())).toEqual({
    permit: { outcome: "granted", at: NOW, probe: null, trial: null },
    pace: proven({ clock: NOW + 100, nextGrantAt: NOW + 100 }),
  });
});

test("a start up to a second ahead goes, and one that is further is reserved", () => {
  expect(ask(proven({ clock: NOW + SHORT_WAIT_MS })).permit).toMatchObject({
    outcome: "granted",
    at: NOW + SHORT_WAIT_MS,
  });
  const { permit, pace } = ask(proven({ clock: NOW + SHORT_WAIT_MS + 1 }));
  expect(permit).toEqual({ outcome: "later", at: NOW + SHORT_WAIT_MS + 1, broken: false });
  expect(pace).toEqual(proven({ clock: NOW + SHORT_WAIT_MS + 1 + 100 }));
});

test("a start between two milliseconds is the later one, and the clock keeps the fraction", () => {
  const { permit, pace } = ask(proven({ clock: NOW + 0.25 }));
  expect([permit, pace.clock]).toEqual([{ outcome: "granted", at: NOW + 1, probe: null, trial: null }, NOW + 100.25]);
  expect(ask(proven({ clock: NOW + 5 * SECOND + 0.25 })).permit).toMatchObject({ outcome: "later", at: NOW + 5_001 });
});

test.each([
  ["comes at its time", NOW],
  ["comes a second early", NOW + SHORT_WAIT_MS],
  ["comes ten seconds late", NOW - 10 * SECOND],
])("a reserved start that %s goes, and moves the clock no further", (_when, reservedAt) => {
  const { permit, pace } = ask(proven({ clock: FAR }), { reservedAt });
  expect(permit).toMatchObject({ outcome: "granted", at: Math.max(NOW, reservedAt) });
  expect([pace.clock, pace.nextGrantAt]).toEqual([FAR, Math.max(NOW, reservedAt) + 100]);
});

test.each([
  ["comes more than a second early", NOW + SHORT_WAIT_MS + 1],
  ["comes more than ten seconds late", NOW - 10 * SECOND - 1],
])("a reserved start that %s goes by the clock again", (_when, reservedAt) => {
  expect(ask(proven({ clock: FAR }), { reservedAt }).permit).toEqual({ outcome: "later", at: FAR, broken: false });
});

test("a reserved start counts from the end of a rest on, and not before", () => {
  const resting = proven({ clock: FAR, pausedUntil: NOW });
  expect(ask(resting, { reservedAt: NOW }).permit).toMatchObject({ outcome: "granted", at: NOW });
  expect(ask({ ...resting, pausedUntil: NOW + 1 }, { reservedAt: NOW }).permit).toMatchObject({ outcome: "later" });
});

test("a reserved start begins after the last one that was let go, and by the clock where that is far", () => {
  expect(ask(proven({ clock: FAR, nextGrantAt: NOW + 300 }), { reservedAt: NOW }).permit).toMatchObject({
    at: NOW + 300,
  });
  expect(ask(proven({ clock: FAR, nextGrantAt: NOW + SHORT_WAIT_MS }), { reservedAt: NOW }).permit).toMatchObject({
    outcome: "granted",
  });
  const late = ask(proven({ clock: NOW, nextGrantAt: NOW + SHORT_WAIT_MS + 1 }), { reservedAt: NOW });
  expect(late.permit).toMatchObject({ outcome: "later", at: NOW + SHORT_WAIT_MS + 1 });
});

test("who did not reserve begins after the last one that was let go", () => {
  const { permit, pace } = ask(proven({ nextGrantAt: NOW + 300 }));
  expect([permit, pace.clock]).toEqual([{ outcome: "granted", at: NOW + 300, probe: null, trial: null }, NOW + 400]);
});

test("a channel that has yet to show that it works lets one go as a trial, and the others wait for its end", () => {
  const { permit, pace } = ask(INITIAL_PACE);
  expect(permit).toEqual({ outcome: "granted", at: NOW, probe: null, trial: NOW + TRIAL_MS });
  expect(pace.trialUntil).toBe(NOW + TRIAL_MS);
  expect(ask(pace)).toEqual({ permit: { outcome: "wait" }, pace });
  expect(ask(pace, { canWait: false }).permit).toEqual({ outcome: "later", at: NOW + SHORT_WAIT_MS, broken: false });
  const second = ask(ask(pace, { canWait: false }).pace, { canWait: false });
  expect(second.permit).toMatchObject({ outcome: "later", at: NOW + SHORT_WAIT_MS + 100 });
  expect(ask({ ...pace, clock: FAR }, { canWait: false }).permit).toMatchObject({ at: FAR });
  expect(ask(pace, { now: NOW + TRIAL_MS - 1 }).permit.outcome).toBe("wait");
  expect(ask(pace, { now: NOW + TRIAL_MS }).permit).toMatchObject({ outcome: "granted", trial: NOW + 2 * TRIAL_MS });
});

test("a channel that worked counts as one that works for a minute; in its second half one attempt shows it anew", () => {
  const trialAt = (ago: number) => {
    const { permit } = ask(proven({ provenAt: NOW - ago }));
    return permit.outcome === "granted" ? permit.trial : permit.outcome;
  };
  expect([trialAt(0), trialAt(PROVEN_FOR_MS / 2 - 1)]).toEqual([null, null]);
  expect([trialAt(PROVEN_FOR_MS / 2), trialAt(PROVEN_FOR_MS)]).toEqual([NOW + TRIAL_MS, NOW + TRIAL_MS]);
  const onTrial = (ago: number) => ask(proven({ provenAt: NOW - ago, trialUntil: NOW + 1 })).permit;
  expect(onTrial(PROVEN_FOR_MS - 1)).toMatchObject({ outcome: "granted", trial: null });
  expect(onTrial(PROVEN_FOR_MS).outcome).toBe("wait");
});

test("a request during a trial does not extend the trial", () => {
  expect(ask(proven({ trialUntil: NOW + 1 })).pace.trialUntil).toBe(NOW + 1);
});

test("a pause is never shortened", () => {
  expect(slowDown(INITIAL_PACE, SECOND, NOW)).toEqual({
    ...INITIAL_PACE,
    clock: NOW + SECOND,
    pausedUntil: NOW + SECOND,
  });
  const rests = { ...INITIAL_PACE, clock: FAR, pausedUntil: FAR };
  expect(slowDown(rests, SECOND, NOW)).toEqual(rests);
});

test("a trial that ends well shows that the channel works; one that tells nothing lets the next attempt be one", () => {
  const onTrial = { ...INITIAL_PACE, trialUntil: FAR };
  const trial = { trial: FAR, epoch: 0 };
  expect(endTrial(onTrial, trial, true, NOW)).toEqual({ ...INITIAL_PACE, provenEpoch: 0, provenAt: NOW });
  expect(endTrial(onTrial, trial, false, NOW)).toEqual(INITIAL_PACE);
  expect(endTrial({ ...onTrial, provenAt: 5 }, trial, false, NOW).provenAt).toBe(5);
  expect(endTrial(onTrial, { trial: FAR - 1, epoch: 0 }, false, NOW)).toEqual(onTrial);
  expect(endTrial(onTrial, { trial: null, epoch: 0 }, true, NOW)).toEqual({
    ...INITIAL_PACE,
    provenEpoch: 0,
    provenAt: NOW,
  });
});

test("a trial's end is old news of a channel that broke, or was mended", () => {
  const trial = { trial: FAR, epoch: 0 };
  const pace = { ...broken(), trialUntil: FAR };
  expect(endTrial(pace, trial, true, NOW)).toBe(pace);
  const epoch = { ...INITIAL_PACE, epoch: 1, trialUntil: FAR };
  expect(endTrial(epoch, trial, true, NOW)).toBe(epoch);
});

test("the end of an attempt counts as what it was: a trial, or a probe of the breaker as it is", () => {
  const trial = { ...ATTEMPT, trial: FAR };
  expect(attemptEnded({ ...INITIAL_PACE, trialUntil: FAR }, trial, true, NOW)).toEqual({
    ...INITIAL_PACE,
    provenEpoch: 0,
    provenAt: NOW,
  });
  expect(attemptEnded(broken(), PROBE, true, NOW)).toEqual({
    ...INITIAL_PACE,
    epoch: 1,
    provenEpoch: 1,
    provenAt: NOW,
  });
  const { pace, attempt } = probing();
  expect(attemptEnded(pace, attempt, false, NOW + 1).breaker?.probeAt).toBe(NOW + 1 + 5 * MINUTE);
  expect(endTrial({ ...INITIAL_PACE, epoch: 3 }, { epoch: 3 }, true, NOW).provenEpoch).toBe(3);
  const since = broken({ epoch: 2 });
  expect(attemptEnded(since, PROBE, true, NOW)).toBe(since);
});

test("a start that was waited for is void once the channel broke, was mended, or is told to rest beyond it", () => {
  expect(isStillValid(INITIAL_PACE, NOW, 0)).toBe(true);
  expect(isStillValid({ ...INITIAL_PACE, pausedUntil: NOW }, NOW, 0)).toBe(true);
  expect(isStillValid({ ...INITIAL_PACE, pausedUntil: NOW + 1 }, NOW, 0)).toBe(false);
  expect(isStillValid({ ...INITIAL_PACE, epoch: 1 }, NOW, 0)).toBe(false);
  expect(isStillValid(broken(), NOW, 0)).toBe(false);
});

test("those who wait look again when the channel broke, was mended, rests, or a trial is over", () => {
  const before = { ...INITIAL_PACE, trialUntil: FAR };
  expect(affectsWaiters(before, { ...before, clock: 5, nextGrantAt: 5, provenAt: 5 })).toBe(false);
  expect(affectsWaiters(before, { ...before, breaker: broken().breaker })).toBe(true);
  expect(affectsWaiters(before, { ...before, epoch: 1 })).toBe(true);
  expect(affectsWaiters(before, { ...before, pausedUntil: 1 })).toBe(true);
  expect(affectsWaiters(before, { ...before, trialUntil: 0 })).toBe(true);
  expect(affectsWaiters(INITIAL_PACE, { ...INITIAL_PACE, trialUntil: FAR })).toBe(false);
});

test("a change of the breaker or the credentials is stored at once, the clock once it is five seconds ahead", () => {
  const ahead = (clock: number, stored: number) => mustStore(INITIAL_PACE, { ...INITIAL_PACE, clock }, stored, NOW);
  expect([ahead(NOW + 4_999, 0), ahead(NOW + 5_000, 0)]).toEqual([false, true]);
  expect([ahead(NOW + 6_999, NOW + 2_000), ahead(NOW + 7_000, NOW + 2_000)]).toEqual([false, true]);
  expect(mustStore(INITIAL_PACE, broken(), 0, NOW)).toBe(true);
  expect(mustStore(INITIAL_PACE, { ...INITIAL_PACE, epoch: 1 }, 0, NOW)).toBe(true);
  expect(mustStore(INITIAL_PACE, { ...INITIAL_PACE, provenEpoch: 1 }, 0, NOW)).toBe(true);
  // If the first version were lost with the object, the next object would take a change for the first version.
  expect(mustStore(INITIAL_PACE, withCredentials(INITIAL_PACE, "first"), 0, NOW)).toBe(true);
});

test("further chats are woken once those before are about to be through; while nothing is shown, a second later", () => {
  expect(wakeMoreAt(proven(), NOW)).toBe(NOW);
  expect(wakeMoreAt(INITIAL_PACE, NOW)).toBe(NOW + SHORT_WAIT_MS);
  expect(wakeMoreAt(proven({ clock: FAR }), NOW)).toBe(FAR - SHORT_WAIT_MS);
  expect(wakeMoreAt({ ...INITIAL_PACE, clock: FAR }, NOW)).toBe(FAR - SHORT_WAIT_MS);
});
