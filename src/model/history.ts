import type { Counts } from "./counts.ts";

/** The two kinds of bucket: how long each is in milliseconds, and how many are kept. */
export const BUCKETS = { hour: { ms: 3_600_000, kept: 48 }, day: { ms: 86_400_000, kept: 92 } } as const;

export type BucketLength = keyof typeof BUCKETS;

/** Counts by the bucket in which they were reported, counted from 1970 in UTC. Empty buckets are left out. */
export type History<Name extends string = string> = Record<BucketLength, Record<number, Counts<Name>>>;

const LENGTHS = Object.keys(BUCKETS) as BucketLength[];

/**
 * Adds counts to a stored history, and drops the buckets that are too old. If the clock was set back, later buckets stay:
 * they are shown again when their time comes.
 * @param stored JSON; null if there is none
 * @returns JSON; null if there is nothing to store
 */
export function addToHistory<Name extends string>(
  stored: string | null,
  added: Counts<Name>,
  now: number,
): string | null {
  // A total can fall if the storage of a chat or a key is restored. A bucket counts what happened in its time.
  const counted = Object.entries<number | undefined>(added).filter(([, count = 0]) => count > 0) as [Name, number][];
  if (stored === null && counted.length === 0) return null;
  const history: History<Name> = stored === null ? { hour: {}, day: {} } : (JSON.parse(stored) as History<Name>);
  for (const length of LENGTHS) {
    const buckets = history[length];
    const { first, last } = windowOf(length, now);
    for (const bucket of Object.keys(buckets)) if (Number(bucket) < first) delete buckets[Number(bucket)];
    if (counted.length === 0) continue;
    const counts: Counts<Name> = (buckets[last] ??= {});
    for (const [name, count] of counted) counts[name] = (counts[name] ?? 0) + count;
  }
  return JSON.stringify(history);
}

/** All buckets of the window that ends at `now`, oldest first. `start` in Unix milliseconds. */
export function bucketsOf<Name extends string>(
  history: History<Name> | null,
  length: BucketLength,
  now: number,
): { start: number; counts: Counts<Name> }[] {
  const { ms, kept } = BUCKETS[length];
  const { first } = windowOf(length, now);
  return Array.from({ length: kept }, (_, at) => {
    const bucket = first + at;
    return { start: bucket * ms, counts: history?.[length][bucket] ?? {} };
  });
}

function windowOf(length: BucketLength, now: number): { first: number; last: number } {
  const { ms, kept } = BUCKETS[length];
  const last = Math.floor(now / ms);
  return { first: last - kept + 1, last };
}
