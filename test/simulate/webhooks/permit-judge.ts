import type { WebhookAttempt, WebhookPermitAnswer, WebhookPermitRequest } from "../../../src/model/webhook.ts";
import type { WebhookState } from "../../../src/webhooks/object/state.ts";
import { reportedClass } from "../../../src/webhooks/subscription/retry.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { Result } from "../objects/party.ts";
import { LogJudge } from "./log-judge.ts";
import type { WebhookWorld } from "./rules.ts";
import type { SubscriptionsBook } from "./subscriptions-book.ts";

/** How long a permit that is not reported counts. */
const LEASE_MS = 35_000;
const LOST_MS = 36_000;
const FAILURES_IN_A_ROW = 5;
/** The waits before the probes of a failing webhook, as the guide lists them. */
const PROBE_WAITS = [5, 15, 60, 300, 900, 1_800, 3_600].map((seconds) => seconds * 1_000);
const ONE_SUBSCRIPTION_PAUSE_MS = 60_000;
/** A request may wait this long in memory. */
const MAX_HOLD_MS = 1_500;

/** A subscription that did not answer its wake-up in time is not woken again for five minutes at most. */
const WAKE_MS = 10_000;
const AWAY_MS = 300_000;

/** What is known of a webhook's object. */
interface Known {
  /** The permits that count, by subscription, and until when. */
  permits: Map<string, { id: string; until: number }>;
  lastStart: number;
  lostAt: number;
  losses: number;
  /** Since when no call may be granted; null if calls may be. */
  disabledAt: number | null;
  /** The stored state as JSON, and when it changed. */
  state: string;
  changedAt: number;
  epoch: number;
  /** When it last got a fresh start, by its clock. */
  startedAt: number | undefined;
  failures: number;
  reported: Set<string>;
  pausedUntil: number;
  /** When that last grew, and what it was before. */
  paused: { at: number; before: number };
  /** The longest pause that a subscription asked for since the last success. */
  asked: { subscriptionId: string; until: number } | null;
  /** Reports of accepted calls that arrived and may not be applied yet. */
  successes: number;
  /** When each report first arrived at this instance. */
  arrivals: Map<string, number>;
  /** When the last report of an accepted call arrived. */
  succeededAt: number;
  /** When the next probe may start; null if the breaker is not open. */
  probeAt: number | null;
  /** The only subscription that failed since the breaker opened; null if another one failed too. */
  onlyLine: string | null;
  /** How many probes since the breaker opened are known to have failed, without those of the only subscription. */
  failedProbes: number;
  /** The subscription of the last probe that this instance granted. */
  lastProbe: string | null;
  /** Until when each subscription that was woken counts as away; forever until it answers. */
  away: Map<string, number>;
}

/** Checks the permits that the objects of webhooks grant. */
export class PermitJudge {
  readonly #world: WebhookWorld;
  readonly #book: SubscriptionsBook;
  readonly #known = new Map<string, Known>();
  readonly #log: LogJudge;

  constructor(world: WebhookWorld, book: SubscriptionsBook) {
    this.#world = world;
    this.#log = new LogJudge(world);
    this.#book = book;
  }

  /** Whether calls of a lost instance of the webhook's object may be under way. */
  hasLost(webhookId: string): boolean {
    return this.#world.now - this.#of(webhookId).lostAt <= LOST_MS;
  }

  disabledSince(webhookId: string): number | null {
    return this.#of(webhookId).disabledAt;
  }

  deleted(webhookId: string): void {
    this.#of(webhookId).disabledAt ??= this.#world.now;
  }

  /** A call of a webhook's object has arrived. @returns what to do with its answer */
  called(webhook: SimulatedObject, method: string, given: unknown[]): ((value: unknown) => void) | undefined {
    this.#noteLoss(webhook);
    if (method === "report") {
      const report = given[1] as WebhookAttempt;
      const arrivedAt = this.#arrives(webhook, report);
      return () => this.#applied(webhook, report, arrivedAt);
    }
    if (method === "giveBack") {
      const [, subscriptionId, permit] = given as string[];
      this.#givenBack(webhook, subscriptionId, permit);
      return undefined;
    }
    if (method !== "permit") return undefined;
    const request = given[0] as WebhookPermitRequest;
    const { lineId: subscriptionId, report, unused } = request;
    const arrivedAt = report ? this.#arrives(webhook, report) : 0;
    this.#givenBack(webhook, subscriptionId, unused);
    return (value) => {
      this.#noteLoss(webhook);
      if (report) this.#applied(webhook, report, arrivedAt);
      const answer = value as WebhookPermitAnswer;
      this.#world.count(
        `permit: ${answer.outcome}${answer.outcome === "later" && answer.isWaiting ? ", waiting" : ""}`,
      );
      if (answer.outcome === "granted") this.#granted(webhook, subscriptionId, answer.permit);
    };
  }

  /** A webhook's object wakes a subscription. @returns what is told of the answer */
  wakes(webhookId: string, subscriptionId: string): (result: Result) => void {
    const { away } = this.#of(webhookId);
    const { now } = this.#world;
    away.set(subscriptionId, Number.POSITIVE_INFINITY);
    return (result) => {
      const isInTime = "value" in result && this.#world.now - now < WAKE_MS;
      away.set(subscriptionId, isInTime ? 0 : this.#world.now + AWAY_MS);
    };
  }

  /** A webhook's object has committed. */
  committed(webhook: SimulatedObject): void {
    this.#noteLoss(webhook);
    const known = this.#of(webhook.name);
    const state = stateOf(webhook);
    const booked = this.#book.webhooks.get(webhook.name);
    if (booked?.isDeleted) return;
    if (!booked?.isBeingDeleted) this.#log.committed(webhook);
    const text = JSON.stringify(state);
    if (text !== known.state) this.#world.note(() => `${webhook.name} is ${text}`);
    if (text !== known.state) Object.assign(known, { state: text, changedAt: this.#world.now });
    if (state.epoch !== known.epoch)
      Object.assign(known, { epoch: state.epoch, failures: 0, pausedUntil: 0, asked: null });
    // Enabling a webhook ends its pause.
    if (state.startedAt !== known.startedAt) Object.assign(known, { pausedUntil: 0, asked: null });
    known.startedAt = state.startedAt;
    if (state.name === "disabled") known.disabledAt ??= this.#world.now;
    else known.disabledAt = null;
    if (!state.probes) Object.assign(known, { lastProbe: null, failedProbes: 0 });
    else if (state.probes.probeAt !== known.probeAt) this.#checkProbePlan(webhook, state.probes.probeAt);
    if (state.probes && known.probeAt === null) known.onlyLine = state.probes.onlyLine ?? null;
    known.probeAt = state.probes?.probeAt ?? null;
    this.#world.count(`state: ${state.name}`);
    if (booked?.isBeingDeleted) return;
    const waiting = webhook.storage.read("waiting", "select 1 from waiting limit 1").length;
    const willRing = webhook.storage.alarm !== null || webhook.isRinging;
    const isFine = state.name === "disabled" || waiting === 0 || willRing;
    this.#world.check("alarm", isFine, () => `${webhook.name} has no alarm, and subscriptions wait for it`);
  }

  #givenBack(webhook: SimulatedObject, subscriptionId = "", permit = ""): void {
    const { permits } = this.#of(webhook.name);
    if (permits.get(subscriptionId)?.id === permit) permits.delete(subscriptionId);
  }

  #checkProbePlan(webhook: SimulatedObject, probeAt: number): void {
    const { failedProbes } = this.#of(webhook.name);
    const wait = PROBE_WAITS[Math.min(failedProbes, PROBE_WAITS.length - 1)] ?? 0;
    const text = () => `${webhook.name} makes probe ${failedProbes + 1} after ${probeAt - webhook.now} ms, not ${wait}`;
    this.#world.check("probe", probeAt - webhook.now >= wait, text);
  }

  #granted(webhook: SimulatedObject, subscriptionId: string, id: string): void {
    const world = this.#world;
    const { name, now } = webhook;
    const known = this.#of(name);
    world.note(() => `${name} grants ${subscriptionId} the permit ${id}`);
    const config = this.#book.webhooks.get(name);
    if (!config || config.isDeleted) return;
    // A state that changed in the same turn may have changed after the grant.
    const isNew = known.changedAt === world.now;
    const state = stateOf(webhook);
    world.check("disabled", isNew || state.name !== "disabled", () => `${name} is disabled and grants a permit`);
    for (const [subscription, { until }] of known.permits) if (until <= now) known.permits.delete(subscription);
    const own = known.permits.get(subscriptionId);
    world.check("single", own === undefined, () => `${name} grants ${subscriptionId} a second permit`);
    const slots = state.probes || state.name === "trial" ? 1 : config.concurrency;
    const used = known.permits.size + 1;
    world.check(
      "concurrency",
      used <= (isNew ? config.concurrency : slots),
      () => `${name}, which is ${state.name}, grants ${used} permits at a time`,
    );
    const apart = now - known.lastStart;
    world.check("pace", apart >= 1_000 / config.perSecond - 2, () => `${name} grants two permits ${apart} ms apart`);
    // A pause that was asked for in the same turn may have begun after the grant. A short one is not stored.
    const pausedUntil = known.paused.at === world.now ? known.paused.before : known.pausedUntil;
    const isOver = isNew || known.successes > 0 || world.now >= pausedUntil;
    world.check("pause", isOver, () => `${name} grants a permit ${pausedUntil - world.now} ms early`);
    // A call that was granted before the state changed is not a probe.
    if (isNew) known.lastProbe = id.includes(".probe.") ? subscriptionId : known.lastProbe;
    else if (state.probes) this.#probed(webhook, subscriptionId, state.probes.probeAt);
    known.permits.set(subscriptionId, { id, until: now + LEASE_MS });
    known.lastStart = now;
  }

  #probed(webhook: SimulatedObject, subscriptionId: string, probeAt: number): void {
    const world = this.#world;
    const known = this.#of(webhook.name);
    world.count("a probe");
    world.check("probe", webhook.now >= probeAt, () => `${webhook.name} is probed ${probeAt - webhook.now} ms early`);
    if (known.lastProbe === subscriptionId) {
      const waiting = webhook.storage.read<{ line: string }>(
        "waiting",
        "select line from waiting where line <> ? and place < ?",
        ...[subscriptionId, webhook.now - MAX_HOLD_MS],
      );
      const others = waiting.filter(({ line }) => (known.away.get(line) ?? 0) <= world.now);
      world.check(
        "probe",
        others.length === 0,
        () => `${subscriptionId} probes ${webhook.name} again, while others wait`,
      );
    }
    known.lastProbe = subscriptionId;
  }

  /** A report has arrived, and will be applied, unless it was before. @returns when it first arrived */
  #arrives(webhook: SimulatedObject, report: WebhookAttempt): number {
    const { lineId: subscriptionId, permit, outcome } = report;
    const known = this.#of(webhook.name);
    if (known.permits.get(subscriptionId)?.id === permit) known.permits.delete(subscriptionId);
    if (outcome === "accepted") {
      Object.assign(known, { failures: 0, pausedUntil: 0, asked: null, succeededAt: this.#world.now });
      known.successes++;
    }
    const name = nameOf(report);
    const arrivedAt = known.arrivals.get(name) ?? this.#world.now;
    known.arrivals.set(name, arrivedAt);
    return arrivedAt;
  }

  /** A report was applied and committed. */
  #applied(webhook: SimulatedObject, report: WebhookAttempt, arrivedAt: number): void {
    // Without a configuration, the object ignores reports.
    if (this.#book.webhooks.get(webhook.name)?.isBeingDeleted) return;
    this.#log.answered(webhook, report);
    const known = this.#of(webhook.name);
    const { permit, retryAfterMs, outcome, lineId: subscriptionId } = report;
    if (outcome === "accepted") {
      Object.assign(known, { failures: 0, pausedUntil: 0, asked: null });
      known.successes = Math.max(0, known.successes - 1);
    }
    const name = nameOf(report);
    if (known.reported.has(name)) return;
    known.reported.add(name);
    const state = stateOf(webhook);
    if (permit.split(".")[0] !== String(state.epoch) || state.name === "disabled") return;
    if (reportedClass(report) !== "unavailable") return;
    // A permit can be answered long after its report was applied. A success since then counts from 0 again.
    if (arrivedAt > known.succeededAt) known.failures++;
    if (state.probes && permit.includes(".probe.") && subscriptionId !== known.onlyLine) {
      known.onlyLine = null;
      known.failedProbes++;
    }
    const isOpen = known.failures < FAILURES_IN_A_ROW || state.probes !== null;
    this.#world.check("breaker", isOpen, () => `${webhook.name} is ${state.name} after ${known.failures} failures`);
    if (retryAfterMs === null) return;
    this.#world.count("a pause");
    const until = arrivedAt + retryAfterMs;
    const { asked } = known;
    // A subscription alone pauses the webhook for a minute at most, two for as long as both asked.
    const isLatest = arrivedAt > known.succeededAt;
    const agreed = isLatest && asked && asked.subscriptionId !== subscriptionId ? Math.min(asked.until, until) : 0;
    const before = known.paused.at === this.#world.now ? known.paused.before : known.pausedUntil;
    known.paused = { at: this.#world.now, before };
    known.pausedUntil = Math.max(known.pausedUntil, Math.min(until, arrivedAt + ONE_SUBSCRIPTION_PAUSE_MS), agreed);
    if (isLatest && (!asked || until >= asked.until)) known.asked = { subscriptionId, until };
  }

  #noteLoss(webhook: SimulatedObject): void {
    const known = this.#of(webhook.name);
    if (known.losses === webhook.losses) return;
    if (known.permits.size > 0 || webhook.losses > 0) known.lostAt = this.#world.now;
    known.losses = webhook.losses;
    known.permits.clear();
    known.lastStart = Number.NEGATIVE_INFINITY;
    known.lastProbe = null;
    known.pausedUntil = 0;
    known.asked = null;
    known.successes = 0;
    known.arrivals.clear();
  }

  #of(webhookId: string): Known {
    let known = this.#known.get(webhookId);
    if (!known) {
      known = {
        permits: new Map(),
        lastStart: Number.NEGATIVE_INFINITY,
        lostAt: Number.NEGATIVE_INFINITY,
        losses: 0,
        disabledAt: null,
        state: "",
        changedAt: 0,
        epoch: 1,
        startedAt: undefined,
        failures: 0,
        reported: new Set(),
        pausedUntil: 0,
        paused: { at: 0, before: 0 },
        asked: null,
        successes: 0,
        arrivals: new Map(),
        succeededAt: Number.NEGATIVE_INFINITY,
        probeAt: null,
        onlyLine: null,
        failedProbes: 0,
        lastProbe: null,
        away: new Map(),
      };
      this.#known.set(webhookId, known);
    }
    return known;
  }
}

function nameOf({ permit, lineId: subscriptionId, number, replayId }: WebhookAttempt): string {
  return [permit, subscriptionId, number, replayId].join(" ");
}

type KnownState = Pick<WebhookState, "name" | "epoch" | "probes" | "pausedUntil" | "skipBefore" | "startedAt">;
const FIRST_STATE: KnownState = { name: "trial", epoch: 1, probes: null, pausedUntil: 0, skipBefore: null };

/** The state that a webhook's object has stored. */
export function stateOf(webhook: SimulatedObject): KnownState {
  return webhook.storage.get<WebhookState>("state") ?? FIRST_STATE;
}
