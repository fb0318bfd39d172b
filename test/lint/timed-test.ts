import { type Call, type Expression, isCallOf, rule } from "./syntax.ts";

const BOUNDS = new Set(["toBeLessThan", "toBeLessThanOrEqual"]);

/** A busy machine is late with everything. The real clock is `performance.now()`: a test may fake `Date`. */
export const timedTest = rule(
  "A busy machine takes longer, and in the Workers runtime the clock stands still while code runs. Count what the work does, or make the input so large that the slow way never ends.",
  (report) => ({
    CallExpression(node: Call) {
      const { callee } = node;
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      if (!BOUNDS.has(callee.property.name) || callee.object.type !== "CallExpression") return;
      const [measured] = callee.object.arguments;
      if (measured && isSinceStart(measured as Expression)) report(node);
    },
  }),
);

/** `performance.now() - start`. */
function isSinceStart(node: Expression): boolean {
  if (node.type !== "BinaryExpression" || node.operator !== "-") return false;
  return node.left.type === "CallExpression" && isCallOf(node.left, "performance", "now");
}
