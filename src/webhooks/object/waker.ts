import { type Backoff, doublingMs } from "../../platform/backoff.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import { withDeadline } from "../../platform/deadline.ts";
import { causeOf } from "../../platform/log.ts";
import type { KnownWebhook } from "./known-webhook.ts";
import { MAX_HOLD_MS, slotsOf, wakeFrom } from "./pace.ts";
import type { WebhookPermitPorts } from "./ports.ts";
import type { Slots } from "./slots.ts";

/** When a subscription that did not answer is woken again. */
const AGAIN: Backoff = { firstMs: 15_000, maxMs: 300_000 };
/** Until then a subscription must answer. */
const CALL_MS = 10_000;
const AT_ONCE = 20;
const MAX_UNREACHABLE = 1_000;
/** How many wake-ups may fail in a second. Each failure frees a slot for the next, so thousands would fail in a loop. */
const MAX_FAILED = AT_ONCE;
const FAILED_WITHIN_MS = 1_000;

interface Parts {
  ports: WebhookPermitPorts;
  slots: Slots;
  webhook: KnownWebhook;
  /** A subscription was woken, or did not answer. */
  woken(): Promise<void>;
}

/**
 * Wakes the subscriptions that wait for a webhook, in the order in which they began to wait, and only as many as can
 * start.
 */
export class Waker {
  readonly #parts: Parts;
  /** Subscriptions that did not answer: how often, and when they may be woken again. */
  readonly #unreachable = new BoundedMap<string, { tries: number; nextAt: number }>(MAX_UNREACHABLE);
  /** The subscriptions that have not answered a wake-up yet. */
  readonly #underWay = new Set<string>();
  /** The wake-ups that failed within a second, and when the first of them did. */
  #failed = { since: 0, count: 0 };
  /** Whether all subscriptions that wait were woken already or did not answer. */
  #isNoneLeft = false;
  /** Whether subscriptions wait only because a wake-up would have been too deep. */
  #isForAlarm = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  wake(): void {
    const { ports, slots, webhook } = this.#parts;
    const { clock, waiting } = ports;
    this.#isNoneLeft = false;
    for (;;) {
      const limits = webhook.config;
      this.#isForAlarm = false;
      if (!limits || !this.#canWake(limits.concurrency)) return;
      this.#isForAlarm = ports.isDeep();
      if (this.#isForAlarm) return;
      const { probes } = webhook.state;
      const isBusy = (subscriptionId: string) => slots.has(subscriptionId) || this.#isAway(subscriptionId);
      // The subscription of the last probe only makes another one if no other waits.
      const other = probes?.lastLine
        ? waiting.next((subscriptionId) => subscriptionId === probes.lastLine || isBusy(subscriptionId))
        : null;
      const subscription = other ?? waiting.next(isBusy);
      this.#isNoneLeft = !subscription;
      if (!subscription) return;
      this.#underWay.add(subscription.subscriptionId);
      slots.reserveForWoken(
        subscription.subscriptionId,
        limits.perSecond,
        Math.max(clock.now(), webhook.state.pausedUntil),
      );
      ports.background(this.#wake(subscription.subscriptionId, subscription.number));
    }
  }

  /**
   * Whether a subscription other than this one waits and can be woken. A subscription that does not answer does not
   * count: the last subscription would leave the probe to it, be woken in its place, and leave it again, endlessly.
   */
  canWakeOther(subscriptionId: string): boolean {
    const away = [...this.#underWay, ...this.#unreachable.keys()].filter((other) => this.#isAway(other));
    return this.#parts.ports.waiting.hasOthers([subscriptionId, ...away]);
  }

  /** When subscriptions can be woken next, unless a report wakes them before; null if none waits. */
  dueAt(concurrency: number): number | null {
    const { ports, slots, webhook } = this.#parts;
    const { clock, waiting } = ports;
    const now = clock.now();
    const { state } = webhook;
    const at = wakeFrom(state, slots.pace);
    if (at === null || !waiting.hasAny()) return null;
    const isFree = slots.used(null, now) < slotsOf(state, concurrency, Math.max(now, at));
    const freeAt = Math.max(isFree ? now : slots.nextFreeAt(), this.#restsUntil(now));
    if (this.#isNoneLeft) return Math.max(at, freeAt, now + AGAIN.firstMs);
    // Not more often than once a second, because an alarm is a write.
    return Math.max(at, freeAt, state.probes || this.#isForAlarm ? now : now + MAX_HOLD_MS);
  }

  /** Subscriptions that did not answer are woken again now. Call also after all storage was deleted. */
  reset(): void {
    this.#unreachable.clear();
    this.#failed = { since: 0, count: 0 };
  }

  /** Until when nobody is woken, because too many wake-ups failed; 0 if that is over. A clock can be set back. */
  #restsUntil(now: number): number {
    const { since, count } = this.#failed;
    const isWithin = now >= since && now < since + FAILED_WITHIN_MS;
    return isWithin && count >= MAX_FAILED ? since + FAILED_WITHIN_MS : 0;
  }

  #countFailed(now: number): void {
    const isWithin = now >= this.#failed.since && now < this.#failed.since + FAILED_WITHIN_MS;
    this.#failed = isWithin ? { ...this.#failed, count: this.#failed.count + 1 } : { since: now, count: 1 };
  }

  /** Whether a subscription has not answered its wake-up, or is not woken again yet because it did not. */
  #isAway(subscriptionId: string): boolean {
    return (
      this.#underWay.has(subscriptionId) ||
      (this.#unreachable.get(subscriptionId)?.nextAt ?? 0) > this.#parts.ports.clock.now()
    );
  }

  #canWake(concurrency: number): boolean {
    const { ports, slots, webhook } = this.#parts;
    const now = ports.clock.now();
    const { state } = webhook;
    const at = wakeFrom(state, slots.pace);
    const isDue = at !== null && now >= at && this.#underWay.size < AT_ONCE && this.#restsUntil(now) === 0;
    return isDue && slots.used(null, now) < slotsOf(state, concurrency, now);
  }

  async #wake(subscriptionId: string, number: number): Promise<void> {
    const { ports, slots, webhook } = this.#parts;
    const { clock, waiting } = ports;
    try {
      const { startedAt = 0 } = webhook.state;
      const wake = () => ports.wakeSubscription(subscriptionId, number, startedAt);
      const answer = await withDeadline(clock, CALL_MS, wake);
      // Unless the subscription asked again meanwhile and got no permit, which raised its number.
      if (webhook.config) waiting.remove(subscriptionId, number);
      // It will not ask. Thousands of deleted chats must not keep a slot for five seconds each.
      if (answer === null) slots.giveBack(subscriptionId, webhook.config?.perSecond ?? 1);
      this.#unreachable.delete(subscriptionId);
    } catch (error) {
      // The subscription keeps its row.
      slots.giveUp(subscriptionId);
      this.#countFailed(clock.now());
      const tries = (this.#unreachable.get(subscriptionId)?.tries ?? 0) + 1;
      this.#unreachable.set(subscriptionId, { tries, nextAt: clock.now() + doublingMs(AGAIN, tries - 1) });
      ports.warn({ event: "line_not_woken", lineId: subscriptionId, tries, error: causeOf(error) });
    } finally {
      this.#underWay.delete(subscriptionId);
    }
    await this.#parts.woken();
  }
}
