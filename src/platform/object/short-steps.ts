/** The work of one step: a text that is folded costs its characters, before and after. About 5 ms, and at most 15. */
const STEP_WORK = 131_072;

/**
 * Divides long work into short steps. Other events of the object run between two. Work is counted and not timed: where
 * the service is deployed, the clock stands still while code runs.
 */
export class ShortSteps {
  /** All work so far. */
  total = 0;
  #inStep = 0;

  /** @returns whether the step is long enough: call `pause` */
  did(work: number): boolean {
    this.total += work;
    this.#inStep += work;
    return this.#inStep >= STEP_WORK;
  }

  /** Lets other events run. What they may change must be read again. */
  async pause(): Promise<void> {
    this.#inStep = 0;
    await scheduler.wait(0);
  }
}
