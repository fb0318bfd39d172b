import { type Call, calledName, type Node, rule } from "./syntax.ts";

/** A random text may have so short an end already. It has a longer one once in millions of runs. */
const LETTERS = /^[0-9A-Za-z]{1,3}(?![0-9A-Za-z])/;
/** Patterns of the last characters, whatever they are. */
const LAST = /^\.(\{\d+\})?\$$/;

/** `${id.slice(0, -2)}00` and `id.replace(/.$/, "0")`: the id may end so. */
export const endOfId = rule(
  "A random id has this end already, now and then. Write `withOtherEnd(id)`, or replace what is known: `id.replace(/1$/, '7')`.",
  (report) => ({
    TemplateLiteral(node: Extract<Node, { type: "TemplateLiteral" }>) {
      const { expressions, quasis } = node;
      if (expressions.some((each, at) => isCut(each) && LETTERS.test(quasis[at + 1]?.value.raw ?? ""))) report(node);
    },
    BinaryExpression(node: Extract<Node, { type: "BinaryExpression" }>) {
      const { left, operator, right } = node;
      if (operator === "+" && isCut(left) && right.type === "Literal" && LETTERS.test(String(right.value)))
        report(node);
    },
    CallExpression(node: Call) {
      const [pattern, end] = node.arguments;
      if (calledName(node) !== "replace" || pattern?.type !== "Literal" || !("regex" in pattern)) return;
      if (LAST.test(pattern.regex.pattern) && end?.type === "Literal" && LETTERS.test(String(end.value))) report(node);
    },
  }),
);

/** Whether it is `….slice(0, -1)`, or as much as `-2` and so on. */
function isCut(node: Node): boolean {
  if (node.type === "ChainExpression") return isCut(node.expression);
  if (node.type !== "CallExpression" || calledName(node) !== "slice") return false;
  const [start, end] = node.arguments;
  return start?.type === "Literal" && start.value === 0 && end?.type === "UnaryExpression" && end.operator === "-";
}
