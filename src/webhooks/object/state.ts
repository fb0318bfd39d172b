import { isoTime } from "../../model/time.ts";
import type { DisabledReason, WebhookStateName } from "../../model/webhook.ts";
import type { AnswerClass } from "../subscription/retry.ts";
import { afterProbe, type ProbePlan, planProbes } from "./probes.ts";

/**
 * The states of a webhook: `trial` until the first 2xx, `ok`, `failing` after five failures in a row, `disabled`. Pure
 * functions of the state and the current time. Times are Unix milliseconds.
 */

/** What the webhook's object stores. It changes rarely: attempts that change nothing cost no write. */
export interface WebhookState {
  name: WebhookStateName;
  /** Null unless it is disabled. */
  reason: DisabledReason | null;
  /** See `WebhookDescription`. */
  since: number;
  /** Grows when the webhook is enabled, disabled or gets another URL. Reports of earlier attempts change nothing. */
  epoch: number;
  /** Null unless it is failing. */
  probes: ProbePlan | null;
  /** The webhook is not called before then, because the receiver asked for a pause. */
  pausedUntil: number;
  /** The longest pause that a subscription's answer asked for since the last success; absent or null without one. */
  askedPause?: AskedPause | null;
  /** When it last got a fresh start. An event whose last try began before need not wait for its next one. */
  startedAt?: number;
  /**
   * Subscriptions skip the events before this time; null if the webhook was never enabled without its pending events.
   */
  skipBefore: number | null;
  /** How many notices were sent of this failing. */
  notices: number;
  /** Whether a notice was sent of the events given up since the last success. */
  isGivenUpNoticed: boolean;
  /** The last success before the last change of this value; the tally may have a later one. */
  lastSuccessAt: number | null;
}

interface AskedPause {
  lineId: string;
  until: number;
}

/** What the log of attempts shows of the current epoch. It is not stored, but read from the log. */
export interface Tally {
  /** How many failures there were in a row, with no success between. */
  failures: number;
  /** When the first of these ended. */
  failingSince: number | null;
  /** How many events were given up since the last success. */
  givenUp: number;
  lastSuccessAt: number | null;
}

/** An event of the organization that tells people about the webhook. The same id names the same notice. */
export interface Notice {
  type: "webhook.failing" | "webhook.disabled";
  note: Record<string, string | number | null>;
  id: string;
}

export interface Webhook {
  state: WebhookState;
  tally: Tally;
}

/** A webhook after a change, and the notices that the change causes. */
export interface Change extends Webhook {
  notices: Notice[];
}

/** An attempt that ended. */
export interface EndedAttempt {
  subscriptionId: string;
  /** What the answer means; null if no call was made. */
  answer: AnswerClass | null;
  /** Whether the subscription gave the event up. */
  isGivenUp: boolean;
  isProbe: boolean;
  /** The webhook's epoch when the attempt was granted. */
  epoch: number;
  retryAfterMs: number | null;
}

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const FAILURES_IN_A_ROW = 5;
const DISABLED_AFTER_MS = 5 * DAY;
/** How long a webhook fails before each notice. */
const NOTICES_AFTER_MS = [10 * MINUTE, DAY, 4 * DAY];
const GIVEN_UP_FOR_NOTICE = 20;
const SHORT_PAUSE_MS = 5_000;
/**
 * How long the webhook pauses because of one subscription's answer. That subscription itself waits as long as the
 * answer asked for.
 */
const ONE_SUBSCRIPTION_PAUSE_MS = MINUTE;

export const EMPTY_TALLY: Tally = { failures: 0, failingSince: null, givenUp: 0, lastSuccessAt: null };

/** The state of a webhook that was just created. */
export function newWebhookState(now: number): WebhookState {
  return {
    name: "trial",
    reason: null,
    since: now,
    epoch: 1,
    probes: null,
    pausedUntil: 0,
    skipBefore: null,
    notices: 0,
    isGivenUpNoticed: false,
    lastSuccessAt: null,
  };
}

/**
 * The pause after an answer that asks for one. A single subscription pauses the webhook for a minute at most, because
 * its event may be the cause. Two subscriptions pause it until the first of their pauses ends.
 */
function paused(state: WebhookState, subscriptionId: string, retryAfterMs: number, now: number): WebhookState {
  const { askedPause: asked } = state;
  const until = now + retryAfterMs;
  const agreed = asked && asked.lineId !== subscriptionId ? Math.min(asked.until, until) : 0;
  const pausedUntil = Math.max(state.pausedUntil, Math.min(until, now + ONE_SUBSCRIPTION_PAUSE_MS), agreed);
  if (pausedUntil <= now) return state;
  const askedPause = asked && asked.until > until ? asked : { lineId: subscriptionId, until };
  return { ...state, pausedUntil, askedPause };
}

/** Counts an attempt in the tally, without the state: also for reading the log. @param at when it ended */
export function countAttempt(tally: Tally, answer: AnswerClass | null, isGivenUp: boolean, at: number): Tally {
  if (answer === "accepted") return { ...EMPTY_TALLY, lastSuccessAt: at };
  const givenUp = tally.givenUp + (isGivenUp && answer !== null ? 1 : 0);
  if (answer !== "unavailable") return { ...tally, givenUp };
  return { ...tally, givenUp, failures: tally.failures + 1, failingSince: tally.failingSince ?? at };
}

/** Applies the end of an attempt. An attempt of an earlier epoch, or one of a disabled webhook, changes nothing. */
export function webhookAfterAttempt({ state, tally }: Webhook, attempt: EndedAttempt, now: number): Change {
  const { answer, isGivenUp, isProbe, epoch, retryAfterMs, subscriptionId } = attempt;
  if (epoch !== state.epoch || state.name === "disabled") return { state, tally, notices: [] };
  const counted = countAttempt(tally, answer, isGivenUp, now);
  if (answer === "accepted") return { state: succeeded(state, now), tally: counted, notices: [] };
  if (answer === "gone") return disable({ state, tally: counted }, "gone", now);
  const counts = answer === "unavailable";
  let after = counts && retryAfterMs ? paused(state, subscriptionId, retryAfterMs, now) : state;
  if (after.probes && isProbe && answer !== null) {
    after = { ...after, probes: afterProbe(after.probes, counts ? subscriptionId : null, now) };
  } else if (!after.probes && counts && counted.failures >= FAILURES_IN_A_ROW) {
    const since = counted.failingSince ?? now;
    after = { ...after, name: "failing", since, probes: planProbes(subscriptionId, now) };
  }
  const given = noticeGivenUp({ state: after, tally: counted });
  const timed = afterTime(given, now);
  return { ...timed, notices: [...given.notices, ...timed.notices] };
}

function succeeded(state: WebhookState, now: number): WebhookState {
  if (state.name === "ok" && !state.isGivenUpNoticed && !state.askedPause) return state;
  // Another subscription's success does not end a pause, but then one subscription alone asked for it.
  if (state.name === "ok" && !state.isGivenUpNoticed) return { ...state, askedPause: null };
  const since = state.name === "ok" ? state.since : now;
  return {
    ...state,
    name: "ok",
    since,
    probes: null,
    pausedUntil: 0,
    askedPause: null,
    notices: 0,
    isGivenUpNoticed: false,
    lastSuccessAt: now,
  };
}

function noticeGivenUp({ state, tally }: Webhook): Change {
  if (state.isGivenUpNoticed || tally.givenUp < GIVEN_UP_FOR_NOTICE) return { state, tally, notices: [] };
  const id = `failing:${state.epoch}:given-up:${tally.lastSuccessAt ?? 0}`;
  const notice: Notice = {
    type: "webhook.failing",
    note: { reason: "given_up", givenUp: tally.givenUp, since: null, disablesAt: null },
    id,
  };
  return { state: { ...state, isGivenUpNoticed: true }, tally, notices: [notice] };
}

/** Applies what is due by the time: notices of a failing webhook, and in the end its disabling. */
export function afterTime(webhook: Webhook, now: number): Change {
  const { state, tally } = webhook;
  const disablesAt = disablesAtOf(state);
  if (disablesAt === null) return { state, tally, notices: [] };
  if (now >= disablesAt) return disable(webhook, "failing", now);
  const due = NOTICES_AFTER_MS.filter((ms) => now >= state.since + ms).length;
  if (due <= state.notices) return { state, tally, notices: [] };
  const notice: Notice = {
    type: "webhook.failing",
    note: { reason: "no_success", since: isoTime(state.since), disablesAt: isoTime(disablesAt) },
    id: `failing:${state.epoch}:${state.since}:${due}`,
  };
  return { state: { ...state, notices: due }, tally, notices: [notice] };
}

/** When `afterTime` changes something next; null if it never does. */
export function nextChangeAt(state: WebhookState): number | null {
  const disablesAt = disablesAtOf(state);
  const next = NOTICES_AFTER_MS[state.notices];
  return disablesAt !== null && next !== undefined ? state.since + next : disablesAt;
}

/** When a failing webhook is disabled; null unless it is failing. */
export function disablesAtOf({ name, since }: WebhookState): number | null {
  return name === "failing" ? since + DISABLED_AFTER_MS : null;
}

/** Disables a webhook. One that is disabled keeps its first reason. */
export function disable({ state, tally }: Webhook, reason: DisabledReason, now: number): Change {
  if (state.name === "disabled") return { state, tally, notices: [] };
  const epoch = state.epoch + 1;
  const lastSuccessAt = tally.lastSuccessAt ?? state.lastSuccessAt;
  const disabled: WebhookState = {
    ...newWebhookState(now),
    ...kept(state),
    name: "disabled",
    reason,
    epoch,
    lastSuccessAt,
  };
  const notice: Notice = {
    type: "webhook.disabled",
    note: { reason, since: isoTime(now) },
    id: `disabled:${epoch}:${now}`,
  };
  return { state: disabled, tally: { ...EMPTY_TALLY, lastSuccessAt }, notices: [notice] };
}

/**
 * Tries a webhook again that is failing, disabled or paused. Changes nothing of another.
 * @param from `pending`: the subscriptions go on from where they stand. `now`: they skip what happened before
 */
export function enable(webhook: Webhook, from: "pending" | "now", now: number): Change {
  const { state, tally } = webhook;
  if (state.name !== "failing" && state.name !== "disabled") {
    // A request that is repeated must not drop the events that happened in between.
    return state.pausedUntil <= now ? { state, tally, notices: [] } : freshStart(webhook, now);
  }
  const trial = startTrial(webhook, now);
  return from === "now" ? { ...trial, state: { ...trial.state, skipBefore: now } } : trial;
}

/** Sends all that waits now: also events that wait for their next try. A disabled webhook stays disabled. */
export function retry(webhook: Webhook, now: number): Change {
  if (webhook.state.name === "disabled") return { ...webhook, notices: [] };
  return webhook.state.name === "failing" ? startTrial(webhook, now) : freshStart(webhook, now);
}

/** The webhook has another URL. Someone who disabled it must enable it. */
export function afterNewUrl(webhook: Webhook, now: number): Change {
  const { reason } = webhook.state;
  if (reason === "customer" || reason === "operator") return { ...webhook, notices: [] };
  return startTrial(webhook, now);
}

function freshStart({ state, tally }: Webhook, now: number): Change {
  return { state: { ...state, pausedUntil: 0, askedPause: null, startedAt: now }, tally, notices: [] };
}

function startTrial({ state, tally }: Webhook, now: number): Change {
  const lastSuccessAt = tally.lastSuccessAt ?? state.lastSuccessAt;
  const trial = { ...newWebhookState(now), ...kept(state), epoch: state.epoch + 1, lastSuccessAt, startedAt: now };
  return { state: trial, tally: { ...EMPTY_TALLY, lastSuccessAt }, notices: [] };
}

function kept({ skipBefore, startedAt }: WebhookState): Pick<WebhookState, "skipBefore" | "startedAt"> {
  return { skipBefore, ...(startedAt !== undefined && { startedAt }) };
}

/** Whether a change must be stored. A short pause need not be: losing it makes a few calls early. */
export function mustStoreState(before: WebhookState, state: WebhookState, now: number): boolean {
  const withoutPause = (of: WebhookState) => JSON.stringify({ ...of, pausedUntil: 0, askedPause: null });
  const isOnlyPause = withoutPause(before) === withoutPause(state);
  return !isOnlyPause || state.pausedUntil - Math.max(before.pausedUntil, now) >= SHORT_PAUSE_MS;
}
