import type { WebhookAttempt } from "../../model/webhook.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import { reportedClass } from "../subscription/retry.ts";
import type { KnownWebhook } from "./known-webhook.ts";
import type { WebhookPermitPorts } from "./ports.ts";
import type { Slots } from "./slots.ts";
import { webhookAfterAttempt } from "./state.ts";

const MAX_REPORTED = 1_000;

interface Parts {
  ports: WebhookPermitPorts;
  slots: Slots;
  webhook: KnownWebhook;
}

/**
 * The attempts of which subscriptions have reported how they ended. A subscription repeats a report until it is
 * answered.
 */
export class EndedAttempts {
  readonly #parts: Parts;
  readonly #reported = new BoundedMap<string, true>(MAX_REPORTED);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Stores how an attempt ended. Only then is it known: if a write fails, the subscription reports it again. */
  add(attempt: WebhookAttempt): void {
    const { ports, webhook, slots } = this.#parts;
    const { clock, log, failed, waiting, replays } = ports;
    const {
      permit,
      lineId: subscriptionId,
      number,
      eventId,
      outcome,
      first = number,
      replayId,
      retryAfterMs,
    } = attempt;
    // A chat that is deleted and created again counts its events from 1 again. Their ids differ.
    const name = [permit, subscriptionId, first, eventId, outcome, replayId].join(" ");
    if (this.#reported.has(name)) return;
    const now = clock.now();
    const [epoch = "0", kind] = permit.split(".");
    const ended = {
      subscriptionId,
      answer: reportedClass(attempt),
      isGivenUp: outcome === "given_up",
      isProbe: kind === "probe",
      epoch: Number(epoch),
      retryAfterMs,
    };
    const change = webhookAfterAttempt(webhook.current, ended, now);
    const counts = replays.countsWith(attempt);
    const held = slots.held(subscriptionId, permit);
    ports.atomically(() => {
      // Not when it was granted: the request may have been an old one, and then its subscription still waits.
      if (held && held.waiting !== null) waiting.remove(subscriptionId, held.waiting);
      if (outcome === "given_up") failed.add(subscriptionId, [first, number], now);
      else if (outcome === "accepted" && replayId !== null) failed.remove(subscriptionId, number);
      webhook.store(change);
      log.add(attempt, { epoch: ended.epoch, at: now, ...counts });
    });
    this.#reported.set(name, true);
    slots.release(subscriptionId, permit);
    webhook.use(change);
    if (replayId !== null) replays.keep(replayId, counts);
  }

  forget(): void {
    this.#reported.clear();
  }
}
