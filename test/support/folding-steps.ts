import { vi } from "vitest";

/** The characters that are normalized between two waits of zero, before and after, while `run` runs. */
export async function foldingSteps(run: () => Promise<unknown>): Promise<number[]> {
  const wait = scheduler.wait.bind(scheduler);
  const normalize = vi.spyOn(String.prototype, "normalize");
  const ends: number[] = [];
  vi.spyOn(scheduler, "wait").mockImplementation((...given) => {
    if (given[0] === 0) ends.push(normalize.mock.contexts.length);
    return wait(...given);
  });
  try {
    await run();
    // The first of the two in each folding counts by its length before, the second by its length after.
    const sizes = normalize.mock.calls.map(([form], at) =>
      form === "NFKC" ? String(normalize.mock.results[at]?.value).length : String(normalize.mock.contexts[at]).length,
    );
    return [...ends, sizes.length].map((end, at) => sizes.slice(ends[at - 1] ?? 0, end).reduce((sum, n) => sum + n, 0));
  } finally {
    vi.restoreAllMocks();
  }
}
