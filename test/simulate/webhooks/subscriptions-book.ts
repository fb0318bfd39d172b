import type { WebhookAttempt } from "../../../src/model/webhook.ts";

/** How an event of a subscription ended. */
export type End = "accepted" | "given up";

/** What is known of the events that one life of a chat sends to one webhook. */
export interface BookedSubscription {
  webhookId: string;
  chatId: string;
  life: number;
  ended: Map<number, End>;
  /** The last number that ended; null before the first. */
  lastEnded: number | null;
  /** How many calls were made for each event, without replays. */
  calls: Map<number, number>;
  /** How many calls of each event its chat knows to have failed, without replays. */
  failures: Map<number, number>;
  /** The earliest time of each event's next call. */
  notBefore: Map<number, number>;
  /** When that was planned, by the world's clock. */
  plannedAt: Map<number, number>;
  /** Events that were accepted in a replay. */
  replayed: Set<number>;
  /** The replay that was called last, and its events that were accepted. */
  lastReplay: { id: string; accepted: Set<number> } | null;
  /** Reports of events that were given up, which were seen in the subscription's row. */
  seen: Set<string>;
}

/** An event as its chat committed it. */
export interface BookedEvent {
  number: number;
  type: string;
  /** By the chat's clock. */
  at: number;
  /** By the world's clock. */
  committedAt: number;
  /** The version of each webhook's filter that the chat's subscription had. */
  versions: ReadonlyMap<string, number>;
}

/** A webhook as its owner configured it. */
export interface BookedWebhook {
  id: string;
  perSecond: number;
  concurrency: number;
  /** The types of each version of its filter, from version 1 on. */
  filters: (readonly string[] | null)[];
  /** When its owner was told that it exists; null before that. */
  createdAt: number | null;
  /** Its row in D1 is marked as being deleted. Its object then finds no configuration and has no more work. */
  isBeingDeleted: boolean;
  /** The organization's object has also removed the webhook from its list. */
  isDeleted: boolean;
}

/** Keeps what the simulation knows of events, webhooks and subscriptions. */
export class SubscriptionsBook {
  readonly webhooks = new Map<string, BookedWebhook>();
  readonly #subscriptions = new Map<string, BookedSubscription>();
  /** The events of each life of each chat. */
  readonly #events = new Map<string, BookedEvent[]>();

  subscription(webhookId: string, chatId: string, life: number): BookedSubscription {
    const key = `${webhookId} ${chatId} ${life}`;
    let subscription = this.#subscriptions.get(key);
    if (!subscription) {
      const maps = {
        ended: new Map(),
        calls: new Map(),
        failures: new Map(),
        notBefore: new Map(),
        plannedAt: new Map(),
        replayed: new Set<number>(),
      };
      subscription = { webhookId, chatId, life, lastEnded: null, lastReplay: null, seen: new Set(), ...maps };
      this.#subscriptions.set(key, subscription);
    }
    return subscription;
  }

  events(chatId: string, life: number): BookedEvent[] {
    const key = `${chatId} ${life}`;
    const events = this.#events.get(key) ?? [];
    this.#events.set(key, events);
    return events;
  }

  /**
   * The events that a subscription must send: committed after the webhook's start, and let through by each filter since
   * then.
   */
  required({ webhookId, chatId, life }: BookedSubscription, skipBefore: number): BookedEvent[] {
    const webhook = this.webhooks.get(webhookId);
    const createdAt = webhook?.createdAt ?? null;
    if (!webhook || createdAt === null) return [];
    return this.events(chatId, life).filter(({ type, at, committedAt, versions }) => {
      const since = versions.get(webhookId) ?? 1;
      const isMatching = webhook.filters.slice(since - 1).every((types) => types === null || types.includes(type));
      return committedAt > createdAt && at >= skipBefore && isMatching;
    });
  }

  /** Whether a filter that the webhook has had since the event lets the event through. */
  mayBeSent(webhookId: string, event: BookedEvent): boolean {
    const since = event.versions.get(webhookId) ?? 1;
    const filters = this.webhooks.get(webhookId)?.filters.slice(since - 1) ?? [];
    return filters.some((types) => types === null || types.includes(event.type));
  }

  ended(subscription: BookedSubscription, number: number, end: End): void {
    if (subscription.ended.has(number)) return;
    subscription.ended.set(number, end);
    subscription.lastEnded = Math.max(subscription.lastEnded ?? 0, number);
  }

  /** The events of a subscription that each filter of its webhook has let through. */
  matching({ webhookId, chatId, life }: BookedSubscription): BookedEvent[] {
    const filters = this.webhooks.get(webhookId)?.filters ?? [];
    const isMatching = ({ type }: BookedEvent) => filters.every((types) => types === null || types.includes(type));
    return this.events(chatId, life).filter(isMatching);
  }

  /** The events of a replay that were accepted. */
  replayedBy(subscription: BookedSubscription, id: string): Set<number> {
    if (subscription.lastReplay?.id !== id) subscription.lastReplay = { id, accepted: new Set() };
    return subscription.lastReplay.accepted;
  }

  /** The events that a report gave up. */
  givenUp(
    subscription: BookedSubscription,
    { first, number }: Pick<WebhookAttempt, "first" | "number">,
  ): BookedEvent[] {
    return this.events(subscription.chatId, subscription.life).filter((event) => {
      const isIn = event.number >= (first ?? number) && event.number <= number;
      return isIn && (event.number === number || this.mayBeSent(subscription.webhookId, event));
    });
  }
}
