interface MeterProps {
  /** Says the share too. */
  label: string;
  value: number;
  max: number;
  tone: "good" | "warn";
}

/** A bar that shows how much of something there is. */
export function Meter({ label, value, max, tone }: MeterProps) {
  const share = max === 0 ? 1 : Math.min(value / max, 1);
  return (
    // biome-ignore lint/a11y/useSemanticElements: each browser draws <meter> in a way of its own
    <div class="meter" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={1} aria-valuenow={share}>
      <div class={tone} style={{ width: `${100 * share}%` }} />
    </div>
  );
}
