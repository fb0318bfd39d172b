import { expect, test } from "vitest";
import {
  type Attempt,
  affectsWaiters,
  attemptEnded,
  breakChannel,
  type ChannelPace,
  closeBreaker,
  endTrial,
  grantPermit,
  INITIAL_PACE,
  isStillValid,
  mustStore,
  PROVEN_FOR_MS,
  rescheduleProbe,
  SHORT_WAIT_MS,
  slowDown,
  TRIAL_MS,
  wakeMoreAt,
  withCredentials,
} from "../../../src/channels/pace.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const ATTEMPT = { probe: null, epoch: 0 };
const PROBE = { probe: 1, epoch: 0 };

/** A channel that works, as an attempt has just shown. */
const proven = (fields: Partial<ChannelPace> = {}): ChannelPace => ({ ...INITIAL_PACE, provenAt: NOW, ...fields });
const broken = (fields: Partial<ChannelPace> = {}) =>
  breakChannel({ ...INITIAL_PACE, ...fields }, "Bad token", ATTEMPT, NOW);

/** What is answered to who asks for a permit now, at ten starts a second. */
function ask(
  pace: ChannelPace,
  {
    reservedAt = null as number | null,
    canWait = true,
    brokenEpoch = null as number | null,
    now = NOW,
    random = 0,
  } = {},
) {
  return grantPermit(pace, { reservedAt, canWait, brokenEpoch }, 10, now, random);
}

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

const FAR = NOW + 20 * SECOND;

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

const opened = {
  since: NOW,
  reason: "Bad token",
  failures: 0,
  repeats: 0,
  probeAt: NOW + 5 * MINUTE,
  repeatAt: NOW + 6 * MINUTE,
  probes: 0,
  isProbing: false,
};

/** A broken channel whose probe was let go when it was due. */
function probing(
  pace = broken(),
  brokenEpoch: number | null = null,
): { pace: ChannelPace; attempt: Attempt; now: number } {
  const now = Math.max(pace.breaker?.probeAt ?? 0, brokenEpoch === null ? 0 : (pace.breaker?.repeatAt ?? 0));
  const { permit, pace: after } = ask(pace, { now, brokenEpoch });
  if (permit.outcome !== "granted") throw new Error(`the probe is ${permit.outcome}`);
  return { pace: after, attempt: { probe: permit.probe, epoch: after.epoch, brokenEpoch }, now };
}

/** The waits of `count` probes in a row that find the channel still broken, in minutes. */
function waits(count: number, brokenEpoch: number | null) {
  let state = broken();
  return Array.from({ length: count }, (_, n) => {
    const { pace, attempt, now } = probing(state, brokenEpoch);
    state = breakChannel(pace, `Bad token ${n}`, attempt, now);
    const { probeAt = 0, repeatAt = 0 } = state.breaker ?? {};
    return [(probeAt - now) / MINUTE, (repeatAt - now) / MINUTE];
  });
}

test("a broken channel has a probe after five minutes, and the others come apart from each other", () => {
  expect(broken()).toEqual({
    ...INITIAL_PACE,
    breaker: opened,
  });
  const held = (random: number) => ask(broken(), { random }).permit;
  expect(held(0)).toEqual({ outcome: "later", at: NOW + 5 * MINUTE, broken: true });
  expect(held(1)).toEqual({ outcome: "later", at: NOW + 6 * MINUTE, broken: true });
  expect(ask(broken(), { now: NOW + 5 * MINUTE - 1 }).permit.outcome).toBe("later");
});

test("a probe goes alone: until it is over, or a minute has passed, the others come later", () => {
  const now = NOW + 5 * MINUTE;
  const { permit, pace } = ask(broken(), { now });
  expect(permit).toEqual({ outcome: "granted", at: now, probe: 1, trial: null });
  expect(pace.breaker).toEqual({ ...opened, probes: 1, isProbing: true, probeAt: now + MINUTE });
  expect(ask(pace, { now }).permit).toEqual({ outcome: "later", at: now + MINUTE, broken: true });
});

test("each probe that fails doubles the wait, up to forty minutes", () => {
  expect(waits(5, null).map(([wait]) => wait)).toEqual([10, 20, 40, 40, 40]);
  const pace = broken({ provenAt: NOW, trialUntil: NOW + 1 });
  expect([pace.provenAt, pace.trialUntil]).toEqual([null, 0]);
  const { pace: second, attempt, now } = probing(pace);
  const failed = breakChannel(second, "Still bad", attempt, now);
  expect(failed.breaker).toMatchObject({ since: NOW, reason: "Still bad", failures: 1, isProbing: false });
});

test("a probe of a message that met the broken channel before doubles the wait of such messages alone", () => {
  expect(waits(5, 0)).toEqual([
    [5, 11],
    [5, 21],
    [5, 41],
    [5, 41],
    [5, 41],
  ]);
});

test("a message that met the broken channel before waits until others had their turn", () => {
  const held = (now: number, brokenEpoch: number | null) => ask(broken(), { now, brokenEpoch }).permit;
  expect(held(NOW + 6 * MINUTE - 1, 0)).toEqual({ outcome: "later", at: NOW + 6 * MINUTE, broken: true });
  expect(held(NOW + 5 * MINUTE, null)).toMatchObject({ outcome: "granted" });
  expect(held(NOW + 6 * MINUTE, 0)).toMatchObject({ outcome: "granted", probe: 1 });
  // It met another breaker, not this one.
  const another = { ...broken(), epoch: 1 };
  expect(ask(another, { now: NOW, brokenEpoch: 0 }).permit).toMatchObject({ at: NOW + 5 * MINUTE });
});

test("a report of a probe that comes twice changes nothing, and neither does one of a probe that another followed", () => {
  const { pace, attempt, now } = probing();
  for (const works of [false, true]) {
    const after = attemptEnded(pace, attempt, works, now);
    expect(attemptEnded(after, attempt, works, now + 1)).toBe(after);
  }
  const failed = breakChannel(pace, "Bad token", attempt, now);
  expect(breakChannel(failed, "Bad token", attempt, now + 1)).toBe(failed);
  expect(attemptEnded(failed, attempt, false, now + 1)).toBe(failed);
  const { pace: next } = probing(pace);
  expect(next.breaker?.probes).toBe(2);
  expect(breakChannel(next, "Bad token", attempt, now)).toBe(next);
});

test("new credentials close the breaker, and the same ones change nothing", () => {
  const first = withCredentials(broken(), "one");
  expect(first).toEqual({ ...broken(), credentialsVersion: "one" });
  expect(withCredentials(first, "one")).toBe(first);
  const second = withCredentials(first, "two");
  expect(second).toEqual({ ...INITIAL_PACE, epoch: 1, credentialsVersion: "two" });
  expect(withCredentials(second, "two")).toBe(second);
});

test("attempts granted before the breaker opened or closed do not change it", () => {
  const pace = broken();
  expect(breakChannel(pace, "Again", ATTEMPT, NOW + 1)).toBe(pace);
  expect(breakChannel(pace, "Again", { probe: 1, epoch: 1 }, NOW + 1)).toBe(pace);
  expect(breakChannel(pace, "Again", { probe: 1, epoch: 0 }, NOW + 1)).toBe(pace);
  expect(breakChannel(INITIAL_PACE, "Old", { probe: null, epoch: 1 }, NOW)).toBe(INITIAL_PACE);
  expect(breakChannel({ ...INITIAL_PACE, epoch: 1 }, "New", { probe: null, epoch: 1 }, NOW).breaker).not.toBeNull();
});

test("an inconclusive probe is followed by another after the shortest wait", () => {
  const { pace, attempt, now } = probing();
  expect(rescheduleProbe(pace, attempt, now).breaker).toEqual({
    ...pace.breaker,
    isProbing: false,
    probeAt: now + 5 * MINUTE,
  });
  expect(rescheduleProbe(pace, { ...attempt, epoch: 1 }, now)).toBe(pace);
  expect(rescheduleProbe(INITIAL_PACE, PROBE, NOW)).toBe(INITIAL_PACE);
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
  expect(endTrial(onTrial, trial, true, NOW)).toEqual({ ...INITIAL_PACE, provenAt: NOW });
  expect(endTrial(onTrial, trial, false, NOW)).toEqual(INITIAL_PACE);
  expect(endTrial({ ...onTrial, provenAt: 5 }, trial, false, NOW).provenAt).toBe(5);
  expect(endTrial(onTrial, { trial: FAR - 1, epoch: 0 }, false, NOW)).toEqual(onTrial);
  expect(endTrial(onTrial, { trial: null, epoch: 0 }, true, NOW)).toEqual({ ...INITIAL_PACE, provenAt: NOW });
});

test("a trial's end is old news of a channel that broke, or was mended", () => {
  const trial = { trial: FAR, epoch: 0 };
  const pace = { ...broken(), trialUntil: FAR };
  expect(endTrial(pace, trial, true, NOW)).toBe(pace);
  const epoch = { ...INITIAL_PACE, epoch: 1, trialUntil: FAR };
  expect(endTrial(epoch, trial, true, NOW)).toBe(epoch);
});

test("a successful probe or new credentials close the breaker", () => {
  const pace = { ...broken(), trialUntil: FAR };
  expect(closeBreaker(pace, NOW)).toEqual({ ...INITIAL_PACE, epoch: 1, provenEpoch: 1, provenAt: NOW });
  expect(closeBreaker(pace, null)).toEqual({ ...INITIAL_PACE, epoch: 1 });
});

test("the end of an attempt counts as what it was: a trial, or a probe of the breaker as it is", () => {
  const trial = { ...ATTEMPT, trial: FAR };
  expect(attemptEnded({ ...INITIAL_PACE, trialUntil: FAR }, trial, true, NOW)).toEqual({
    ...INITIAL_PACE,
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
