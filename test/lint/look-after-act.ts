import { calledName, type Expression, type Node, rule, type Statement } from "./syntax.ts";

/** Calls that begin something which is done later. */
const ACTS = new Set([
  "abort",
  "check",
  "click",
  "close",
  "closeAllConnections",
  "dblclick",
  "destroy",
  "dispatchEvent",
  "emit",
  "end",
  "fill",
  "kill",
  "post",
  "postMessage",
  "press",
  "selectOption",
  "send",
  "setInputFiles",
  "submit",
  "tap",
  "type",
  "uncheck",
  "write",
]);

const POLLS = new Set(["poll", "until", "waitFor", "waitUntil"]);

export const lookAfterAct = rule(
  "The statement before this one begins something and does not wait for it, so this one may look too early. Await the act, or write await expect.poll(() => …).",
  (report) => {
    const inTurn = ({ body }: { body: readonly Statement[] }) => {
      for (const [at, statement] of body.entries()) {
        const next = body[at + 1];
        if (next && isAct(statement) && looksAtOnce(next) && !isLookedAgain(next as Node)) report(next as Node);
      }
    };
    return { Program: inTurn, BlockStatement: inTurn };
  },
);

function isAct(statement: Statement): boolean {
  if (statement.type !== "ExpressionStatement") return false;
  const { expression } = statement;
  if (expression.type === "UnaryExpression")
    return expression.operator === "void" && expression.argument.type === "CallExpression";
  return expression.type === "CallExpression" && ACTS.has(calledName(expression) ?? "");
}

/** Whether it is `expect(…)` without any `await`: what is awaited there, as the next frame of a socket, comes in its time. */
function looksAtOnce(statement: Statement): boolean {
  if (statement.type !== "ExpressionStatement") return false;
  let at: Expression = statement.expression;
  while (at.type === "CallExpression" || at.type === "MemberExpression") {
    if (at.type === "CallExpression" && at.callee.type === "Identifier") {
      return at.callee.name === "expect" && !at.arguments.some(waits);
    }
    at = at.type === "CallExpression" ? at.callee : at.object;
  }
  return false;
}

/** Whether there is an `await` in it. */
function waits(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false;
  if (Array.isArray(part)) return part.some(waits);
  if (!("type" in part)) return false;
  if (part.type === "AwaitExpression") return true;
  return Object.entries(part).some(([key, value]) => key !== "parent" && waits(value));
}

/** Whether it is in a function that is called until it no longer throws. */
function isLookedAgain(node: Node): boolean {
  for (let at: Node | null = node; at !== null; at = at.parent) {
    if (at.type === "CallExpression" && POLLS.has(calledName(at) ?? "")) return true;
  }
  return false;
}
