/** The platform limits how many connections a Worker has open. */
export const MAX_CONCURRENT = 20;

/**
 * Runs `work` on all items, in batches of `MAX_CONCURRENT`. Stops after a batch with a failure.
 * @throws the first error of that batch, after the whole batch has ended
 */
export async function forEachInBatches<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += MAX_CONCURRENT) {
    const results = await Promise.allSettled(items.slice(from, from + MAX_CONCURRENT).map(work));
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  }
}

/**
 * Runs `work` on all items, up to `MAX_CONCURRENT` at any time. A failure does not stop the others.
 * @throws the first error, after all have ended
 */
export async function forEachSettled<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  // The workers share one iterator.
  const remaining = items.values();
  const takeItems = async () => {
    for (const item of remaining) await work(item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, takeItems));
  if (failures.length > 0) throw failures[0];
}
