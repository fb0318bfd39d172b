import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DELIVERY } from "../simulate/delivery/scenario.ts";
import { KEYS } from "../simulate/keys/scenario.ts";
import { LIFE } from "../simulate/life/scenario.ts";
import { WEBHOOKS } from "../simulate/webhooks/scenario.ts";

test.each([
  ["simulate", DELIVERY],
  ["simulate --webhooks", WEBHOOKS],
  ["simulate --life", LIFE],
  ["simulate --keys", KEYS],
])("the guide says how many rules and wrong versions %s has", async (command, { invariants, saboteurs }) => {
  const guide = await readFile(join(import.meta.dirname, "../../src/docs/guarantees.md"), "utf8");
  const rows = guide.split("\n").filter((row) => row.includes(`\`npm run test:long -- ${command}\``));
  const counts = rows.flatMap((row) => /(\d+) rules .*?(\d+) wrong versions/.exec(row)?.slice(1) ?? []);
  expect(counts).toEqual([Object.keys(invariants).length, Object.keys(saboteurs).length].map(String));
});
