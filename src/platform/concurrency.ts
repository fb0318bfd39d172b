/** The platform limits how many connections a Worker has open. */
export const MAX_CONCURRENT = 20;

/** An item for which the work failed. */
export interface Failed<T> {
  item: T;
  error: unknown;
}

/**
 * Runs `work` on all items, up to `MAX_CONCURRENT` at any time. A failure stops none of the others. Never throws.
 * @returns the items for which it failed, in the order in which they failed
 */
export async function settleEach<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<Failed<T>[]> {
  const failed: Failed<T>[] = [];
  // The workers share one iterator.
  const remaining = Iterator.from(items);
  const takeItems = async () => {
    for (const item of remaining) {
      try {
        await work(item);
      } catch (error) {
        failed.push({ item, error });
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, takeItems));
  return failed;
}

/** Like `settleEach`. @throws the first error, after all have ended */
export async function doEach<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const [first] = await settleEach(items, work);
  if (first) throw first.error;
}
