import { afterProbe, type ProbePlan, planProbes } from "./probes.ts";
import type { DisabledReason, WebhookStateName } from "./rpc.ts";
import type { AnswerClass } from "./schedule.ts";

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
  /** The receiver asked for a pause until then. */
  pausedUntil: number;
  /** Lines skip the events before this time; null if the webhook was never enabled without its pending events. */
  skipBefore: number | null;
  /** How many notices were sent of this failing. */
  notices: number;
  /** Whether a notice was sent of the events given up since the last success. */
  isGivenUpNoticed: boolean;
  /** The last success before the last change of this value; the tally may have a later one. */
  lastSuccessAt: number | null;
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
  /** What the answer means; null if no call was made. */
  answer: AnswerClass | null;
  /** Whether the line gave the event up. */
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

/** Counts an attempt in the tally, without the state: also for reading the log. @param at when it ended */
export function countAttempt(tally: Tally, answer: AnswerClass | null, isGivenUp: boolean, at: number): Tally {
  if (answer === "accepted") return { ...EMPTY_TALLY, lastSuccessAt: at };
  const givenUp = tally.givenUp + (isGivenUp && answer !== null ? 1 : 0);
  if (answer !== "unavailable") return { ...tally, givenUp };
  return { ...tally, givenUp, failures: tally.failures + 1, failingSince: tally.failingSince ?? at };
}

/** Applies the end of an attempt. An attempt of an earlier epoch, or one of a disabled webhook, changes nothing. */
export function webhookAfterAttempt({ state, tally }: Webhook, attempt: EndedAttempt, now: number): Change {
  const { answer, isGivenUp, isProbe, epoch, retryAfterMs } = attempt;
  if (epoch !== state.epoch || state.name === "disabled") return { state, tally, notices: [] };
  const counted = countAttempt(tally, answer, isGivenUp, now);
  if (answer === "accepted") return { state: succeeded(state, now), tally: counted, notices: [] };
  if (answer === "gone") return disable({ state, tally: counted }, "gone", now);
  const counts = answer === "unavailable";
  const pausedUntil = Math.max(state.pausedUntil, counts ? now + (retryAfterMs ?? 0) : 0);
  let after: WebhookState = pausedUntil > now && pausedUntil !== state.pausedUntil ? { ...state, pausedUntil } : state;
  if (after.probes && isProbe && answer !== null) {
    after = { ...after, probes: afterProbe(after.probes, counts, now) };
  } else if (!after.probes && counts && counted.failures >= FAILURES_IN_A_ROW) {
    const since = counted.failingSince ?? now;
    after = { ...after, name: "failing", since, probes: planProbes(now) };
  }
  const given = noticeGivenUp({ state: after, tally: counted });
  const timed = afterTime(given, now);
  return { ...timed, notices: [...given.notices, ...timed.notices] };
}

function succeeded(state: WebhookState, now: number): WebhookState {
  if (state.name === "ok" && !state.isGivenUpNoticed) return state;
  const since = state.name === "ok" ? state.since : now;
  return {
    ...state,
    name: "ok",
    since,
    probes: null,
    pausedUntil: 0,
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
    note: { reason: "no_success", since: isoOf(state.since), disablesAt: isoOf(disablesAt) },
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
    note: { reason, since: isoOf(now) },
    id: `disabled:${epoch}:${now}`,
  };
  return { state: disabled, tally: { ...EMPTY_TALLY, lastSuccessAt }, notices: [notice] };
}

/**
 * Tries a webhook again that is failing or disabled. Changes nothing of another.
 * @param from `pending`: the lines go on from where they stand. `now`: they skip what happened before
 */
export function enable(webhook: Webhook, from: "pending" | "now", now: number): Change {
  const { state, tally } = webhook;
  // A request that is repeated must not drop the events that happened in between.
  if (state.name !== "failing" && state.name !== "disabled") return { state, tally, notices: [] };
  const trial = startTrial(webhook, now);
  return from === "now" ? { ...trial, state: { ...trial.state, skipBefore: now } } : trial;
}

/** The webhook has another URL. Someone who disabled it must enable it. */
export function afterNewUrl(webhook: Webhook, now: number): Change {
  const { reason } = webhook.state;
  if (reason === "customer" || reason === "operator") return { ...webhook, notices: [] };
  return startTrial(webhook, now);
}

function startTrial({ state, tally }: Webhook, now: number): Change {
  const lastSuccessAt = tally.lastSuccessAt ?? state.lastSuccessAt;
  const trial = { ...newWebhookState(now), ...kept(state), epoch: state.epoch + 1, lastSuccessAt };
  return { state: trial, tally: { ...EMPTY_TALLY, lastSuccessAt }, notices: [] };
}

function kept({ skipBefore }: WebhookState): Pick<WebhookState, "skipBefore"> {
  return { skipBefore };
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** Whether a change must be stored. A short pause need not be: losing it makes a few calls early. */
export function mustStoreState(before: WebhookState, state: WebhookState, now: number): boolean {
  const isOnlyPause = JSON.stringify({ ...before, pausedUntil: 0 }) === JSON.stringify({ ...state, pausedUntil: 0 });
  return !isOnlyPause || state.pausedUntil - Math.max(before.pausedUntil, now) >= SHORT_PAUSE_MS;
}
