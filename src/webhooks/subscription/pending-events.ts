import type { EventFact } from "../../model/event.ts";
import type { EventRange, WebhookFilter } from "../../model/webhook.ts";
import type { SubscriptionHost } from "./host.ts";
import { type Next, nextWork, type Replay, replayWork, type Subscription, withReplaySearched } from "./subscription.ts";

/**
 * How much one step may look at, so that it takes a few milliseconds however many events there are. A statement costs
 * as much as looking at some numbers.
 */
const STEP = { numbers: 10_000, statement: 100, facts: 2_000 };
/** The cursor is stored after this many events that do not match, so that a new instance does not read them again. */
const SEARCHED_BATCH = 100;
/** The subscription must look for its next event. */
export const SEARCH = "search";

type Host = Pick<SubscriptionHost, "newest" | "matching" | "count" | "clock">;
type HeadOf = Pick<Subscription, "cursor" | "filter">;

/**
 * Finds and counts the events that a subscription sends, in short steps. Events that do not match the filter are read
 * once.
 */
export class PendingEvents {
  readonly #host: Host;
  #searchedTo = 0;
  #found: EventFact | null = null;
  /** The first event that is left of each replay. */
  readonly #replayed = new Map<string, EventFact>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** No event that waits has this number or a lower one. */
  get searchedTo(): number {
    return this.#searchedTo;
  }

  /** What a subscription does next, at its time; null if no event waits. */
  next(subscription: Subscription, now: number): Next | typeof SEARCH | null {
    const head = this.head(subscription);
    if (head === undefined) return SEARCH;
    const replayed = subscription.replays.flatMap((replay) => {
      const fact = this.#firstOf(replay);
      return fact ? [replayWork(replay, fact)] : [];
    });
    const next = nextWork(subscription, head, replayed, now);
    if (next && next.nextAt <= now) return next;
    return replayed.length < subscription.replays.length ? SEARCH : next;
  }

  /**
   * Looks for a subscription's next event, for one step.
   * @returns the subscription without the events of a replay that do not match
   */
  search(subscription: Subscription): Subscription {
    if (this.head(subscription) === undefined) {
      this.#searchHead(subscription);
      return subscription;
    }
    const replay = subscription.replays.find((each) => !this.#firstOf(each));
    if (!replay) return subscription;
    const searchedTo = this.#searchReplay(replay, subscription.filter);
    return this.#firstOf(replay) ? subscription : withReplaySearched(subscription, replay, searchedTo);
  }

  /** The subscription as it is to be stored: its cursor is behind many events that do not match. */
  remembered(subscription: Subscription): Subscription {
    return this.#searchedTo - subscription.cursor < SEARCHED_BATCH
      ? subscription
      : { ...subscription, cursor: this.#searchedTo };
  }

  /** The first event after a subscription's cursor; null if none waits. Undefined if it is far away: call `search`. */
  head(subscription: HeadOf): EventFact | null | undefined {
    if (this.#found && this.#found.number > subscription.cursor) return this.#found;
    const left = this.#host.newest() - Math.max(subscription.cursor, this.#searchedTo);
    if (left <= 0) return null;
    if (left > STEP.numbers) return undefined;
    this.#searchHead(subscription);
    return this.#found;
  }

  #searchHead({ cursor, filter }: HeadOf): void {
    const range = this.#stepAfter(Math.max(cursor, this.#searchedTo));
    this.#found = this.#host.matching(range, filter, 1)[0] ?? null;
    this.#searchedTo = this.#found ? this.#found.number - 1 : range[1];
  }

  /** The first event that is left of a replay. Undefined if it is not known: call `search`. */
  #firstOf({ id, ranges }: Replay): EventFact | undefined {
    const fact = this.#replayed.get(id);
    return fact && fact.number >= (ranges[0]?.[0] ?? 0) ? fact : undefined;
  }

  /** @returns a number: no event of the replay up to it is left */
  #searchReplay({ id, ranges }: Replay, filter: WebhookFilter): number {
    this.#replayed.delete(id);
    let searchedTo = 0;
    let room = STEP.numbers;
    for (const [first, last] of ranges) {
      const end = Math.min(last, first + room - 1);
      const [fact] = this.#host.matching([first, end], filter, 1);
      if (fact) {
        this.#replayed.set(id, fact);
        return fact.number - 1;
      }
      searchedTo = end;
      room -= end - first + 1 + STEP.statement;
      if (room <= 0) break;
    }
    return searchedTo;
  }

  /** The last of a subscription's first events that are too old, of those that one step looks at. */
  lastExpired(first: EventFact, { filter }: HeadOf, isExpired: (fact: EventFact) => boolean): EventFact {
    const facts = this.#host.matching(this.#stepAfter(first.number), filter, STEP.facts);
    const young = facts.findIndex((fact) => !isExpired(fact));
    return (young === -1 ? facts : facts.slice(0, young)).at(-1) ?? first;
  }

  /**
   * A number: each event after a subscription's cursor up to it was before a time or does not match. One step looks no
   * further.
   */
  lastBefore(time: number, { cursor, filter }: HeadOf): number {
    const range = this.#stepAfter(cursor);
    const facts = this.#host.matching(range, filter, STEP.facts);
    const kept = facts.find(({ at }) => at >= time);
    if (kept) return kept.number - 1;
    return facts.length < STEP.facts ? range[1] : (facts.at(-1)?.number ?? cursor);
  }

  /** Counts the events of ranges that the filter lets through. Other events of the owner may happen meanwhile. */
  async count(ranges: EventRange[], filter: WebhookFilter): Promise<number> {
    let count = 0;
    let room = STEP.numbers;
    for (const [first, last] of ranges) {
      for (let from = first; from <= last; from += STEP.numbers) {
        const end = Math.min(last, from + STEP.numbers - 1);
        room -= end - from + 1 + STEP.statement;
        if (room < 0) {
          await this.pause();
          room = STEP.numbers;
        }
        count += this.#host.count([from, end], filter);
      }
    }
    return count;
  }

  /** Between two steps, other events of the owner may happen. */
  async pause(): Promise<void> {
    await this.#host.clock.wait(0);
  }

  /** The filter has changed. */
  forget(): void {
    this.#searchedTo = 0;
    this.#found = null;
    this.#replayed.clear();
  }

  #stepAfter(number: number): EventRange {
    return [number + 1, Math.min(this.#host.newest(), number + STEP.numbers)];
  }
}
