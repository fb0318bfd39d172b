import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ParleyError } from "../../client/error.ts";
import { isSessionLost } from "./session.ts";

/** The first wait before failed loads are repeated, if nothing says that a connection works. Each is twice the last. */
const FIRST_MS = 2_000;
const MAX_MS = 30_000;

/** Loads that failed, and are to be repeated. */
const waiting = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let pauseMs = FIRST_MS;
let repeatedAt = 0;
/** The last request found no service. */
let isCut = false;

/** Whether what failed so can succeed later, without a change by the person. */
export function isPassing({ code, status }: ParleyError): boolean {
  return code === "unreachable" || status === 401 || status === 429 || (status ?? 0) >= 500;
}

/**
 * Repeats a load that failed, once a connection works again: a failure that stays on the page after that is wrong.
 * @param load must call this again if it fails again
 * @returns a function that ends the wait, for a screen that is left
 */
export function repeatLater(load: () => void): () => void {
  // One that fails long after the last one is another failure.
  if (Date.now() - repeatedAt > 2 * MAX_MS) pauseMs = FIRST_MS;
  waiting.add(load);
  timer ??= setTimeout(repeat, pauseMs);
  return () => waiting.delete(load);
}

/** Repeats the load of a screen, as long as the screen shows that it failed and that can pass. */
export function useRepeat(error: ParleyError | null, load: () => void): void {
  useEffect(() => (error && isPassing(error) ? repeatLater(load) : undefined), [error]);
}

/** The connection is new, so everything that failed is repeated now. */
export function repeatNow(): void {
  pauseMs = FIRST_MS;
  queueMicrotask(repeat);
}

/** A request was answered, or found no service. A service that answers again repeats what failed, but not in a circle. */
export function heard(isAnswered: boolean): void {
  if (isAnswered && isCut && Date.now() - repeatedAt > pauseMs) repeat();
  isCut = !isAnswered;
}

/** Whether the session was lost when it last changed. */
let wasLost = false;
// A session that is back, too.
effect(() => {
  const isLost = isSessionLost();
  if (wasLost && !isLost) repeatNow();
  wasLost = isLost;
});

function repeat(): void {
  clearTimeout(timer);
  timer = undefined;
  if (waiting.size === 0) return;
  // Then another event or another connection comes first.
  if (navigator.onLine === false || isSessionLost()) {
    timer = setTimeout(repeat, MAX_MS);
    return;
  }
  repeatedAt = Date.now();
  pauseMs = Math.min(2 * pauseMs, MAX_MS);
  const loads = [...waiting];
  waiting.clear();
  for (const load of loads) load();
}
