/**
 * A chat that can't be read holds up the feed and the export for this long, because most errors pass. Then it is
 * skipped, and readers get a notice.
 */
export const HOLD_MS = 120_000;
/** When to ask again for what is held up, in seconds. */
export const HELD_RETRY_SECONDS = 5;
