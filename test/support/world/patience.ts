const TICK_MS = 250;
let ranMs = 0;
setInterval(() => (ranMs += TICK_MS), TICK_MS).unref();

/** Milliseconds that this process has run. If the machine stands still, the count does too, so no wait times out. */
export function running(): number {
  return ranMs;
}
