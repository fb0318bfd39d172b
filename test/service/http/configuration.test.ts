import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { ALL_VARIABLES } from "../../support/variables.ts";

test.each(ALL_VARIABLES)("the tests' configuration sets %s, whatever .dev.vars contains", (name) => {
  expect(env[name]).toBeTypeOf("string");
  expect(env[name]).not.toContain("of a developer");
});
