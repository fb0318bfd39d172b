const LOOK_MS = 250;
/** A clock that is corrected slowly moves by less between two looks. */
const STEP_MS = 300;

/**
 * Notices, while the process runs, that the machine's clock is set.
 * @param clock the time of day in milliseconds
 * @param steady milliseconds that no setting changes
 * @returns what tells the warning that the largest step deserves, or null if there was none
 */
export function watchSteps(clock = Date.now, steady = () => performance.now()): () => string | null {
  let offset = clock() - steady();
  let largest = 0;
  const look = () => {
    const now = clock() - steady();
    largest = Math.max(largest, Math.abs(now - offset));
    offset = now;
  };
  setInterval(look, LOOK_MS).unref();
  return () => {
    look();
    if (largest < STEP_MS) return null;
    const seconds = (largest / 1_000).toFixed(1);
    return `The machine's clock was set by ${seconds} s while the tests ran. Tests that failed may have failed for that.`;
  };
}
