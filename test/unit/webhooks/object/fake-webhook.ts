import type {
  EventRange,
  ReportedWebhookState,
  WebhookAttempt,
  WebhookPermitAnswer,
  WebhookPermitRequest,
} from "../../../../src/model/webhook.ts";
import type { WebhookConfig } from "../../../../src/webhooks/object/configuration.ts";
import { WebhookPermits } from "../../../../src/webhooks/object/permits.ts";
import type { WebhookPermitPorts } from "../../../../src/webhooks/object/ports.ts";
import { countAttempt, EMPTY_TALLY, type Notice } from "../../../../src/webhooks/object/state.ts";
import type { WaitingSubscription } from "../../../../src/webhooks/object/waiting-subscriptions.ts";
import { judgeAnswer, nextTry, reportedClass } from "../../../../src/webhooks/subscription/retry.ts";
import { FakeClock, settle } from "../../platform/fake-clock.ts";

class FakeWaiting {
  rows: WaitingSubscription[] = [];
  #number = 0;

  add(subscriptionId: string): number {
    const number = ++this.#number;
    const row = this.rows.find((each) => each.subscriptionId === subscriptionId);
    if (row) row.number = number;
    else this.rows.push({ subscriptionId, number });
    return number;
  }

  remove(subscriptionId: string, number?: number): void {
    this.rows = this.rows.filter(
      (row) => row.subscriptionId !== subscriptionId || (number !== undefined && row.number !== number),
    );
  }

  numberOf(subscriptionId: string): number | null {
    return this.rows.find((row) => row.subscriptionId === subscriptionId)?.number ?? null;
  }

  next(isExcluded: (subscriptionId: string) => boolean): WaitingSubscription | null {
    const row = this.rows.find(({ subscriptionId }) => !isExcluded(subscriptionId));
    return row ? { ...row } : null;
  }

  hasOthers(subscriptionIds: readonly string[]): boolean {
    return this.rows.some((row) => !subscriptionIds.includes(row.subscriptionId));
  }

  hasAny(): boolean {
    return this.rows.length > 0;
  }

  count(): number {
    return this.rows.length;
  }
}

/** The storage of a webhook's object, its platform, its subscriptions and its receiver. */
export class FakeWebhook {
  readonly clock = new FakeClock(Date.UTC(2026, 10, 20, 10));
  readonly waiting = new FakeWaiting();
  readonly notices: Notice[] = [];
  readonly stateReports: ReportedWebhookState[] = [];
  readonly failed: [string, EventRange][] = [];
  readonly log: { attempt: WebhookAttempt; epoch: number; at: number }[] = [];
  config: WebhookConfig;
  alarmAt: number | null = null;
  permits: WebhookPermits;
  writes = 0;
  wakes = 0;
  /** The subscriptions that wait for the next try of an event. */
  toRetry: string[] = [];
  /** How often the configuration was read. */
  reads = 0;
  /** How many of the next attempts can't be stored. */
  logFails = 0;
  /** Whether the organization takes a notice. */
  onNotice: (id: string) => unknown = () => {};
  /** Whether it accepts a report of the webhook's state. */
  onStateReport: (state: ReportedWebhookState) => unknown = () => {};
  readonly warnings: { event: string }[] = [];
  /** Reads the configuration. */
  read: () => Promise<WebhookConfig> = async () => this.config;
  onWake: (subscriptionId: string, number: number, startedAt: number) => unknown = () => {};
  isDeep = false;
  readonly #values = new Map<string, unknown>();

  constructor(config: Partial<WebhookConfig> = {}) {
    this.config = {
      organizationId: "org_g000000000000000",
      url: "https://customer.test/hook",
      secrets: ["whsec_1"],
      payload: "full",
      perSecond: 500,
      concurrency: 20,
      filter: { id: "whk_g000000000000000", version: 1, types: null, channels: null },
      createdAt: this.clock.now(),
      ...config,
    };
    this.permits = this.#construct();
  }

  /** The object is lost with all that it has in memory. */
  evict(): void {
    this.permits = this.#construct();
  }

  permit(subscriptionId: string, given: Partial<WebhookPermitRequest> = {}): Promise<WebhookPermitAnswer> {
    const { id: webhookId, version } = this.config.filter;
    const request = {
      webhookId,
      lineId: subscriptionId,
      number: 1,
      at: this.clock.now(),
      version,
      replayId: null,
      report: null,
    };
    return this.permits.permit({ ...request, ...given });
  }

  /** Asks, and lets the few milliseconds pass by which starts are apart. */
  async ask(subscriptionId: string, given: Partial<WebhookPermitRequest> = {}): Promise<WebhookPermitAnswer> {
    const answer = this.permit(subscriptionId, given);
    await this.clock.pass(5);
    return answer;
  }

  /** Lets time pass, with alarms. */
  async run(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    for (;;) {
      await settle();
      const at = this.alarmAt;
      if (at === null || at > end) {
        const before = this.alarmAt;
        await this.clock.pass(Math.min(end - this.clock.now(), 50));
        if (this.clock.now() >= end && (this.alarmAt ?? end + 1) > end && this.alarmAt === before) return;
        continue;
      }
      await this.clock.pass(Math.max(0, at - this.clock.now()));
      await this.ring();
    }
  }

  /** The alarm rings. */
  async ring(): Promise<void> {
    this.alarmAt = null;
    await this.permits.run();
    this.#alarmBy(this.permits.dueAt());
  }

  #alarmBy(at: number | null): void {
    if (at !== null && (this.alarmAt === null || at < this.alarmAt)) this.alarmAt = at;
  }

  #construct(): WebhookPermits {
    const ports: WebhookPermitPorts = {
      kv: {
        get: <T>(key: string) => structuredClone(this.#values.get(key)) as T | undefined,
        put: (key, value) => {
          this.writes++;
          this.#values.set(key, structuredClone(value));
        },
      },
      clock: this.clock,
      waiting: this.waiting,
      log: {
        add: (attempt, { epoch, at }) => {
          if (this.logFails-- > 0) throw new Error("database table is locked: SQLITE_LOCKED");
          this.log.push({ attempt, epoch, at });
        },
        tally: (epoch) =>
          this.log
            .filter((each) => each.epoch === epoch)
            .reduce(
              (tally, { attempt, at }) =>
                countAttempt(tally, reportedClass(attempt), attempt.outcome === "given_up", at),
              EMPTY_TALLY,
            ),
        subscriptionsToRetry: () => this.toRetry,
      },
      failed: {
        add: (subscriptionId, range) => void this.failed.push([subscriptionId, range]),
        remove: () => {},
        count: () => 0,
      },
      configuration: () => {
        this.reads++;
        return this.read();
      },
      wakeSubscription: async (subscriptionId, number, startedAt) => {
        this.wakes++;
        return this.onWake(subscriptionId, number, startedAt);
      },
      isDeep: () => this.isDeep,
      notify: async (notice) => {
        await this.onNotice(notice.id);
        if (notice.type !== "act") this.notices.push(notice);
      },
      reportState: async (state) => {
        await this.onStateReport(state);
        this.stateReports.push(state);
      },
      warn: (fields) => void this.warnings.push(fields),
      replays: { countsWith: () => ({ ended: 0, sent: 0 }), keep: () => {} },
      atomically: (writes) => writes(),
      alarmBy: async (at) => this.#alarmBy(at),
      background: () => {},
    };
    return new WebhookPermits(ports);
  }
}

export interface Call {
  subscriptionId: string;
  startedAt: number;
  endedAt: number | null;
}

/** Subscriptions that each send their events in order, and the receiver's record of its calls. */
export class FakeSubscriptions {
  readonly calls: Call[] = [];
  /** How the receiver answers now. */
  answer: (subscriptionId: string) => number = () => 200;
  callMs = 100;
  maxInFlight = 0;
  /** Whether wake-ups are lost. */
  isDeaf = false;
  readonly #webhook: FakeWebhook;
  readonly #subscriptions = new Map<
    string,
    { pending: number; isBusy: boolean; tries: number; report?: WebhookAttempt }
  >();

  constructor(webhook: FakeWebhook) {
    this.#webhook = webhook;
    webhook.onWake = (subscriptionId) => {
      if (this.isDeaf) throw new Error("the subscription does not answer");
      void this.#run(subscriptionId);
    };
  }

  get inFlight(): number {
    return this.calls.filter(({ endedAt }) => endedAt === null).length;
  }

  get pending(): number {
    return [...this.#subscriptions.values()].reduce((sum, { pending }) => sum + pending, 0);
  }

  add(subscriptionId: string, events = 1): void {
    const subscription = this.#subscriptions.get(subscriptionId) ?? { pending: 0, isBusy: false, tries: 0 };
    this.#subscriptions.set(subscriptionId, subscription);
    subscription.pending += events;
    void this.#run(subscriptionId);
  }

  async #run(subscriptionId: string): Promise<void> {
    const subscription = this.#subscriptions.get(subscriptionId);
    if (!subscription || subscription.isBusy) return;
    subscription.isBusy = true;
    let againAfterMs: number | null = null;
    while (subscription.pending > 0 && againAfterMs === null) {
      const { report } = subscription;
      delete subscription.report;
      const answer = await this.#webhook.permit(subscriptionId, report ? { report } : {});
      if (answer.outcome !== "granted") {
        againAfterMs = answer.outcome === "later" ? answer.waitMs : 0;
        break;
      }
      const attempt = await this.#call(subscriptionId, answer.permit);
      subscription.tries++;
      if (attempt.outcome === "accepted") {
        subscription.pending--;
        subscription.tries = 0;
      } else {
        againAfterMs = nextTry(subscription.tries, "unavailable", 0.5) ?? 0;
      }
      subscription.report = attempt;
    }
    subscription.isBusy = false;
    if (subscription.report) {
      const { report } = subscription;
      delete subscription.report;
      await this.#webhook.permits.report(report);
    }
    if (againAfterMs !== null) this.#webhook.clock.timer(againAfterMs, () => void this.#run(subscriptionId));
  }

  async #call(subscriptionId: string, permit: string): Promise<WebhookAttempt> {
    const { clock } = this.#webhook;
    const call: Call = { subscriptionId, startedAt: clock.now(), endedAt: null };
    this.calls.push(call);
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight);
    const httpStatus = this.answer(subscriptionId);
    await clock.wait(this.callMs);
    call.endedAt = clock.now();
    return attemptBy(subscriptionId, permit, httpStatus, clock.now());
  }
}

/** How an attempt of a subscription ended. */
export function attemptBy(subscriptionId: string, permit: string, httpStatus: number, now: number): WebhookAttempt {
  const { class: answer, code, message } = judgeAnswer(httpStatus);
  return {
    permit,
    lineId: subscriptionId,
    number: 1,
    eventId: "evt_g000000000000000000000011",
    eventType: "message.received",
    replayId: null,
    startedAt: now,
    durationMs: 0,
    outcome: answer === "accepted" ? "accepted" : "retry",
    httpStatus,
    code,
    message,
    retryAfterMs: null,
  };
}
