import { expect, test } from "vitest";
import {
  attemptEnded,
  attemptUnused,
  breakChannel,
  closeBreaker,
  INITIAL_PACE,
  rescheduleProbe,
  withCredentials,
} from "../../../../src/channels/object/pace.ts";
import { ATTEMPT, ask, broken, FAR, MINUTE, NOW, PROBE, probing } from "./pace-states.ts";

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

test("a probe that did not begin is followed by another at once", () => {
  const { pace, attempt, now } = probing();
  expect(attemptUnused(pace, attempt, now).breaker).toEqual({ ...pace.breaker, isProbing: false, probeAt: now });
  expect(ask(attemptUnused(pace, attempt, now), { now }).permit).toMatchObject({ outcome: "granted", probe: 2 });
  expect(attemptUnused(pace, { ...attempt, epoch: 1 }, now)).toBe(pace);
  expect(attemptUnused(pace, { ...attempt, probe: 2 }, now)).toBe(pace);
  expect(attemptUnused(INITIAL_PACE, PROBE, NOW)).toBe(INITIAL_PACE);
});

test("a trial that did not begin lets the next attempt be one", () => {
  const trial = { probe: null, epoch: 0, trial: FAR };
  expect(attemptUnused({ ...INITIAL_PACE, trialUntil: FAR }, trial, NOW)).toEqual(INITIAL_PACE);
});

test("a successful probe or new credentials close the breaker", () => {
  const pace = { ...broken(), trialUntil: FAR };
  expect(closeBreaker(pace, NOW)).toEqual({ ...INITIAL_PACE, epoch: 1, provenEpoch: 1, provenAt: NOW });
  expect(closeBreaker(pace, null)).toEqual({ ...INITIAL_PACE, epoch: 1 });
});
