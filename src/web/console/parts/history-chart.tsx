import { useSignal } from "@preact/signals";
import type { Schemas } from "../api.ts";
import { plural } from "../format.ts";
import { useGet } from "../organization.ts";
import { Chart, type Series, Sparkline } from "./chart.tsx";
import { Loaded } from "./loaded.tsx";
import { Tabs } from "./tabs.tsx";

type History = Schemas["KeyHistory"] | Schemas["ChannelHistory"];

const utcDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const hour = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "numeric", minute: "2-digit" });

const PERIODS = [
  { value: "day", label: "92 days" },
  { value: "hour", label: "48 hours" },
] as const;
const DAYS = 30;

interface HistoryChartProps {
  title: string;
  /** The id of a key or of a channel. */
  of: string;
}

/** The requests of a key or the attempts of a channel, by the hour or the day. */
export function HistoryChart({ title, of }: HistoryChartProps) {
  const by = useSignal<"hour" | "day">("day");
  const loaded = useGet("/stats/history", { query: { of, by: by.value } });
  const periods = (
    <Tabs label={`Period of ${title}`} choices={PERIODS} chosen={by.value} onChoose={(period) => (by.value = period)} />
  );
  return (
    <Loaded resource={loaded} rows={3}>
      {({ history }) => (
        <Chart title={title} {...barsOf(history)} series={seriesOf(history as History)} actions={periods} />
      )}
    </Loaded>
  );
}

/** A small chart of the last days: the accepted requests of a key, or the messages that a channel sent. */
export function LastDays({ of, label }: { of: string; label: string }) {
  const { data } = useGet("/stats/history", { query: { of, by: "day" } });
  const values = data && seriesOf(data.history as History)[0]?.values.slice(-DAYS);
  return values ? <Sparkline values={values} label={`${label} on each of the last ${DAYS} days`} /> : null;
}

/** What the bars of a history are called. Hours are those here; days are in UTC, which is how the service counts them. */
export function barsOf({ by, buckets }: { by: "hour" | "day"; buckets: { start: string }[] }) {
  const format = by === "day" ? utcDay : hour;
  return {
    unit: by === "day" ? "Day (UTC)" : "Hour",
    names: buckets.map(({ start }) => format.format(Date.parse(start))),
    inFile: buckets.map(({ start }) => start),
    span: `Last ${plural(buckets.length, by)}`,
    isOverTime: true,
  };
}

/** What is counted of a key: what each number means to a person, and the color of its bars. */
export const KEY_PARTS = [
  { label: "Accepted", tone: "good" },
  { label: "Over a limit", tone: "warn" },
  { label: "Refused", tone: "failed" },
] as const;

/** What is counted of a channel. */
export const CHANNEL_PARTS = [
  { label: "Sent", tone: "good" },
  { label: "Received", tone: "received" },
  { label: "Tried again", tone: "quiet" },
  { label: "Unknown", tone: "warn" },
  { label: "Failed", tone: "failed" },
] as const;

type Counts =
  | Pick<Schemas["KeyStats"], "admitted" | "refused">
  | Pick<Schemas["ChannelStats"], "attempts" | "received">;

/** The numbers of a key or a channel, in the order of its parts. */
export function numbersOf(counts: Counts): number[] {
  if ("attempts" in counts) {
    const { sent, retry, moved, unknown, failed, channel_broken } = counts.attempts;
    return [sent, counts.received, retry + moved, unknown, failed + channel_broken];
  }
  const { rate_limited, quota_exceeded, invalid_api_key, ip_not_allowed, permission_denied } = counts.refused;
  return [counts.admitted, rate_limited + quota_exceeded, invalid_api_key + ip_not_allowed + permission_denied];
}

function seriesOf({ buckets }: History): Series[] {
  const numbers = buckets.map(numbersOf);
  const parts = buckets[0] && "attempts" in buckets[0] ? CHANNEL_PARTS : KEY_PARTS;
  return parts.map((part, n) => ({ ...part, values: numbers.map((counts) => counts[n] ?? 0) }));
}
