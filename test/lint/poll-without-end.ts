import { type Call, isCallOf, isInLoop, rule } from "./syntax.ts";

/** If what it waits for never comes, the test says nothing, and the loop goes on beside all later files of the runtime. */
export const pollWithoutEnd = rule(
  "This poll has no end of its own and does not say what it saw. Use until or gate of test/support/until.ts, or turns to let the event loop turn.",
  (report) => ({
    CallExpression(node: Call) {
      if (isCallOf(node, "scheduler", "wait") && isInLoop(node)) report(node);
    },
  }),
);
