import { expect, test } from "vitest";
import { COUNTED_TOGETHER, MAX_IN_A_MINUTE } from "../../../src/http/abuse-limit.ts";
import wrangler from "../../../wrangler.toml?raw";

/** The settings in one table of the configuration. */
function table(name: string): Record<string, string> {
  const [, text = ""] = wrangler.split(`\n[${name}]\n`);
  const [own = ""] = text.split("\n[", 1);
  return Object.fromEntries([...own.matchAll(/^(\w+) = (.*)$/gm)].map(([, key, value]) => [key, value]));
}

test("logs are stored, and stack traces have the lines of the source", () => {
  expect(table("observability")).toEqual({ enabled: "true" });
  expect(table("observability.logs")).toMatchObject({ enabled: "true" });
  expect(wrangler).toMatch(/^upload_source_maps = true$/m);
});

test("the platform logs no incoming or outgoing address, because it can contain a contact or a token", () => {
  expect(table("observability.logs").invocation_logs).toBe("false");
  expect(table("observability.traces")).toEqual({ enabled: "false" });
});

test("the limit in the headers of a stranger's 429 is that of the rate limiter", () => {
  const [, limit] = /^simple = \{ limit = (\d+), period = 60 \}$/m.exec(wrangler) ?? [];
  expect(Number(limit) * COUNTED_TOGETHER).toBe(MAX_IN_A_MINUTE);
});
