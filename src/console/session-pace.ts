import { tooManyRequests } from "../http/abuse-limit.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { perIsolate } from "../platform/per-isolate.ts";

/** A page that opens, and all its tabs, make some dozens of requests. */
export const REQUESTS_AT_ONCE = 300;
export const REQUESTS_A_SECOND = 30;
const WAIT_SECONDS = 1;

/** How many requests each session had left, and when that was, Unix milliseconds. In this isolate: it costs no call. */
const state = perIsolate(() => new BoundedMap<string, { left: number; at: number }>(10_000));

/**
 * Counts a request of a session. A person never makes as many, a script in its page may.
 * @throws ApiError `rate_limited`
 */
export function keepPace(env: Env, sessionId: string): void {
  const sessions = state(env);
  const now = Date.now();
  const known = sessions.get(sessionId) ?? { left: REQUESTS_AT_ONCE, at: now };
  const gained = (Math.max(0, now - known.at) / 1_000) * REQUESTS_A_SECOND;
  const left = Math.min(REQUESTS_AT_ONCE, known.left + gained);
  sessions.set(sessionId, { left: left < 1 ? left : left - 1, at: now });
  if (left < 1) throw tooManyRequests(REQUESTS_AT_ONCE, WAIT_SECONDS);
}
