import type { ChannelNumbers } from "../model/organization.ts";
import { DISABLED_REASONS } from "../model/webhook.ts";
import type { MeasuredOrganization, MetricsPage } from "./metrics.ts";
import { attemptsOf, NO_REFUSALS } from "./stats.ts";

interface Metric {
  type: "gauge" | "counter";
  unit?: string;
  help: string;
}

/** All metrics. A label is an organization, a channel, an outcome or a code, and nothing that people wrote. */
export const METRICS = {
  parley_organization_up: {
    type: "gauge",
    help: "1 if the object of the organization answered, 0 if not. Then the others of the organization are missing.",
  },
  parley_channel_broken: {
    type: "gauge",
    help: "1 if the network refuses the channel, for example for wrong credentials, else 0.",
  },
  parley_waiting_messages: { type: "gauge", help: "Messages that wait for their delivery." },
  parley_oldest_waiting_message_timestamp_seconds: {
    type: "gauge",
    unit: "seconds",
    help: "When the oldest message was sent that still waits. Missing if none waits.",
  },
  parley_delivery_attempts_total: {
    type: "counter",
    help: "Attempts to deliver messages to the network, by their outcome.",
  },
  parley_messages_received_total: { type: "counter", help: "Messages of contacts." },
  parley_new_chats_total: { type: "counter", help: "Chats that began." },
  parley_chats: { type: "gauge", help: "Chats of the channel." },
  parley_unanswered_chats: { type: "gauge", help: "Chats whose contact waits for an answer." },
  parley_webhooks: { type: "gauge", help: "Webhooks of the organization." },
  parley_webhooks_failing: { type: "gauge", help: "Webhooks whose last five calls failed." },
  parley_webhooks_disabled: { type: "gauge", help: "Webhooks that get no calls, by the reason." },
  parley_requests_total: {
    type: "counter",
    help: "Requests of API keys: accepted, or refused with a code. Requests with unknown keys are not counted.",
  },
  parley_quota_used_ratio: {
    type: "gauge",
    unit: "ratio",
    help: "The greatest share of its monthly quota that a key has used. Missing if no key has a quota.",
  },
  parley_metrics_next_page: {
    type: "gauge",
    help: "1 if more organizations follow, whose metrics are on the next page, else 0.",
  },
} as const satisfies Record<`parley_${string}`, Metric>;

type MetricName = keyof typeof METRICS;
type Labels = Partial<Record<"outcome" | "code", string>>;

/** The formats by their media types. Prometheus asks for either. */
export const METRIC_TYPES = {
  "application/openmetrics-text": "application/openmetrics-text; version=1.0.0; charset=utf-8",
  "text/plain": "text/plain; version=0.0.4; charset=utf-8",
} as const;

/** A page in a format. */
export function writeMetrics({ organizations, next }: MetricsPage, type: keyof typeof METRIC_TYPES): string {
  const samples = new Map<MetricName, string[]>();
  const add = (name: MetricName, labels: string, value: number) => {
    const lines = samples.get(name) ?? [];
    lines.push(`${name}${labels && `{${labels}}`} ${value}\n`);
    samples.set(name, lines);
  };
  for (const organization of organizations) addOrganization(organization, add);
  add("parley_metrics_next_page", "", Number(next !== null));
  const isOpen = type === "application/openmetrics-text";
  const families = (Object.entries(METRICS) as [MetricName, Metric][]).map(([name, metric]) =>
    [...headOf(name, metric, isOpen), ...(samples.get(name) ?? [])].join(""),
  );
  return families.join("") + (isOpen ? "# EOF\n" : "");
}

/** In OpenMetrics, a counter's family has the name without `_total`. */
function headOf(name: MetricName, { type, unit, help }: Metric, isOpen: boolean): string[] {
  const family = isOpen ? name.replace(/_total$/, "") : name;
  const unitLine = isOpen && unit ? [`# UNIT ${family} ${unit}\n`] : [];
  return [`# HELP ${family} ${help}\n`, `# TYPE ${family} ${type}\n`, ...unitLine];
}

type Add = (name: MetricName, labels: string, value: number) => void;

function addOrganization({ id, numbers, quotas }: MeasuredOrganization, add: Add): void {
  const organization = `organization="${id}"`;
  add("parley_organization_up", organization, Number(numbers !== null));
  if (!numbers) return;
  const { channels, requests, usedThisMonth, webhooks } = numbers;
  for (const channel of channels) addChannel(channel, `${organization},channel="${channel.id}"`, add);
  add("parley_webhooks", organization, webhooks.all);
  add("parley_webhooks_failing", organization, webhooks.failing);
  for (const code of DISABLED_REASONS)
    add("parley_webhooks_disabled", organization + written({ code }), webhooks.disabled[code] ?? 0);
  add("parley_requests_total", organization + written({ outcome: "accepted" }), requests.admitted);
  for (const [code, count] of Object.entries({ ...NO_REFUSALS, ...requests.refused }))
    add("parley_requests_total", organization + written({ outcome: "refused", code }), count);
  const used = quotas.map(({ id: key, monthlyQuota }) => (usedThisMonth[key] ?? 0) / monthlyQuota);
  if (used.length > 0) add("parley_quota_used_ratio", organization, Math.max(...used));
}

function addChannel(
  { health, depth, oldest, chats, unanswered, attempts }: ChannelNumbers,
  of: string,
  add: Add,
): void {
  add("parley_channel_broken", of, Number(health?.state === "broken"));
  add("parley_waiting_messages", of, depth);
  if (oldest !== null) add("parley_oldest_waiting_message_timestamp_seconds", of, oldest / 1_000);
  for (const [outcome, count] of Object.entries(attemptsOf(attempts)))
    add("parley_delivery_attempts_total", of + written({ outcome }), count);
  add("parley_messages_received_total", of, attempts.received ?? 0);
  add("parley_new_chats_total", of, attempts.newChats ?? 0);
  add("parley_chats", of, chats);
  add("parley_unanswered_chats", of, unanswered);
}

/** Labels behind others. Their values are names of the code, so that nothing must be escaped. */
function written(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `,${name}="${value}"`)
    .join("");
}
