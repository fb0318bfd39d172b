import { type Call, calledName, type Expression, isCallOf, isInLoop, isNoTime, type Node, rule } from "./syntax.ts";

type NewExpression = Extract<Expression, { type: "NewExpression" }>;

/** A fixed time is too short on a busy machine, and lost on an idle one. */
export const sleep = rule(
  "A fixed time is too short on a busy machine. Wait for what the test wants to see: until of test/support/until.ts, expect.poll, or an event. To see that nothing comes, wait for something that comes after it.",
  (report) => {
    /** The names of `setTimeout` of `node:timers/promises` in this file. */
    const sleeps = new Set<string>();
    return {
      ImportDeclaration({ source, specifiers }: Node & { type: "ImportDeclaration" }) {
        if (!/^(?:node:)?timers\/promises$/.test(source.value)) return;
        for (const specifier of specifiers) {
          if (specifier.type !== "ImportSpecifier" || specifier.imported.type !== "Identifier") continue;
          if (specifier.imported.name === "setTimeout") sleeps.add(specifier.local.name);
        }
      },
      CallExpression(node: Call) {
        const [ms] = node.arguments;
        if (calledName(node) === "waitForTimeout") report(node);
        else if (node.callee.type === "Identifier" && sleeps.has(node.callee.name) && !isNoTime(ms)) report(node);
        // In a loop, it is a poll.
        else if (isCallOf(node, "scheduler", "wait") && !isNoTime(ms) && isStatement(node) && !isInLoop(node)) {
          report(node);
        }
      },
      NewExpression(node: NewExpression) {
        if (resolvesLater(node)) report(node);
      },
    };
  },
);

/** Whether nothing is done with what a call returns but to wait for it. */
function isStatement({ parent }: Node & Call): boolean {
  return (parent.type === "AwaitExpression" ? parent.parent : parent).type === "ExpressionStatement";
}

/** Whether it is `new Promise((resolve) => setTimeout(resolve, ms))`. */
function resolvesLater({ callee, arguments: [run] }: NewExpression): boolean {
  if (callee.type !== "Identifier" || callee.name !== "Promise") return false;
  if (run?.type !== "ArrowFunctionExpression" && run?.type !== "FunctionExpression") return false;
  const [resolve] = run.params;
  const body = run.body?.type === "BlockStatement" ? run.body.body : [run.body];
  const [only] = body;
  const call = only?.type === "ExpressionStatement" ? only.expression : only;
  if (body.length !== 1 || call?.type !== "CallExpression" || calledName(call) !== "setTimeout") return false;
  const [ring, ms] = call.arguments;
  return resolve?.type === "Identifier" && !isNoTime(ms) && ring !== undefined && settles(ring, resolve.name);
}

/** `resolve`, `() => resolve()`, or `() => { resolve(); }`. */
function settles(ring: Call["arguments"][number], name: string): boolean {
  if (ring.type === "Identifier") return ring.name === name;
  if (ring.type !== "ArrowFunctionExpression") return false;
  const [first] = ring.body.type === "BlockStatement" ? ring.body.body : [ring.body];
  const call = first?.type === "ExpressionStatement" ? first.expression : first;
  return call?.type === "CallExpression" && calledName(call) === name;
}
