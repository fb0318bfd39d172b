/** Timers come a few milliseconds late. What is longer was no timer but a busy machine. */
const MAX_LATE_MS = 3;
/** How late timers came, in milliseconds: a mean in which each counts for a sixteenth. */
let late = 0;

/** Resolves after this time, in milliseconds. Timers come late, so it waits less. */
export async function away(ms: number): Promise<void> {
  const asked = Math.ceil(ms - late);
  const begun = Date.now();
  await scheduler.wait(asked);
  late += (Math.min(MAX_LATE_MS, Math.max(0, Date.now() - begun - asked)) - late) / 16;
}
