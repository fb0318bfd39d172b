import { expect, test } from "vitest";
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
