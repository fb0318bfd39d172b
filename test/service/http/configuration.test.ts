import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { ALL_VARIABLES } from "../../support/variables.ts";

test.each(ALL_VARIABLES)(
  "%s is set by the tests' own configuration, whatever a developer keeps in .dev.vars",
  (name) => {
    expect(env[name]).toBeTypeOf("string");
    expect(env[name]).not.toContain("of a developer");
  },
);
