import type { Event } from "../../model/event.ts";
import type { Payload, PingRefusal, WebhookAttempt } from "../../model/webhook.ts";
import type { Clock } from "../../platform/clock.ts";
import { attemptRecord } from "../subscription/attempt-record.ts";
import { type CallHost, callWebhook } from "../subscription/call-webhook.ts";
import type { KnownWebhook } from "./known-webhook.ts";
import { MAX_HOLD_MS, takeStart } from "./pace.ts";
import type { Slots } from "./slots.ts";

/** Minimum time between the starts of two pings, unless the webhook works. */
const APART_MS = 1_000;

/**
 * The pings of a webhook, one at a time, whatever its state. A ping takes the next start of the webhook's pace but no
 * slot, so that people can also test a receiver that hangs.
 */
export class Pings {
  readonly #clock: Clock;
  readonly #slots: Slots;
  readonly #webhook: KnownWebhook;
  #isUnderWay = false;
  #lastStartAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, slots: Slots, webhook: KnownWebhook) {
    this.#clock = clock;
    this.#slots = slots;
    this.#webhook = webhook;
  }

  /** Waits for a start and makes the call, or says when to try again. */
  async run<T>(perSecond: number, call: () => Promise<T>): Promise<T | PingRefusal> {
    if (this.#isUnderWay) return { retryAfterMs: APART_MS };
    const now = this.#clock.now();
    const { name } = this.#webhook.state;
    const earliest = name === "ok" ? now : Math.max(now, this.#lastStartAt + APART_MS);
    const { at, pace } = takeStart(this.#slots.pace, perSecond, earliest);
    if (at - now > MAX_HOLD_MS) return { retryAfterMs: at - now };
    this.#isUnderWay = true;
    this.#lastStartAt = at;
    this.#slots.pace = pace;
    try {
      if (at > now) await this.#clock.wait(at - now);
      return await call();
    } finally {
      this.#isUnderWay = false;
    }
  }
}

export interface PingTarget {
  webhookId: string;
  organizationId: string;
  url: string;
  secrets: string[];
  payload: Payload;
}

/** Calls a webhook once with an event, and waits for its answer. Never throws because of the receiver. */
export async function pingWebhook(
  ports: Omit<CallHost, "render" | "redactions" | "eventId">,
  { webhookId, organizationId, ...target }: PingTarget,
  event: Event,
): Promise<WebhookAttempt> {
  const fact = { number: 1, type: event.type, seq: null, note: null, at: ports.clock.now() };
  const host = { ...ports, render: async () => JSON.stringify(event), redactions: () => 0, eventId: () => event.id };
  const permit = { outcome: "granted", permit: "", ...target } as const;
  const call = { webhookId, fact, previous: null, replayId: null, attempt: 1, permit };
  const result = await callWebhook(host, call, () => true);
  // Not for a sample, which is always there, and may always start.
  if (result === "gone" || result === "stopped") throw new Error(`a ping of ${webhookId} was ${result}`);
  const outcome = result.class === "accepted" ? "accepted" : "given_up";
  const sample = { subscriptionId: organizationId, eventId: event.id, fact, replayId: null };
  return attemptRecord(sample, { ...result, outcome, permit: "" });
}
