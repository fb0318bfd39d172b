import type { EventFact, EventType } from "../../../../src/model/event.ts";
import { matches } from "../../../../src/model/event-filter.ts";
import type {
  EventRange,
  WebhookAttempt,
  WebhookFilter,
  WebhookPermitAnswer,
  WebhookPermitRequest,
} from "../../../../src/model/webhook.ts";
import type { SubscriptionHost } from "../../../../src/webhooks/subscription/host.ts";
import { Subscriptions } from "../../../../src/webhooks/subscription/subscriptions.ts";
import { FakeClock } from "../../platform/fake-clock.ts";

export const NOW = Date.parse("2026-11-20T12:00:00.000Z");
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const DAY = 86_400_000;
export const HOOK_URL = "https://hooks.example.com/in";

/** A call as the receiver sees it. */
export interface Received {
  webhookId: string;
  at: number;
  headers: Headers;
  signal: AbortSignal;
  body: { number: number; previous: number | null; text: string; payload: string };
}

type Filter = Partial<Omit<WebhookFilter, "id">>;
export type Answer = Response | "hang" | "refuse";

/** An owner of subscriptions with its events, the webhooks' objects and the receivers. */
export class SubscriptionOwner {
  readonly clock: FakeClock;
  readonly subscriptionId: string;
  readonly rows = new Map<string, unknown>();
  readonly facts: EventFact[] = [];
  readonly calls: Received[] = [];
  readonly requests: WebhookPermitRequest[] = [];
  readonly reports: WebhookAttempt[] = [];
  /** The permits that no call used. */
  readonly givenBack: string[] = [];
  /** When the webhook's object was told of the owner's deletion. */
  readonly gone: number[] = [];
  /** How each call ends. */
  answer: (call: Received) => Answer | Promise<Answer> = () => new Response("ok");
  /** What the webhook's object answers; null grants a permit. */
  permit: (request: WebhookPermitRequest) => WebhookPermitAnswer | null | Promise<WebhookPermitAnswer | null> = () =>
    null;
  report: (attempt: WebhookAttempt) => void | Promise<void> = () => {};
  forgets: () => void | Promise<void> = () => {};
  onWarning: (line: unknown) => void = () => {};
  text = "Hello";
  isGone: (number: number) => boolean = () => false;
  beforeSign: () => void | Promise<void> = () => {};
  redactionCount = 0;
  exists = true;
  alarm: number | null = null;
  puts = 0;
  /** How often a long wait of a subscription began or ended. */
  waitChanges = 0;
  underWay = 0;
  most = 0;
  /** Called before a subscription looks for its events. */
  beforeMatching: (webhookId: string) => void = () => {};
  /** Most events that a subscription looked at in one statement. */
  longestRange = 0;
  subscriptions: Subscriptions;
  #permits = 0;
  #instance = 0;

  constructor({ clock = new FakeClock(NOW), subscriptionId = "cht_g0" } = {}) {
    this.clock = clock;
    this.subscriptionId = subscriptionId;
    this.subscriptions = this.#newSubscriptions();
  }

  /** The object is lost: what it awaits never returns, and what it does later changes nothing. */
  evict(): void {
    this.#instance++;
    this.underWay = 0;
    this.subscriptions = this.#newSubscriptions();
  }

  append(...types: EventType[]): void {
    for (const type of types) {
      this.facts.push({ number: this.facts.length + 1, type, seq: null, note: null, at: this.clock.now() });
    }
  }

  configure(filters: Record<string, Filter>, startAfter = 0, version = "v1"): void {
    const webhooks = Object.entries(filters).map(([id, filter]) => filterOf(id, filter));
    this.subscriptions.configure({ version, webhooks }, startAfter);
  }

  /** The numbers of the events that were sent, in order. */
  numbers(webhookId = "w"): number[] {
    return this.calls.filter((call) => call.webhookId === webhookId).map(({ body }) => body.number);
  }

  /** Runs the subscriptions each time that they are due, for at most `ms`. */
  async pass(ms: number): Promise<void> {
    const until = this.clock.now() + ms;
    for (;;) {
      await this.subscriptions.run();
      const at = this.subscriptions.dueAt(this.clock.now());
      if (at === null || at > until) break;
      this.clock.advance(Math.max(1, at - this.clock.now()));
    }
    this.clock.advance(Math.max(0, until - this.clock.now()));
  }

  #newSubscriptions(): Subscriptions {
    const host = this.#host(this.#instance);
    return new Subscriptions(() => (this.exists ? host : null));
  }

  #host(instance: number): SubscriptionHost {
    const isLost = () => instance !== this.#instance;
    const port = async <T>(work: () => T | Promise<T>): Promise<T> => {
      if (isLost()) return new Promise<T>(() => {});
      try {
        return await work();
      } finally {
        if (isLost()) await new Promise(() => {});
      }
    };
    const { clock, rows } = this;
    return {
      clock,
      logger: {
        log: () => {},
        warn: (line) => this.onWarning(line),
        error: (line) => this.onError(line),
      },
      subscriptionId: this.subscriptionId,
      kv: {
        get: (key: string) => structuredClone(rows.get(key)),
        put: (key: string, value: unknown) => {
          if (isLost()) return;
          this.puts++;
          rows.set(key, structuredClone(value));
        },
        delete: (key: string) => rows.delete(key),
        list: ({ prefix = "" } = {}) => [...structuredClone(rows)].filter(([key]) => key.startsWith(prefix)),
      } as SubscriptionHost["kv"],
      exists: () => this.exists && !isLost(),
      newest: () => this.facts.length,
      matching: (range, filter, limit) => {
        this.beforeMatching(filter.id);
        return this.#matching(range, filter).slice(0, limit);
      },
      count: (range, filter) => this.#matching(range, filter).length,
      eventId: (number) => `evt_${number}`,
      redactions: () => this.redactionCount,
      render: (fact, payload, previous) =>
        port(() => {
          if (this.isGone(fact.number)) return null;
          return JSON.stringify({ number: fact.number, previous, text: this.text, payload });
        }),
      checkUrl: (url) => (url === HOOK_URL ? null : "must be another URL"),
      sign: (secrets, id) =>
        port(async () => {
          await this.beforeSign();
          return { "webhook-id": id, "webhook-signature": secrets.join(" ") };
        }),
      webhook: (id) => ({
        permit: (request) =>
          port(async () => {
            this.requests.push(request);
            if (request.report) this.reports.push(request.report);
            return (await this.permit(request)) ?? this.#grant(id);
          }),
        report: (attempt) =>
          port(async () => {
            await this.report(attempt);
            this.reports.push(attempt);
          }),
        giveBack: (_subscriptionId, permit) => port(() => void this.givenBack.push(permit)),
        lineGone: (_subscriptionId, at) =>
          port(async () => {
            await this.forgets();
            this.gone.push(at);
          }),
      }),
      fetch: (_url, { body, headers, signal }) =>
        port(async () => {
          const sent = new Headers(headers as Record<string, string>);
          const webhookId = sent.get("parley-webhook") ?? "";
          const call = {
            webhookId,
            at: clock.now(),
            headers: sent,
            signal: signal as AbortSignal,
            body: JSON.parse(body as string),
          };
          this.calls.push(call);
          this.underWay++;
          this.most = Math.max(this.most, this.underWay);
          try {
            const answer = await this.answer(call);
            if (answer === "refuse") throw new Error("connection refused");
            if (answer !== "hang") return answer;
            return await new Promise<Response>((_, reject) => {
              call.signal.addEventListener("abort", () => reject(new Error("aborted")));
            });
          } finally {
            if (!isLost()) this.underWay--;
          }
        }),
      waitChanged: () => {
        this.waitChanges++;
      },
      standBy: (at) =>
        port(() => {
          this.alarm = this.alarm === null ? at : Math.min(this.alarm, at);
        }),
    };
  }

  #matching([first, last]: EventRange, filter: WebhookFilter): EventFact[] {
    this.longestRange = Math.max(this.longestRange, last - first + 1);
    return this.facts.slice(first - 1, last).filter(({ type }) => matches(filter, type, "chn_g0"));
  }

  #grant(id: string): WebhookPermitAnswer {
    const permit = `permit ${++this.#permits}`;
    return { outcome: "granted", permit, url: HOOK_URL, secrets: [`secret of ${id}`], payload: "full" };
  }

  onError(line: unknown): void {
    throw new Error(`logged an error: ${JSON.stringify(line)}`);
  }
}

/** An owner with one webhook and some messages. */
export function newOwner(events = 0): SubscriptionOwner {
  const owner = new SubscriptionOwner();
  owner.configure({ w: {} });
  for (let n = 0; n < events; n++) owner.append("message.received");
  return owner;
}

/** A receiver's answer. */
export const status = (code: number, headers = {}) => new Response("no", { status: code, headers });

export function filterOf(id: string, filter: Filter = {}): WebhookFilter {
  return { id, version: 1, types: null, channels: null, ...filter };
}

/** Lets everything run that waits for nothing but the event loop. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setTimeout(resolve, 0));
}
