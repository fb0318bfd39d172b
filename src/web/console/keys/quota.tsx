import type { Schemas } from "../api.ts";
import { number } from "../format.ts";
import { Meter } from "../parts/meter.tsx";

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** From this share of the quota on, a person should know. */
const NEARLY = 0.8;

/** The requests of this month, and how much of the quota they are. */
export function Quota({ usage: { used, quota } }: { usage: Schemas["Usage"] }) {
  if (quota === null) return <div class="stack">{number(used)} this month</div>;
  return (
    <div class="stack">
      <span class={used >= quota ? "failed" : ""}>
        {number(used)} of {number(quota)}
      </span>
      <Meter
        label={`${percent.format(quota === 0 ? 1 : used / quota)} of the month’s quota`}
        value={used}
        max={quota}
        tone={used < NEARLY * quota ? "good" : "warn"}
      />
    </div>
  );
}
