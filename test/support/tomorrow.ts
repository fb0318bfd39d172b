const DAY_MS = 86_400_000;

/**
 * Tomorrow at 06:00 UTC, Unix milliseconds: where a test's clock can stand still. It is hours ahead of the platform's
 * clock, so that no alarm rings before the test lets it, and far from midnight, so that a test that passes some hours
 * meets no new day, whenever it runs.
 */
export const TOMORROW = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS + 6 * 3_600_000;
