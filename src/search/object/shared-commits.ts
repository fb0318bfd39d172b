import type { Steps } from "./message-table.ts";

/** The most work of a commit, in characters: a commit takes about 10 ms. */
const COMMIT_WORK = 20_000;

interface Job {
  steps: Steps;
  /** @param isDone false if the work was dropped */
  end(isDone: boolean): void;
  fail(error: unknown): void;
}

/**
 * Writes what concurrent calls want to write. What comes at the same time is one commit, because a commit costs more than
 * its rows; long work is several commits. Other calls come in between.
 */
export class SharedCommits {
  readonly #transaction: (writes: () => void) => void;
  readonly #waitUntil: (work: Promise<unknown>) => void;
  readonly #jobs: Job[] = [];
  #isRunning = false;

  /** @param transaction writes all or nothing */
  constructor(transaction: (writes: () => void) => void, waitUntil: (work: Promise<unknown>) => void) {
    this.#transaction = transaction;
    this.#waitUntil = waitUntil;
  }

  /** Whether no work waits. */
  get isIdle(): boolean {
    return this.#jobs.length === 0;
  }

  /**
   * Does all steps, in one commit or several. Work that was given earlier is done before.
   * @returns false if the work was dropped
   * @throws the error of a commit that failed. Earlier commits of the same work stay
   */
  do(steps: Steps): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#jobs.push({ steps, end: resolve, fail: reject });
    if (!this.#isRunning) this.#waitUntil(this.#run());
    return promise;
  }

  /** Drops all work: its storage was deleted. */
  drop(): void {
    for (const job of this.#jobs.splice(0)) job.end(false);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Calls that have arrived join the first commit.
    await scheduler.wait(0);
    while (this.#jobs.length > 0) {
      this.#commit();
      await scheduler.wait(0);
    }
    this.#isRunning = false;
  }

  #commit(): void {
    const jobs = this.#jobs;
    let begun = 0;
    let ended = 0;
    try {
      this.#transaction(() => {
        for (let work = 0; work < COMMIT_WORK; ) {
          const job = jobs[ended];
          if (!job) break;
          begun = ended + 1;
          const step = job.steps.next();
          if (step.done) ended++;
          else work += step.value;
        }
      });
    } catch (error) {
      // At least one, so that it comes to an end.
      for (const job of jobs.splice(0, Math.max(1, begun))) job.fail(error);
      return;
    }
    for (const job of jobs.splice(0, ended)) job.end(true);
  }
}
