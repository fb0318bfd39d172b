import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Schemas } from "../api.ts";
import { usePlace } from "../organization.ts";
import { useResource } from "../resource.ts";
import { Chart, type Series } from "./chart.tsx";
import { Loaded } from "./states.tsx";

export type History = Schemas["KeyHistory"] | Schemas["ChannelHistory"];

interface HistoryChartProps {
  title: string;
  /** The id of a key or of a channel. */
  of: string;
}

/** The requests of a key or the attempts of a channel, by the hour or the day. */
export function HistoryChart({ title, of }: HistoryChartProps): JSX.Element {
  const { api } = usePlace();
  const by = useSignal<"hour" | "day">("day");
  const history = useResource(`history ${of} ${by.value}`, async (signal) => {
    const query = { of, by: by.value };
    return (await api.GET("/stats/history", { query, signal })).history;
  });
  const tabs = (
    <fieldset class="tabs" aria-label={`Period of ${title}`}>
      {(["day", "hour"] as const).map((one) => (
        <button key={one} type="button" class="tab" aria-pressed={by.value === one} onClick={() => (by.value = one)}>
          {one === "day" ? "92 days" : "48 hours"}
        </button>
      ))}
    </fieldset>
  );
  return (
    <Loaded resource={history} rows={3}>
      {(data) => (
        <Chart
          title={title}
          by={data.by}
          starts={data.buckets.map(({ start }) => start)}
          series={seriesOf(data)}
          actions={tabs}
        />
      )}
    </Loaded>
  );
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
