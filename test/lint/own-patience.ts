import { type Call, calledName, rule } from "./syntax.ts";

type Argument = Call["arguments"][number];

const WITH_PATIENCE = new Set(["test", "it", "beforeAll", "beforeEach", "afterAll", "afterEach"]);
/** In milliseconds: what the suite grants where it grants the most. */
const MOST_OF_A_TEST = 300_000;
const MOST_OF_A_POLL = 60_000;

/** A machine that is busy with something else is not slow at the tests of one file only. */
export const ownPatience = rule(
  "A test that gives up before others do is red on a busy machine. Leave its time to test/vitest.config.ts.",
  (report) => ({
    CallExpression(node: Call) {
      const own = node.arguments.slice(1).map(timeoutOf);
      if (own.some((ms) => ms !== null && ms < leastOf(node))) report(node);
    },
  }),
);

/** The shortest time that the call may be given, in milliseconds. */
function leastOf(call: Call): number {
  if (calledName(call) === "poll") return MOST_OF_A_POLL;
  return WITH_PATIENCE.has(testOf(call) ?? "") ? MOST_OF_A_TEST : 0;
}

/** `test` of `test(…)`, `test.only(…)` and `test.each(…)(…)`. */
function testOf({ callee }: Call): string | null {
  if (callee.type === "CallExpression") return testOf(callee);
  if (callee.type === "MemberExpression") return callee.object.type === "Identifier" ? callee.object.name : null;
  return callee.type === "Identifier" ? callee.name : null;
}

/** Milliseconds, of `90_000` and of `{ timeout: 90_000 }`. */
function timeoutOf(argument: Argument): number | null {
  if (argument.type === "Literal") return typeof argument.value === "number" ? argument.value : null;
  if (argument.type !== "ObjectExpression") return null;
  for (const property of argument.properties) {
    if (property.type !== "Property" || property.key.type !== "Identifier" || property.key.name !== "timeout") continue;
    return property.value.type === "Literal" ? timeoutOf(property.value) : null;
  }
  return null;
}
