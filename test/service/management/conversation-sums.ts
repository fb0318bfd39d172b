import { expect } from "vitest";
import { admin } from "../../support/harness.ts";

/** What is counted of a channel or a member in all hours or days that are kept, by name, without what is 0. */
export async function conversationSums(of: string, by: "hour" | "day" = "hour"): Promise<Record<string, number>> {
  const { status, body, text } = await admin("GET", `/stats/history?of=${of}&by=${by}`);
  expect(status, text).toBe(200);
  const sums: Record<string, number> = {};
  for (const { start: _, attempts: __, prices: ___, classes, responseTimes: ____, ...counts } of body.history.buckets) {
    for (const [name, count] of Object.entries<number>({ ...counts, ...classes })) {
      if (count > 0) sums[name] = (sums[name] ?? 0) + count;
    }
  }
  return sums;
}
