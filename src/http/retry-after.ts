const MAX_WAIT_MS = 86_400_000;

/**
 * The wait that a response asks for by `Retry-After` (seconds or a date): milliseconds from `now`, at most a day; null if
 * the header is absent or malformed.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 */
export function retryAfterMs(headers: Headers, now: number): number | null {
  const value = headers.get("Retry-After") ?? "";
  // `Date.parse` accepts nearly every number as a date. An HTTP date contains a time.
  const at = value.includes(":") ? Date.parse(value) : Number.NaN;
  const wait = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : at - now;
  return Number.isNaN(wait) ? null : Math.min(MAX_WAIT_MS, Math.max(0, wait));
}
