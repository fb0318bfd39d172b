import fc from "fast-check";
import { expect, test } from "vitest";
import { chains, runChain } from "./chains.ts";

test("in random chains of acts, no key ever holds what its maker did not, and the ceilings hold", async () => {
  const seen = new Map<string, number>();
  const saw = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(chains(20), (chain) => runChain(chain, saw)),
    { numRuns: 10 },
  );
  // A run in which nothing succeeds, or nothing is refused, says nothing.
  const statuses = [...seen.keys()].map((what) => Number(what.split(" ")[1]));
  expect(statuses.some((status) => status < 300)).toBe(true);
  expect(statuses.some((status) => status >= 400)).toBe(true);
});
