import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type CallPace,
  decidePermit,
  INITIAL_CALL_PACE,
  isStartValid,
  type PermitCase,
  reserveStart,
  slotsOf,
  wakeFrom,
} from "../../../../src/webhooks/object/pace.ts";
import { planProbes } from "../../../../src/webhooks/object/probes.ts";
import { newWebhookState, type WebhookState } from "../../../../src/webhooks/object/state.ts";

const NOW = Date.UTC(2026, 10, 20, 10);
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const trial = newWebhookState(NOW);
const ok: WebhookState = { ...trial, name: "ok" };
const failing: WebhookState = { ...trial, name: "failing", probes: planProbes("a", NOW) };
const disabled: WebhookState = { ...trial, name: "disabled", reason: "customer" };

function ask(given: Partial<PermitCase> = {}, now = NOW) {
  const asked: PermitCase = {
    state: ok,
    pace: INITIAL_CALL_PACE,
    subscriptionId: "a",
    reservedAt: null,
    heldUntil: null,
    used: 0,
    perSecond: 2,
    concurrency: 3,
    othersWait: false,
    ...given,
  };
  return decidePermit(asked, now);
}

const decision = (given: Partial<PermitCase> = {}, now = NOW) => ask(given, now).decision;
const started = { outcome: "granted", at: NOW, isProbe: false };

test.each([
  ["a webhook that works", {}, started],
  ["with two of three slots used", { used: 2 }, started],
  ["with all slots used", { used: 3 }, { outcome: "full" }],
  ["on trial", { state: trial }, started],
  ["on trial while another call is under way", { state: trial, used: 1 }, { outcome: "full" }],
  ["disabled", { state: disabled }, { outcome: "blocked" }],
  ["failing, before the probe", { state: failing }, { outcome: "blocked" }],
  ["a subscription whose call may be under way", { heldUntil: NOW + 1 }, { outcome: "held", until: NOW + 1 }],
  ["a subscription whose call must have ended", { heldUntil: NOW }, started],
  ["paused for an hour", { state: { ...ok, pausedUntil: NOW + HOUR } }, { outcome: "blocked" }],
  ["paused for half a minute", { state: { ...ok, pausedUntil: NOW + 30 * SECOND } }, { outcome: "blocked" }],
  [
    "paused for a second",
    { state: { ...ok, pausedUntil: NOW + SECOND } },
    { outcome: "granted", at: NOW + SECOND, isProbe: false },
  ],
  ["paused until now", { state: { ...ok, pausedUntil: NOW } }, started],
] as const)("%s", (_title, given, expected) => {
  expect(decision(given)).toEqual(expected);
});

test("a probe starts when it is due, alone, and by another subscription than the last if one waits", () => {
  const at = NOW + 5 * SECOND;
  const last = { ...failing, probes: { ...planProbes("a", NOW), lastLine: "a" } };
  expect(decision({ state: failing }, at - 1)).toEqual({ outcome: "blocked" });
  expect(decision({ state: failing }, at)).toEqual({ outcome: "granted", at, isProbe: true });
  expect(decision({ state: failing, used: 1 }, at)).toEqual({ outcome: "blocked" });
  expect(decision({ state: last, othersWait: true }, at)).toEqual({ outcome: "blocked" });
  expect(decision({ state: last }, at)).toMatchObject({ isProbe: true });
  expect(decision({ state: { ...failing, pausedUntil: at + 1 } }, at)).toEqual({ outcome: "blocked" });
});

test("a start in the near future is granted, a later one reserved, and one in the far future is not", () => {
  expect(decision({ pace: { clock: NOW + SECOND, nextStartAt: 0 } })).toMatchObject({ at: NOW + SECOND });
  const { decision: later, pace } = ask({ pace: { clock: NOW + 2 * SECOND, nextStartAt: 0 } });
  expect(later).toEqual({ outcome: "reserved", at: NOW + 2 * SECOND });
  expect(pace.clock).toBe(NOW + 2.5 * SECOND);
  expect(decision({ pace: { clock: NOW + 61 * SECOND, nextStartAt: 0 } })).toEqual({ outcome: "blocked" });
});

test("a subscription that comes back at its reserved start begins then, and one that comes early is told the same start", () => {
  const pace = { clock: NOW + HOUR, nextStartAt: NOW - 1 };
  expect(ask({ pace, reservedAt: NOW })).toEqual({
    decision: started,
    pace: { clock: pace.clock, nextStartAt: NOW + SECOND / 2 },
  });
  expect(ask({ pace, reservedAt: NOW + 3 * SECOND })).toEqual({
    decision: { outcome: "reserved", at: NOW + 3 * SECOND },
    pace,
  });
  // Ten seconds late, the start belongs to nobody.
  expect(decision({ pace, reservedAt: NOW - 10 * SECOND - 1 })).toEqual({ outcome: "blocked" });
});

test("a granted start is void once the webhook changed", () => {
  expect(isStartValid(ok, ok, NOW)).toBe(true);
  expect(isStartValid(ok, { ...ok, epoch: 2 }, NOW)).toBe(false);
  expect(isStartValid(ok, { ...ok, skipBefore: NOW }, NOW)).toBe(false);
  expect(isStartValid(ok, failing, NOW)).toBe(false);
  expect(isStartValid(failing, failing, NOW + 5 * SECOND)).toBe(true);
  // Another probe failed, and the next one comes later.
  expect(isStartValid(failing, failing, NOW + 5 * SECOND - 1)).toBe(false);
  expect(isStartValid(failing, ok, NOW)).toBe(true);
  expect(isStartValid(ok, { ...ok, pausedUntil: NOW + 1 }, NOW)).toBe(false);
});

test("how many calls there may be, and when a subscription may be woken", () => {
  const states = [disabled, failing, trial, ok];
  expect(states.map((state) => slotsOf(state, 3, NOW))).toEqual([0, 0, 1, 3]);
  expect(slotsOf(failing, 3, NOW + 5 * SECOND)).toBe(1);
  const pace = { clock: NOW + 3 * SECOND, nextStartAt: 0 };
  expect(states.map((state) => wakeFrom(state, pace))).toEqual([
    null,
    NOW + 5 * SECOND,
    NOW + 2 * SECOND,
    NOW + 2 * SECOND,
  ]);
  expect(wakeFrom({ ...failing, pausedUntil: NOW + HOUR }, pace)).toBe(NOW + HOUR);
});

test("however subscriptions ask, starts are apart by the pace, and no reserved start is given twice", () => {
  const steps = fc.array(fc.record({ subscription: fc.nat(9), ms: fc.nat(700), wakes: fc.boolean() }), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 50 }), (all, perSecond) => {
      let pace: CallPace = INITIAL_CALL_PACE;
      let now = NOW;
      const reserved = new Map<string, number>();
      const starts: number[] = [];
      for (const { subscription, ms, wakes } of all) {
        now += ms;
        const subscriptionId = String(subscription);
        if (wakes) {
          const start = reserveStart(pace, perSecond, now);
          pace = start.pace;
          reserved.set(subscriptionId, start.at);
        }
        const asked = ask({ pace, subscriptionId, reservedAt: reserved.get(subscriptionId) ?? null, perSecond }, now);
        pace = asked.pace;
        if (asked.decision.outcome === "granted") {
          starts.push(asked.decision.at);
          reserved.delete(subscriptionId);
        } else if (asked.decision.outcome === "reserved") reserved.set(subscriptionId, asked.decision.at);
      }
      for (const [index, start] of starts.entries()) {
        const before = starts[index - 1];
        // A start is rounded up to a millisecond.
        if (before !== undefined) expect(start - before).toBeGreaterThan(1_000 / perSecond - 1);
      }
    }),
  );
});
