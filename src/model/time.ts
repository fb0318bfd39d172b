/** A time in Unix milliseconds as RFC 3339 in UTC. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** The same; null if there is no time. */
export function isoTimeOrNull(at: number | null | undefined): string | null {
  return typeof at === "number" ? isoTime(at) : null;
}
