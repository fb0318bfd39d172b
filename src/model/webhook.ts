import type { EventFact, EventType } from "./event.ts";

/**
 * The values that pass between the Worker, the objects with subscriptions (chats, and organizations for their own
 * events) and a webhook's object. After a release, only add optional fields: during a deploy the callers run different
 * versions for minutes.
 */

/** `full`: an event has its message or chat. `thin`: only ids and facts. */
export const PAYLOADS = ["full", "thin"] as const;
export type Payload = (typeof PAYLOADS)[number];

/** Which events a webhook gets. `version` grows with each change of its configuration. */
export interface WebhookFilter {
  id: string;
  version: number;
  /** Types, or families such as `message.*`; null for all. */
  types: string[] | null;
  /** Ids of channels; null for all. */
  channels: string[] | null;
}

/** An organization's webhooks. `version` changes with each of them. */
export interface WebhookList {
  version: string;
  webhooks: WebhookFilter[];
}

/**
 * A subscription's request to make one attempt. A subscription is what one chat sends to one webhook, and has the
 * chat's id; the organization's own events have a subscription with the organization's id, and the notices of its
 * webhooks another one.
 *
 * Subscriptions were first named lines. Their first name stays in what is stored (`line <webhookId>` in the owner; the
 * columns `line`, `gone_lines`, `lineId`, `lastLine` and `onlyLine` in the webhook's object), in calls between objects
 * (`lineId`, `lineGone`, `webhookLine`, `no_line`) and in the log.
 */
export interface WebhookPermitRequest {
  webhookId: string;
  lineId: string;
  /** The event's number. */
  number: number;
  /** When the event happened, Unix milliseconds. */
  at: number;
  /** The version of the filter that the subscription applies. */
  version: number;
  /** Null unless the attempt belongs to a replay. */
  replayId: string | null;
  /** How the subscription's last attempt ended, if that was not reported yet. */
  report: WebhookAttempt | null;
  /**
   * A permit that the subscription got but did not use, and gives back. Without it, the next permit may have to wait
   * for 35 s.
   */
  unused?: string;
  /** How many calls of objects, one within the other, this one is; see `StandingAlarm`. Older versions don't say it. */
  depth?: number;
}

/**
 * `granted`: call the webhook now. The secrets come with each permit; no subscription stores them. `later`: ask again
 * after `waitMs`; `isWaiting` if the webhook's object will wake the subscription. `skip`: the webhook was enabled
 * without its pending events; the subscription skips those that happened before this time, Unix milliseconds.
 * `changed`: the subscription has an old filter. `gone`: the webhook was deleted.
 */
export type WebhookPermitAnswer =
  | { outcome: "granted"; permit: string; url: string; secrets: string[]; payload: Payload }
  | { outcome: "later"; waitMs: number; isWaiting: boolean; number: number }
  | { outcome: "skip"; before: number }
  | { outcome: "changed"; filter: WebhookFilter }
  | { outcome: "gone" };

/** What an attempt's answer means for its event. */
export const ATTEMPT_OUTCOMES = ["accepted", "retry", "given_up"] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** The first and the last number of successive events of a subscription. */
export type EventRange = [first: number, last: number];

/** How an attempt ended, or that events were given up without a call. */
export interface WebhookAttempt {
  /** The permit that it used; empty if events were given up without a permit. */
  permit: string;
  lineId: string;
  number: number;
  /**
   * Absent for one event. Set if the subscription gave up all matching events from `first` to `number` at once, without
   * a call.
   */
  first?: number;
  eventId: string;
  eventType: EventType;
  replayId: string | null;
  /** Unix milliseconds. */
  startedAt: number;
  durationMs: number;
  outcome: AttemptOutcome;
  /** Null if there was no answer. */
  httpStatus: number | null;
  /** Stable, for programs: `ok`, `timeout`, `connection`, `redirect`, `http_<status>`, `expired`, `skipped`, … */
  code: string;
  /** For people. */
  message: string;
  /** How long the receiver asked to wait, in Retry-After. */
  retryAfterMs: number | null;
}

/**
 * `trial`: one call at a time until the first 2xx. `ok`: the last calls worked. `failing`: five calls in a row failed;
 * only probes are made. `disabled`: no calls.
 */
export const WEBHOOK_STATES = ["trial", "ok", "failing", "disabled"] as const;
export type WebhookStateName = (typeof WEBHOOK_STATES)[number];

/** `failing`: no 2xx for five days. `gone`: the receiver answered 410. The others name who disabled the webhook. */
export const DISABLED_REASONS = ["failing", "gone", "customer", "operator"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** What an organization knows of a webhook's state. `at`: when it was reported, Unix milliseconds. */
export interface ReportedWebhookState {
  /** `ok` stands for `trial` too. */
  state: "ok" | "failing" | "disabled";
  /** Null unless it is disabled. */
  reason: DisabledReason | null;
  at: number;
}

/** How many webhooks there are, how many of them fail, and how many are disabled, by the reason. */
export interface WebhookCounts {
  all: number;
  failing: number;
  disabled: Partial<Record<DisabledReason, number>>;
}

/** What a webhook's object knows of it. Times are Unix milliseconds. */
export interface WebhookDescription {
  state: WebhookStateName;
  /** Null unless it is disabled. */
  reason: DisabledReason | null;
  /** Since when it has this state; of `failing`, when the first of the failures in a row ended. */
  since: number;
  /** When it will be disabled; null unless it is failing. */
  disablesAt: number | null;
  /** The receiver asked for a pause until then; absent or null without one. */
  pausedUntil?: number | null;
  waitingChats: number;
  /** How many events were given up. */
  failed: number;
  lastSuccessAt: number | null;
}

/** An attempt, as the list of attempts shows it. */
export type LoggedAttempt = Omit<WebhookAttempt, "permit" | "retryAfterMs" | "first">;

/** A ping that was not made, because others are under way or were made just now. */
export interface PingRefusal {
  retryAfterMs: number;
}

export interface AttemptFilter {
  outcome?: AttemptOutcome | undefined;
  lineId?: string | undefined;
}

/** A page of attempts, newest first. `cursor` continues the list; null if nothing follows. */
export interface AttemptPage {
  attempts: LoggedAttempt[];
  cursor: string | null;
}

/** Which events are sent again: one, those that were given up, or those of a period. Times are Unix milliseconds. */
export type ReplayRequest = { eventId: string } | { failed: true } | { since: number; until?: number | undefined };

/** `found`: how many events are replayed. `sent`: how many of them were accepted. */
export interface ReplayProgress {
  id: string;
  state: "running" | "done";
  found: number;
  sent: number;
}

/** How many events of a replay a subscription has not sent yet. */
export interface ReplayLeft {
  id: string;
  left: number;
}

/** `event_not_found`: no chat has the event, or the webhook's filter does not match it. */
export type ReplayAnswer =
  | { outcome: "started"; replay: ReplayProgress }
  | { outcome: "replay_running" | "webhook_disabled" | "event_not_found" };

/** An attempt as the owner keeps it. `response` is the beginning of the answer's body; null if there is none. */
export interface SubscriptionAttempt extends Omit<WebhookAttempt, "permit" | "lineId" | "retryAfterMs" | "first"> {
  response: string | null;
}

/** A subscription as people see it. Times are Unix milliseconds. */
export interface SubscriptionDescription {
  /** How many events wait, including the first. */
  pending: number;
  /** The event that must be accepted or given up before later ones are sent; null if none waits. */
  head: { eventId: string; number: number; eventType: EventFact["type"]; tries: number } | null;
  /** Null if no event waits, or if the webhook's object decides. */
  nextAttemptAt: number | null;
  /** Newest first. */
  attempts: SubscriptionAttempt[];
}
