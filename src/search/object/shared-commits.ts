import type { Steps } from "./message-table.ts";

/** The most work of a commit, in characters: a commit takes about 10 ms. */
const COMMIT_WORK = 20_000;
/** The most work of a chat's turn. */
const TURN_WORK = 5_000;

interface Job {
  steps: Steps;
  /** @param isDone false if the work was dropped */
  end(isDone: boolean): void;
  fail(error: unknown): void;
}

type Jobs = [Job, ...Job[]];

/** The jobs that a commit has begun, and those of them that it ends. */
interface Commit {
  begun: Set<Job>;
  ended: Job[];
}

/**
 * Writes what concurrent calls want to write. What comes at the same time is one commit, because a commit costs more than
 * its rows; long work is several commits. Other calls come in between. Chats take turns, so that the long work of one does
 * not hold up the others.
 */
export class SharedCommits {
  readonly #transaction: (writes: () => void) => void;
  readonly #waitUntil: (work: Promise<unknown>) => void;
  /** The jobs of each chat, in the order of the chats' turns. */
  readonly #jobs = new Map<string, Jobs>();
  #isRunning = false;

  /** @param transaction writes all or nothing */
  constructor(transaction: (writes: () => void) => void, waitUntil: (work: Promise<unknown>) => void) {
    this.#transaction = transaction;
    this.#waitUntil = waitUntil;
  }

  /** Whether no work waits. */
  get isIdle(): boolean {
    return this.#jobs.size === 0;
  }

  /**
   * Does all steps, in one commit or several. What was given for the same chat earlier is done before.
   * @returns false if the work was dropped
   * @throws the error of a commit that failed. Earlier commits of the same work stay
   */
  do(chatId: string, steps: Steps): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const job: Job = { steps, end: resolve, fail: reject };
    const ofChat = this.#jobs.get(chatId);
    if (ofChat) ofChat.push(job);
    else this.#jobs.set(chatId, [job]);
    if (!this.#isRunning) this.#waitUntil(this.#run());
    return promise;
  }

  /** Drops all work: its storage was deleted. */
  drop(): void {
    const all = [...this.#jobs.values()].flat();
    this.#jobs.clear();
    for (const job of all) job.end(false);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Calls that have arrived join the first commit.
    await scheduler.wait(0);
    while (!this.isIdle) {
      this.#commit();
      await scheduler.wait(0);
    }
    this.#isRunning = false;
  }

  #commit(): void {
    const commit: Commit = { begun: new Set(), ended: [] };
    try {
      this.#transaction(() => {
        for (let work = 0; work < COMMIT_WORK; ) {
          const [next] = this.#jobs;
          if (!next) break;
          work += this.#takeTurn(...next, Math.min(TURN_WORK, COMMIT_WORK - work), commit);
        }
      });
    } catch (error) {
      this.#fail(commit, error);
      return;
    }
    for (const job of commit.ended) job.end(true);
  }

  /** Does steps of a chat's first job. @returns their work */
  #takeTurn(chatId: string, jobs: Jobs, most: number, { begun, ended }: Commit): number {
    const [job, ...later] = jobs;
    begun.add(job);
    let work = 0;
    let isDone = false;
    while (!isDone && work < most) {
      const step = job.steps.next();
      if (step.done) isDone = true;
      else work += step.value;
    }
    if (isDone) ended.push(job);
    this.#queue(chatId, isDone ? later : jobs);
    return work;
  }

  /** Ends the jobs that a failed commit has begun: at least one, so that it comes to an end. */
  #fail({ begun }: Commit, error: unknown): void {
    const [first] = this.#jobs.values();
    if (begun.size === 0 && first) begun.add(first[0]);
    for (const [chatId, jobs] of [...this.#jobs]) {
      const left = jobs.filter((job) => !begun.has(job));
      this.#queue(chatId, left);
    }
    for (const job of begun) job.fail(error);
  }

  /** Puts a chat behind the others, with these jobs. */
  #queue(chatId: string, [first, ...later]: Job[]): void {
    this.#jobs.delete(chatId);
    if (first) this.#jobs.set(chatId, [first, ...later]);
  }
}
