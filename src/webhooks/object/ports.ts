import type { Clock } from "../../platform/clock.ts";
import type { AttemptLog } from "./attempt-log.ts";
import type { WebhookConfig } from "./configuration.ts";
import type { FailedEvents } from "./failed-events.ts";
import type { NoticePorts } from "./notices.ts";
import type { Replays } from "./replays.ts";
import type { StateReportPorts } from "./state-report.ts";
import type { WaitingSubscriptions } from "./waiting-subscriptions.ts";

/** What the permits of a webhook need: its storage, the parts that work on it, and calls to others. */
export interface WebhookPermitPorts extends NoticePorts, StateReportPorts {
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
  /** Whether a wake-up now would be a call within too many others. It is not in an alarm. */
  isDeep(): boolean;
  replays: Pick<Replays, "countsWith" | "keep">;
  /** Runs writes that are stored together or, if it throws, not at all. */
  atomically(writes: () => void): void;
  /** Ensures that `run` is called at this time or before. */
  alarmBy(at: number): Promise<void>;
  /** Runs work after the answer of the call that started it. */
  background(work: Promise<unknown>): void;
}
