import { setTimeout as delay } from "node:timers/promises";

const EVERY_MS = 60_000;
/** A run calls objects for a few seconds. */
const TIMEOUT_MS = 300_000;

/**
 * Runs the Worker's cron trigger each minute until the signal, because `wrangler dev` runs none. What the Worker has to
 * say of a run is in its log.
 * @param base the server's address
 */
export async function runCron(base: string, signal: AbortSignal, everyMs = EVERY_MS): Promise<void> {
  for (;;) {
    await delay(everyMs, undefined, { signal });
    try {
      const response = await fetch(`${base}/cdn-cgi/handler/scheduled`, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await response.arrayBuffer();
    } catch {
      // The server restarts after a change of its code. The next run is a minute later.
      signal.throwIfAborted();
    }
  }
}
