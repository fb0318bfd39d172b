import type { WebhookAttempt } from "../../../src/model/webhook.ts";

/** How an event of a line ended. */
export type End = "accepted" | "given up";

/** What is known of the events that one life of a chat sends to one webhook. */
export interface BookedLine {
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
  /** Reports of events that were given up, which were seen in the line's row. */
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
  /** The version of each webhook's filter that the chat's line had. */
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

/** Keeps what the simulation knows of events, webhooks and lines. */
export class LinesBook {
  readonly webhooks = new Map<string, BookedWebhook>();
  readonly #lines = new Map<string, BookedLine>();
  /** The events of each life of each chat. */
  readonly #events = new Map<string, BookedEvent[]>();

  line(webhookId: string, chatId: string, life: number): BookedLine {
    const key = `${webhookId} ${chatId} ${life}`;
    let line = this.#lines.get(key);
    if (!line) {
      const maps = {
        ended: new Map(),
        calls: new Map(),
        failures: new Map(),
        notBefore: new Map(),
        plannedAt: new Map(),
        replayed: new Set<number>(),
      };
      line = { webhookId, chatId, life, lastEnded: null, lastReplay: null, seen: new Set(), ...maps };
      this.#lines.set(key, line);
    }
    return line;
  }

  events(chatId: string, life: number): BookedEvent[] {
    const key = `${chatId} ${life}`;
    const events = this.#events.get(key) ?? [];
    this.#events.set(key, events);
    return events;
  }

  /** The events that a line must send: committed after the webhook's start, and let through by each filter since then. */
  required({ webhookId, chatId, life }: BookedLine, skipBefore: number): BookedEvent[] {
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

  ended(line: BookedLine, number: number, end: End): void {
    if (line.ended.has(number)) return;
    line.ended.set(number, end);
    line.lastEnded = Math.max(line.lastEnded ?? 0, number);
  }

  /** The events of a line that each filter of its webhook has let through. */
  matching({ webhookId, chatId, life }: BookedLine): BookedEvent[] {
    const filters = this.webhooks.get(webhookId)?.filters ?? [];
    const isMatching = ({ type }: BookedEvent) => filters.every((types) => types === null || types.includes(type));
    return this.events(chatId, life).filter(isMatching);
  }

  /** The events of a replay that were accepted. */
  replayedBy(line: BookedLine, id: string): Set<number> {
    if (line.lastReplay?.id !== id) line.lastReplay = { id, accepted: new Set() };
    return line.lastReplay.accepted;
  }

  /** The events that a report gave up. */
  givenUp(line: BookedLine, { first, number }: Pick<WebhookAttempt, "first" | "number">): BookedEvent[] {
    return this.events(line.chatId, line.life).filter((event) => {
      const isIn = event.number >= (first ?? number) && event.number <= number;
      return isIn && (event.number === number || this.mayBeSent(line.webhookId, event));
    });
  }
}
