import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Schemas } from "../api.ts";
import { useGet } from "../organization.ts";
import { Chart, type Series, Sparkline } from "./chart.tsx";
import { Loaded } from "./states.tsx";
import { Tabs } from "./tabs.tsx";

export type History = Schemas["KeyHistory"] | Schemas["ChannelHistory"];

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
export function HistoryChart({ title, of }: HistoryChartProps): JSX.Element {
  const by = useSignal<"hour" | "day">("day");
  const history = useGet("/stats/history", { query: { of, by: by.value } });
  const periods = (
    <Tabs
      label={`Period of ${title}`}
      choices={PERIODS}
      chosen={by.value}
      onChoose={(period) => {
        by.value = period;
      }}
    />
  );
  return (
    <Loaded resource={history} rows={3}>
      {({ history: data }) => (
        <Chart
          title={title}
          by={data.by}
          starts={data.buckets.map(({ start }) => start)}
          series={seriesOf(data)}
          actions={periods}
        />
      )}
    </Loaded>
  );
}

/** A small chart of the last days: the accepted requests of a key, or the messages that a channel sent. */
export function LastDays({ of, label }: { of: string; label: string }): JSX.Element | null {
  const { data } = useGet("/stats/history", { query: { of, by: "day" } });
  const values = data && seriesOf(data.history)[0]?.values.slice(-DAYS);
  return values ? <Sparkline values={values} label={`${label} on each of the last ${DAYS} days`} /> : null;
}

/** What is drawn of a history: a few parts, of which each means something to a person. */
export function seriesOf({ buckets }: History): Series[] {
  const [first] = buckets;
  if (first && "admitted" in first) {
    const ofKey = buckets as Schemas["KeyHistory"]["buckets"];
    return [
      { label: "Accepted", tone: "main", values: ofKey.map(({ admitted }) => admitted) },
      {
        label: "Over a limit",
        tone: "warn",
        values: ofKey.map(({ refused }) => refused.rate_limited + refused.quota_exceeded),
      },
      {
        label: "Refused",
        tone: "bad",
        values: ofKey.map(
          ({ refused }) => refused.invalid_api_key + refused.ip_not_allowed + refused.permission_denied,
        ),
      },
    ];
  }
  const ofChannel = buckets as Schemas["ChannelHistory"]["buckets"];
  return [
    { label: "Sent", tone: "main", values: ofChannel.map(({ attempts }) => attempts.sent) },
    { label: "Tried again", tone: "quiet", values: ofChannel.map(({ attempts }) => attempts.retry + attempts.moved) },
    { label: "Unknown", tone: "warn", values: ofChannel.map(({ attempts }) => attempts.unknown) },
    {
      label: "Failed",
      tone: "bad",
      values: ofChannel.map(({ attempts }) => attempts.failed + attempts.channel_broken),
    },
  ];
}
