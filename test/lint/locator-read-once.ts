import { type Call, calledName, rule } from "./syntax.ts";

/** What reads a page as it is at this moment. */
const READS = new Set([
  "allInnerTexts",
  "allTextContents",
  "count",
  "getAttribute",
  "innerHTML",
  "innerText",
  "inputValue",
  "isChecked",
  "isDisabled",
  "isEditable",
  "isEnabled",
  "isHidden",
  "isVisible",
  "textContent",
]);

export const locatorReadOnce = rule(
  "The page is read once, perhaps before it has settled. Write await expect.poll(() => …).",
  (report) => ({
    CallExpression(node: Call) {
      const [read] = node.arguments;
      if (node.callee.type !== "Identifier" || node.callee.name !== "expect") return;
      if (read?.type !== "AwaitExpression" || read.argument.type !== "CallExpression") return;
      const { callee } = read.argument;
      if (callee.type === "MemberExpression" && READS.has(calledName(read.argument) ?? "")) report(node);
    },
  }),
);
