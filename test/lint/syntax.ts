import type { RuleTester } from "oxlint/plugins-dev";

// Oxlint exports no names for these types.
type AnyRule = Parameters<RuleTester["run"]>[1];
export type Rule = Exclude<AnyRule, { createOnce: unknown }>;
export type Context = Parameters<Rule["create"]>[0];
export type Statement = Context["sourceCode"]["ast"]["body"][number];
export type Expression = Extract<Statement, { type: "ExpressionStatement" }>["expression"];
export type Call = Extract<Expression, { type: "CallExpression" }>;
export type Node = Call["parent"];
export type Loop = Extract<Statement, { type: "WhileStatement" | "DoWhileStatement" }>;

/** A rule of which each hit says the same. */
export function rule(message: string, visit: (report: (node: Node) => void, context: Context) => object): Rule {
  const create = (context: Context) => visit((node) => context.report({ node, message }), context);
  return { create } as Rule;
}

/** `wait` of `scheduler.wait(1)`, `setTimeout` of `setTimeout(run)`. */
export function calledName({ callee }: Call): string | null {
  if (callee.type === "Identifier") return callee.name;
  return callee.type === "MemberExpression" && callee.property.type === "Identifier" ? callee.property.name : null;
}

/** Whether a call is `owner.method(…)`. */
export function isCallOf(call: Call, owner: string, method: string): boolean {
  const { callee } = call;
  return (
    callee.type === "MemberExpression" &&
    callee.object.type === "Identifier" &&
    callee.object.name === owner &&
    calledName(call) === method
  );
}

/** Whether a wait of this long only lets the event loop turn. */
export function isNoTime(ms: Call["arguments"][number] | undefined): boolean {
  return ms === undefined || (ms.type === "Literal" && ms.value === 0);
}

const LOOPS = new Set(["WhileStatement", "DoWhileStatement", "ForStatement", "ForInStatement", "ForOfStatement"]);
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Whether a loop of the same function repeats this. */
export function isInLoop(node: Node): boolean {
  for (let at: Node | null = node; at !== null && !FUNCTIONS.has(at.type); at = at.parent) {
    if (LOOPS.has(at.type)) return true;
  }
  return false;
}
