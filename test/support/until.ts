import { env } from "cloudflare:workers";
import { onTestFinished } from "vitest";

// For the Workers runtime. A poll, because a promise that one object resolves would continue another object in its
// context; by `scheduler`, because tests replace `setTimeout` and the date. As it is before a test replaces or counts
// its waits, too.
const wait = scheduler.wait.bind(scheduler);

/**
 * Long enough for a busy machine, and less than a test may take: what is missing is then in the test's error. Under
 * jitter, 50 calls in a row may be late by a second each.
 */
const PATIENCE_MS = env.TEST_JITTER ? 100_000 : 20_000;
const LOOK_EVERY_MS = 1;
/** What takes long is looked at less often: looks are work too, and hold up what is waited for. */
const LOOK_AT_LEAST_EVERY_MS = 20;

/**
 * Looks until it sees what the test waits for, and gives up after 20 seconds, under jitter after 100.
 * @param what completes "until …" in the error
 * @param isDone whether this is it; otherwise, anything truthy is
 * @returns what it saw last
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  isDone: (seen: T) => unknown = Boolean,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + patienceMs;
  for (let pause = LOOK_EVERY_MS; ; pause = Math.min(1.2 * pause, LOOK_AT_LEAST_EVERY_MS)) {
    const seen = await look();
    if (isDone(seen)) return seen;
    if (performance.now() > end) {
      throw new Error(`Waited ${patienceMs / 1_000} s until ${what}. Seen last: ${JSON.stringify(seen) ?? seen}`);
    }
    await wait(pause);
  }
}

/** Looks until a list has this length, such as that of the calls to a fake. */
export async function untilLength(list: readonly unknown[], length: number): Promise<void> {
  await until(
    `the length is ${length}`,
    () => list,
    (seen) => seen.length === length,
  );
}

/**
 * Holds whoever passes until the test opens it. If it never does, they fail at the test's end: what they would do next
 * would be seen by the next test.
 * @param what is held
 */
export function gate(what: string) {
  let isOpen = false;
  let isReached = false;
  let isOver = false;
  const open = () => {
    isOpen = true;
  };
  onTestFinished(() => {
    isOver = true;
  });
  const pass = async () => {
    isReached = true;
    while (!isOpen) {
      if (isOver) throw new Error(`The test has ended and still held ${what}`);
      await wait(LOOK_EVERY_MS);
    }
  };
  return { pass, open, reached: () => until(`${what} is there`, () => isReached) };
}

/** Lets the event loop turn this often: what waits for nothing else is done then. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await wait(0);
}
