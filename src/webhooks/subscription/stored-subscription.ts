import type { EventFact } from "../../model/event.ts";
import type { WebhookFilter } from "../../model/webhook.ts";
import type { SubscriptionHost } from "./host.ts";
import { PendingEvents, type SEARCH } from "./pending-events.ts";
import { longWaitEnd, type Next, type Subscription, withFilter } from "./subscription.ts";

/** The subscription of one webhook as it is stored, and the events that wait in it. */
export class StoredSubscription {
  readonly pending: PendingEvents;
  readonly #host: SubscriptionHost;
  readonly #id: string;
  #subscription: Subscription;
  #isDeleted = false;

  /** @param id the webhook's */
  constructor(host: SubscriptionHost, id: string, subscription: Subscription) {
    this.#host = host;
    this.#id = id;
    this.#subscription = subscription;
    this.pending = new PendingEvents(host);
  }

  get subscription(): Subscription {
    return this.#subscription;
  }

  /** Whether the webhook was deleted, and the subscription with it. */
  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** False after the deletion of the subscription or of its owner. */
  get exists(): boolean {
    return !this.#isDeleted && this.#host.exists();
  }

  /** Stores the subscription, if it has changed. After the owner's deletion nothing is stored. */
  save(subscription: Subscription): void {
    if (subscription === this.#subscription) return;
    const waitEnd = longWaitEnd(this.#subscription);
    this.#subscription = subscription;
    if (!this.exists) return;
    this.#host.kv.put(subscriptionKey(this.#id), subscription);
    if (longWaitEnd(subscription) !== waitEnd) this.#host.waitChanged?.();
  }

  delete(): void {
    this.#isDeleted = true;
    this.#host.kv.delete(subscriptionKey(this.#id));
  }

  /** Applies a new version of the filter. */
  refilter(filter: WebhookFilter): void {
    if (filter.version <= this.#subscription.filter.version) return;
    const head = this.head();
    // The new filter applies to all events that were not looked at yet.
    const newest = head === undefined ? this.pending.searchedTo : this.#host.newest();
    this.save(withFilter(this.#subscription, filter, head?.number ?? null, newest));
    this.pending.forget();
  }

  /** What to do next, at its time. */
  next(now: number): Next | typeof SEARCH | null {
    const next = this.pending.next(this.#subscription, now);
    this.save(this.pending.remembered(this.#subscription));
    return next;
  }

  /** The first event after the cursor; null if none waits. Undefined if it must be searched for. */
  head(): EventFact | null | undefined {
    const fact = this.pending.head(this.#subscription);
    this.save(this.pending.remembered(this.#subscription));
    return fact;
  }

  /** Looks for the next event, for one step. */
  search(): void {
    this.save(this.pending.search(this.#subscription));
  }
}

/** The key of a subscription's row. For its name see `WebhookPermitRequest`. */
export function subscriptionKey(webhookId: string): string {
  return `line ${webhookId}`;
}
