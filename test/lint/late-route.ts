import { type Call, calledName, rule } from "./syntax.ts";

/** A page that was just told of a route can ask for something past it. */
export const lateRoute = rule(
  "The page's next request can go past this route, and the driver never says so. Use intercept of test/browser/disturb.ts.",
  (report) => ({
    CallExpression(node: Call) {
      if (node.callee.type === "MemberExpression" && calledName(node) === "route") report(node);
    },
  }),
);
