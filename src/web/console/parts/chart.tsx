import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { number } from "../format.ts";
import { CsvButton } from "./csv.tsx";
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
  /** What a bar stands for, as the head of a column. */
  unit: string;
  /** The names of the bars, and what a file has in their place. */
  names: string[];
  inFile?: string[];
  /** All bars, in words. */
  span: string;
  /** The table begins with the last bar, and leaves out those that are 0. */
  isOverTime?: boolean;
  /** From the bottom of a bar to its top. */
  series: Series[];
  /** Beside the title. */
  actions?: ComponentChildren;
}

const HEIGHT = 100;
const STEP = 10;
const WIDTH = 8;
/** What is not zero can be seen. */
const LEAST = 2;

/** Stacked bars. The pointer shows a bar's numbers, a table shows all of them, and a file has them. */
export function Chart({ title, unit, names, inFile = names, span, isOverTime, series, actions }: ChartProps) {
  const at = useSignal<number | null>(null);
  const isOpen = useSignal(false);
  const totals = names.map((_, n) => sumOf(series.map(({ values }) => values[n] ?? 0)));
  const top = Math.max(1, ...totals);
  const total = sumOf(totals);
  const seen = at.value;
  const rows = names.map((name, n) => [name, series.map(({ values }) => values[n] ?? 0), n] as const);
  const parts = series.map(({ label, values }) => ({
    label,
    count: seen === null ? sumOf(values) : (values[seen] ?? 0),
  }));
  return (
    <figure class="chart">
      <figcaption class="between">
        <h3>
          <bdi>{title}</bdi>
        </h3>
        {actions}
      </figcaption>
      <ul class="line quiet note">
        {parts.map(({ label, count }, n) => (
          <li key={label}>
            <span class={`chart-mark ${series[n]?.tone}`} />
            {label} <strong>{number(count)}</strong>
          </li>
        ))}
        <li class="end">{seen === null ? span : names[seen]}</li>
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
          viewBox={`0 0 ${names.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerMove={({ currentTarget, clientX }) => {
            const { left, width } = currentTarget.getBoundingClientRect();
            const bar = Math.floor(((clientX - left) / width) * names.length);
            at.value = Math.min(Math.max(bar, 0), names.length - 1);
          }}
          onPointerLeave={() => (at.value = null)}
        >
          {seen !== null && <rect class="chart-seen" x={seen * STEP} y={0} width={STEP} height={HEIGHT} />}
          {names.map((_, n) => (
            <Bar key={n} at={n} top={top} series={series} />
          ))}
        </svg>
      </div>
      <div class="between quiet small" aria-hidden="true">
        <span>{names[0]}</span>
        <span>{names.at(-1)}</span>
      </div>
      <details hidden={total === 0} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>As a table</summary>
        {isOpen.value && (
          <>
            <Table caption={title} columns={[unit, ...series.map(({ label }) => ({ number: label }))]}>
              {(isOverTime ? rows.filter(([, , n]) => totals[n]).reverse() : rows).map(([name, numbers, at]) => (
                <tr key={at}>
                  <th scope="row">{name}</th>
                  {numbers.map((count, n) => (
                    <td key={n} class="number">
                      {number(count)}
                    </td>
                  ))}
                </tr>
              ))}
            </Table>
            <CsvButton
              name={title}
              rows={() => [
                [unit, ...series.map(({ label }) => label)],
                ...rows.map(([, numbers, n]) => [inFile[n] ?? "", ...numbers]),
              ]}
            />
          </>
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

export function sumOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
