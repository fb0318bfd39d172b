import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { InboxService } from "./inbox-service.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each(["open", "unanswered"] as const)(
  "the %s list asks once for a chat of the bot, and has it while people do",
  async (view) => {
    const service = new InboxService(10, (n) => ({ handler: n < 5 ? "bot" : "people" }));
    const list = service.list({ view });
    await list.load();
    service.asked.length = 0;
    const take = async (...events: Parameters<typeof list.take>[0]) => {
      list.take(events);
      await vi.advanceTimersByTimeAsync(20_000);
      return list.rows.value.some(({ id }) => id === "cht_1");
    };
    for (let n = 0; n < 3; n++) expect(await take(service.writes(1))).toBe(false);
    expect(service.asked).toEqual([expect.stringMatching(/cht_1$/)]);
    expect(await take(service.handOver(1, "people"), service.writes(1))).toBe(true);
    expect(await take(service.handOver(1, "bot"), service.writes(1))).toBe(false);
    expect(service.asked).toHaveLength(1);
  },
);
