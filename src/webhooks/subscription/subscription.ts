import type { EventFact } from "../../model/event.ts";
import type {
  AttemptOutcome,
  EventRange,
  SubscriptionAttempt,
  WebhookAttempt,
  WebhookFilter,
  WebhookPermitAnswer,
} from "../../model/webhook.ts";
import { joinedRanges, rangesAfter } from "./event-ranges.ts";
import { type Judgment, nextTry } from "./retry.ts";

/**
 * A subscription: the events that one owner (a chat, or an organization for its own events) sends to one webhook,
 * strictly in order. Pure functions of the stored subscription, the event and the time. Times are Unix milliseconds.
 */

/** The tries of one event. */
export interface Tries {
  number: number;
  /** The number of calls made for it. */
  tries: number;
  /** The earliest time of the next one. */
  nextAt: number;
}

/** Events that are sent again. They have tries of their own, and later events do not wait for them. */
export interface Replay {
  id: string;
  /** The numbers that are left, ascending. Ranges that touch are joined. */
  ranges: EventRange[];
  /** The tries of the first event that is left; null before its first try. */
  head: Tries | null;
}

/** A subscription as it is stored: one row, so that a delivery costs one written row. */
export interface Subscription {
  filter: WebhookFilter;
  /** Each event up to this number was accepted or given up, or did not match the filter. */
  cursor: number;
  /** The last number that was accepted or given up; null before the first. */
  previous: number | null;
  /** The tries of the event after the cursor; null before its first try. */
  head: Tries | null;
  /** Set while the webhook's object makes the subscription wait and will wake it. `number` names the refusal. */
  waiting: { number: number; until: number } | null;
  replays: Replay[];
  /** The replay that came last, and the last number that came with it. Absent before the first. */
  replayed?: { id: string; upTo: number };
  /** Events that were given up, until the webhook's object knows. */
  unreported: WebhookAttempt[];
  /** The last attempts, oldest first. */
  recent: SubscriptionAttempt[];
  /** Whether the webhook's object keeps events that the subscription gave up. */
  hasGivenUp?: true;
}

/** The event that a subscription sends next: the one after its cursor, or one of a replay. */
export interface Work {
  number: number;
  replayId: string | null;
  /** The number of calls made for it. */
  tries: number;
  /** The earliest time of the next one; 0 for now. */
  nextAt: number;
}

export type Next = Work & { fact: EventFact };

/** How many attempts of a chat's subscription are kept. */
export const MAX_RECENT = 20;
/** Older events are given up without a call. */
export const MAX_AGE_MS = 30 * 86_400_000;
/** A subscription that waits asks again after this time, even if nobody wakes it. */
export const MAX_WAIT_MS = 86_400_000;
/** The owner's organization knows of longer waits. */
const LONG_WAIT_MS = 60_000;
/** A permit that was asked for this long ago is void. */
const PERMIT_MS = 5_000;

/** Why events are given up without a call. */
export const EXPIRED = { code: "expired", message: "The event is older than 30 days" };
export const SKIPPED = { code: "skipped", message: "The event was skipped" };
export const GONE = { code: "gone", message: "Nothing is left of the event" };

/** A new subscription. @param after the number of the last event that it does not send */
export function newSubscription(filter: WebhookFilter, after: number): Subscription {
  return {
    filter,
    cursor: after,
    previous: null,
    head: null,
    waiting: null,
    replays: [],
    unreported: [],
    recent: [],
  };
}

/**
 * The subscription with a new version of its filter. Its cursor moves past the events that the old filter skipped, so
 * that the new one applies to later events only.
 * @param next the number of the next event that the old filter lets through; null if there is none
 * @param newest the number of the owner's newest event
 */
export function withFilter(
  subscription: Subscription,
  filter: WebhookFilter,
  next: number | null,
  newest: number,
): Subscription {
  if (filter.version <= subscription.filter.version) return subscription;
  // Nothing before an event that was tried is left, even if the search of this instance has not come that far.
  const first = Math.max(next ?? newest + 1, subscription.head?.number ?? 0);
  return { ...subscription, filter, cursor: Math.max(subscription.cursor, first - 1) };
}

/**
 * The event to send next. A replay's event comes first only while the event after the cursor waits for its next try.
 * @param head the event after the cursor; null if there is none
 * @param replays the first event that is left of each replay
 */
export function nextWork(
  subscription: Subscription,
  head: EventFact | null,
  replays: Next[],
  now: number,
): Next | null {
  const works = head ? [{ ...workOf(head.number, null, subscription.head), fact: head }, ...replays] : replays;
  const at = (work: Next) => Math.max(now, work.nextAt);
  return works.reduce<Next | null>((best, each) => (best && at(best) <= at(each) ? best : each), null);
}

/** A replay's event. @param fact the first that is left and matches the filter */
export function replayWork({ id, head }: Replay, fact: EventFact): Next {
  return { ...workOf(fact.number, id, head), fact };
}

function workOf(number: number, replayId: string | null, tries: Tries | null): Work {
  const isSame = tries?.number === number;
  return { number, replayId, tries: isSame ? tries.tries : 0, nextAt: isSame ? tries.nextAt : 0 };
}

/** Whether an event is too old to be sent. A replay sends an event of any age. */
export function isExpired({ at }: EventFact, now: number): boolean {
  return now - at > MAX_AGE_MS;
}

/** Whether a permit may still be used. @param askedAt when it was asked for */
export function isPermitFresh(askedAt: number, now: number): boolean {
  return now - askedAt < PERMIT_MS;
}

/**
 * The subscription after its request for a permit was refused. A wait is stored only if the webhook's object will end
 * it.
 * @returns the subscription, and the earliest time of its next request
 */
export function afterLater(
  subscription: Subscription,
  { waitMs, isWaiting, number }: WebhookPermitAnswer & { outcome: "later" },
  now: number,
): { subscription: Subscription; askAt: number } {
  if (!isWaiting) return { subscription: withoutWait(subscription), askAt: now + Math.min(waitMs, MAX_WAIT_MS) };
  return { subscription: { ...subscription, waiting: { number, until: now + MAX_WAIT_MS } }, askAt: 0 };
}

/**
 * The subscription after a wake-up. The one for an earlier refusal changes nothing, because another will follow.
 * @param number the refusal that the wake-up answers
 * @param startedAt when the webhook last got a fresh start: the next try is due now if the last one began before
 */
export function subscriptionAfterWake(subscription: Subscription, number: number, startedAt: number): Subscription {
  const isAnswered = subscription.waiting !== null && subscription.waiting.number <= number;
  return withTriesSince(isAnswered ? withoutWait(subscription) : subscription, startedAt);
}

/**
 * The subscription whose next tries are due now, if the last ones began before this time. One may have been under way
 * then.
 */
function withTriesSince(subscription: Subscription, startedAt: number): Subscription {
  const isOld = ({ number, nextAt }: Tries, replayId: string | null) => {
    const { recent } = subscription;
    // An attempt that is no longer kept was made before those that are.
    const last = recent.findLast((each) => each.number === number && each.replayId === replayId) ?? recent[0];
    return nextAt > 0 && last !== undefined && last.startedAt < startedAt;
  };
  const due = <Of extends Pick<Replay, "head">>(of: Of, replayId: string | null): Of =>
    of.head && isOld(of.head, replayId) ? { ...of, head: { ...of.head, nextAt: 0 } } : of;
  const replays = subscription.replays.map((replay) => due(replay, replay.id));
  const isSame = replays.every((replay, index) => replay === subscription.replays[index]);
  return due(isSame ? subscription : { ...subscription, replays }, null);
}

/** The subscription without the events up to `number`, which the webhook is not to get. */
export function skippedTo(subscription: Subscription, number: number): Subscription {
  return { ...subscription, cursor: Math.max(subscription.cursor, number), head: null };
}

function withoutWait(subscription: Subscription): Subscription {
  return subscription.waiting === null ? subscription : { ...subscription, waiting: null };
}

/**
 * When the subscription tries again after a wait of more than a minute, Unix milliseconds; null if it does not wait as
 * long. It depends on nothing but what is stored, so it stays the same until the next try.
 */
export function longWaitEnd({ head, replays, recent, waiting }: Subscription): number | null {
  const since = recent.at(-1)?.startedAt ?? 0;
  const tries = [head, ...replays.map((replay) => replay.head)].map((each) => each?.nextAt ?? 0);
  const ends = tries.filter((nextAt) => nextAt - since > LONG_WAIT_MS);
  return ends.length > 0 ? Math.max(Math.min(...ends), waiting?.until ?? 0) : null;
}

/** What an attempt's answer means for its event. */
export function judgedAttempt(
  { tries }: Work,
  { class: answer }: Pick<Judgment, "class">,
  retryAfterMs: number | null,
  now: number,
  random: number,
): { outcome: AttemptOutcome; nextAt: number } {
  if (answer === "accepted") return { outcome: "accepted", nextAt: 0 };
  const wait = nextTry(tries + 1, answer, random);
  if (wait === null) return { outcome: "given_up", nextAt: 0 };
  return { outcome: "retry", nextAt: now + Math.max(wait, retryAfterMs ?? 0) };
}

/**
 * The subscription after an attempt. An answer for an event that was skipped in the meantime changes nothing but the
 * list of attempts.
 */
export function subscriptionAfterAttempt(
  subscription: Subscription,
  work: Work,
  { attempt, response, nextAt }: { attempt: WebhookAttempt; response: string | null; nextAt: number },
): Subscription {
  const { number, eventId, eventType, replayId, startedAt, durationMs, outcome, httpStatus, code, message } = attempt;
  const kept = { number, eventId, eventType, replayId, startedAt, durationMs, outcome, httpStatus, code, message };
  const noted = {
    ...withoutWait(subscription),
    recent: [...subscription.recent, { ...kept, response }].slice(-MAX_RECENT),
  };
  const isOver = outcome !== "retry";
  const tries = { number: work.number, tries: work.tries + 1, nextAt };
  const after = isOver ? withoutEvent(noted, work) : withTries(noted, work, tries);
  return outcome === "given_up" ? withUnreported(after, attempt) : after;
}

/**
 * The subscription after events were given up without a call: `expired`, `skipped`, `gone`.
 * @param attempt the report, whose `number` is the last of them
 */
export function afterGivingUp(
  subscription: Subscription,
  work: Pick<Work, "number" | "replayId">,
  attempt: WebhookAttempt,
): Subscription {
  return withUnreported(withoutEvent(subscription, work), attempt);
}

/** The subscription once the webhook's object knows how an attempt ended. */
export function afterReport(subscription: Subscription, report: WebhookAttempt): Subscription {
  if (!subscription.unreported.includes(report)) return subscription;
  return { ...subscription, unreported: subscription.unreported.filter((each) => each !== report) };
}

/**
 * The subscription with events to send again. Calls of one replay bring later events each time. A call that was
 * repeated changes nothing.
 */
export function withReplay(subscription: Subscription, id: string, ranges: EventRange[]): Subscription {
  const added = rangesAfter(joinedRanges(ranges), subscription.replayed?.id === id ? subscription.replayed.upTo : 0);
  const upTo = added.at(-1)?.[1];
  if (upTo === undefined) return subscription;
  const known = subscription.replays.find((replay) => replay.id === id);
  const replay = { id, head: null, ...known, ranges: joinedRanges([...(known?.ranges ?? []), ...added]) };
  const others = subscription.replays.filter((each) => each !== known);
  return { ...subscription, replays: [...others, replay], replayed: { id, upTo } };
}

/** The subscription without the texts of answers, which may quote what was redacted. */
export function withoutResponses(subscription: Subscription): Subscription {
  if (subscription.recent.every(({ response }) => response === null)) return subscription;
  return { ...subscription, recent: subscription.recent.map((attempt) => ({ ...attempt, response: null })) };
}

/** The subscription once no event of a replay is left up to a number. */
export function withReplaySearched(
  subscription: Subscription,
  { id, ranges }: Replay,
  searchedTo: number,
): Subscription {
  return searchedTo < (ranges[0]?.[0] ?? 0)
    ? subscription
    : withoutEvent(subscription, { number: searchedTo, replayId: id });
}

/** Ends the sending of an event: the cursor or the replay moves past it. */
function withoutEvent(
  subscription: Subscription,
  { number, replayId }: Pick<Work, "number" | "replayId">,
): Subscription {
  if (replayId === null) {
    return number <= subscription.cursor
      ? subscription
      : { ...subscription, cursor: number, previous: number, head: null };
  }
  const replays = subscription.replays.map((replay) => {
    if (replay.id !== replayId) return replay;
    const head = replay.head && replay.head.number > number ? replay.head : null;
    return { ...replay, ranges: rangesAfter(replay.ranges, number), head };
  });
  return { ...subscription, replays: replays.filter(({ ranges }) => ranges.length > 0) };
}

function withTries(subscription: Subscription, { number, replayId }: Work, tries: Tries): Subscription {
  if (replayId === null) return number <= subscription.cursor ? subscription : { ...subscription, head: tries };
  const replays = subscription.replays.map((replay) => (replay.id === replayId ? { ...replay, head: tries } : replay));
  return { ...subscription, replays };
}

function withUnreported(subscription: Subscription, attempt: WebhookAttempt): Subscription {
  return { ...subscription, unreported: [...subscription.unreported, attempt], hasGivenUp: true };
}
