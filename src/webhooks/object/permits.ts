import type { EndedAct } from "../../model/audit.ts";
import type {
  DisabledReason,
  PingRefusal,
  WebhookAttempt,
  WebhookDescription,
  WebhookPermitAnswer,
  WebhookPermitRequest,
} from "../../model/webhook.ts";
import type { Clock } from "../../platform/clock.ts";
import { ChangeSignal } from "../../platform/object/change-signal.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { AttemptLog } from "./attempt-log.ts";
import type { WebhookConfig } from "./configuration.ts";
import { EndedAttempts } from "./ended-attempts.ts";
import type { FailedEvents } from "./failed-events.ts";
import { KnownWebhook } from "./known-webhook.ts";
import { type NoticePorts, Notices } from "./notices.ts";
import { decidePermit, isStartValid, MAX_HOLD_MS, type PermitDecision } from "./pace.ts";
import { Pings } from "./pings.ts";
import type { Replays } from "./replays.ts";
import { type HeldPermit, Slots } from "./slots.ts";
import { afterTime, disable, disablesAtOf, enable, nextChangeAt, retry, type WebhookState } from "./state.ts";
import type { WaitingSubscriptions } from "./waiting-subscriptions.ts";
import { Waker } from "./waker.ts";

export interface WebhookPermitPorts extends NoticePorts {
  clock: Clock;
  waiting: Pick<WaitingSubscriptions, "add" | "remove" | "numberOf" | "next" | "hasOthers" | "hasAny" | "count">;
  log: Pick<AttemptLog, "add" | "tally" | "subscriptionsToRetry">;
  failed: Pick<FailedEvents, "add" | "remove" | "count">;
  /**
   * The webhook's configuration; null if it was deleted.
   * @param version a version that exists: an older configuration is read again
   */
  configuration(version?: number): Promise<WebhookConfig | null>;
  /**
   * Tells a subscription that it may ask again.
   * @param startedAt see `WebhookState`
   * @returns null if it has nothing to send
   */
  wakeSubscription(subscriptionId: string, number: number, startedAt: number): Promise<unknown>;
  replays: Pick<Replays, "countsWith" | "keep">;
  /** Runs writes that are stored together or, if it throws, not at all. */
  atomically(writes: () => void): void;
  /** Ensures that `run` is called at this time or before. */
  alarmBy(at: number): Promise<void>;
  /** Runs work after the answer of the call that started it. */
  background(work: Promise<unknown>): void;
}

/** A subscription that is blocked asks again after this time even if nothing wakes it. */
const LAST_RESORT_MS = 86_400_000;

/** Grants the permits of one webhook, based on its state and pace, and wakes the subscriptions that wait for it. */
export class WebhookPermits implements DuePart {
  readonly #ports: WebhookPermitPorts;
  #config: WebhookConfig | undefined;
  readonly #webhook: KnownWebhook;
  readonly #slots = new Slots();
  readonly #notices: Notices;
  readonly #waker: Waker;
  readonly #pings: Pings;
  readonly #ended: EndedAttempts;
  #grants = 0;
  /** A slot is free for one request, or the state changed for all. */
  readonly #changed = new ChangeSignal();

  constructor(ports: WebhookPermitPorts) {
    this.#ports = ports;
    this.#notices = new Notices(ports);
    const { kv, clock, log, waiting } = ports;
    this.#webhook = new KnownWebhook({
      ...{ kv, clock, log, waiting, notices: this.#notices },
      atomically: (writes) => ports.atomically(writes),
      createdAt: () => this.#config?.createdAt ?? clock.now(),
      changed: (before, state) => this.#stateChanged(before, state),
    });
    this.#ended = new EndedAttempts({
      ...{ ports, webhook: this.#webhook, slots: this.#slots },
      release: (subscriptionId, permit) => this.#release(subscriptionId, permit),
    });
    this.#pings = new Pings(clock, this.#slots, this.#webhook);
    this.#waker = new Waker({
      clock,
      waiting,
      slots: this.#slots,
      state: () => this.#webhook.state,
      limits: () => this.#config ?? null,
      wakeSubscription: (subscriptionId, number) =>
        ports.wakeSubscription(subscriptionId, number, this.#webhook.state.startedAt ?? 0),
      background: (work) => ports.background(work),
      woken: () => this.#finish(),
      warn: (fields) => ports.warn(fields),
    });
  }

  /** Grants a subscription's call, or says when to ask again. */
  async permit({
    lineId: subscriptionId,
    version,
    at,
    replayId,
    report,
    unused,
  }: WebhookPermitRequest): Promise<WebhookPermitAnswer> {
    const { clock } = this.#ports;
    let config = await this.#configure(version);
    if (!config) return { outcome: "gone" };
    if (report) this.#ended.add(report);
    if (unused !== undefined) this.#release(subscriptionId, unused);
    let canWait = this.#changed.hasRoom;
    let waitLimit: Promise<void> | undefined;
    for (;;) {
      // Also after a wait: a change that was answered applies to each call after it.
      if (version < config.filter.version) return this.#outdated(subscriptionId, config, waitLimit !== undefined);
      const { skipBefore } = this.#webhook.state;
      if (replayId === null && skipBefore !== null && at < skipBefore)
        return this.#skip(subscriptionId, skipBefore, waitLimit !== undefined);
      const decision = this.#decide(subscriptionId, config);
      if (decision.outcome === "granted") {
        const granted = await this.#grant(subscriptionId, decision, version);
        if (granted) return this.#granted(granted, this.#config ?? config);
      } else if (decision.outcome === "full" && canWait) {
        waitLimit ??= clock.wait(MAX_HOLD_MS).then(() => {
          canWait = false;
        });
        const change = this.#changed.wait(waitLimit);
        await this.#standBy();
        await change;
      } else {
        // The slot that this request was resumed for is still free.
        if (waitLimit && decision.outcome !== "full") this.#changed.announceToOne();
        return this.#refuse(subscriptionId, decision);
      }
      config = await this.#configure(version);
      if (!config) return { outcome: "gone" };
    }
  }

  /** An attempt ended, or events were given up, and the subscription has no next event. */
  async report(attempt: WebhookAttempt): Promise<void> {
    if (!(await this.#configure())) return;
    this.#ended.add(attempt);
    await this.#finish();
  }

  /** A subscription does not use its permit. */
  async giveBack(subscriptionId: string, permit: string): Promise<void> {
    if (!(await this.#configure())) return;
    this.#release(subscriptionId, permit);
    await this.#finish();
  }

  /** The webhook's configuration changed. */
  async refresh(): Promise<void> {
    if (await this.#configure()) await this.#finish();
  }

  /** See `enable` in state.ts. */
  async enable(from: "pending" | "now"): Promise<void> {
    if (!(await this.#configure())) return;
    this.#webhook.set(enable(this.#webhook.current, from, this.#ports.clock.now()));
    this.#waker.reset();
    await this.#finish();
  }

  /** Tries all events that wait, whatever they wait for. */
  async retry(): Promise<"retried" | "webhook_disabled"> {
    if (!(await this.#configure()) || this.#webhook.state.name === "disabled") return "webhook_disabled";
    this.#webhook.set(retry(this.#webhook.current, this.#ports.clock.now()));
    this.#waker.reset();
    await this.#finish();
    return "retried";
  }

  /** @param act the row of somebody who disables it, for the audit log: stored in the commit of the change */
  async disable(reason: DisabledReason, act?: EndedAct): Promise<void> {
    if (!(await this.#configure())) return;
    const notice = act && ({ type: "act", act, id: act.id } as const);
    this.#webhook.set(disable(this.#webhook.current, reason, this.#ports.clock.now()), notice);
    await this.#finish();
  }

  /** How many subscriptions wait for the webhook, or for the next try of an event. */
  #waitingSubscriptions(): number {
    const { waiting, log } = this.#ports;
    const others = log.subscriptionsToRetry().filter((subscriptionId) => waiting.numberOf(subscriptionId) === null);
    return waiting.count() + others.length;
  }

  /** Null if the webhook was deleted. */
  async describe(): Promise<WebhookDescription | null> {
    if (!(await this.#configure())) return null;
    this.#passTime();
    await this.#finish();
    const { state, tally } = this.#webhook.current;
    const { pausedUntil } = state;
    return {
      state: state.name,
      reason: state.reason,
      since: state.since,
      disablesAt: disablesAtOf(state),
      pausedUntil: pausedUntil > this.#ports.clock.now() ? pausedUntil : null,
      waitingChats: this.#waitingSubscriptions(),
      failed: this.#ports.failed.count(),
      lastSuccessAt: tally.lastSuccessAt ?? state.lastSuccessAt,
    };
  }

  /** Makes a ping at its start. @returns null if the webhook was deleted */
  async ping<T>(call: (config: WebhookConfig) => Promise<T>): Promise<T | PingRefusal | null> {
    const config = await this.#configure();
    return config && this.#pings.run(config.perSecond, () => call(config));
  }

  /** Does what is due: notices, disabling, and waking subscriptions. */
  async run(): Promise<void> {
    if (!(await this.#configure())) return;
    this.#passTime();
    await this.#notices.flush();
    await this.#finish();
  }

  /** When `run` must be called; null if nothing is due. Unix milliseconds. */
  dueAt(): number | null {
    // Without a configuration, everything was deleted.
    if (!this.#config) return null;
    const wakeAt = this.#waker.dueAt(this.#config.concurrency);
    const due = [nextChangeAt(this.#webhook.state), this.#notices.dueAt(), wakeAt].filter((at) => at !== null);
    return due.length > 0 ? Math.min(...due) : null;
  }

  forget(): void {
    this.#webhook.reset();
    this.#config = undefined;
    this.#slots.clear();
    this.#waker.reset();
    this.#ended.forget();
  }

  async #configure(version = 0): Promise<WebhookConfig | null> {
    const config = await this.#ports.configuration(version);
    const before = this.#config;
    this.#config = config ?? undefined;
    if (config) this.#webhook.useUrl(config.url);
    if (before && config && config.perSecond > before.perSecond) this.#freeReservations();
    return config;
  }

  #decide(subscriptionId: string, { perSecond, concurrency }: WebhookConfig): PermitDecision {
    this.#passTime();
    const now = this.#ports.clock.now();
    const { state } = this.#webhook;
    const { decision, pace } = decidePermit(
      {
        state,
        pace: this.#slots.pace,
        subscriptionId,
        reservedAt: this.#slots.reservedAt(subscriptionId),
        heldUntil: this.#slots.heldUntil(subscriptionId),
        used: this.#slots.used(subscriptionId, now),
        perSecond,
        concurrency,
        othersWait: state.probes !== null && this.#waker.canWakeOther(subscriptionId),
      },
      now,
    );
    this.#slots.pace = pace;
    return decision;
  }

  /** Takes a slot and waits for the start. @returns null if the webhook changed in the meantime */
  async #grant(
    subscriptionId: string,
    { at, isProbe }: PermitDecision & { outcome: "granted" },
    version: number,
  ): Promise<HeldPermit | null> {
    const { clock, waiting } = this.#ports;
    const { state } = this.#webhook;
    const id = `${state.epoch}.${isProbe ? "probe" : "call"}.${++this.#grants}.${clock.now().toString(36)}`;
    const permit = this.#slots.take(subscriptionId, id, at, waiting.numberOf(subscriptionId));
    if (at > clock.now()) {
      await this.#standBy();
      await clock.wait(Math.max(0, at - clock.now()));
    }
    // Without the permit, everything was deleted.
    if (!this.#slots.held(subscriptionId, id)) return null;
    const isOutdated = version < (this.#config?.filter.version ?? 0);
    if (isOutdated || !isStartValid(state, this.#webhook.state, at)) {
      this.#release(subscriptionId, id);
      return null;
    }
    this.#webhook.probedBy(subscriptionId);
    return permit;
  }

  async #granted({ id }: HeldPermit, config: WebhookConfig): Promise<WebhookPermitAnswer> {
    const { url, secrets, payload } = config;
    await this.#finish();
    return { outcome: "granted", permit: id, url, secrets, payload };
  }

  /**
   * The subscription applies an old filter. With the new one it may have nothing to send.
   * @param isResumed whether it was resumed for a slot, which is still free
   */
  async #outdated(
    subscriptionId: string,
    { filter, perSecond }: WebhookConfig,
    isResumed: boolean,
  ): Promise<WebhookPermitAnswer> {
    if (this.#slots.giveBack(subscriptionId, perSecond) || isResumed) this.#changed.announceToOne();
    await this.#finish();
    return { outcome: "changed", filter };
  }

  /** A subscription that skips events takes no slot: it may have no later event, and would keep the slot for 35 s. */
  async #skip(subscriptionId: string, before: number, isResumed: boolean): Promise<WebhookPermitAnswer> {
    this.#slots.giveUp(subscriptionId);
    if (isResumed) this.#changed.announceToOne();
    await this.#finish();
    return { outcome: "skip", before };
  }

  async #refuse(
    subscriptionId: string,
    decision: Exclude<PermitDecision, { outcome: "granted" }>,
  ): Promise<WebhookPermitAnswer> {
    const now = this.#ports.clock.now();
    if (decision.outcome === "held" || decision.outcome === "reserved") {
      const at = decision.outcome === "held" ? decision.until : decision.at;
      if (decision.outcome === "reserved") this.#slots.reserve(subscriptionId, at);
      await this.#finish();
      return { outcome: "later", waitMs: at - now, isWaiting: false, number: 0 };
    }
    this.#slots.giveUp(subscriptionId);
    const number = this.#ports.waiting.add(subscriptionId);
    await this.#finish();
    return { outcome: "later", waitMs: LAST_RESORT_MS, isWaiting: true, number };
  }

  #passTime(): void {
    this.#webhook.set(afterTime(this.#webhook.current, this.#ports.clock.now()));
  }

  #stateChanged(before: WebhookState, { name, pausedUntil }: WebhookState): void {
    // Starts that were reserved before a pause or a failure are no longer valid.
    if (name !== before.name || pausedUntil !== before.pausedUntil) this.#freeReservations();
    this.#changed.announce();
  }

  /** Subscriptions that would come back at their starts, up to a minute later, are woken as soon as they can start. */
  #freeReservations(): void {
    const { clock, waiting } = this.#ports;
    for (const subscriptionId of this.#slots.dropReservations(clock.now())) waiting.add(subscriptionId);
  }

  #release(subscriptionId: string, permit: string): void {
    if (this.#slots.release(subscriptionId, permit)) this.#changed.announceToOne();
  }

  /** Wakes the subscriptions that can start now, and sets the alarm for what remains. */
  async #finish(): Promise<void> {
    // Without a configuration, everything was deleted.
    if (!this.#config) return;
    this.#waker.wake();
    await this.#standBy();
  }

  /**
   * Sets the alarm. Call before a wait too: a report may have let subscriptions wait, and this instance may be lost.
   */
  async #standBy(): Promise<void> {
    const at = this.dueAt();
    if (at !== null) await this.#ports.alarmBy(at);
  }
}
