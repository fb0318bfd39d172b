import type { EventFact } from "../../model/event.ts";
import type {
  EventRange,
  ReplayLeft,
  SubscriptionDescription,
  WebhookAttempt,
  WebhookFilter,
  WebhookPermitAnswer,
} from "../../model/webhook.ts";
import { type Backoff, backoffMs, doublingMs } from "../../platform/backoff.ts";
import { causeOf } from "../../platform/log.ts";
import { type AttemptEnd, attemptRecord } from "./attempt-record.ts";
import { callWebhook } from "./call-webhook.ts";
import { joinedRanges, rangesUpTo } from "./event-ranges.ts";
import type { SubscriptionHost } from "./host.ts";
import { SEARCH } from "./pending-events.ts";
import { StoredSubscription } from "./stored-subscription.ts";
import {
  afterGivingUp,
  afterLater,
  EXPIRED,
  GONE,
  isExpired,
  isPermitFresh,
  judgedAttempt,
  longWaitEnd,
  type Next,
  SKIPPED,
  type Subscription,
  skippedTo,
  subscriptionAfterAttempt,
  subscriptionAfterWake,
  type Work,
  withoutResponses,
  withReplay,
} from "./subscription.ts";
import { Unreported } from "./unreported.ts";

type Granted = WebhookPermitAnswer & { outcome: "granted" };

/** An attempt that is this old was lost with its object. */
export const LEASE_MS = 35_000;
const AFTER_FAULT_MS = 30_000;
/** The clocks of two objects differ by less. */
const CLOCKS_MS = 60_000;
/** How long a subscription rests after a fault, longer after each one in a row. */
const FAULT: Backoff = { firstMs: AFTER_FAULT_MS, maxMs: 600_000 };
/**
 * The waits while the webhook's object does not answer. Many subscriptions wait for it, so they don't return together.
 */
const AWAY: Backoff = { firstMs: 5_000, maxMs: 300_000 };
/**
 * A replay with this many ranges takes no more until some of them are sent, because they are stored with each attempt.
 */
const MAX_RANGES = 1_000;

/**
 * The subscription of one webhook. It sends events in order, one at a time. At each `await` the object may be lost, the
 * owner be deleted, and the subscription be skipped, woken or deleted. So the subscription is read again after each
 * call, and changed without an `await` in between. The permit is the attempt's lease: until it is reported or old, the
 * webhook's object grants this subscription no other.
 */
export class SubscriptionSender {
  readonly #host: SubscriptionHost;
  readonly #id: string;
  readonly #stored: StoredSubscription;
  readonly #unreported: Unreported;
  #isBusy = false;
  /** The subscription asks for no permit before this time. */
  #askAt = 0;
  /** How often in a row a fault interrupted the subscription. */
  #faults = 0;
  /** How often in a row the webhook's object did not answer. */
  #noAnswers = 0;
  /** The highest number of a refusal that a wake-up has ended. */
  #woken = 0;
  /** When the webhook last got a fresh start, as a wake-up said. */
  #freshSince = 0;

  constructor(host: SubscriptionHost, id: string, subscription: Subscription) {
    this.#host = host;
    this.#id = id;
    this.#stored = new StoredSubscription(host, id, subscription);
    this.#unreported = new Unreported(host, id, this.#stored);
  }

  /** Whether a turn is under way. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Whether the webhook's object keeps events that the subscription gave up. */
  get hasGivenUp(): boolean {
    return this.#stored.subscription.hasGivenUp ?? false;
  }

  /** How many events of each replay were not sent yet. */
  replaysLeft(): ReplayLeft[] {
    const { filter, replays } = this.#stored.subscription;
    return replays.map(({ id, ranges }) => {
      return { id, left: ranges.reduce((left, range) => left + this.#host.count(range, filter), 0) };
    });
  }

  /**
   * When the subscription must take a turn; null if nothing waits. Never throws: the owner's other subscriptions must
   * go on.
   */
  dueAt(now: number): number | null {
    const hasReport = this.#unreported.report !== null;
    if (hasReport || (this.#faults > 0 && this.#askAt > now)) return Math.max(now, this.#askAt);
    try {
      return this.#workAt(now);
    } catch (error) {
      this.#rest(error);
      return this.#askAt;
    }
  }

  /** See the function `longWaitEnd`; null also if nothing waits. */
  longWaitEnd(now: number): number | null {
    return this.dueAt(now) === null ? null : longWaitEnd(this.#stored.subscription);
  }

  /** When the subscription may ask for its next permit; null if no event waits. */
  #workAt(now: number): number | null {
    const next = this.#stored.next(now);
    const from = next === SEARCH ? now : next?.nextAt;
    return from === undefined ? null : Math.max(from, this.#askAt, this.#stored.subscription.waiting?.until ?? 0);
  }

  refilter(filter: WebhookFilter): void {
    this.#stored.refilter(filter);
  }

  /** @returns false if nothing is due: the subscription will not ask for a permit */
  wake(number: number, startedAt: number): boolean {
    this.#woken = Math.max(this.#woken, number);
    this.#freshSince = Math.max(this.#freshSince, startedAt);
    this.#askAt = 0;
    this.#stored.save(subscriptionAfterWake(this.#stored.subscription, number, startedAt));
    return this.#isBusy || this.#goesOn();
  }

  /** Gives up the first event that waits. @returns false if another event is the first */
  skip(number: number): boolean {
    const fact = this.#stored.head();
    if (fact?.number !== number) return false;
    this.#giveUp(fact, null, SKIPPED);
    return true;
  }

  /** Ends the first event's wait for its next try. */
  retry(): void {
    const { head } = this.#stored.subscription;
    this.#askAt = 0;
    if (head) this.#stored.save({ ...this.#stored.subscription, head: { ...head, nextAt: 0 } });
  }

  /** Sends events again. @returns how many @throws if too many ranges are left */
  async replay(id: string, ranges: EventRange[]): Promise<number> {
    const existing = rangesUpTo(joinedRanges(ranges), this.#host.newest());
    const found = await this.#stored.pending.count(existing, this.#stored.subscription.filter);
    if (found === 0) return 0;
    const subscription = withReplay(this.#stored.subscription, id, existing);
    const left = subscription.replays.find((replay) => replay.id === id)?.ranges.length ?? 0;
    if (subscription !== this.#stored.subscription && left > MAX_RANGES)
      throw new Error(`The replay has ${left} ranges left`);
    this.#stored.save(subscription);
    return found;
  }

  async describe(): Promise<SubscriptionDescription> {
    const host = this.#host;
    for (; this.#stored.head() === undefined; await this.#stored.pending.pause()) this.#stored.search();
    const count = await this.#stored.pending.count(
      [[this.#stored.subscription.cursor + 1, host.newest()]],
      this.#stored.subscription.filter,
    );
    const { head, recent, waiting } = this.#stored.subscription;
    const fact = this.#stored.head() ?? null;
    const tries = head?.number === fact?.number ? head : null;
    return {
      pending: fact ? count : 0,
      head: fact && {
        eventId: host.eventId(fact.number),
        number: fact.number,
        eventType: fact.type,
        tries: tries?.tries ?? 0,
      },
      nextAttemptAt: fact && !waiting ? Math.max(host.clock.now(), tries?.nextAt ?? 0, this.#askAt) : null,
      attempts: recent.toReversed(),
    };
  }

  forgetResponses(): void {
    this.#stored.save(withoutResponses(this.#stored.subscription));
  }

  /**
   * Takes the subscription one step further; never throws.
   * @param isNext whether the subscription may take its next turn at once. Then its report is part of the next question
   * @returns false if the webhook was deleted, and the subscription with it
   */
  async turn(isNext: () => boolean): Promise<boolean> {
    this.#isBusy = true;
    try {
      await this.#step();
      this.#faults = 0;
      // A subscription that gives up one batch after the other reports each: they are stored until then.
      const mustReport = this.#stored.subscription.unreported.length > 1;
      if (mustReport || !(this.#goesOn() && isNext())) await this.#sendReports();
    } catch (error) {
      this.#rest(error);
    } finally {
      this.#isBusy = false;
    }
    return !this.#stored.isDeleted;
  }

  #rest(error: unknown): void {
    this.#askAt = this.#host.clock.now() + doublingMs(FAULT, this.#faults++);
    this.#log("error", "line_interrupted", { times: this.#faults, error: causeOf(error) });
  }

  /** Whether an event is due. */
  #goesOn(): boolean {
    const now = this.#host.clock.now();
    const at = this.#stored.exists ? this.#workAt(now) : null;
    return at !== null && at <= now;
  }

  async #step(): Promise<void> {
    const askedAt = this.#host.clock.now();
    if (!this.#goesOn()) return;
    if (this.#stored.next(askedAt) === SEARCH) this.#stored.search();
    const next = this.#stored.next(askedAt);
    if (next === SEARCH) return this.#stored.pending.pause();
    if (!next || !this.#goesOn()) return;
    if (next.replayId === null && isExpired(next.fact, askedAt)) return this.#expire(next.fact);
    await this.#host.standBy(askedAt + LEASE_MS);
    if (!this.#stored.exists) return;
    const answer = await this.#ask(next);
    if (answer?.outcome === "granted") this.#unreported.granted(answer.permit);
    if (!answer || !this.#stored.exists) return;
    if (answer.outcome === "gone") return this.#stored.delete();
    if (answer.outcome === "changed") return this.#change(answer.filter);
    if (answer.outcome === "later") return this.#hold(answer);
    if (answer.outcome === "skip") return this.#skipBefore(answer.before);
    return this.#attempt(next, answer, askedAt);
  }

  /** Asks for a permit. @returns null if the webhook's object did not answer */
  async #ask({ number, replayId, fact }: Next): Promise<WebhookPermitAnswer | null> {
    const { report, unused } = this.#unreported;
    // Only a wake-up that comes before the answer to this question can belong to it.
    this.#woken = 0;
    try {
      const answer = await this.#host.webhook(this.#id).permit({
        webhookId: this.#id,
        lineId: this.#host.subscriptionId,
        number,
        at: fact.at,
        version: this.#stored.subscription.filter.version,
        replayId,
        report,
        ...(unused !== null && { unused }),
      });
      this.#noAnswers = 0;
      this.#unreported.answered(report);
      return answer;
    } catch (error) {
      this.#away(error);
      return null;
    }
  }

  #change(filter: WebhookFilter): void {
    // The webhook's object has an older version than this subscription, and will get the new one soon.
    if (filter.version <= this.#stored.subscription.filter.version)
      this.#askAt = this.#host.clock.now() + AFTER_FAULT_MS;
    this.refilter(filter);
  }

  #hold(answer: WebhookPermitAnswer & { outcome: "later" }): void {
    // The wake-up came before this answer.
    if (answer.isWaiting ? answer.number <= this.#woken : this.#woken > 0) return;
    const { subscription, askAt } = afterLater(this.#stored.subscription, answer, this.#host.clock.now());
    this.#askAt = askAt;
    this.#stored.save(subscription);
  }

  async #attempt(next: Next, permit: Granted, askedAt: number): Promise<void> {
    const { clock } = this.#host;
    const { fact, replayId, tries } = next;
    const mayStart = () => this.#stored.exists && this.#isCurrent(next) && isPermitFresh(askedAt, clock.now());
    const previous = replayId === null ? this.#stored.subscription.previous : null;
    const call = { webhookId: this.#id, fact, previous, replayId, attempt: tries + 1, permit };
    const freshBefore = this.#freshSince;
    const result = await callWebhook(this.#host, call, mayStart);
    if (result === "stopped") return;
    this.#unreported.used();
    if (result === "gone") return this.#giveUp(fact, replayId, GONE, permit.permit);
    const { outcome, nextAt } = judgedAttempt(next, result, result.retryAfterMs, clock.now(), clock.random());
    // The wake-up came during the call. Its time is by another clock, and a new instance does not know of earlier ones.
    const isStale = this.#freshSince > Math.max(freshBefore, askedAt - CLOCKS_MS);
    const attempt = this.#attemptOf(fact, replayId, { ...result, outcome, permit: permit.permit });
    const { eventId, code, durationMs: ms } = attempt;
    this.#log("log", "webhook_attempt", { eventId, attempt: call.attempt, outcome, code, ms });
    // Also after the owner's deletion: the webhook's object waits for the report.
    this.#unreported.ended(attempt);
    if (!this.#stored.exists) return;
    this.#stored.save(
      subscriptionAfterAttempt(this.#stored.subscription, next, {
        attempt,
        response: result.response,
        nextAt: isStale ? 0 : nextAt,
      }),
    );
  }

  #isCurrent({ number, replayId }: Work): boolean {
    const next = this.#stored.next(this.#host.clock.now());
    return next !== null && next !== SEARCH && next.number === number && next.replayId === replayId;
  }

  #expire(first: EventFact): void {
    const now = this.#host.clock.now();
    const last = this.#stored.pending.lastExpired(first, this.#stored.subscription, (fact) => isExpired(fact, now));
    this.#giveUp(last, null, EXPIRED, "", first.number);
  }

  /** Moves the cursor past events before a time. */
  #skipBefore(before: number): void {
    this.#stored.save(
      skippedTo(this.#stored.subscription, this.#stored.pending.lastBefore(before, this.#stored.subscription)),
    );
  }

  #giveUp(
    fact: EventFact,
    replayId: string | null,
    reason: { code: string; message: string },
    permit = "",
    first = fact.number,
  ): void {
    const { number } = fact;
    const ended = { startedAt: this.#host.clock.now(), durationMs: 0, httpStatus: null, retryAfterMs: null, ...reason };
    const report = this.#attemptOf(fact, replayId, { ...ended, outcome: "given_up", permit });
    const ranged = first < number ? { ...report, first } : report;
    this.#stored.save(afterGivingUp(this.#stored.subscription, { number, replayId }, ranged));
  }

  #attemptOf(fact: EventFact, replayId: string | null, ended: AttemptEnd): WebhookAttempt {
    const { subscriptionId } = this.#host;
    return attemptRecord({ subscriptionId, eventId: this.#host.eventId(fact.number), fact, replayId }, ended);
  }

  /** Sends what the webhook's object does not know yet. */
  async #sendReports(): Promise<void> {
    // The object did not answer a moment ago.
    if (this.#noAnswers > 0 && this.#askAt > this.#host.clock.now()) return;
    try {
      while (!this.#stored.isDeleted && (await this.#unreported.sendNext())) this.#noAnswers = 0;
    } catch (error) {
      this.#away(error);
    }
  }

  #away(error: unknown): void {
    const { clock } = this.#host;
    this.#askAt = clock.now() + backoffMs(AWAY, this.#noAnswers++, clock.random());
    this.#log("warn", "webhook_away", { cause: causeOf(error) });
  }

  #log(level: "log" | "warn" | "error", event: string, fields: Record<string, unknown>): void {
    this.#host.logger[level]({ event, lineId: this.#host.subscriptionId, webhookId: this.#id, ...fields });
  }
}
