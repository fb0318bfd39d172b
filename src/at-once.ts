/** A Worker may have few connections open at once. */
export const AT_ONCE = 20;

/**
 * Runs `work` on all items, `AT_ONCE` at a time.
 * @throws what the first one that failed threw, once those that ran beside it have ended
 */
export async function eachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const results = await Promise.allSettled(items.slice(from, from + AT_ONCE).map(work));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  }
}
