import { ChangeSignal } from "../../platform/object/change-signal.ts";
import { type CallPace, INITIAL_CALL_PACE, PERMIT_MS, reserveStart } from "./pace.ts";
import type { WebhookPermitPorts } from "./ports.ts";

/** A permit that counts until it is reported or too old. */
export interface HeldPermit {
  id: string;
  /** The number under which its subscription waited when it was granted; null if the subscription did not wait. */
  waiting: number | null;
  /** Unix milliseconds. */
  until: number;
}

/** How long a slot is kept for a subscription that was woken. */
const WOKEN_MS = 5_000;

/**
 * The permits of a webhook that count, the subscriptions that were woken, and the starts that are reserved. Only in
 * memory: if the object is lost, its calls may run beside those of the next one for 35 seconds.
 */
export class Slots {
  pace: CallPace = INITIAL_CALL_PACE;
  readonly #permits = new Map<string, HeldPermit>();
  /** Until when each woken subscription has a slot. */
  readonly #woken = new Map<string, number>();
  readonly #reserved = new Map<string, number>();
  readonly #ports: Pick<WebhookPermitPorts, "clock" | "waiting">;
  /** A slot is free for one request, or the webhook changed for all. */
  readonly freed = new ChangeSignal();

  constructor(ports: Pick<WebhookPermitPorts, "clock" | "waiting">) {
    this.#ports = ports;
  }

  /** How many slots subscriptions other than this one have. @param subscriptionId null for all */
  used(subscriptionId: string | null, now: number): number {
    for (const [subscription, { until }] of this.#permits) if (until <= now) this.#permits.delete(subscription);
    for (const [subscription, until] of this.#woken) if (until <= now) this.#woken.delete(subscription);
    const own =
      subscriptionId === null ? 0 : Number(this.#permits.has(subscriptionId)) + Number(this.#woken.has(subscriptionId));
    return this.#permits.size + this.#woken.size - own;
  }

  /** Whether a subscription was woken or has a permit. */
  has(subscriptionId: string): boolean {
    return this.#permits.has(subscriptionId) || this.#woken.has(subscriptionId);
  }

  heldUntil(subscriptionId: string): number | null {
    return this.#permits.get(subscriptionId)?.until ?? null;
  }

  reservedAt(subscriptionId: string): number | null {
    return this.#reserved.get(subscriptionId) ?? null;
  }

  /** When the first slot is free again at the latest; infinity if none is used. */
  nextFreeAt(): number {
    return Math.min(...[...this.#permits.values()].map(({ until }) => until), ...this.#woken.values());
  }

  /** A subscription gets a permit for a call that starts at `at`. */
  take(subscriptionId: string, id: string, at: number, waiting: number | null): HeldPermit {
    const permit = { id, waiting, until: at + PERMIT_MS };
    this.#permits.set(subscriptionId, permit);
    this.#woken.delete(subscriptionId);
    this.#reserved.delete(subscriptionId);
    return permit;
  }

  /** The permit of a subscription; null if the subscription no longer holds it. */
  held(subscriptionId: string, permit: string): HeldPermit | null {
    const held = this.#permits.get(subscriptionId);
    return held?.id === permit ? held : null;
  }

  /** A permit's call ended, or makes no call. A request that waits may take its slot. */
  release(subscriptionId: string, permit: string): void {
    if (this.held(subscriptionId, permit) && this.#permits.delete(subscriptionId)) this.freed.announceToOne();
  }

  /** Reserves a start for a subscription that asks again then. */
  reserve(subscriptionId: string, at: number): void {
    this.#woken.delete(subscriptionId);
    this.#reserved.set(subscriptionId, at);
  }

  /** Keeps a slot and the next start for a subscription that is woken. @param earliest Unix milliseconds */
  reserveForWoken(subscriptionId: string, perSecond: number, earliest: number): void {
    const { at, pace } = reserveStart(this.pace, perSecond, earliest);
    this.pace = pace;
    this.#reserved.set(subscriptionId, at);
    this.#woken.set(subscriptionId, at + WOKEN_MS);
  }

  /** A woken subscription does not use its slot. */
  giveUp(subscriptionId: string): void {
    this.#woken.delete(subscriptionId);
    this.#reserved.delete(subscriptionId);
  }

  /** A woken subscription has nothing to send: others get its slot and its start. @returns whether it had them */
  giveBack(subscriptionId: string, perSecond: number): boolean {
    if (!this.#woken.has(subscriptionId)) return false;
    this.giveUp(subscriptionId);
    this.pace = { ...this.pace, clock: this.pace.clock - 1_000 / perSecond };
    return true;
  }

  /**
   * No reserved start is valid now. Subscriptions that would come back at their starts, up to a minute later, are woken
   * as soon as they can start.
   */
  freeReservations(): void {
    const { clock, waiting } = this.#ports;
    const now = clock.now();
    const later = [...this.#reserved].filter(([subscriptionId, at]) => at > now && !this.#woken.has(subscriptionId));
    this.#reserved.clear();
    this.pace = { ...this.pace, clock: 0 };
    for (const [subscriptionId] of later) waiting.add(subscriptionId);
  }

  clear(): void {
    this.pace = INITIAL_CALL_PACE;
    for (const memory of [this.#permits, this.#woken, this.#reserved]) memory.clear();
  }
}
