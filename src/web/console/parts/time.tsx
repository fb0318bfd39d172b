import { signal } from "@preact/signals";
import { ago, exactTime, fromNow, longAgo } from "../format.ts";

/** The present, read by everything that shows a relative time. It ticks twice a minute. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 30_000);

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
  const inWords = future ? fromNow : long ? longAgo : ago;
  return (
    <time dateTime={at} title={exactTime(time)}>
      {inWords(time, now.value)}
    </time>
  );
}
