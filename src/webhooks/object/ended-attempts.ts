import type { WebhookAttempt } from "../../model/webhook.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { Clock } from "../../platform/clock.ts";
import { reportedClass } from "../subscription/retry.ts";
import type { AttemptLog } from "./attempt-log.ts";
import type { FailedEvents } from "./failed-events.ts";
import type { KnownWebhook } from "./known-webhook.ts";
import type { Replays } from "./replays.ts";
import type { Slots } from "./slots.ts";
import { webhookAfterAttempt } from "./state.ts";
import type { WaitingSubscriptions } from "./waiting-subscriptions.ts";

const MAX_REPORTED = 1_000;

interface EndedAttemptsHost {
  ports: {
    clock: Pick<Clock, "now">;
    log: Pick<AttemptLog, "add">;
    failed: Pick<FailedEvents, "add" | "remove">;
    waiting: Pick<WaitingSubscriptions, "remove">;
    replays: Pick<Replays, "countsWith" | "keep">;
    /** Runs writes that are stored together or, if it throws, not at all. */
    atomically(writes: () => void): void;
  };
  webhook: KnownWebhook;
  slots: Slots;
  /** Frees the slot of a permit. */
  release(subscriptionId: string, permit: string): void;
}

/**
 * The attempts of which subscriptions have reported how they ended. A subscription repeats a report until it is
 * answered.
 */
export class EndedAttempts {
  readonly #host: EndedAttemptsHost;
  readonly #reported = new BoundedMap<string, true>(MAX_REPORTED);

  constructor(host: EndedAttemptsHost) {
    this.#host = host;
  }

  /** Stores how an attempt ended. Only then is it known: if a write fails, the subscription reports it again. */
  add(attempt: WebhookAttempt): void {
    const { ports, webhook, slots } = this.#host;
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
    this.#host.release(subscriptionId, permit);
    webhook.use(change);
    if (replayId !== null) replays.keep(replayId, counts);
  }

  forget(): void {
    this.#reported.clear();
  }
}
