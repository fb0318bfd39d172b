import type { Schemas } from "../api.ts";

export type Webhook = Schemas["Webhook"];
export type Attempt = Schemas["WebhookAttempt"];

export const STATES: Record<Webhook["state"], { label: string; tone: "good" | "bad" | "warn" | "quiet" }> = {
  ok: { label: "Works", tone: "good" },
  trial: { label: "Not verified yet", tone: "quiet" },
  failing: { label: "Failing", tone: "bad" },
  disabled: { label: "Disabled", tone: "quiet" },
};

/** Why a webhook is disabled. */
export const REASONS: Record<NonNullable<Webhook["reason"]>, string> = {
  failing: "No call succeeded for five days.",
  gone: "The server answered 410 (Gone), so Parley stopped calling it.",
  customer: "A member or a key disabled it.",
  operator: "The operator disabled it.",
};

export const OUTCOMES: Record<Attempt["outcome"], { label: string; tone: "good" | "bad" | "warn" }> = {
  accepted: { label: "Accepted", tone: "good" },
  retry: { label: "Failed", tone: "warn" },
  given_up: { label: "Given up", tone: "bad" },
};

/** The families and types that a webhook can get. */
export const EVENT_CHOICES = [
  "message.*",
  "message.received",
  "message.created",
  "message.status",
  "message.scheduled",
  "message.redacted",
  "chat.*",
  "note.*",
  "channel.*",
  "webhook.*",
] as const satisfies NonNullable<Schemas["NewWebhook"]["types"]>;

/** The host and path of a URL, which is what tells webhooks apart. */
export function shortUrl(url: string): string {
  return url.replace(/^https?:\/\//, "");
}
