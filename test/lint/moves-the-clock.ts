import { type Call, isCallOf, rule } from "./syntax.ts";

/**
 * With fake timers, also if only the date is fake, each look of these moves the clock on by their interval. The times
 * that a test compares then differ by as long as it had to wait.
 */
export const movesTheClock = rule(
  "Each look of this moves a stopped clock on. Write until of test/support/until.ts.",
  (report) => ({
    CallExpression(node: Call) {
      const isMover = isCallOf(node, "vi", "waitFor") || isCallOf(node, "vi", "waitUntil");
      if (isMover || isCallOf(node, "expect", "poll")) report(node);
    },
  }),
);
