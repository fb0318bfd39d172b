import { unavailable } from "../../model/error.ts";
import type { EventRange } from "../../model/webhook.ts";
import { type Backoff, backoffMs } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import { doEach, MAX_CONCURRENT } from "../../platform/concurrency.ts";
import { inTime, withDeadline } from "../../platform/deadline.ts";
import { causeOf } from "../../platform/log.ts";
import { joinedRanges } from "../subscription/event-ranges.ts";
import type { FailedEvents, FailedRange } from "./failed-events.ts";
import type { GoneSubscriptions } from "./gone-subscriptions.ts";
import type { WebhookIdentity } from "./identity.ts";
import type { OutgoingCalls } from "./outgoing-calls.ts";
import type { UnreachedSubscription, UnreachedSubscriptions } from "./unreached-subscriptions.ts";

/** Where the search for events stands. `done` if each subscription was asked for its events. */
type ReplaySearch =
  | { kind: "failed"; after: FailedRange | null }
  | { kind: "feed"; since: number; until: number; after: number | null }
  | { kind: "done" };

export interface StoredReplay {
  id: string;
  search: ReplaySearch;
  found: number;
  createdAt: number;
  /** Set once all its events have ended: how many were accepted. */
  done?: { sent: number };
}

/** The parts of the webhook's object that the run of a replay uses. */
export interface ReplayRunParts {
  kv: SyncKvStorage;
  clock: Clock;
  unreached: UnreachedSubscriptions;
  gone: GoneSubscriptions;
  failed: FailedEvents;
  identity: WebhookIdentity;
  calls: OutgoingCalls;
}

/** How many ranges are handed out in one step. */
const PER_STEP = 200;
/** A subscription that does not answer for this long is asked again later. */
const CALL_MS = 10_000;
/** While this many subscriptions don't answer, no others are asked: the fault is then not that of a single chat. */
const MAX_UNREACHED = 1_000;
/** A run that lasts this long leaves the rest to the next one. */
const RUN_MS = 300_000;
/** If the object is lost during a run, another run begins after this time. */
const LEASE_MS = 60_000;
const RETRY: Backoff = { firstMs: 15_000, maxMs: 600_000 };
/** After this time, another replay may start even if events of this one are missing. */
const STALE_AFTER_MS = 4 * 86_400_000;

/**
 * Hands the events of a replay to their subscriptions, which send them. Each subscription is asked separately: one that
 * does not answer holds up no other, and is asked again later.
 */
export class ReplayRun {
  readonly #parts: ReplayRunParts;
  #searching: Promise<void> | undefined;
  #retrying: Promise<void> | undefined;
  /** How often in a row the next events were not found, and when to look for them again. */
  #failures = 0;
  #searchAt = 0;

  constructor(parts: ReplayRunParts) {
    this.#parts = parts;
  }

  /** The last replay. */
  stored(): StoredReplay | undefined {
    return this.#parts.kv.get<StoredReplay>("replay");
  }

  /** A new replay takes the place of the last one. `run` must be called after that. */
  begin(replay: StoredReplay): void {
    this.#parts.unreached.clear();
    this.#parts.gone.clear();
    this.#searchAt = 0;
    this.#store(replay);
  }

  /** All events of the replay have ended. @param sent how many were accepted */
  end(replay: StoredReplay, sent: number): void {
    this.#store({ ...replay, done: { sent } });
  }

  /** Whether each subscription has taken its events. */
  isHandedOut({ search }: StoredReplay): boolean {
    return search.kind === "done" && this.#parts.unreached.count() === 0;
  }

  isStale({ createdAt }: StoredReplay): boolean {
    return this.#now - createdAt >= STALE_AFTER_MS;
  }

  /**
   * Asks a subscription to send events.
   * @returns as `OutgoingCalls.replay`
   * @throws as `OutgoingCalls.replay`; ApiError `unavailable` if the subscription does not answer in time
   */
  async ask(subscriptionId: string, replayId: string, ranges: EventRange[]): Promise<number | null> {
    const { clock } = this.#parts;
    const work = this.#parts.calls.replay(subscriptionId, replayId, ranges).then((found) => ({ found }));
    const answer = await inTime(clock, CALL_MS, work);
    if (!answer) throw unavailable(new Error("The subscription did not answer"));
    return answer.found;
  }

  /** When `run` must be called; null if nothing is left to hand out. Unix milliseconds. */
  dueAt(now: number): number | null {
    const stored = this.stored();
    if (!stored) return null;
    if (this.#searching || this.#retrying) return now + LEASE_MS;
    const searchAt = this.#isSearching(stored) ? Math.max(now, this.#searchAt) : null;
    const due = [searchAt, this.#parts.unreached.nextAt()].filter((at) => at !== null);
    return due.length > 0 ? Math.min(...due) : null;
  }

  /** Hands out what is due. Concurrent callers share a run. Never throws. */
  async run(): Promise<void> {
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
    });
    this.#retrying ??= this.#retry().finally(() => {
      this.#retrying = undefined;
    });
    await Promise.all([this.#searching, this.#retrying]);
  }

  /** Finds events, and hands them to their subscriptions. */
  async #search(): Promise<void> {
    const until = this.#now + RUN_MS;
    while (this.#now < until) {
      const stored = this.stored();
      if (!stored || !this.#isSearching(stored) || this.#now < this.#searchAt) return;
      try {
        await this.#step(stored);
        this.#failures = 0;
      } catch (error) {
        this.#searchAt = this.#now + backoffMs(RETRY, this.#failures++, this.#parts.clock.random());
        this.#parts.identity.warn({ event: "replay_interrupted", replayId: stored.id, error: causeOf(error) });
      }
    }
  }

  async #step({ id, search: before }: StoredReplay): Promise<void> {
    const { ranges, search } = await this.#nextRanges(before);
    const { unreached } = this.#parts;
    const subscriptions = [...Map.groupBy(ranges, ({ lineId: subscriptionId }) => subscriptionId)].map(
      ([subscriptionId, of]): UnreachedSubscription => {
        return { subscriptionId, ranges: joinedRanges(of.map(({ range }) => range)), tries: 0 };
      },
    );
    const missed: UnreachedSubscription[] = [];
    let found = 0;
    const handOut = async (subscription: UnreachedSubscription) => {
      if (this.stored()?.id !== id) return;
      // A subscription gets its events in order.
      const count = unreached.has(subscription.subscriptionId) ? null : await this.#handOut(id, subscription);
      if (count === null) missed.push(subscription);
      else found += count;
    };
    await doEach(subscriptions, handOut, this.#parts.clock);
    const stored = this.stored();
    // The object may have been deleted in the meantime.
    if (stored?.id !== id) return;
    for (const { subscriptionId, ranges: of } of missed) unreached.add(subscriptionId, of);
    this.#store({ ...stored, search, found: stored.found + found });
  }

  /** Hands out again what subscriptions did not take. */
  async #retry(): Promise<void> {
    const until = this.#now + RUN_MS;
    while (this.#now < until) {
      const stored = this.stored();
      if (!stored) return;
      if (this.isStale(stored)) return this.#giveUp(stored);
      const due = this.#parts.unreached.due(MAX_CONCURRENT, PER_STEP);
      if (due.length === 0) return;
      await Promise.all(due.map((subscription) => this.#handOutAgain(stored.id, subscription)));
    }
  }

  async #handOutAgain(id: string, subscription: UnreachedSubscription): Promise<void> {
    const { unreached } = this.#parts;
    const found = await this.#handOut(id, subscription);
    const stored = this.stored();
    if (stored?.id !== id) return;
    if (found === null) return unreached.failed(subscription);
    unreached.took(subscription);
    this.#store({ ...stored, found: stored.found + found });
  }

  /** @returns how many events the subscription sends again; null if it did not take them */
  async #handOut(id: string, { subscriptionId, ranges, tries }: UnreachedSubscription): Promise<number | null> {
    const askedAt = this.#now;
    try {
      const found = await this.ask(subscriptionId, id, ranges);
      if (found === null && this.stored()?.id === id) this.#parts.failed.removeSubscription(subscriptionId, askedAt);
      return found ?? 0;
    } catch (error) {
      this.#parts.identity.warn({
        event: "replay_not_taken",
        replayId: id,
        lineId: subscriptionId,
        tries: tries + 1,
        error: causeOf(error),
      });
      return null;
    }
  }

  async #nextRanges(search: ReplaySearch): Promise<{ ranges: FailedRange[]; search: ReplaySearch }> {
    if (search.kind === "done") return { ranges: [], search };
    if (search.kind === "failed") {
      const ranges = this.#parts.failed.ranges(search.after, PER_STEP);
      const last = ranges.at(-1);
      const next: ReplaySearch = last && ranges.length === PER_STEP ? { ...search, after: last } : { kind: "done" };
      return { ranges, search: next };
    }
    const { since, until, after } = search;
    const pointers = await withDeadline(this.#parts.clock, CALL_MS, () =>
      this.#parts.calls.pointers(since, until, after, PER_STEP),
    );
    const last = pointers.at(-1);
    const next: ReplaySearch = last && pointers.length === PER_STEP ? { ...search, after: last.pos } : { kind: "done" };
    const ranges = pointers.map(
      ({ subscriptionId, first, last: end }): FailedRange => ({ lineId: subscriptionId, range: [first, end] }),
    );
    return { ranges, search: next };
  }

  /** Subscriptions that never answered get nothing. */
  #giveUp(stored: StoredReplay): void {
    const { unreached } = this.#parts;
    const lines = unreached.count();
    if (lines > 0) this.#parts.identity.warn({ event: "replay_given_up", replayId: stored.id, lines });
    unreached.clear();
    this.#store({ ...stored, search: { kind: "done" } });
  }

  #isSearching({ search }: StoredReplay): boolean {
    return search.kind !== "done" && this.#parts.unreached.count() < MAX_UNREACHED;
  }

  #store(stored: StoredReplay): void {
    this.#parts.kv.put("replay", stored);
  }

  get #now(): number {
    return this.#parts.clock.now();
  }
}
