import { DurableObject } from "cloudflare:workers";
import type { EndedAct } from "../../model/audit.ts";
import type { EventType } from "../../model/event.ts";
import { jurisdictionOf, newId } from "../../model/id.ts";
import type {
  AttemptFilter,
  AttemptPage,
  DisabledReason,
  LoggedAttempt,
  PingRefusal,
  ReplayAnswer,
  ReplayLeft,
  ReplayProgress,
  ReplayRequest,
  WebhookAttempt,
  WebhookDescription,
  WebhookPermitAnswer,
  WebhookPermitRequest,
} from "../../model/webhook.ts";
import { SYSTEM_CLOCK } from "../../platform/clock.ts";
import { StandingAlarm } from "../../platform/object/alarm.ts";
import { DueWork } from "../../platform/object/due-work.ts";
import { subscriptionPorts } from "../subscription/ports.ts";
import { AttemptLog } from "./attempt-log.ts";
import type { WebhookConfig } from "./configuration.ts";
import { FailedEvents } from "./failed-events.ts";
import { GoneSubscriptions } from "./gone-subscriptions.ts";
import { WebhookIdentity } from "./identity.ts";
import { OutgoingCalls } from "./outgoing-calls.ts";
import { WebhookPermits } from "./permits.ts";
import { pingWebhook } from "./pings.ts";
import { Replays } from "./replays.ts";
import { sampleEvent } from "./samples.ts";
import { UnreachedSubscriptions } from "./unreached-subscriptions.ts";
import { WaitingSubscriptions } from "./waiting-subscriptions.ts";

/** From this depth on, an event wakes nobody: the alarm does. A subscription that is woken makes calls within its own. */
const MAX_DEPTH = 8;

const PARTS = [WaitingSubscriptions, AttemptLog, FailedEvents, UnreachedSubscriptions, GoneSubscriptions];
const SCHEMA = [PARTS.map(({ schema }) => schema).join("; ")];

/** What works on the object's tables. Deleting the object drops it, with all that it has in memory. */
interface Parts {
  log: AttemptLog;
  failed: FailedEvents;
  replays: Replays;
  permits: WebhookPermits;
  due: DueWork;
}

/**
 * The Durable Object of one webhook. It decides when the subscriptions may call the webhook, knows its state, and keeps
 * its attempts, the subscriptions that wait for it and the events that were given up. The subscriptions make the calls.
 */
export class WebhookObject extends DurableObject<Env> {
  readonly #alarm = new StandingAlarm(this.ctx.storage);
  readonly #identity = new WebhookIdentity(this.env, this.ctx.storage, SCHEMA);
  #parts: Parts | undefined;

  permit(request: WebhookPermitRequest): Promise<WebhookPermitAnswer> {
    this.#alarm.depth = request.depth ?? 1;
    return this.#of(request.webhookId).permits.permit(request);
  }

  /** @param depth see `WebhookPermitRequest` */
  report(webhookId: string, attempt: WebhookAttempt, depth = 1): Promise<void> {
    this.#alarm.depth = depth;
    return this.#of(webhookId).permits.report(attempt);
  }

  /** @param depth see `WebhookPermitRequest` */
  giveBack(webhookId: string, subscriptionId: string, permit: string, depth = 1): Promise<void> {
    this.#alarm.depth = depth;
    return this.#of(webhookId).permits.giveBack(subscriptionId, permit);
  }

  /** Null if the webhook was deleted. */
  describe(webhookId: string): Promise<WebhookDescription | null> {
    return this.#of(webhookId).permits.describe();
  }

  /** Reads the webhook's row again after it changed. */
  async refresh(webhookId: string): Promise<void> {
    const { permits } = this.#of(webhookId);
    await this.#identity.refresh();
    await permits.refresh();
  }

  /** @param from `pending`: the subscriptions go on from where they stand. `now`: they skip what happened before */
  enable(webhookId: string, from: "pending" | "now"): Promise<void> {
    return this.#of(webhookId).permits.enable(from);
  }

  retry(webhookId: string): Promise<"retried" | "webhook_disabled"> {
    return this.#of(webhookId).permits.retry();
  }

  /** @param act see `WebhookPermits.disable` */
  disable(webhookId: string, reason: DisabledReason, act?: EndedAct): Promise<void> {
    return this.#of(webhookId).permits.disable(reason, act);
  }

  /** A page of the last 1,000 attempts, newest first. @param page.before the cursor of the previous page */
  attempts(filter: AttemptFilter, page: { before: string | null; limit: number }): AttemptPage {
    return this.#identity.isStored ? this.#of().log.list(filter, page) : { attempts: [], cursor: null };
  }

  /**
   * Calls the webhook once and waits for its answer, whatever its state, but at its pace. The call counts nothing.
   * @param type the type of a sample event; null for a `ping`
   * @returns null if the webhook was deleted
   */
  ping(webhookId: string, type: EventType | null): Promise<LoggedAttempt | PingRefusal | null> {
    return this.#of(webhookId).permits.ping((config) => this.#ping(webhookId, type, config));
  }

  async #ping(
    webhookId: string,
    type: EventType | null,
    { organizationId, url, secrets, payload }: WebhookConfig,
  ): Promise<LoggedAttempt | null> {
    // The webhook may have been deleted while the ping waited for its start, or waits for its answer.
    if (!this.#identity.isStored) return null;
    const { log } = this.#of(webhookId);
    const now = Date.now();
    const target = { webhookId, organizationId, url, secrets, payload };
    const event = sampleEvent(target, type ?? "ping", payload, now);
    const attempt = await pingWebhook(subscriptionPorts(this.env, this.#alarm), target, event);
    if (this.#identity.isStored && this.#parts?.log === log)
      log.add(attempt, { epoch: 0, at: Date.now(), ended: 0, sent: 0 });
    const { permit: _permit, retryAfterMs: _retryAfterMs, ...logged } = attempt;
    return logged;
  }

  /** Sends events again. The caller has checked that the webhook's organization has the event of an `eventId`. */
  async replay(webhookId: string, request: ReplayRequest): Promise<ReplayAnswer> {
    const { permits, replays } = this.#of(webhookId);
    const state = (await permits.describe())?.state ?? "disabled";
    if (state === "disabled") return { outcome: "webhook_disabled" };
    const answer = await replays.start(request, newId("rpl", jurisdictionOf(webhookId)));
    await this.#alarm.by(replays.dueAt(Date.now()));
    return answer;
  }

  /**
   * The chat of a subscription was deleted: what it gave up can no longer be sent, nor what it had left of a replay.
   * @param at when, Unix milliseconds
   */
  lineGone(webhookId: string, subscriptionId: string, at: number, left: ReplayLeft[] = []): void {
    if (!this.#identity.isStored) return;
    const { failed, replays } = this.#of(webhookId);
    failed.removeSubscription(subscriptionId, at);
    replays.subscriptionGone(subscriptionId, at, left);
  }

  /** The progress of a replay; null if it is not the last one. */
  replayState(replayId: string): ReplayProgress | null {
    return this.#identity.isStored ? this.#of().replays.progress(replayId) : null;
  }

  /** Deletes all storage. Call after the webhook's row was marked as being deleted. */
  async erase(): Promise<void> {
    this.#parts?.due.forget();
    this.#parts = undefined;
    this.#identity.reset();
    await this.ctx.storage.deleteAll();
    this.#alarm.gone();
  }

  /** Sets the alarm again if the platform gave it up. @returns whether it had */
  async checkAlarm(webhookId: string): Promise<boolean> {
    if (!this.#identity.isStored) return false;
    const { due, permits } = this.#of(webhookId);
    // What is due depends on the configuration, which this reads.
    return (await permits.describe()) !== null && due.renew(true);
  }

  /** Sends notices, wakes subscriptions and goes on with a replay. */
  override alarm(invocation?: AlarmInvocationInfo): Promise<void> {
    return this.#of().due.ring(invocation);
  }

  #of(webhookId = this.#identity.id): Parts {
    this.#identity.id = webhookId;
    this.#parts ??= this.#open();
    return this.#parts;
  }

  #open(): Parts {
    const { sql, kv } = this.ctx.storage;
    const identity = this.#identity;
    identity.prepare();
    const log = new AttemptLog(sql);
    const failed = new FailedEvents(sql);
    const calls = new OutgoingCalls(this.env, identity);
    const unreached = new UnreachedSubscriptions(sql, SYSTEM_CLOCK);
    const gone = new GoneSubscriptions(sql);
    const replays = new Replays({ kv, clock: SYSTEM_CLOCK, unreached, gone, log, failed, identity, calls });
    const permits = new WebhookPermits({
      kv,
      clock: SYSTEM_CLOCK,
      waiting: new WaitingSubscriptions(sql, SYSTEM_CLOCK),
      log,
      failed,
      configuration: (version) => identity.config(version),
      wakeSubscription: (...woken) => calls.wake(...woken, this.#alarm.depth + 1),
      isDeep: () => this.#alarm.depth >= MAX_DEPTH,
      notify: (notice) => calls.notify(notice),
      reportState: (state) => calls.reportState(state),
      warn: (fields) => identity.warn(fields),
      replays,
      atomically: (writes) => this.ctx.storage.transactionSync(writes),
      alarmBy: (at) => this.#alarm.by(at),
      background: (work) => this.ctx.waitUntil(work),
    });
    const due = new DueWork(
      { name: "webhook", alarm: this.#alarm, waitUntil: (work) => this.ctx.waitUntil(work) },
      { replays, permits },
    );
    return { log, failed, replays, permits, due };
  }
}
