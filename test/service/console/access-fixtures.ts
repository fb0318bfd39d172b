import { vi } from "vitest";
import type { fakeAccess } from "../../support/access.ts";

export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

/** Moves the clock forward by this many milliseconds, and stops it there. */
export function later(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}

/** The status of a request with a session and this token. */
export async function statusWith(access: ReturnType<typeof fakeAccess>, token: string | null, cookie: string) {
  return (await access.browser(token, cookie)("GET", "/api/session")).status;
}
