import type { PingRefusal } from "../../model/webhook.ts";
import type { Clock } from "../../platform/clock.ts";
import { MAX_HOLD_MS, takeStart } from "./pace.ts";
import type { Slots } from "./slots.ts";
import type { WebhookState } from "./state.ts";

/** How far apart pings start unless the webhook works. */
const APART_MS = 1_000;

export interface PingPorts {
  clock: Clock;
  slots: Slots;
  state(): WebhookState;
}

/**
 * The pings of a webhook, one at a time, whatever its state. A ping takes the next start of the webhook's pace but no
 * slot, so that people can also test a receiver that hangs.
 */
export class Pings {
  readonly #ports: PingPorts;
  #isUnderWay = false;
  #lastStartAt = Number.NEGATIVE_INFINITY;

  constructor(ports: PingPorts) {
    this.#ports = ports;
  }

  /** Waits for a start and makes the call, or says when to try again. */
  async run<T>(perSecond: number, call: () => Promise<T>): Promise<T | PingRefusal> {
    const { clock, slots } = this.#ports;
    if (this.#isUnderWay) return { retryAfterMs: APART_MS };
    const now = clock.now();
    const { name } = this.#ports.state();
    const earliest = name === "ok" ? now : Math.max(now, this.#lastStartAt + APART_MS);
    const { at, pace } = takeStart(slots.pace, perSecond, earliest);
    if (at - now > MAX_HOLD_MS) return { retryAfterMs: at - now };
    this.#isUnderWay = true;
    this.#lastStartAt = at;
    slots.pace = pace;
    try {
      if (at > now) await clock.wait(at - now);
      return await call();
    } finally {
      this.#isUnderWay = false;
    }
  }
}
