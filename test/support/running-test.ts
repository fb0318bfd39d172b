import { afterEach, beforeEach } from "vitest";

declare global {
  /** The id of the test that runs; undefined between tests, and while a file prepares what all of its tests use. */
  var runningTest: string | undefined;
  /** The test that made each organization and contact. */
  var madeIn: Map<string, string> | undefined;
}

/** Keeps which test runs. */
export function followTests(): void {
  globalThis.madeIn = new Map();
  beforeEach(({ task }) => {
    globalThis.runningTest = task.id;
  });
  afterEach(() => {
    globalThis.runningTest = undefined;
  });
}

/** The test that runs has made this organization or contact. */
export function madeHere(name: string): void {
  const { runningTest, madeIn } = globalThis;
  if (runningTest === undefined) madeIn?.delete(name);
  else madeIn?.set(name, runningTest);
}

/**
 * Whether an organization or a contact is of an earlier test. What its objects still had to do may come during this one,
 * whose fakes must not count it.
 */
export function isOfEarlierTest(name: string): boolean {
  const made = globalThis.madeIn?.get(name);
  return made !== undefined && made !== globalThis.runningTest;
}
