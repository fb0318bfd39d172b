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

/**
 * Runs `work` on all items, `AT_ONCE` at a time, the next one as soon as one ends; one that fails stops no other.
 * @throws what the first one that failed threw, once all have ended
 */
export async function eachToItsEnd<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  // One iterator for all: each takes what the others have left.
  const left = items.values();
  const takeTurns = async () => {
    for (const item of left) await work(item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
  if (failures.length > 0) throw failures[0];
}
