import type { EndedAct } from "../../model/audit.ts";
import type {
  DisabledReason,
  PingRefusal,
  WebhookAttempt,
  WebhookDescription,
  WebhookPermitAnswer,
  WebhookPermitRequest,
} from "../../model/webhook.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { WebhookConfig } from "./configuration.ts";
import { EndedAttempts } from "./ended-attempts.ts";
import { KnownWebhook } from "./known-webhook.ts";
import { Notices } from "./notices.ts";
import { decidePermit, isStartValid, MAX_HOLD_MS, type PermitDecision } from "./pace.ts";
import { Pings } from "./pings.ts";
import type { WebhookPermitPorts } from "./ports.ts";
import { type HeldPermit, Slots } from "./slots.ts";
import { afterTime, disable, disablesAtOf, enable, nextChangeAt, retry } from "./state.ts";
import { StateReport } from "./state-report.ts";
import { Waker } from "./waker.ts";

/** A subscription that is blocked asks again after this time even if nothing wakes it. */
const LAST_RESORT_MS = 86_400_000;

/** Grants the permits of one webhook, based on its state and pace, and wakes the subscriptions that wait for it. */
export class WebhookPermits implements DuePart {
  readonly #ports: WebhookPermitPorts;
  readonly #slots: Slots;
  readonly #notices: Notices;
  readonly #webhook: KnownWebhook;
  readonly #stateReport: StateReport;
  readonly #waker: Waker;
  readonly #pings: Pings;
  readonly #ended: EndedAttempts;
  #grants = 0;

  constructor(ports: WebhookPermitPorts) {
    this.#ports = ports;
    this.#slots = new Slots(ports);
    this.#notices = new Notices(ports);
    const parts = { ports, slots: this.#slots, notices: this.#notices };
    this.#webhook = new KnownWebhook(parts);
    this.#stateReport = new StateReport(ports, () => this.#webhook.state);
    this.#ended = new EndedAttempts({ ...parts, webhook: this.#webhook });
    this.#pings = new Pings(ports.clock, this.#slots, this.#webhook);
    this.#waker = new Waker({ ...parts, webhook: this.#webhook, woken: () => this.#finish() });
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
    let config = await this.#webhook.configure(version);
    if (!config) return { outcome: "gone" };
    if (report) this.#ended.add(report);
    if (unused !== undefined) this.#slots.release(subscriptionId, unused);
    let canWait = this.#slots.freed.hasRoom;
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
        if (granted) return this.#granted(granted, this.#webhook.config ?? config);
      } else if (decision.outcome === "full" && canWait) {
        waitLimit ??= clock.wait(MAX_HOLD_MS).then(() => {
          canWait = false;
        });
        const change = this.#slots.freed.wait(waitLimit);
        await this.#standBy();
        await change;
      } else {
        // The slot that this request was resumed for is still free.
        if (waitLimit && decision.outcome !== "full") this.#slots.freed.announceToOne();
        return this.#refuse(subscriptionId, decision);
      }
      config = await this.#webhook.configure(version);
      if (!config) return { outcome: "gone" };
    }
  }

  /** An attempt ended, or events were given up, and the subscription has no next event. */
  async report(attempt: WebhookAttempt): Promise<void> {
    if (!(await this.#webhook.configure())) return;
    this.#ended.add(attempt);
    await this.#finish();
  }

  /** A subscription does not use its permit. */
  async giveBack(subscriptionId: string, permit: string): Promise<void> {
    if (!(await this.#webhook.configure())) return;
    this.#slots.release(subscriptionId, permit);
    await this.#finish();
  }

  /** The webhook's configuration changed. */
  async refresh(): Promise<void> {
    if (await this.#webhook.configure()) await this.#finish();
  }

  /** See `enable` in state.ts. */
  async enable(from: "pending" | "now"): Promise<void> {
    if (!(await this.#webhook.configure())) return;
    this.#webhook.set(enable(this.#webhook.current, from, this.#ports.clock.now()));
    this.#waker.reset();
    await this.#finish();
  }

  /** Tries all events that wait, whatever they wait for. */
  async retry(): Promise<"retried" | "webhook_disabled"> {
    if (!(await this.#webhook.configure()) || this.#webhook.state.name === "disabled") return "webhook_disabled";
    this.#webhook.set(retry(this.#webhook.current, this.#ports.clock.now()));
    this.#waker.reset();
    await this.#finish();
    return "retried";
  }

  /** @param act the row of somebody who disables it, for the audit log: stored in the commit of the change */
  async disable(reason: DisabledReason, act?: EndedAct): Promise<void> {
    if (!(await this.#webhook.configure())) return;
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
    if (!(await this.#webhook.configure())) return null;
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
    const config = await this.#webhook.configure();
    return config && this.#pings.run(config.perSecond, () => call(config));
  }

  /** Does what is due: notices, the report of the state, disabling, and waking subscriptions. */
  async run(): Promise<void> {
    if (!(await this.#webhook.configure())) return;
    this.#passTime();
    await this.#notices.flush();
    await this.#stateReport.flush();
    await this.#finish();
  }

  /** When `run` must be called; null if nothing is due. Unix milliseconds. */
  dueAt(): number | null {
    // Without a configuration, everything was deleted.
    if (!this.#webhook.config) return null;
    const wakeAt = this.#waker.dueAt(this.#webhook.config.concurrency);
    const organizationAt = [this.#notices.dueAt(), this.#stateReport.dueAt()];
    const due = [nextChangeAt(this.#webhook.state), ...organizationAt, wakeAt].filter((at) => at !== null);
    return due.length > 0 ? Math.min(...due) : null;
  }

  forget(): void {
    this.#webhook.reset();
    this.#slots.clear();
    this.#waker.reset();
    this.#ended.forget();
    this.#stateReport.forget();
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
    const isOutdated = version < (this.#webhook.config?.filter.version ?? 0);
    if (isOutdated || !isStartValid(state, this.#webhook.state, at)) {
      this.#slots.release(subscriptionId, id);
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
    if (this.#slots.giveBack(subscriptionId, perSecond) || isResumed) this.#slots.freed.announceToOne();
    await this.#finish();
    return { outcome: "changed", filter };
  }

  /** A subscription that skips events takes no slot: it may have no later event, and would keep the slot for 35 s. */
  async #skip(subscriptionId: string, before: number, isResumed: boolean): Promise<WebhookPermitAnswer> {
    this.#slots.giveUp(subscriptionId);
    if (isResumed) this.#slots.freed.announceToOne();
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

  /** Wakes the subscriptions that can start now, and sets the alarm for what remains. */
  async #finish(): Promise<void> {
    // Without a configuration, everything was deleted.
    if (!this.#webhook.config) return;
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
