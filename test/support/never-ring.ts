import { vi } from "vitest";

/**
 * Until the end of the test, timers of these lengths in milliseconds never ring: what the service does after that time
 * must not come into a test that takes as long.
 */
export function neverRing(...lengths: number[]): void {
  const start = setTimeout;
  vi.stubGlobal("setTimeout", (run: () => void, ms?: number, ...given: []) =>
    ms !== undefined && lengths.includes(ms) ? 0 : start(run, ms, ...given),
  );
}
