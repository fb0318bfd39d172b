import { type Expression, type Node, rule, type Statement } from "./syntax.ts";

type ForOf = Extract<Statement, { type: "ForOfStatement" }>;

const OF_A_PROMISE = new Set(["catch", "finally", "then"]);

export const awaitedInTurn = rule(
  "These calls begin together and are awaited in turn, so an error of a later one may come before anybody waits for it. Await Promise.all or Promise.allSettled of them.",
  (report) => ({
    ForOfStatement(loop: ForOf) {
      const name = loop.left.type === "VariableDeclaration" ? nameOf(loop.left.declarations[0]?.id) : null;
      if (name !== null && beginsSeveral(loop.right) && isAwaited(name, loop.body)) report(loop as Node);
    },
  }),
);

function nameOf(pattern: { type: string; name?: unknown } | undefined): string | null {
  return pattern?.type === "Identifier" ? String(pattern.name) : null;
}

/** Whether it is a list of calls, of which none is awaited there. */
function beginsSeveral(list: Expression): boolean {
  if (list.type !== "ArrayExpression" || list.elements.length < 2) return false;
  return list.elements.every((each) => each?.type === "CallExpression");
}

/** Whether `await name`, or `await name.then(…)`, is somewhere in it. */
function isAwaited(name: string, part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false;
  if (Array.isArray(part)) return part.some((each) => isAwaited(name, each));
  if (!("type" in part)) return false;
  if (part.type === "AwaitExpression" && isPromise(name, (part as unknown as { argument: Expression }).argument)) {
    return true;
  }
  return Object.entries(part).some(([key, value]) => key !== "parent" && isAwaited(name, value));
}

function isPromise(name: string, at: Expression): boolean {
  if (at.type === "Identifier") return at.name === name;
  if (at.type !== "CallExpression" || at.callee.type !== "MemberExpression") return false;
  const { object, property } = at.callee;
  return property.type === "Identifier" && OF_A_PROMISE.has(property.name) && isPromise(name, object);
}
