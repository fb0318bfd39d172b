import { DurableObject } from "cloudflare:workers";
import { callObject } from "../../calls/call-object.ts";
import { callOrganization } from "../../calls/call-organization.ts";
import type { EndedAct } from "../../model/audit.ts";
import type { EventType } from "../../model/event.ts";
import { jurisdictionOf, newId } from "../../model/id.ts";
import type {
  AttemptFilter,
  AttemptPage,
  DisabledReason,
  EventRange,
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
import { prepareSchema } from "../../platform/object/schema-steps.ts";
import { subscriptionPorts } from "../subscription/ports.ts";
import { AttemptLog } from "./attempt-log.ts";
import { type WebhookConfig, WebhookConfiguration } from "./configuration.ts";
import { FailedEvents } from "./failed-events.ts";
import { GoneSubscriptions } from "./gone-subscriptions.ts";
import type { OrganizationNotice } from "./notices.ts";
import { WebhookPermits } from "./permits.ts";
import { pingWebhook } from "./pings.ts";
import type { SubscriptionPointer } from "./replay-run.ts";
import { Replays } from "./replays.ts";
import { sampleEvent } from "./samples.ts";
import { UnreachedSubscriptions } from "./unreached-subscriptions.ts";
import { WaitingSubscriptions } from "./waiting-subscriptions.ts";

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
  readonly #configuration = new WebhookConfiguration(this.env, this.ctx.storage.kv);
  #webhookId: string | null = null;
  #parts: Parts | undefined;

  permit(request: WebhookPermitRequest): Promise<WebhookPermitAnswer> {
    return this.#of(request.webhookId).permits.permit(request);
  }

  report(webhookId: string, attempt: WebhookAttempt): Promise<void> {
    return this.#of(webhookId).permits.report(attempt);
  }

  giveBack(webhookId: string, subscriptionId: string, permit: string): Promise<void> {
    return this.#of(webhookId).permits.giveBack(subscriptionId, permit);
  }

  /** Null if the webhook was deleted. */
  describe(webhookId: string): Promise<WebhookDescription | null> {
    return this.#of(webhookId).permits.describe();
  }

  /** Reads the webhook's row again after it changed. */
  async refresh(webhookId: string): Promise<void> {
    const { permits } = this.#of(webhookId);
    await this.#configuration.refresh(webhookId);
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
    return this.#isStored() ? this.#of().log.list(filter, page) : { attempts: [], cursor: null };
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
    if (!this.#isStored()) return null;
    const { log } = this.#of(webhookId);
    const now = Date.now();
    const target = { webhookId, organizationId, url, secrets, payload };
    const event = sampleEvent(target, type ?? "ping", payload, now);
    const attempt = await pingWebhook(subscriptionPorts(this.env), target, event);
    if (this.#isStored() && this.#parts?.log === log) log.add(attempt, { epoch: 0, at: Date.now(), ended: 0, sent: 0 });
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
    if (!this.#isStored()) return;
    const { failed, replays } = this.#of(webhookId);
    failed.removeSubscription(subscriptionId, at);
    replays.subscriptionGone(subscriptionId, at, left);
  }

  /** The progress of a replay; null if it is not the last one. */
  replayState(replayId: string): ReplayProgress | null {
    return this.#isStored() ? this.#of().replays.progress(replayId) : null;
  }

  /** Deletes all storage. Call after the webhook's row was marked as being deleted. */
  async erase(): Promise<void> {
    this.#parts?.due.forget();
    this.#parts = undefined;
    this.#configuration.reset();
    await this.ctx.storage.deleteAll();
    this.#alarm.gone();
  }

  /** Sends notices, wakes subscriptions and goes on with a replay. */
  override alarm(invocation?: AlarmInvocationInfo): Promise<void> {
    return this.#of().due.ring(invocation);
  }

  #of(webhookId = this.#id()): Parts {
    this.#webhookId = webhookId;
    this.#parts ??= this.#open();
    return this.#parts;
  }

  #open(): Parts {
    const { sql, kv } = this.ctx.storage;
    if (this.#isStored()) prepareSchema(this.ctx.storage, SCHEMA);
    const log = new AttemptLog(sql);
    const failed = new FailedEvents(sql);
    const replays = new Replays({
      kv,
      clock: SYSTEM_CLOCK,
      unreached: new UnreachedSubscriptions(sql, SYSTEM_CLOCK),
      gone: new GoneSubscriptions(sql),
      organizationId: async () => (await this.#config())?.organizationId ?? null,
      log,
      failed,
      pointers: (since, until, after, limit) => this.#pointers(since, until, after, limit),
      replaySubscription: (subscriptionId, replayId, ranges) =>
        callSubscriptionOwner(this.env, subscriptionId, (owner) =>
          owner.replayEvents(this.#id(), replayId, ranges, subscriptionId),
        ),
      warn: (fields) => this.#warn(fields),
    });
    const permits = new WebhookPermits({
      kv,
      clock: SYSTEM_CLOCK,
      waiting: new WaitingSubscriptions(sql, SYSTEM_CLOCK),
      log,
      failed,
      configuration: (version) => this.#config(version),
      wakeSubscription: (subscriptionId, number, startedAt) =>
        callSubscriptionOwner(this.env, subscriptionId, (owner) =>
          owner.wakeWebhook(this.#id(), number, startedAt, subscriptionId),
        ),
      notify: (notice) => this.#notify(notice),
      warn: (fields) => this.#warn(fields),
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

  /** The webhook's configuration; null if it was deleted. A webhook that exists gets its tables. */
  async #config(version?: number): Promise<WebhookConfig | null> {
    const webhookId = this.#id();
    const config = webhookId === "" ? null : await this.#configuration.read(webhookId, version);
    if (config) prepareSchema(this.ctx.storage, SCHEMA);
    return config;
  }

  /** The webhook's id, also in an alarm; empty if nothing is stored. */
  #id(): string {
    this.#webhookId ??= this.#configuration.storedId();
    return this.#webhookId ?? "";
  }

  #isStored(): boolean {
    return this.ctx.storage.kv.get("schema") !== undefined;
  }

  async #pointers(since: number, until: number, after: number | null, limit: number): Promise<SubscriptionPointer[]> {
    const config = await this.#config();
    if (!config) return [];
    const { organizationId } = config;
    const pointers = await callOrganization(this.env, organizationId, (organization) =>
      organization.pointersBetween(since, until, after ?? 0, limit),
    );
    return pointers.map(({ position, chatId, first, last }) => ({
      pos: position,
      subscriptionId: chatId ?? organizationId,
      first,
      last,
    }));
  }

  #warn(fields: { event: string } & Record<string, unknown>): void {
    console.warn({ ...fields, webhookId: this.#id() });
  }

  async #notify(notice: OrganizationNotice): Promise<void> {
    const webhookId = this.#id();
    const config = await this.#config();
    if (!config) return;
    const { organizationId } = config;
    await callOrganization(this.env, organizationId, (organization) => {
      if (notice.type === "act") return organization.storeActs(organizationId, [notice.act]);
      const note = { webhookId, ...notice.note };
      return organization.webhookEvent(organizationId, notice.type, note, `${webhookId}:${notice.id}`);
    });
  }
}

/** The methods of the objects with subscriptions: chats, and organizations for their own events. */
interface SubscriptionOwner {
  /**
   * The subscription may ask for a permit again.
   * @param number see `WaitingSubscription`
   * @param startedAt see `WebhookState`
   * @returns null if the subscription has nothing to send, for example because its chat was deleted
   */
  wakeWebhook(webhookId: string, number: number, startedAt: number, subscriptionId: string): Promise<unknown>;
  /**
   * Sends events again.
   * @returns how many of them there are and match the webhook's filter; null if the chat was deleted
   */
  replayEvents(
    webhookId: string,
    replayId: string,
    ranges: EventRange[],
    subscriptionId: string,
  ): Promise<number | null>;
}

/**
 * Calls the owner of a subscription.
 * @param subscriptionId the id of a chat or an organization, of which one has more after a dot
 */
export function callSubscriptionOwner<R>(
  env: Env,
  subscriptionId: string,
  call: (owner: SubscriptionOwner) => R,
): Promise<Awaited<R>> {
  const [ownerId = ""] = subscriptionId.split(".");
  return ownerId.startsWith("org_") ? callOrganization(env, ownerId, call) : callObject(env.CHATS, ownerId, call);
}
