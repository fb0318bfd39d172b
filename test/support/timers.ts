import { vi } from "vitest";

const SOON_MS = 50;

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

/**
 * Until the end of the test, timers of this length in milliseconds ring after a moment: the test holds what else would end
 * the wait, so it need not take that long. The date stays as it is.
 */
export function ringSoon(length: number): void {
  const start = setTimeout;
  vi.stubGlobal("setTimeout", (run: () => void, ms?: number, ...given: []) =>
    start(run, ms === length ? SOON_MS : ms, ...given),
  );
}
