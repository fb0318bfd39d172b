import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { number, plural } from "../format.ts";
import { Table } from "./table.tsx";

/** One part of each bar. */
export interface Series {
  label: string;
  tone: "good" | "received" | "failed" | "warn" | "quiet";
  /** A number for each bar. */
  values: number[];
}

interface ChartProps {
  title: string;
  by: "hour" | "day";
  /** When each bar begins, RFC 3339. */
  starts: string[];
  /** From the bottom of a bar to its top. */
  series: Series[];
  /** Beside the title. */
  actions?: ComponentChildren;
}

const utcDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const hour = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "numeric", minute: "2-digit" });

const HEIGHT = 100;
const STEP = 10;
const WIDTH = 8;
/** What is not zero can be seen. */
const LEAST = 2;

/** Stacked bars over time. The pointer shows a bar's numbers, and a table shows all of them. */
export function Chart({ title, by, starts, series, actions }: ChartProps) {
  const at = useSignal<number | null>(null);
  const isOpen = useSignal(false);
  const totals = starts.map((_, n) => sumOf(series.map(({ values }) => values[n] ?? 0)));
  const top = Math.max(1, ...totals);
  const total = sumOf(totals);
  const seen = at.value;
  const parts = series.map(({ label, values }) => ({
    label,
    count: seen === null ? sumOf(values) : (values[seen] ?? 0),
  }));
  return (
    <figure class="chart">
      <figcaption class="between">
        <h3>{title}</h3>
        {actions}
      </figcaption>
      <ul class="line quiet note">
        {parts.map(({ label, count }, n) => (
          <li key={label}>
            <span class={`chart-mark ${series[n]?.tone}`} />
            {label} <strong>{number(count)}</strong>
          </li>
        ))}
        <li class="end">{seen === null ? `In ${plural(starts.length, by)}` : bucketName(starts[seen] ?? "", by)}</li>
      </ul>
      <div class="chart-plot">
        {total === 0 ? (
          <p class="chart-none-yet quiet">Nothing in this time.</p>
        ) : (
          <span class="chart-top quiet" aria-hidden="true">
            {number(top)}
          </span>
        )}
        <svg
          class="chart-bars"
          viewBox={`0 0 ${starts.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerMove={({ currentTarget, clientX }) => {
            const { left, width } = currentTarget.getBoundingClientRect();
            const bar = Math.floor(((clientX - left) / width) * starts.length);
            at.value = Math.min(Math.max(bar, 0), starts.length - 1);
          }}
          onPointerLeave={() => (at.value = null)}
        >
          {seen !== null && <rect class="chart-seen" x={seen * STEP} y={0} width={STEP} height={HEIGHT} />}
          {starts.map((start, n) => (
            <Bar key={start} at={n} top={top} series={series} />
          ))}
        </svg>
      </div>
      <div class="between quiet small" aria-hidden="true">
        <span>{bucketName(starts[0] ?? "", by)}</span>
        <span>{bucketName(starts.at(-1) ?? "", by)}</span>
      </div>
      <details hidden={total === 0} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>As a table</summary>
        {isOpen.value && (
          <Table
            caption={title}
            columns={[by === "day" ? "Day (UTC)" : "Hour", ...series.map(({ label }) => ({ number: label }))]}
          >
            {starts
              .map((start, n) => ({ start, n }))
              .filter(({ n }) => totals[n])
              .reverse()
              .map(({ start, n }) => (
                <tr key={start}>
                  <th scope="row">{bucketName(start, by)}</th>
                  {series.map(({ label, values }) => (
                    <td key={label} class="number">
                      {number(values[n] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
          </Table>
        )}
      </details>
    </figure>
  );
}

function Bar({ at, top, series }: { at: number; top: number; series: Series[] }) {
  let y = HEIGHT;
  return (
    <>
      {series.map(({ label, tone, values }) => {
        const value = values[at] ?? 0;
        const height = value === 0 ? 0 : Math.max(LEAST, (value / top) * HEIGHT);
        y -= height;
        return height === 0 ? null : (
          <rect key={label} class={tone} x={at * STEP + 1} y={y} width={WIDTH} height={height} />
        );
      })}
    </>
  );
}

/** A row of small bars without words, beside a text that says what they are. */
export function Sparkline({ values, label }: { values: number[]; label: string }) {
  const top = Math.max(1, ...values);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${values.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map((value, n) => {
        const height = Math.max(value === 0 ? LEAST : 2 * LEAST, (value / top) * HEIGHT);
        return (
          <rect
            key={n}
            class={value === 0 ? "chart-none" : "good"}
            x={n * STEP + 1}
            y={HEIGHT - height}
            width={WIDTH}
            height={height}
          />
        );
      })}
    </svg>
  );
}

function sumOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The name of an hour here, or of a day in UTC, which is how the service counts days. */
function bucketName(start: string, by: "hour" | "day"): string {
  return (by === "day" ? utcDay : hour).format(Date.parse(start));
}
