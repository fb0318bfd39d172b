import { signal } from "@preact/signals";
import { ago, exactTime, fromNow, longAgo } from "../format.ts";

/** The present, read by everything that shows a relative time. It ticks twice a minute. */
export const now = signal(Date.now());
const TICK_MS = 30_000;
setInterval(tick, TICK_MS);

function tick(): void {
  now.value = Date.now();
}

/** How long from now, as of this moment. What shows it is drawn again once the time has come. */
export function untilThen(at: number): string {
  const present = Math.max(now.value, Date.now());
  if (at > present && at < present + TICK_MS) setTimeout(tick, at - present);
  return fromNow(at, present);
}

interface TimeProps {
  /** RFC 3339. */
  at: string;
  /** For a time to come. */
  future?: boolean;
  /** For a sentence: "5 minutes ago", and not "5 m". */
  long?: boolean;
}

/** A time relative to now, with the exact one on hover. */
export function Time({ at, future = false, long = false }: TimeProps) {
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exactTime(time)}>
      {future ? untilThen(time) : (long ? longAgo : ago)(time, now.value)}
    </time>
  );
}
