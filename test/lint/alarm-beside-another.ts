import { type Call, calledName, type Node, rule } from "./syntax.ts";

const NAME = "runDurableObjectAlarm";

/**
 * The platform may run the object's alarm at this moment. Then there is none to run and none to see, and the test looks
 * too early.
 */
export const alarmBesideAnother = rule(
  `An alarm that already runs is not waited for, so the test looks before anything is done. Call runAlarm or alarmAt of test/support/alarms.ts.`,
  (report) => ({
    ImportSpecifier(node: Node & { type: "ImportSpecifier" }) {
      if (node.imported.type === "Identifier" && node.imported.name === NAME) report(node);
    },
    CallExpression(node: Call) {
      if (node.callee.type === "MemberExpression" && calledName(node) === NAME) report(node);
      const [, look] = node.arguments;
      if (calledName(node) !== "runInDurableObject" || look?.type !== "ArrowFunctionExpression") return;
      if (look.body.type === "CallExpression" && calledName(look.body) === "getAlarm") report(look.body);
    },
  }),
);
