import { vi } from "vitest";

/**
 * Until the end of the test, timers of this many milliseconds never ring: what the service does after that time must not
 * come into a test that takes as long.
 */
export function neverRing(length: number): void {
  const start = setTimeout;
  vi.stubGlobal("setTimeout", (run: () => void, ms?: number, ...given: []) =>
    ms === length ? 0 : start(run, ms, ...given),
  );
}
