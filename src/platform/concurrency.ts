import { type Clock, SYSTEM_CLOCK } from "./clock.ts";

/** The platform limits how many connections a Worker has open. */
export const MAX_CONCURRENT = 20;

/** An item for which the work failed. */
export interface Failed<T> {
  item: T;
  error: unknown;
}

/**
 * Runs `work` on all items, in their order, up to `atOnce` at any time. A failure stops none of the others. Never throws.
 *
 * With `MAX_CONCURRENT` items or more, there is a pause after each item. The local runtime keeps calls between objects in
 * one process, which reads no new request while one call follows another.
 * @param clock makes the pauses
 * @param atOnce how many calls of `work` there may be at any time
 * @returns the items for which it failed, in the order in which they failed
 */
export async function settleEach<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  clock: Pick<Clock, "wait"> = SYSTEM_CLOCK,
  atOnce = MAX_CONCURRENT,
): Promise<Failed<T>[]> {
  const failed: Failed<T>[] = [];
  let begun = 0;
  // The workers share one iterator.
  const remaining = Iterator.from(items);
  const takeItems = async () => {
    for (const item of remaining) {
      begun++;
      try {
        await work(item);
      } catch (error) {
        failed.push({ item, error });
      }
      if (begun >= MAX_CONCURRENT) await clock.wait(0);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, takeItems));
  return failed;
}

/** Like `settleEach`. @throws the first error, after all have ended */
export async function doEach<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  clock: Pick<Clock, "wait"> = SYSTEM_CLOCK,
): Promise<void> {
  const [first] = await settleEach(items, work, clock);
  if (first) throw first.error;
}
