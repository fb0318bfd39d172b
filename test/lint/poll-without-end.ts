import { type Call, isCallOf, isInLoop, type Loop, type Node, rule } from "./syntax.ts";

/** If what it waits for never comes, the test says nothing, and the loop goes on beside all later files of the runtime. */
export const pollWithoutEnd = rule(
  "This poll has no end of its own and does not say what it saw. Use until or gate of test/support/until.ts, or turns to let the event loop turn.",
  (report) => {
    const looks = (node: Loop) => {
      const does = onlyStep(node.body);
      if (awaits(node.test) ? does === "nothing" : does === "await" && compares(node.test)) report(node);
    };
    return {
      CallExpression(node: Call) {
        if (isCallOf(node, "scheduler", "wait") && isInLoop(node)) report(node);
      },
      WhileStatement: looks,
      DoWhileStatement: looks,
    };
  },
);

/** What a loop does in each turn, if that is one step or none: then something else must bring its end nearer. */
function onlyStep(body: Loop["body"]): "nothing" | "await" | null {
  if (body.type === "EmptyStatement") return "nothing";
  if (body.type === "ExpressionStatement") return isAwaitedLook(body.expression) ? "await" : null;
  if (body.type !== "BlockStatement" || body.body.length > 1) return null;
  const [step] = body.body;
  return step ? onlyStep(step) : "nothing";
}

/** A wait for the event loop has its own hit. */
function isAwaitedLook(step: Node): boolean {
  if (step.type !== "AwaitExpression") return false;
  return step.argument.type !== "CallExpression" || !isCallOf(step.argument, "scheduler", "wait");
}

/** `calls.length < 2`, `!isCalled()`. A flag alone (`!isDone`) is set by the one that ends the loop. */
function compares(test: Node): boolean {
  if (test.type === "UnaryExpression") return compares(test.argument);
  return test.type === "BinaryExpression" || test.type === "CallExpression";
}

/** `await look()`, `(await look()).state === "ok"`, `!(await look())`. */
function awaits(test: Node): boolean {
  switch (test.type) {
    case "AwaitExpression":
      return true;
    case "BinaryExpression":
    case "LogicalExpression":
      return awaits(test.left) || awaits(test.right);
    case "UnaryExpression":
      return awaits(test.argument);
    case "MemberExpression":
      return awaits(test.object);
    default:
      return false;
  }
}
