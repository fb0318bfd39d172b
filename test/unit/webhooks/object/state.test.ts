import fc from "fast-check";
import { expect, test } from "vitest";
import { mayProbe, planProbes } from "../../../../src/webhooks/object/probes.ts";
import {
  afterNewUrl,
  afterTime,
  type Change,
  disable,
  EMPTY_TALLY,
  type EndedAttempt,
  enable,
  mustStoreState,
  newWebhookState,
  nextChangeAt,
  type Webhook,
  webhookAfterAttempt,
} from "../../../../src/webhooks/object/state.ts";
import type { AnswerClass } from "../../../../src/webhooks/subscription/retry.ts";

const NOW = Date.UTC(2026, 10, 20, 10);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NEW: Webhook = { state: newWebhookState(NOW), tally: EMPTY_TALLY };

let subscriptions = 0;

/** How an attempt ended: each of another subscription, unless told otherwise. */
function ended({ state }: Webhook, answer: AnswerClass | null, given: Partial<EndedAttempt> = {}): EndedAttempt {
  return {
    subscriptionId: `chat ${subscriptions++}`,
    answer,
    isGivenUp: false,
    isProbe: state.probes !== null,
    epoch: state.epoch,
    retryAfterMs: null,
    ...given,
  };
}

/** A webhook after attempts that end one after the other, a second apart. */
function after(webhook: Webhook, ...answers: AnswerClass[]): Change & { now: number } {
  let change: Change = { ...webhook, notices: [] };
  let now = NOW;
  for (const answer of answers) {
    now += SECOND;
    const next = webhookAfterAttempt(change, ended(change, answer), now);
    change = { ...next, notices: [...change.notices, ...next.notices] };
  }
  return { ...change, now };
}

const five = Array<AnswerClass>(5).fill("unavailable");
const failing = () => after(NEW, ...five);

test("a webhook is on trial until its first 2xx", () => {
  expect(after(NEW, "unavailable", "refused").state.name).toBe("trial");
  const works = after(NEW, "unavailable", "accepted");
  expect(works.state).toMatchObject({ name: "ok", since: works.now, lastSuccessAt: works.now });
  expect(after(works, "accepted", "accepted").state).toBe(works.state);
});

test("five failures in a row make it fail, since the first of them; the other answers don't count", () => {
  expect(after(NEW, ...five.slice(1)).state.name).toBe("trial");
  expect(after(NEW, "unavailable", "accepted", ...five.slice(1)).state.name).toBe("ok");
  const { state, now } = after(NEW, "unavailable", "refused", ...five.slice(1));
  expect(state).toMatchObject({ name: "failing", since: NOW + SECOND });
  expect(state.probes).toMatchObject({ failures: 0, probeAt: now + 5 * SECOND });
});

test("the probes come after 5 and 15 seconds, 1, 5, 15 and 30 minutes, and then each hour", () => {
  let { state, tally, now }: Webhook & { now: number } = failing();
  const waits: number[] = [];
  for (let probe = 0; probe < 9; probe++) {
    const { probeAt = 0 } = state.probes ?? {};
    waits.push((probeAt - now) / SECOND);
    now = probeAt;
    ({ state, tally } = webhookAfterAttempt({ state, tally }, ended({ state, tally }, "unavailable"), now));
  }
  expect(waits).toEqual([5, 15, 60, 300, 900, 1_800, 3_600, 3_600, 3_600]);
});

test("a probe whose event is refused is followed by another after the same wait", () => {
  const { state, tally } = failing();
  const later = NOW + HOUR;
  const { state: next } = webhookAfterAttempt({ state, tally }, ended({ state, tally }, "refused"), later);
  expect(next.probes).toMatchObject({ failures: 0, probeAt: later + 5 * SECOND });
  expect(next.name).toBe("failing");
});

test("a call that was granted before the webhook failed changes no probe, but its success ends the failing", () => {
  const change = failing();
  const early = ended(change, "unavailable", { isProbe: false });
  expect(webhookAfterAttempt(change, early, NOW + HOUR).state.probes).toBe(change.state.probes);
  const { state } = webhookAfterAttempt(change, { ...early, answer: "accepted" }, NOW + HOUR);
  expect(state).toMatchObject({ name: "ok", probes: null });
});

test("another subscription makes the next probe if one waits", () => {
  const plan = { ...planProbes("a", NOW), lastLine: "a" };
  const at = NOW + 5 * SECOND;
  expect(mayProbe(plan, "b", true, at - 1)).toBe(false);
  expect([mayProbe(plan, "b", true, at), mayProbe(plan, "a", true, at), mayProbe(plan, "a", false, at)]).toEqual([
    true,
    false,
    true,
  ]);
});

test("people are told after ten minutes, a day and four days, and after five days it is disabled", () => {
  let webhook: Webhook = failing();
  const { since } = webhook.state;
  const told: [number, string][] = [];
  const ids = new Set<string>();
  for (let at = nextChangeAt(webhook.state); at !== null; at = nextChangeAt(webhook.state)) {
    expect(afterTime(webhook, at - 1).notices).toEqual([]);
    const { notices, ...next } = afterTime(webhook, at);
    webhook = next;
    for (const { type, id } of notices) {
      told.push([at - since, type]);
      ids.add(id);
    }
  }
  expect(told).toEqual([
    [10 * MINUTE, "webhook.failing"],
    [DAY, "webhook.failing"],
    [4 * DAY, "webhook.failing"],
    [5 * DAY, "webhook.disabled"],
  ]);
  expect(ids.size).toBe(4);
  expect(webhook.state).toMatchObject({ name: "disabled", reason: "failing", probes: null });
});

test("an object that slept for two days sends one notice", () => {
  const { notices, state } = afterTime(failing(), NOW + 2 * DAY);
  expect(notices).toHaveLength(1);
  expect(state.notices).toBe(2);
});

test("a webhook that fails, works and fails again sends its notices again", () => {
  const first = afterTime(failing(), NOW + HOUR);
  const again = after(first, "accepted", ...five);
  const [notice] = afterTime(again, again.state.since + 10 * MINUTE).notices;
  expect(notice?.id).not.toBe(first.notices[0]?.id);
});

test("twenty events given up without a 2xx are told once, also if they were refused", () => {
  let webhook: Webhook = NEW;
  const told: number[] = [];
  for (let count = 1; count <= 50; count++) {
    const { notices, ...next } = webhookAfterAttempt(webhook, ended(webhook, "refused", { isGivenUp: true }), NOW);
    webhook = next;
    if (notices.length > 0) told.push(count);
  }
  expect(told).toEqual([20]);
  const works = after(webhook, "accepted");
  expect(works.state.isGivenUpNoticed).toBe(false);
  // An event that is too old was never sent.
  const expired = ended(works, null, { isGivenUp: true });
  expect(webhookAfterAttempt(works, expired, NOW).tally.givenUp).toBe(0);
});

test("a receiver that is gone disables the webhook, and nothing but enabling it changes that", () => {
  const { state, tally, notices } = after(NEW, "gone");
  expect(state).toMatchObject({ name: "disabled", reason: "gone", epoch: 2 });
  expect(notices).toMatchObject([{ type: "webhook.disabled", note: { reason: "gone" } }]);
  for (const answer of ["accepted", "unavailable", "gone"] as const) {
    expect(webhookAfterAttempt({ state, tally }, ended({ state, tally }, answer), NOW).state).toBe(state);
  }
  expect(disable({ state, tally }, "customer", NOW)).toMatchObject({ state: { reason: "gone" }, notices: [] });
  expect(enable({ state, tally }, "pending", NOW + DAY).state).toMatchObject({
    name: "trial",
    epoch: 3,
    since: NOW + DAY,
  });
});

test("an attempt from before the webhook was enabled or got another URL changes nothing", () => {
  const old = ended(NEW, "accepted");
  for (const changed of [afterNewUrl(NEW, NOW), enable(disable(NEW, "customer", NOW), "pending", NOW)]) {
    const { state } = webhookAfterAttempt(changed, old, NOW);
    expect(state).toBe(changed.state);
    expect(state.name).toBe("trial");
  }
});

test("a new URL starts a trial, unless a person disabled the webhook", () => {
  expect(afterNewUrl(failing(), NOW).state.name).toBe("trial");
  expect(afterNewUrl(disable(NEW, "gone", NOW), NOW).state.name).toBe("trial");
  expect(afterNewUrl(disable(NEW, "customer", NOW), NOW).state.name).toBe("disabled");
  expect(afterNewUrl(disable(NEW, "operator", NOW), NOW).state.name).toBe("disabled");
});

test("enabling from now makes the subscriptions skip what happened before, also after the webhook was disabled again", () => {
  const { state, tally } = enable(disable(NEW, "customer", NOW), "now", NOW + DAY);
  expect(state).toMatchObject({ name: "trial", skipBefore: NOW + DAY });
  expect(disable({ state, tally }, "operator", NOW + 2 * DAY).state.skipBefore).toBe(NOW + DAY);
});

test.each(["pending", "now"] as const)("enabling an enabled webhook again from %s changes nothing", (from) => {
  const { state, tally } = enable(disable(NEW, "customer", NOW), "now", NOW + DAY);
  expect(enable({ state, tally }, from, NOW + 2 * DAY).state).toEqual(state);
  const ok = after(NEW, "accepted");
  expect(enable(ok, from, NOW + DAY).state).toEqual(ok.state);
});

/** A webhook whose subscriptions' calls fail one after the other, a second apart, and ask for pauses. */
function askedToPause(webhook: Webhook, ...asked: [subscriptionId: string, retryAfterMs: number][]): Webhook {
  return asked.reduce<Webhook>((before, [subscriptionId, retryAfterMs], index) => {
    return webhookAfterAttempt(
      before,
      ended(before, "unavailable", { subscriptionId, retryAfterMs }),
      NOW + index * SECOND,
    );
  }, webhook);
}

const pauseOf = ({ state }: Webhook) => state.pausedUntil - NOW;

test("one subscription's answer pauses the webhook for a minute at most, however often it asks for a day", () => {
  expect(pauseOf(askedToPause(NEW, ["a", 30 * SECOND]))).toBe(30 * SECOND);
  expect(pauseOf(askedToPause(NEW, ["a", DAY]))).toBe(MINUTE);
  expect(pauseOf(askedToPause(NEW, ["a", DAY], ["a", DAY], ["a", DAY]))).toBe(MINUTE + 2 * SECOND);
  expect(webhookAfterAttempt(NEW, ended(NEW, "refused", { retryAfterMs: DAY }), NOW).state).toBe(NEW.state);
});

test("two subscriptions pause the webhook for as long as both asked", () => {
  expect(pauseOf(askedToPause(NEW, ["a", HOUR], ["b", HOUR]))).toBe(HOUR);
  expect(pauseOf(askedToPause(NEW, ["a", DAY], ["b", HOUR]))).toBe(HOUR + SECOND);
  expect(pauseOf(askedToPause(NEW, ["a", DAY], ["b", SECOND], ["c", 2 * HOUR]))).toBe(2 * HOUR + 2 * SECOND);
  // Between them a call succeeded, so it is not the receiver that needs a pause.
  const works = after(askedToPause(after(NEW, "accepted"), ["a", DAY]), "accepted");
  expect(pauseOf(askedToPause(works, ["b", DAY]))).toBe(MINUTE);
});

test.each(["pending", "now"] as const)("enabling from %s ends a pause, and skips nothing", (from) => {
  const paused = askedToPause(after(NEW, "accepted"), ["a", DAY], ["b", DAY]);
  const { state, notices } = enable(paused, from, NOW + HOUR);
  expect(state).toMatchObject({ name: "ok", epoch: 1, pausedUntil: 0, skipBefore: null, startedAt: NOW + HOUR });
  expect(notices).toEqual([]);
  expect(enable({ ...paused, state }, from, NOW + 2 * HOUR).state).toBe(state);
});

test("one event that always fails, in a webhook without others, makes no other subscription wait for long", () => {
  let webhook: Webhook = NEW;
  let now = NOW;
  for (const wait of [0, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR]) {
    now += wait;
    webhook = webhookAfterAttempt(webhook, ended(webhook, "unavailable", { subscriptionId: "bad" }), now);
  }
  expect(webhook.state).toMatchObject({ name: "failing", probes: { failures: 0, probeAt: now + 5 * SECOND } });
  // If the others' calls fail too, it is the receiver.
  const other = webhookAfterAttempt(webhook, ended(webhook, "unavailable", { subscriptionId: "other" }), now + MINUTE);
  expect(other.state.probes).toMatchObject({ failures: 1, probeAt: now + MINUTE + 15 * SECOND });
});

test("a short pause is not stored, and every other change is", () => {
  const paused = (pausedUntil: number) => ({ ...NEW.state, pausedUntil });
  expect(mustStoreState(NEW.state, paused(NOW + SECOND), NOW)).toBe(false);
  expect(mustStoreState(NEW.state, paused(NOW + 5 * SECOND), NOW)).toBe(true);
  expect(mustStoreState(paused(NOW + DAY), paused(NOW + DAY + SECOND), NOW)).toBe(false);
  expect(mustStoreState(NEW.state, failing().state, NOW)).toBe(true);
});

const answers = fc.constantFrom<AnswerClass>("accepted", "unavailable", "refused", "gone");
type Step =
  | { kind: "attempt"; answer: AnswerClass; isGivenUp: boolean; isOld: boolean }
  | { kind: "enable" }
  | { kind: "disable" }
  | { kind: "url" };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("attempt" as const), answer: answers, isGivenUp: fc.boolean(), isOld: fc.boolean() }),
  fc.record({ kind: fc.constant("enable" as const) }),
  fc.record({ kind: fc.constant("disable" as const) }),
  fc.record({ kind: fc.constant("url" as const) }),
);

test("whatever happens, a webhook's state is consistent, and no notice has the id of another", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(2 * DAY)), { maxLength: 60 }), (steps) => {
      let webhook: Webhook = NEW;
      let now = NOW;
      const ids: string[] = [];
      for (const [what, ms] of steps) {
        now += 1 + ms;
        const timed = afterTime(webhook, now);
        const epoch = timed.state.epoch;
        const change = apply(timed, what, now);
        ids.push(...[...timed.notices, ...change.notices].map(({ id }) => id));
        webhook = change;
        const { state, tally } = webhook;
        expect(state.epoch).toBeGreaterThanOrEqual(epoch);
        expect(state.probes !== null).toBe(state.name === "failing");
        expect(state.reason !== null).toBe(state.name === "disabled");
        expect(state.name === "failing" ? tally.failures >= 5 : true).toBe(true);
        expect(nextChangeAt(state) === null).toBe(state.name !== "failing");
        expect(now - state.since < 5 * DAY || state.name !== "failing").toBe(true);
      }
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

function apply(webhook: Webhook, what: Step, now: number): Change {
  if (what.kind === "enable") return enable(webhook, "pending", now);
  if (what.kind === "disable") return disable(webhook, "customer", now);
  if (what.kind === "url") return afterNewUrl(webhook, now);
  const { answer, isGivenUp, isOld } = what;
  const epoch = webhook.state.epoch - (isOld ? 1 : 0);
  return webhookAfterAttempt(webhook, ended(webhook, answer, { isGivenUp, epoch }), now);
}
