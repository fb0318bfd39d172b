import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { ago, exactTime, fromNow } from "../format.ts";

/** The present, read by everything that shows a relative time. It ticks twice a minute. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 30_000);

/** A time relative to now, with the exact one on hover. @param at RFC 3339 */
export function Time({ at, future = false }: { at: string; future?: boolean }): JSX.Element {
  const time = Date.parse(at);
  return (
    <time dateTime={at} title={exactTime(time)}>
      {future ? fromNow(time, now.value) : ago(time, now.value)}
    </time>
  );
}
