import { type Call, calledName, rule } from "./syntax.ts";

/** So short a word begins at one of some million places in random ids, if its case does not matter, and a run makes many. */
const SHORT_WORD = /^[A-Za-z0-9]{1,4}$/;
/** What a pattern may have beside the word and still fit an id: its other letters, or the quote at its end. */
const REST_OF_ID = /^"?\\w\*|\\w\*"?$|"$/g;

/** `expect(log).not.toContain("Bob")`: a random id may hold the word. */
export const wordInId = rule(
  "A random id holds so short a word now and then. Look for a longer text, or for the word alone: /\\bBob\\b/.",
  (report) => ({
    CallExpression(node: Call) {
      const [wanted] = node.arguments;
      if (wanted?.type !== "Literal" || !isDenied(node)) return;
      if (calledName(node) === "toContain" && SHORT_WORD.test(String(wanted.value))) report(node);
      if (calledName(node) === "toMatch" && "regex" in wanted) {
        const words = wanted.regex.pattern.split("|").map((part) => part.replaceAll(REST_OF_ID, ""));
        if (words.some((word) => SHORT_WORD.test(word))) report(node);
      }
    },
  }),
);

/** Whether it is `….not.method(…)`. */
function isDenied({ callee }: Call): boolean {
  if (callee.type !== "MemberExpression" || callee.object.type !== "MemberExpression") return false;
  const { property } = callee.object;
  return property.type === "Identifier" && property.name === "not";
}
